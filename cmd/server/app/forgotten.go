package app

import (
	"fmt"
	"io"

	"dogear/db"
	"dogear/engine"
)

// tellForgotten says on the terminal whose secrets --forget-secrets removed, a line
// each, and what to do about each.
func tellForgotten(out io.Writer, gone []db.Forgotten) {
	if len(gone) == 0 {
		fmt.Fprintln(out, "No secret was removed: there is none that was sealed with another key. Start without --forget-secrets from now on.")
		return
	}
	fmt.Fprintln(out, "These secrets were sealed with a key that is lost, and are removed:")
	for _, g := range gone {
		switch {
		case g.Kind == engine.KindConnection:
			fmt.Fprintf(out, "  connection %s: type its secret again, on its page under Connections\n", g.Name)
		case g.Name == "":
			fmt.Fprintln(out, "  a trigger that is not published: make a new secret in its panel in the editor")
		default:
			fmt.Fprintf(out, "  trigger %s of workflow %s: make a new secret in its panel in the editor, and give it to those who call\n", g.Trigger, g.Name)
		}
	}
	fmt.Fprintln(out, "Start without --forget-secrets from now on.")
}
