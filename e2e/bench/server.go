package main

import (
	"bufio"
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
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"dogear/db"
	"dogear/db/secret"
	"dogear/handlers/control"
)

// serverBinary is the product as people have it.
const serverBinary = "bin/dogear"

// instance is the product in a process of its own.
type instance struct {
	cmd     *exec.Cmd
	data    string
	address string // of its pages
	link    string // for signing in
	control *http.Client

	mu  sync.Mutex
	log bytes.Buffer // all it said
}

// startInstance starts a server on a data folder and waits until it can be asked.
func startInstance(ctx context.Context, data string, args ...string) (*instance, error) {
	s := &instance{data: data, cmd: exec.CommandContext(ctx, serverBinary, append([]string{"serve", "--data", data, "--addr", "127.0.0.1:0", "--drain", "1s"}, args...)...)}
	s.control = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return control.Dial(ctx, data) }}}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", serverBinary, err)
	}
	ready := make(chan string, 1)
	go func() {
		defer close(ready)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.mu.Lock()
			s.log.Write(append(lines.Bytes(), '\n'))
			s.mu.Unlock()
			if text := strings.TrimSpace(lines.Text()); strings.Contains(text, "/signin?token=") {
				ready <- text
			}
		}
	}()
	link, ok := <-ready
	if !ok {
		return nil, fmt.Errorf("the server on %s ended: %s", data, s.said())
	}
	s.link = link
	s.address, _, _ = strings.Cut(link, "/signin")
	return s, nil
}

// said is what the server has written.
func (s *instance) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// end kills the server and waits until it is gone.
func (s *instance) end() {
	_ = s.cmd.Process.Signal(syscall.SIGCONT)
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // says only that it was killed
}

// ask sends a command as the command line does and reads its answer into to.
func (s *instance) ask(ctx context.Context, method, path string, body, to any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://dogear"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	answer, err := s.control.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(answer.Body)
		return fmt.Errorf("%s %s: %s", method, path, bytes.TrimSpace(said))
	}
	return json.NewDecoder(answer.Body).Decode(to)
}

// browser signs in and returns a client that is.
func (s *instance) browser(ctx context.Context) (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Jar: jar}
	link, err := url.Parse(s.link)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+"/signin", strings.NewReader(link.RawQuery))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", s.address)
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("signing in was answered %s", answer.Status)
	}
	return client, nil
}

// furnish lets fill write into the store of a data folder before its server
// starts. An empty database is the SQLite file of the folder.
func furnish(ctx context.Context, data, database string, fill func(*db.Store) error) error {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	key, err := secret.Load("", data+".key")
	if err != nil {
		return err
	}
	if database == "" {
		database = filepath.Join(data, "dogear.db")
	}
	store, err := db.Open(ctx, database, key)
	if err != nil {
		return err
	}
	return errors.Join(fill(store), store.Close())
}
