package app

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"dogear/engine"
)

// TestAServerThatForgetsSecretsSaysWhose, by name, with what to do; one that has
// none to forget says so.
func TestAServerThatForgetsSecretsSaysWhose(t *testing.T) {
	t.Parallel()
	data, key := t.TempDir(), func(letter string) string {
		return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32)))
	}
	store, err := open(t.Context(), data, "", key("a"))
	must(t, err)
	plain := "hunter2"
	_, err = store.SaveConnection(t.Context(), "", "lake", engine.ConnectionBody{Type: engine.ConnectionS3}, &plain, "owner", time.Now())
	must(t, err)
	must(t, store.Close())

	said := startForgetting(t, data, key("b"))
	again := startForgetting(t, data, key("b"))

	if want := "  connection lake: type its secret again, on its page under Connections\n"; !strings.Contains(said, want) {
		t.Errorf("the server says\n%s\nwant %q", said, want)
	}
	if want := "No secret was removed"; !strings.Contains(again, want) || strings.Contains(again, "lake") {
		t.Errorf("the next one says\n%s\nwant %q", again, want)
	}
}

// startForgetting is what a server with --forget-secrets says until it is ready.
func startForgetting(t *testing.T, data, key string) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ready, ended, out := make(chan string, 1), make(chan error, 1), &lines{}
	go func() {
		ended <- Run(ctx, Config{
			Data: data, Out: out, Options: Options{Addr: "127.0.0.1:0", Slots: 1, Key: key, ForgetSecrets: true},
			Ready: func(address, _ string) { ready <- address },
		})
	}()
	defer stop()
	soon(t, ready, "the server")
	stop()
	must(t, soon(t, ended, "its end"))
	return out.String()
}
