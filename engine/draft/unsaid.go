package draft

import (
	"maps"

	"dogear/engine"
)

// unsaid is what holds for a field that a job or crawler leaves empty, by the part of
// its body that has the field; "" is the body itself. A form writes out what a file
// leaves out, and that is no change.
var unsaid = map[string]map[string]any{
	"": {
		"timeout": float64(engine.DefaultTimeout), "max_runs": 1.0, "memory_mb": float64(engine.DefaultMemoryMB),
		"spill_mb": float64(engine.DefaultSpillMB), "retry_delay": 1.0,
	},
	"sources": {"format": string(engine.CSV), "read": string(engine.ReadNew), "policy": map[string]any{}},
	"policy":  {"unreadable": "fail", "gone": "fail"},
	"sinks":   {"format": string(engine.Parquet), "mode": string(engine.Append)},
	"script":  {"grace": float64(engine.DefaultGrace)},
}

// spelled is a part of a body with what it leaves empty written out.
func spelled(part string, body map[string]any) map[string]any {
	full := maps.Clone(unsaid[part])
	if full == nil {
		full = map[string]any{}
	}
	for key, value := range body {
		if _, holds := full[key]; !holds || value != "" && value != 0.0 {
			full[key] = value
		}
	}
	return full
}
