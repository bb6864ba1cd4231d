package run

import (
	"cmp"
	"slices"
	"strconv"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/engine/flow"
	"dogear/engine/graph"
	"dogear/views/form"
	"dogear/views/show"
)

// Resume is the form on which somebody says how a run goes on.
type Resume struct {
	View   View
	Do     map[engine.Ref]Deed
	Newest bool
	Body   engine.WorkflowBody // of the new run
	Names  draft.Names         // of jobs and crawlers as they are called now
	Why    string
	Typed  map[string]string // properties, over those of the earlier run
	Wrong  string            // why it cannot go on like this
}

// properties is the form of the properties of the new run.
func (r Resume) properties() PropertiesForm { return PropertiesForm{View: r.View, Typed: r.Typed} }

// does says what the new run does, of what this run has.
func (r Resume) does() string {
	begins := "A new run begins"
	if r.properties().Some() {
		begins += " with the properties of this one, or with what you write over them"
	}
	return begins + ". What is kept counts as it ended and is not done again; what waits for a node that is done again follows by the triggers. Bookmarks stay as they are. Jobs and crawlers run as they are published now."
}

// marks reports whether a node is marked as the form stands, so that a reason has its
// use; one that was written before stays to be seen.
func (r Resume) marks() bool {
	_, marks := r.Split()
	return len(marks) > 0 || r.Why != ""
}

// Deed is what becomes of a node of a run that goes on.
type Deed string

// The deeds.
const (
	Keep          Deed = "keep"  // it is copied as it ended, or follows by the triggers
	Again         Deed = "again" // it is done again
	MarkSucceeded Deed = "succeeded"
	MarkFailed    Deed = "failed"
)

// follow is the word of Keep for a node that the triggers take along.
const follow = "Follow the triggers"

var deeds = []form.Choice{
	{string(Keep), "Keep as it ended"},
	{string(Again), "Do again"},
	{string(MarkSucceeded), "Mark succeeded"},
	{string(MarkFailed), "Mark failed"},
}

// IsDeed reports whether text is one of the deeds.
func IsDeed(text string) bool {
	return slices.ContainsFunc(deeds, func(c form.Choice) bool { return c.Value() == text })
}

// NewResume is the form before anything was chosen: what failed is done again.
// Of the node card, where it is one, deed is chosen instead.
func NewResume(v View, card, deed string) Resume {
	r := Resume{View: v, Do: map[engine.Ref]Deed{}, Body: v.Run.Body}
	for _, ref := range flow.Unfinished(v.Nodes) {
		r.Do[ref] = Again
	}
	for _, ref := range r.Nodes() {
		if _, ok := r.Do[ref]; !ok {
			r.Do[ref] = Keep
		}
		if ref.String() == card && IsDeed(deed) {
			r.Do[ref] = Deed(deed)
		}
	}
	return r
}

// redo is what the new run would do again if it began as the form stands.
func (r Resume) redo() *flow.Redo {
	again := flow.Again{Nodes: r.View.Nodes, Fired: map[engine.ID]engine.TriggerRun{}}
	for _, t := range r.View.Triggers {
		again.Fired[t.Trigger] = t
	}
	again.Start, again.Marks = r.Split()
	return flow.NewRedo(graph.New(&r.Body), again)
}

// deeds are what can be chosen for n. Of what follows from the others nothing is
// said to be kept.
func (r Resume) deeds(redo *flow.Redo, n engine.NodeRun) []form.Choice {
	if r.Do[n.Ref] != Keep || redo.Keeps(&n) {
		return deeds
	}
	list := slices.Clone(deeds)
	list[0] = form.Choice{string(Keep), follow}
	return list
}

// follows are the words on what becomes of n beyond what is chosen for it, by the
// triggers; "" where nothing does.
func (r Resume) follows(redo *flow.Redo, n engine.NodeRun) string {
	begins := len(redo.Begins(n.Ref))
	kept := slices.ContainsFunc(r.View.Nodes, func(other engine.NodeRun) bool { return other.Ref == n.Ref && redo.Keeps(&other) })
	switch {
	case r.Do[n.Ref] == Again && begins == 0:
		return "when its trigger fires"
	case r.Do[n.Ref] == Again && kept:
		return "but for its starts that succeeded"
	case r.Do[n.Ref] == Again && begins > 1:
		return "each of its " + strconv.Itoa(begins) + " starts"
	case !redo.Follows(n.Ref):
		return ""
	case r.Do[n.Ref] == Keep && !redo.Keeps(&n):
		return "done again when its trigger fires, else skipped"
	default:
		return "and once more when another trigger fires"
	}
}

// fresh are the names of the nodes that had no turn in the earlier run and may
// have one in the new one.
func (r Resume) fresh(redo *flow.Redo) []string {
	var names []string
	for _, ref := range r.Body.Refs() {
		if n, ok := r.View.newest(ref); (!ok || !had(n)) && redo.Follows(ref) {
			names = append(names, cmp.Or(n.Name, r.Names.Of(ref)))
		}
	}
	return names
}

// idle are the names of the nodes that the workflow has got since the earlier run and
// that have no turn in the new one: nothing that is done again leads to them.
func (r Resume) idle(redo *flow.Redo) []string {
	was := r.View.Refs()
	var names []string
	for _, ref := range r.Body.Refs() {
		if !slices.Contains(was, ref) && !redo.Follows(ref) {
			names = append(names, r.Names.Of(ref))
		}
	}
	return names
}

// nodes are those that had their turn, in the order of the graph, each as it ended.
func (r Resume) nodes() []engine.NodeRun {
	var list []engine.NodeRun
	for _, ref := range r.View.Refs() {
		if n, ok := r.View.newest(ref); ok && had(n) {
			list = append(list, n)
		}
	}
	return list
}

// had reports whether a node had its turn.
func had(n engine.NodeRun) bool { return n.As() != engine.Skipped }

// Nodes are those that can be done again or marked.
func (r Resume) Nodes() []engine.Ref {
	var refs []engine.Ref
	for _, n := range r.nodes() {
		refs = append(refs, n.Ref)
	}
	return refs
}

// Split sorts the nodes by what becomes of them.
func (r Resume) Split() (again []engine.Ref, marks map[engine.Ref]engine.State) {
	marks = map[engine.Ref]engine.State{}
	for _, ref := range r.Nodes() {
		switch r.Do[ref] {
		case Again:
			again = append(again, ref)
		case MarkSucceeded:
			marks[ref] = engine.Succeeded
		case MarkFailed:
			marks[ref] = engine.Failed
		case Keep:
		}
	}
	return again, marks
}

func (r Resume) definitions() []form.Choice {
	return []form.Choice{{"", "drawn as it was when the run began, v" + strconv.Itoa(r.View.Run.Version)}, {"newest", "drawn as it is published now"}}
}

func (r Resume) definition() string {
	if r.Newest {
		return "newest"
	}
	return ""
}

// canResume reports a run of a workflow that has ended.
func (v View) canResume() bool { return v.Run.Kind == engine.RunWorkflow && !v.Run.Open() }

// fell reports a run that did not succeed, so that going on is the next thing
// to do.
func (v View) fell() bool { return v.Run.Outcome != engine.RunSucceeded }

// runAlone is the address at which the node's job or crawler is started alone,
// and the fields with the properties of this run.
func (n Node) runAlone() string { return n.objectHref() + "/run" }

func (n Node) properties() map[string]string {
	fields := map[string]string{}
	for name, value := range n.View.Run.Properties {
		if !reserved(name) { // those are of the run that events started
			fields["property."+name] = value
		}
	}
	return fields
}

// resumeHref is the address of the form with deed chosen for the node.
func (n Node) resumeHref(deed Deed) string {
	return n.View.Href() + "/resume?node=" + n.Ref.String() + "&do=" + string(deed)
}

// Remark is what a list says of a run beside its outcome.
func Remark(r engine.Run) string {
	switch {
	case r.Error != "":
		return r.Error
	case len(r.Skips) > 0:
		return skippedWords(r)
	case r.Previous != "":
		return "resumes run " + show.Short(r.Previous)
	case r.Repeats != "":
		return "run " + show.Short(r.Repeats) + " once more"
	case r.Pick != nil:
		return "reads again: " + r.Pick.Words()
	}
	return ""
}
