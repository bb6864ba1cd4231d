package draft

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"dogear/engine"
)

// JobFields lists what differs between two bodies of a job, each field by the
// way to it in words: "Source sales path". A connection is said by its name, where
// names has it.
func JobFields(from, to engine.JobBody, names Names) []Field { return fieldsOf(from, to, names) }

// CrawlerFields is JobFields for a crawler.
func CrawlerFields(from, to engine.CrawlerBody, names Names) []Field {
	return fieldsOf(from, to, names)
}

func fieldsOf(from, to any, connections Names) []Field {
	before, after := flat(from, connections), flat(to, connections)
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	var fields []Field
	for _, name := range slices.Compact(names) {
		was, had := before[name]
		is, has := after[name]
		// A part that comes or goes brings and takes what goes without saying.
		if was.text == is.text || !had && is.unsaid || !has && was.unsaid {
			continue
		}
		fields = append(fields, Field{Name: name, From: was.text, To: is.text})
	}
	return fields
}

// value is one value of a body in words.
type value struct {
	text   string
	unsaid bool // it is what holds where the field is empty
}

// flat is a body as its single values, with those that it leaves empty. It goes by the
// body's JSON, so that a field that is added to a body is compared from the first day.
func flat(body any, connections Names) map[string]value {
	var tree any
	text, err := json.Marshal(body)
	if err == nil {
		err = json.Unmarshal(text, &tree)
	}
	if err != nil {
		return nil // bodies always encode
	}
	values := map[string]value{}
	walk(tree, "", nil, connections, values)
	return values
}

// walk writes down the values of tree, which is part of a body and stands at the end
// of way.
func walk(tree any, part string, way []string, connections Names, into map[string]value) {
	switch node := tree.(type) {
	case map[string]any:
		full := spelled(part, node)
		for key, child := range full {
			at := append(slices.Clip(way), key)
			walk(child, key, at, connections, into)
			if v, single := into[label(at)]; single && reflect.DeepEqual(child, unsaid[part][key]) {
				v.unsaid = true
				into[label(at)] = v
			}
		}
	case []any:
		var plain []string
		for i, child := range node {
			if named, ok := child.(map[string]any); ok {
				walk(child, part, append(slices.Clip(way), called(named, i)), connections, into)
			} else {
				plain = append(plain, fmt.Sprint(child))
			}
		}
		if len(plain) > 0 {
			into[label(way)] = value{text: strings.Join(plain, ", ")}
		}
	case string:
		if len(way) > 0 && way[len(way)-1] == "connection" {
			node = connections.connection(engine.ID(node))
		}
		into[label(way)] = value{text: node}
	case float64:
		into[label(way)] = value{text: strconv.FormatFloat(node, 'f', -1, 64)}
	case bool:
		into[label(way)] = value{text: yesNo(node)}
	}
}

// called is the name of a part of a list, or its place in it.
func called(part map[string]any, i int) string {
	if name, ok := part["name"].(string); ok && name != "" {
		return name
	}
	return strconv.Itoa(i + 1)
}

// words are the keys of bodies that people know by another word.
var words = map[string]string{
	"sources": "source", "steps": "step", "sinks": "target", "targets": "target", "sql": "SQL",
	"ctx": "bookmark", "memory_mb": "memory, MB", "spill_mb": "spill, MB", "timeout": "timeout, min", "max_runs": "runs at once",
}

func label(way []string) string {
	if len(way) > 1 && way[0] == "sql" {
		way = way[1:] // the kind of the job, not a field
	}
	said := make([]string, len(way))
	for i, key := range way {
		said[i] = strings.ReplaceAll(key, "_", " ")
		if word, ok := words[key]; ok {
			said[i] = word
		}
	}
	return capital(strings.Join(said, " "))
}
