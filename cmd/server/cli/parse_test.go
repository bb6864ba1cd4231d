package cli_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"dogear/cmd/server/cli"
)

// TestHelpIsFoundHoweverItIsAskedFor gives the words that people try first.
func TestHelpIsFoundHoweverItIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		args []string
		want string
	}{
		{nil, "Commands:"},
		{[]string{"help"}, "Commands:"},
		{[]string{"--help"}, "Commands:"},
		{[]string{"help", "run"}, "run stop <id>"},
		{[]string{"help", "run", "stop"}, "--node"},
	} {
		var out bytes.Buffer
		parser, err := kong.New(&command{}, kong.Exit(func(int) { panic(helped{}) }), kong.Writers(&out, io.Discard))
		must(t, err)
		func() {
			defer func() {
				if _, ok := recover().(helped); !ok {
					t.Errorf("%q: no help was given", one.args)
				}
			}()
			_, err = cli.Parse(parser, one.args)
		}()
		if err != nil || !strings.Contains(out.String(), one.want) {
			t.Errorf("%q: got %q and %v, want a text with %q", one.args, out.String(), err, one.want)
		}
	}
}

// helped ends a parser that has printed its help.
type helped struct{}
