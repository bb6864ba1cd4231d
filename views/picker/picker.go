// Package picker shows the dialog that chooses a folder, prefix or file.
package picker

import (
	"net/url"
	"path"
	"strings"

	"dogear/engine"
)

// View is one level of a place.
type View struct {
	For        string // the field that asked
	Connection engine.ID
	Level      engine.Level
	Trouble    string // why what was typed leads nowhere
}

// Folder is the part of a typed path that is a folder: what stands before the
// first glob character and the last slash.
func Folder(typed string) string {
	if i := strings.IndexAny(typed, "*?[{"); i >= 0 {
		typed = typed[:i]
	}
	return typed[:strings.LastIndexByte(typed, '/')+1]
}

// FormatOf guesses a format by the name of a file.
func FormatOf(name string) engine.Format {
	name = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(name), ".gz"), ".zst")
	switch path.Ext(name) {
	case ".parquet":
		return engine.Parquet
	case ".json", ".jsonl", ".ndjson":
		return engine.JSON
	default:
		return engine.CSV
	}
}

func (v View) at(address string) string {
	return "/browse?" + url.Values{"at": {address}, "for": {v.For}, "connection": {string(v.Connection)}}.Encode()
}

func (v View) sample(address string) string {
	return "/browse/sample?" + url.Values{"path": {address}, "connection": {string(v.Connection)}}.Encode()
}

// join is the address of a name in this level. At the top names are whole
// addresses already.
func (v View) join(name string) string {
	if v.Level.Address == "" {
		return name
	}
	return strings.TrimSuffix(v.Level.Address, "/") + "/" + name
}

func (v View) folder(name string) string { return strings.TrimSuffix(v.join(name), "/") + "/" }

// here is the address that "Use this folder" gives.
func (v View) here() string { return strings.TrimSuffix(v.Level.Address, "/") + "/" }
