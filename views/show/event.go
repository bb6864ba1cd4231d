package show

import (
	"encoding/json"
	"path"
	"strings"

	"dogear/engine"
)

// Event says what an event is about: the file's name, else its detail cut short.
func Event(e *engine.TriggerEvent) string {
	var file struct {
		Path string `json:"path"`
	}
	if json.Unmarshal([]byte(e.Detail), &file) == nil && file.Path != "" {
		return path.Base(file.Path)
	}
	const most = 60
	text := []rune(strings.Join(strings.Fields(e.Detail), " "))
	if len(text) == 0 {
		return "event " + e.ID
	}
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}
