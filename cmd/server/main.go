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
	"dogear/cmd/server/cli"
	"dogear/engine"
	"dogear/engine/duck"
)

// command is the command line.
type command struct {
	Serve    serve        `cmd:"" help:"Start the server."`
	Workflow cli.Workflow `cmd:"" help:"List, show, run, export, import and delete workflows; list and bring back their versions."`
	Job      cli.Job      `cmd:"" help:"List jobs and run one alone."`
	Crawler  cli.Crawler  `cmd:"" help:"List crawlers and run one alone."`
	Run      cli.Run      `cmd:"" help:"List, show, stop, pause and resume runs, skip and stop their nodes, and read their logs."`
	Trigger  cli.Trigger  `cmd:"" help:"Turn triggers on and off."`
	Event    cli.Event    `cmd:"" help:"Send events to event triggers."`
	Pool     cli.Pool     `cmd:"" help:"List pools, make them, change their places and delete them."`
	Bookmark cli.Bookmark `cmd:"" help:"List, show and move bookmarks."`
	Signin   cli.Signin   `cmd:"" help:"Print a new sign-in link for the owner."`
	Health   cli.Health   `cmd:"" help:"Exit with 0 only if the server of a data folder can work."`
	Version  version      `cmd:"" help:"Print the version."`
	Worker   worker       `cmd:"" hidden:"" help:"Run one job's SQL for a server."`
}

type serve struct {
	cli.Data
	app.Options
}

// Run serves until a signal comes.
func (s *serve) Run(ctx context.Context) error {
	if err := s.Options.Check(); err != nil {
		return err
	}
	return app.Run(ctx, app.Config{Data: s.Data.Data, Options: s.Options, Out: os.Stdout})
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
	parser := kong.Must(&c, kong.Name("dogear"), kong.Description("Pipelines that remember where they stopped."))
	k, err := cli.Parse(parser, os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "dogear: %s\nThe help of each command says what it takes: %s\n", message(err), cli.Hint(parser, os.Args[1:]))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	k.BindTo(ctx, (*context.Context)(nil))
	if err := k.Run(cli.Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}); err != nil {
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
