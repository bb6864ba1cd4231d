package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"dogear/handlers/control"
)

// patienceForTest is how long a story may take.
const patienceForTest = 60 * time.Second

// product is the server as people have it, in a process of its own.
type product struct {
	cmd    *exec.Cmd
	said   *lines
	asks   *http.Client // at its socket
	ended  chan struct{}
	err    error // how it ended
	killed bool
}

// startProduct starts a server on a data folder, that ends itself at a mark and
// writes down which marks come; both may be empty.
func startProduct(t *testing.T, binary, data, kill, seen string, args ...string) *product {
	t.Helper()
	p := &product{said: &lines{}, ended: make(chan struct{})}
	p.cmd = exec.CommandContext(t.Context(), binary, append([]string{"serve", "--data", data, "--addr", "127.0.0.1:0", "--drain", "5s"}, args...)...)
	p.cmd.Env = append(os.Environ(), "DOGEAR_FAILPOINT="+kill, "DOGEAR_FAILPOINTS_SEEN="+seen)
	p.cmd.Stdout, p.cmd.Stderr = p.said, p.said
	p.asks = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return control.Dial(ctx, data) }, DisableKeepAlives: true,
	}}
	must(t, p.cmd.Start())
	go func() {
		defer close(p.ended)
		p.err = p.cmd.Wait()
		if exit, ok := errors.AsType[*exec.ExitError](p.err); ok {
			status, ok := exit.Sys().(syscall.WaitStatus)
			p.killed = ok && status.Signal() == syscall.SIGKILL
		}
	}()
	return p
}

func (p *product) dead() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// until asks over and over whether something is so, until the server has ended.
func (p *product) until(ctx context.Context, is func() bool) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-p.ended:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// stop tells the server to stop and waits until it has.
func (p *product) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(30 * time.Second):
		p.quit()
	}
}

// quit ends a server that hangs, which says where.
func (p *product) quit() {
	_ = p.cmd.Process.Signal(syscall.SIGQUIT) // it may have ended
	<-p.ended
}

// kill ends the server at once.
func (p *product) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
	<-p.ended
}

// errGone says that the server ended before it answered.
var errGone = errors.New("the server is gone")

// ask sends a command as the command line does.
func (p *product) ask(ctx context.Context, method, path string, body, to any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://dogear"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	return p.read(p.asks, request, func(from io.Reader) error { return json.NewDecoder(from).Decode(to) })
}

func (p *product) read(client *http.Client, request *http.Request, take func(io.Reader) error) error {
	response, err := client.Do(request)
	if err != nil {
		return errors.Join(errGone, err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		said, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s %s: %s %s", request.Method, request.URL.Path, response.Status, said)
	}
	return take(response.Body)
}

// runs lists the newest runs, or fails where the server does not answer (yet).
func (p *product) runs(ctx context.Context) (runs []control.Run, err error) {
	err = p.ask(ctx, http.MethodGet, "/runs?limit=100", nil, &runs)
	return runs, err
}

// allEnded reports whether there are n runs and none is open.
func (p *product) allEnded(ctx context.Context, n int) bool {
	runs, err := p.runs(ctx)
	if err != nil || len(runs) < n {
		return false
	}
	for _, r := range runs {
		if r.Ended.IsZero() {
			return false
		}
	}
	return true
}

// signIn returns a client that is signed in, and the address of the pages.
func (p *product) signIn(ctx context.Context) (*http.Client, string, error) {
	var link string
	if err := p.ask(ctx, http.MethodPost, "/signin", nil, &link); err != nil {
		return nil, "", err
	}
	at, err := url.Parse(link)
	if err != nil {
		return nil, "", err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, "", err
	}
	client, address := &http.Client{Jar: jar}, at.Scheme+"://"+at.Host
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/signin", strings.NewReader(at.RawQuery))
	if err != nil {
		return nil, "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", address)
	return client, address, p.read(client, request, func(io.Reader) error { return nil })
}

// health is what the page about everything that must hold says.
func (p *product) health(ctx context.Context) (text string, err error) {
	client, address, err := p.signIn(ctx)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/health", nil)
	if err != nil {
		return "", err
	}
	return text, p.read(client, request, func(from io.Reader) error {
		body, err := io.ReadAll(from)
		text = string(body)
		return err
	})
}
