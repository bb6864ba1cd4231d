package shim

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"dogear/engine"
)

// Command is a script for a shim to run.
type Command struct {
	Program string   // what runs it, by its absolute path
	Text    []byte   // the script, which is in a file
	Args    []string // what Program is told after the path of that file
	Env     []string // its environment, but for HOME and TMPDIR, which are the folder in which it begins
	Marker  string   // the value of MarkerEnv in it
	DataMB  int      // how much memory it may map for writing; 0 is no bound
}

// MarkerEnv is the variable by which all processes of an attempt are found.
const MarkerEnv = "DOGEAR_NODE"

// told is what a shim in a folder is told, as shim.c reads it: how long it is, and
// then texts that end with a zero, which none of them may hold.
func (c *Command) told(dir string) string {
	work := filepath.Join(dir, WorkDir)
	args := append([]string{c.Program, filepath.Join(dir, TextFile)}, c.Args...)
	env := append([]string{MarkerEnv + "=" + c.Marker, "HOME=" + work, "TMPDIR=" + work}, c.Env...)
	texts := append([]string{strconv.Itoa(c.DataMB), strconv.Itoa(len(args))}, args...)
	texts = append(append(texts, strconv.Itoa(len(env))), env...)
	all := strings.Join(texts, "\x00") + "\x00"
	return fmt.Sprintf("%0*x", head, len(all)) + all
}

// check refuses what no program can be told.
func (c *Command) check() error {
	for _, texts := range [][]string{c.Args, c.Env} {
		for _, text := range texts {
			if strings.Contains(text, "\x00") {
				return engine.Errorf(engine.Invalid, "What the script is told has a zero byte in %.100q, which no program can be given. Take it out of the properties of the run.", text)
			}
		}
	}
	return nil
}
