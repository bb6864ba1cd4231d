package cli

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"dogear/engine"
)

// flagOfDigits is how the parser refuses a number below zero: it takes it for a flag.
var flagOfDigits = regexp.MustCompile(`^unknown flag (-\d)`)

// flagOfOther is how the parser refuses a flag that is spelled like none of the command.
var flagOfOther = regexp.MustCompile(`^unknown flag --([a-z][a-z-]*)$`)

// Parse reads a command line. Nothing, and help with or without a command, asks for
// help. A number below zero where a command takes a number is refused as that, and a flag
// that does not exist with those of which the help says that word.
func Parse(parser *kong.Kong, args []string) (*kong.Context, error) {
	if len(args) == 0 {
		args = []string{"help"}
	}
	if args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	read, err := parser.Parse(args)
	wrong, ok := errors.AsType[*kong.ParseError](err)
	if !ok {
		return read, err
	}
	if word := flagOfOther.FindStringSubmatch(wrong.Error()); word != nil {
		if meant := about(wrong.Context.Selected(), word[1]); len(meant) > 0 {
			err = fmt.Errorf("%w, did you mean %s?", err, strings.Join(meant, " or "))
		}
	}
	number, command := flagOfDigits.FindStringSubmatch(wrong.Error()), wrong.Context.Selected()
	if number == nil || command == nil {
		return read, err
	}
	for _, takes := range command.Positional {
		if takes.Target.Kind() == reflect.Int {
			return nil, engine.Errorf(engine.Invalid, "%s is below zero. <%s> is a number from 0 on: %s", typed(args, number[1]), takes.Name, takes.Help)
		}
	}
	return read, err
}

// Hint is what prints the help about a command line that was refused: of its command,
// or of all there are.
func Hint(parser *kong.Kong, args []string) string {
	hint, at := "dogear", parser.Model.Node
	for _, word := range args {
		child := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Name == word })
		if child < 0 {
			break
		}
		at = at.Children[child]
		hint += " " + word
	}
	return hint + " --help"
}

// typed is the whole of what was typed and begins so.
func typed(args []string, start string) string {
	for _, arg := range args {
		if strings.HasPrefix(arg, start) {
			return arg
		}
	}
	return start
}

// about are the flags of command whose help says word, as they are typed.
func about(command *kong.Node, word string) []string {
	if command == nil {
		return nil
	}
	says := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(strings.ReplaceAll(word, "-", " ")) + `s?\b`)
	var found []string
	for _, flag := range command.Flags {
		if says.MatchString(flag.Help) {
			found = append(found, "--"+flag.Name)
		}
	}
	return found
}
