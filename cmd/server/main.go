// Command dogear is the whole product in one binary: the server, the workers
// it starts, and the command line that talks to it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

	"dogear/cmd/server/app"
	"dogear/engine"
	"dogear/engine/duck"
)

// command is the command line.
type command struct {
	Serve   serve   `cmd:"" help:"Start the server."`
	Signin  signin  `cmd:"" help:"Print a new sign-in link for the owner."`
	Version version `cmd:"" help:"Print the version."`
	Worker  worker  `cmd:"" hidden:"" help:"Run one job's SQL for a server."`
}

// shared is what every command that has to do with a server takes.
type shared struct {
	Data string `default:"data" env:"DOGEAR_DATA" type:"path" help:"Folder of the database, the secret key, logs and the server's files."`
}

type serve struct {
	shared
	app.Options
}

// Run serves until a signal comes.
func (s *serve) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return app.Run(ctx, app.Config{Data: s.Data, Options: s.Options, Out: os.Stdout})
}

type signin struct {
	shared
	Database string `env:"DOGEAR_DATABASE" help:"As for serve."`
}

// Run prints a link; the server need not run.
func (s *signin) Run() error {
	return app.Signin(context.Background(), s.Data, s.Database, os.Stdout)
}

type version struct{}

// Run prints what this binary was built from.
func (version) Run() error {
	text := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		text = info.Main.Version + " " + info.GoVersion
	}
	fmt.Println("dogear", text)
	return nil
}

type worker struct{}

// Run does what the parent asks on file descriptor 3.
func (worker) Run() error {
	os.Exit(duck.Main(context.Background()))
	return nil
}

func main() {
	var c command
	k := kong.Parse(&c, kong.Name("dogear"), kong.Description("Pipelines that remember where they stopped."), kong.UsageOnError())
	if err := k.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "dogear:", message(err))
		os.Exit(1)
	}
}

// message is what the terminal shows: whoever starts the server may see the
// cause of everything.
func message(err error) string {
	if engine.CodeOf(err) == engine.Internal {
		return err.Error()
	}
	return engine.MessageOf(err)
}
