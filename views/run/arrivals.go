package run

import (
	"fmt"
	"strings"

	"dogear/views/show"
)

// arrivals names the events that started the run, the first few of many.
func (v View) arrivals() string {
	const most = 3
	var names []string
	for i := range v.Events {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(v.Events)-most))
			break
		}
		names = append(names, show.Event(&v.Events[i]))
	}
	return show.Many(int64(len(v.Events)), "event") + ": " + strings.Join(names, ", ")
}
