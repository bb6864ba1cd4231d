package run

import "dogear/engine"

// PropertiesForm is the form on which somebody changes the properties of a run.
type PropertiesForm struct {
	View  View
	Typed map[string]string // over what the run has
	Wrong string            // why they cannot be changed like this
}

// value is what the field of a property holds.
func (f PropertiesForm) value(name string) string {
	if typed, ok := f.Typed[name]; ok {
		return typed
	}
	return f.View.Run.Properties[name]
}

// canSet reports a run whose properties can be changed.
func (v View) canSet() bool {
	return v.Run.Kind == engine.RunWorkflow && v.Run.Open() && len(v.Run.Properties) > 0
}
