// Package cli is the command line beside serve. Each command asks the running
// server through the socket in its data folder and prints a table for people
// or, with --json, the answer itself.
package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"dogear/engine"
	"dogear/handlers/control"
)

// Data is the flag that says which server is meant.
type Data struct {
	Data string `default:"data" env:"DOGEAR_DATA" type:"path" help:"Folder of the database, the secret key, logs and the server's files."`
}

// target is the server a command talks to, and how it prints.
type target struct {
	Data
	JSON bool `name:"json" help:"Print the answer as JSON."`
}

// Terminal is where commands read and write.
type Terminal struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer // what is said to a person while a command waits
}

// client talks to the server of dir.
func (d Data) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return control.Dial(ctx, d.Data) },
	}}
}

// call asks the server and returns its answer, which the caller closes.
func (d Data) call(ctx context.Context, method, path string, query url.Values, body io.Reader) (io.ReadCloser, error) {
	address := url.URL{Scheme: "http", Host: "dogear", Path: path, RawQuery: query.Encode()}
	request, err := http.NewRequestWithContext(ctx, method, address.String(), body)
	if err != nil {
		return nil, fmt.Errorf("ask the server: %w", err)
	}
	response, err := d.client().Do(request)
	if known, ok := errors.AsType[*engine.Error](err); ok {
		return nil, known
	}
	if err != nil {
		return nil, unanswered(method, err)
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close()
	var failure control.Failure
	if err := json.NewDecoder(response.Body).Decode(&failure); err != nil {
		return nil, fmt.Errorf("the server answered %s", response.Status)
	}
	return nil, &engine.Error{Code: failure.Code, Message: failure.Message}
}

// get asks for something.
func get[T any](ctx context.Context, d Data, path string, query url.Values) (T, error) {
	return ask[T](ctx, d, http.MethodGet, path, query, nil)
}

// post asks for a change.
func post[T any](ctx context.Context, d Data, path string, body any) (T, error) {
	text, err := json.Marshal(body)
	if err != nil {
		var none T
		return none, fmt.Errorf("write the request: %w", err)
	}
	return ask[T](ctx, d, http.MethodPost, path, nil, bytes.NewReader(text))
}

func ask[T any](ctx context.Context, d Data, method, path string, query url.Values, body io.Reader) (T, error) {
	var answer T
	from, err := d.call(ctx, method, path, query, body)
	if err != nil {
		return answer, err
	}
	defer from.Close()
	switch err := json.NewDecoder(from).Decode(&answer); {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return answer, unanswered(method, err)
	case err != nil:
		return answer, fmt.Errorf("read the server's answer: %w", err)
	}
	return answer, nil
}

// errUnanswered is in every error by which the answer of a server did not come, or not
// whole: nobody knows what it has done.
var errUnanswered = errors.New("no answer")

// unanswered says what to do where the answer to a question, or to a change, got lost.
func unanswered(method string, err error) error {
	err = errors.Join(errUnanswered, err)
	if method == http.MethodGet {
		return &engine.Error{Code: engine.Away, Message: "The server ended before it answered. Start it again, then say the same command again.", Err: err}
	}
	return &engine.Error{Code: engine.Away, Message: "The server ended before it answered, so it may have done this, or not. Start it again and look before you say the same command again.", Err: err}
}

// Signin makes a sign-in link.
type Signin struct{ Data }

// Run prints the link.
func (c *Signin) Run(ctx context.Context, term Terminal) error {
	link, err := post[string](ctx, c.Data, "/signin", nil)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(term.Out, link)
	return err
}

// Health asks whether the server of a data folder can work.
type Health struct{ Data }

// Run prints "ready", or fails.
func (h *Health) Run(ctx context.Context, term Terminal) error {
	if _, err := get[map[string]string](ctx, h.Data, "/health", nil); err != nil {
		return err
	}
	_, err := fmt.Fprintln(term.Out, "ready")
	return err
}
