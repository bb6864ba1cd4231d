package cli_test

import (
	"bytes"
	"errors"
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

// TestAFlagOfAnotherNameIsNamed: by the word that its help says, where none is spelled like it.
func TestAFlagOfAnotherNameIsNamed(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		args string
		want string
	}{
		{"bookmark rewind x --version 3", "unknown flag --version, did you mean --to or --to-run or --at?"},
		{"run stop x --crawler load", "unknown flag --crawler, did you mean --node?"},
		{"run skip x load --reason late", "unknown flag --reason, did you mean --why?"},
		{"run stop x --nod load", `unknown flag --nod, did you mean "--node"?`},
		{"run stop x --banana", "unknown flag --banana"},
	} {
		parser, err := kong.New(&command{})
		must(t, err)

		_, err = cli.Parse(parser, strings.Fields(one.args))

		if _, ok := errors.AsType[*kong.ParseError](err); !ok || err.Error() != one.want {
			t.Errorf("%s: got %v, want %q", one.args, err, one.want)
		}
	}
}

// TestWhatIsRefusedLeadsToAHelpThatThereIs, also where the command is none.
func TestWhatIsRefusedLeadsToAHelpThatThereIs(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&command{})
	must(t, err)
	for args, want := range map[string]string{
		"frobnicate":              "dogear --help",
		"run frobnicate":          "dogear run --help",
		"run resume ID --often":   "dogear run resume --help",
		"pool set warehouse many": "dogear pool set --help",
		"":                        "dogear --help",
	} {
		if got := cli.Hint(parser, strings.Fields(args)); got != want {
			t.Errorf("of %q: got %q, want %q", args, got, want)
		}
	}
}
