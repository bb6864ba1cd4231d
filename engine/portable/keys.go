package portable

import (
	"reflect"
	"slices"
	"strings"

	"dogear/engine"
)

// unknown says that a part of a document has no such key, and which it has. Part
// is the name of its type here.
func unknown(key, part string) string {
	name := strings.ToLower(part)
	article := "a "
	if strings.ContainsRune("aeio", rune(name[0])) {
		article = "an "
	}
	text := "the key " + key + " is not known in " + article + name
	keys := keysOf(reflect.TypeFor[Document](), part)
	if near := engine.Near(key, keys); len(near) > 0 {
		return text + " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	if len(keys) > 0 {
		return text + " (its keys are " + engine.Listed(keys) + ")"
	}
	return text
}

// keysOf are the keys of the struct of that name in or below t, in their order.
func keysOf(t reflect.Type, part string) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	if t.Name() == part {
		return keys(t)
	}
	for field := range t.Fields() {
		if found := keysOf(field.Type, part); found != nil {
			return found
		}
	}
	return nil
}

func keys(t reflect.Type) []string {
	var names []string
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if slices.Contains(strings.Split(options, ","), "inline") {
			names = append(names, keys(field.Type)...)
		} else if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}
