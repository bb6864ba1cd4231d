// Package app is the hall of the house: the one place that knows all rooms and
// wires them into a server.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"dogear/db"
	"dogear/db/secret"
	"dogear/engine"
	"dogear/engine/exec"
	"dogear/engine/heap"
	"dogear/engine/runner/shim"
	"dogear/handlers/control"
)

// Options are the flags of `dogear serve`.
type Options struct {
	Addr          string        `default:"127.0.0.1:8080" env:"DOGEAR_ADDR" help:"Address to listen on. The default can be reached from this machine only."`
	Origin        string        `env:"DOGEAR_ORIGIN" help:"Address at which people see the server, such as https://dogear.example; needed behind a proxy."`
	Database      string        `env:"DOGEAR_DATABASE" help:"A postgres:// address; by default an SQLite file in the data folder."`
	Key           string        `name:"secret-key" env:"DOGEAR_SECRET_KEY" help:"Key of stored secrets, 32 bytes in base64; by default a file beside the data folder."`
	ForgetSecrets bool          `name:"forget-secrets" help:"Start although the stored secrets were sealed with another key, which is lost; they are removed: those of connections and of event triggers that take calls."`
	Root          []string      `env:"DOGEAR_ROOT" type:"path" help:"A folder that jobs and crawlers may use beside the server's own files. May be repeated."`
	Sample        bool          `env:"DOGEAR_SAMPLE" help:"Begin with the sample pipeline, if there is no workflow of its name yet."`
	Drain         time.Duration `default:"10s" env:"DOGEAR_DRAIN" help:"How long a stopping server lets running work go on."`
	TTL           time.Duration `name:"lease" default:"15s" env:"DOGEAR_LEASE" help:"How long this server may be silent before the other servers of its PostgreSQL take up its work."`
	Slots         int           `default:"4" env:"DOGEAR_SLOTS" help:"How many jobs and crawlers run at once."`
	Floor         time.Duration `name:"schedule-floor" default:"1m" env:"DOGEAR_SCHEDULE_FLOOR" help:"Shortest time that a schedule may leave between two starts; AWS Glue's is 5m."`
	Python        string        `env:"DOGEAR_PYTHON" type:"path" help:"The Python that runs script jobs, such as that of a virtual environment; by default /usr/bin/python3, else /usr/local/bin/python3."`
	KeepLedgers   time.Duration `name:"keep-ledgers" default:"0" env:"DOGEAR_KEEP_LEDGERS" help:"How long a version of a bookmark can be restored, such as 9000h; the newest always can. 0 keeps all of them."`
	KeepEvents    time.Duration `name:"keep-events" default:"2160h" env:"DOGEAR_KEEP_EVENTS" help:"How long events that started a run are kept; 0 keeps all of them."`
	LogLevel      slog.Level    `default:"INFO" env:"DOGEAR_LOG_LEVEL" help:"DEBUG, INFO, WARN or ERROR."`
}

// Config is what a server is made of.
type Config struct {
	Options
	Data string
	Out  io.Writer // gets the sign-in link and the log
	// Ready is called once with the address the server listens on and a
	// sign-in link. It may be nil.
	Ready func(address, link string)
	// closed is called with the address at which a server says that it waits for
	// room on its disk; nil but in tests.
	closed func(address string)
	// Worker is how a worker is started; empty is this binary.
	Worker []string
	// store stands between exec and the database, for tests that end a server
	// at a transition.
	store func(exec.Store) exec.Store
}

// folder is a place in the data folder.
func (c *Config) folder(parts ...string) string {
	return filepath.Join(append([]string{c.Data}, parts...)...)
}

// Run serves until ctx ends, then stops gracefully.
func Run(ctx context.Context, cfg Config) error {
	if err := prepare(&cfg); err != nil {
		return err
	}
	unlock, err := lockData(cfg.Data)
	if err != nil {
		return err
	}
	defer unlock()
	log := slog.New(slog.NewTextHandler(cfg.Out, &slog.HandlerOptions{Level: cfg.LogLevel}))
	if err := awaitRoom(ctx, &cfg, log); err != nil || ctx.Err() != nil {
		return err
	}
	store, err := open(ctx, cfg.Data, cfg.Database, cfg.Key)
	if err != nil {
		return err
	}
	defer func() {
		if err := store.Close(); err != nil {
			log.Error("the database could not be closed", "err", err)
		}
	}()
	release, err := store.Own()
	if err != nil {
		return err
	}
	defer release()
	gone, err := store.CheckKey(ctx, cfg.ForgetSecrets)
	if err != nil {
		return err
	}
	if cfg.ForgetSecrets {
		tellForgotten(cfg.Out, gone)
	}
	listener, err := listen(ctx, cfg.Addr)
	if err != nil {
		return err
	}
	house, err := build(cfg, store, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	return house.serve(ctx, listener)
}

// prepare makes the folders of a server.
func prepare(cfg *Config) error {
	absolute, err := filepath.Abs(cfg.Data)
	if err != nil {
		return fmt.Errorf("find the data folder: %w", err)
	}
	cfg.Data = absolute
	if cfg.Out == nil {
		cfg.Out = io.Discard
	}
	for _, dir := range []string{"", "files", "runs"} {
		if err := os.MkdirAll(cfg.folder(dir), 0o700); err != nil {
			return engine.Errorf(engine.Invalid, "The data folder cannot be made: %w", err)
		}
	}
	return nil
}

// open opens the store of a data folder.
func open(ctx context.Context, data, database, keyText string) (*db.Store, error) {
	// Beside, not inside: a copy of the database does not carry its key.
	key, err := secret.Load(keyText, strings.TrimSuffix(data, "/")+".key")
	if err != nil {
		return nil, err
	}
	if database == "" {
		database = filepath.Join(data, "dogear.db")
	}
	return db.Open(ctx, database, key)
}

func link(address, token string) string {
	return address + "/signin?token=" + url.QueryEscape(token)
}

// serve answers requests and runs the services until ctx ends.
func (h *house) serve(ctx context.Context, listener net.Listener) error {
	address := h.cfg.Origin
	if address == "" {
		address = "http://" + listener.Addr().String()
	}
	h.address = address
	if err := h.recall(ctx); err != nil {
		return err
	}
	defer h.shims.Close()
	h.endStrays(ctx)
	defer h.endStrays(context.WithoutCancel(ctx))
	guard, err := shim.StartGuard(h.shims.Dir, logLimit)
	if err != nil {
		return err
	}
	defer guard.Leave()
	token, err := h.auth.NewLink(ctx)
	if err != nil {
		return err
	}
	socket, err := control.Listen(ctx, h.cfg.Data)
	if err != nil {
		return err
	}
	fmt.Fprintf(h.cfg.Out, "\nDogear is at %s\nSign in once with this link:\n\n  %s\n\n", address, link(address, token))

	heap.Tune()
	server := &http.Server{Handler: h.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelDebug)}
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	work.Go(func() error { return h.command(ctx, socket) })
	work.Go(func() error { return h.exec.Run(ctx) })
	work.Go(func() error { return h.listen(ctx) })
	// What starts runs and keeps house rests where a newer version took the database.
	busy, rest := context.WithCancel(ctx)
	defer rest()
	work.Go(func() error {
		select {
		case <-ctx.Done():
		case <-h.halted:
			rest()
		}
		return nil
	})
	work.Go(func() error { return h.clock.Run(busy) })
	work.Go(func() error { return h.gate.Run(busy) })
	work.Go(func() error { return h.lookout.Run(busy) })
	work.Go(func() error { return h.keep(busy) })
	work.Go(func() error {
		if h.cfg.Sample {
			if err := h.sample(ctx); err != nil && ctx.Err() == nil {
				h.log.Error("the sample could not be made", "err", err)
			}
		}
		return nil
	})
	work.Go(func() error {
		<-ctx.Done()
		h.log.Info("stopping")
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.cfg.Drain+time.Second)
		defer cancel()
		return shut(drain, server)
	})
	if h.cfg.Ready != nil {
		h.cfg.Ready(address, link(address, token))
	}
	if err := work.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil // stopped before everything had begun
}

// shut lets requests end, and cuts off those that do not, such as sockets.
func shut(ctx context.Context, server *http.Server) error {
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return err
}
