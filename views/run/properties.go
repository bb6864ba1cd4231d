package run

import (
	"maps"
	"slices"
	"strings"

	"dogear/engine"
)

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

// reserved reports properties that nobody but the engine sets: those by which a run is
// told of the events that started it.
func reserved(name string) bool {
	return strings.HasPrefix(name, "aws:") || strings.HasPrefix(name, "dogear:")
}

// own are the names of the properties that a person may change.
func (f PropertiesForm) own() []string { return f.names(false) }

// given are the properties that the engine has set.
func (f PropertiesForm) given() map[string]string {
	given := map[string]string{}
	for _, name := range f.names(true) {
		given[name] = f.View.Run.Properties[name]
	}
	return given
}

func (f PropertiesForm) names(ofEngine bool) []string {
	var names []string
	for _, name := range sortedKeys(f.View.Run.Properties) {
		if reserved(name) == ofEngine {
			names = append(names, name)
		}
	}
	return names
}

// Some reports whether there is a property that a person may change.
func (f PropertiesForm) Some() bool { return len(f.own()) > 0 }

// Differs are the names of the properties that the run did not begin with as told.
func (v View) Differs(told map[string]string) []string {
	began := v.Run.Properties
	if len(v.Properties) > 0 {
		began = v.Properties[0].Values
	}
	all := maps.Clone(told)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, began)
	return slices.DeleteFunc(sortedKeys(all), func(name string) bool {
		was, had := told[name]
		is, has := began[name]
		return was == is && had == has
	})
}

// againWords go on after the name of the run that this one does once more.
func (v View) againWords() string {
	if len(v.Otherwise) == 0 {
		return " once more, with the same properties."
	}
	return " once more, with other properties: " + strings.Join(v.Otherwise, ", ") + "."
}

// canSet reports a run whose properties can be changed.
func (v View) canSet() bool {
	return v.Run.Kind == engine.RunWorkflow && v.Run.Open() && PropertiesForm{View: v}.Some()
}
