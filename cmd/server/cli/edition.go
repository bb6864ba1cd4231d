package cli

import (
	"strconv"
	"strings"

	"dogear/engine"
)

// edition is a version on the command line: a number, or as lists show it, v3.
type edition int

// UnmarshalText reads a version; kong calls it.
func (e *edition) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(strings.TrimPrefix(string(text), "v"))
	if err != nil || n < 0 {
		return engine.Errorf(engine.Invalid, "%q is no version; write its number, such as 3 or v3", text)
	}
	*e = edition(n)
	return nil
}
