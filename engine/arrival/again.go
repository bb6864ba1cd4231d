package arrival

import (
	"maps"

	"dogear/engine"
)

// Again are the properties of a run that does the work of an earlier one once more: what
// that one was told, with changed laid over it. What events told it stays, for the work
// is that of the same events; who changes that is refused as Invalid.
func Again(told, changed map[string]string) (map[string]string, error) {
	for name := range changed {
		if Tells(name) {
			return nil, engine.Errorf(engine.Invalid, "Only events that start a run set its property %s. A run that is run again is told of the same events; leave it out.", name)
		}
	}
	if err := engine.CheckGiven(changed); err != nil {
		return nil, err
	}
	given := maps.Clone(told)
	if given == nil {
		given = map[string]string{}
	}
	maps.Copy(given, changed)
	return given, nil
}
