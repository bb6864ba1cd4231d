package canvas

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/draft"
	"dogear/engine/schedule"
	"dogear/views/show"
)

// TriggerIcon is the picture of a type of trigger.
func TriggerIcon(kind engine.TriggerType) string {
	switch kind {
	case engine.OnDemand:
		return "mouse-pointer-click"
	case engine.Scheduled:
		return "calendar-clock"
	case engine.OnEvent:
		return "zap"
	default:
		return "git-merge"
	}
}

// Fires says when a schedule fires, in words.
func Fires(t *engine.Trigger) string {
	return schedule.Words(t.Schedule) + " " + cmp.Or(t.Zone, "UTC")
}

// OffInDraft is the second line of a trigger's card that is off in the draft alone.
const OffInDraft = "Off in the draft"

// StillFires says what such a trigger does until the draft is published.
func StillFires(version int) string {
	return "Version " + strconv.Itoa(version) + " still fires until you publish, or turn it off now."
}

// TriggerSub is the second line of a trigger's card.
func TriggerSub(t *engine.Trigger) string {
	switch {
	case t.Disabled && t.Type != engine.OnDemand:
		return "Off"
	case t.Type == engine.OnDemand:
		return "On demand"
	case t.Type == engine.Scheduled:
		return Fires(t)
	case t.Type == engine.OnEvent:
		return arrival.Words(t.Event)
	}
	n := len(t.Predicate.Conditions)
	switch {
	case n == 0:
		return "Waits for nothing yet"
	case n == 1:
		return "Starts nothing yet"
	case t.Predicate.Logic == engine.Any:
		return fmt.Sprintf("Any of %d", n)
	default:
		return fmt.Sprintf("All of %d", n)
	}
}

// OnState is a condition's state as the word on a pill.
func OnState(state engine.State) string {
	switch state {
	case engine.Succeeded:
		return "on success"
	case engine.Failed:
		return "on failure"
	case engine.TimedOut:
		return "on time-out"
	case engine.Stopped:
		return "on stop"
	default:
		return "on any end"
	}
}

// watchWord is the word on an edge to a gate: none for success, which is what
// people expect.
func watchWord(state engine.State) string {
	if state == engine.Succeeded {
		return ""
	}
	return OnState(state)
}

// conditions are the states that a condition may wait for, as the menu shows
// them.
var conditions = [...]engine.State{engine.Succeeded, engine.Failed, engine.TimedOut, engine.Stopped, engine.EndedAny}

// mostNamed is how many nodes a sentence names.
const mostNamed = 8

// some names the first of what stands in list, and how many there are more.
func some(list string) string {
	names := strings.Split(list, ", ")
	if len(names) <= mostNamed {
		return list
	}
	return strings.Join(names[:mostNamed], ", ") + " and " + show.Count(int64(len(names)-mostNamed)) + " more"
}

func (d *drawing) nodeWaits(ref engine.Ref) string {
	var words []string
	for _, id := range d.graph.Starters(ref) {
		t := d.graph.Trigger(id)
		if t.Type != engine.Conditional {
			words = append(words, t.Name)
			continue
		}
		words = append(words, draft.WaitsFor(t, d.names))
	}
	return strings.Join(words, ", or ")
}

func (d *drawing) nodeStarts(ref engine.Ref) string {
	var words []string
	for _, w := range d.graph.Watchers(ref) {
		if t := d.graph.Trigger(w.Trigger); len(t.Actions) > 0 {
			words = append(words, some(draft.Starts(t, d.names))+" "+OnState(w.Condition.State))
		}
	}
	return strings.Join(words, ", ")
}

// kindWord says what a card is.
func kindWord(kind string) string {
	switch kind {
	case string(engine.OnDemand):
		return "Trigger, on demand"
	case string(engine.Scheduled):
		return "Trigger, by schedule"
	case string(engine.OnEvent):
		return "Trigger, by events"
	case string(engine.Conditional):
		return "Condition"
	case string(engine.KindCrawler):
		return "Crawler"
	default:
		return "Job"
	}
}

// aside is what a screen reader hears after a card's visible text.
func (c *Card) aside() string {
	words := kindWord(c.Kind)
	if c.State != "" {
		words += ", " + c.sign().Word
	}
	if c.Problem != "" {
		words += ", problem: " + c.Problem
	} else if c.Warning != "" {
		words += ", warning: " + c.Warning
	}
	return ", " + words + ", " + strconv.Itoa(c.Before) + " before, " + strconv.Itoa(c.After) + " after"
}

// hue is the colour of the card's state.
func (c *Card) hue() string {
	if c.State == "" {
		return ""
	}
	return c.sign().Hue
}

// sign is how the card's state looks.
func (c *Card) sign() show.Sign {
	switch {
	case c.Marked:
		return show.Marked(show.OfState(c.State))
	case c.ToSkip:
		return show.ToSkip()
	case c.ByHand:
		return show.ByHand()
	}
	return c.plain()
}

// plain is how the state looks of a card of which nothing more is to be said.
func (c *Card) plain() show.Sign {
	if c.Shape != "node" {
		return show.OfTrigger(c.State)
	}
	return show.OfState(c.State)
}

// footIcon is the picture at the left of the foot.
func (c *Card) footIcon() string {
	switch {
	case c.State != "":
		return c.sign().Icon
	case c.Kind == string(engine.KindCrawler):
		return "layers"
	default:
		return "bookmark"
	}
}

// place is the style that puts a card where it stands, and says how far its bar is.
func (c *Card) place() string {
	at := "transform:translate(" + strconv.Itoa(c.At.X) + "px," + strconv.Itoa(c.At.Y) + "px)"
	if c.Percent > 0 {
		at += ";--done:" + strconv.FormatFloat(c.Percent, 'f', 1, 64) + "%"
	}
	return at
}

func (e *Edge) place() string {
	return "transform:translate(" + strconv.Itoa(e.Middle.X) + "px," + strconv.Itoa(e.Middle.Y) + "px) translate(-50%,-50%)"
}

// sign is a state's look, as the browser's module reads it.
type sign struct {
	Icon string `json:"icon"`
	Word string `json:"word"`
	Hue  string `json:"hue"`
}

func signOf(look show.Sign) sign { return sign{Icon: look.Icon, Word: look.Word, Hue: look.Hue} }

// handSign is the look of the trigger whose run a person has started instead of it.
type handSign struct {
	Card engine.ID `json:"card"`
	sign
}

// data is what the browser's module is told beyond what it can see.
type data struct {
	Mode     Mode                    `json:"mode"`
	Workflow engine.ID               `json:"workflow"`
	Run      engine.ID               `json:"run,omitempty"`
	Seq      int64                   `json:"seq"`
	Base     string                  `json:"base"`
	Panel    string                  `json:"panel"`
	Body     *engine.WorkflowBody    `json:"body,omitempty"`
	Infos    Infos                   `json:"infos"`
	History  *draft.History          `json:"history,omitempty"`
	Signs    map[engine.State]sign   `json:"signs,omitempty"`
	Words    map[engine.State]string `json:"words"`
	ToSkip   *sign                   `json:"toSkip,omitempty"` // of a node that waits to be skipped
	ByHand   *handSign               `json:"byHand,omitempty"`
	Packed   *packedGraph            `json:"packed,omitempty"`
}

func (v *View) data() data {
	d := data{
		Mode: v.Mode, Workflow: v.Workflow, Run: v.Run, Seq: v.Seq, Base: v.Base, Panel: v.Panel, Body: v.Body, Infos: v.Infos,
		Words: map[engine.State]string{},
	}
	for _, s := range conditions {
		d.Words[s] = OnState(s)
	}
	if v.Mode == Edit {
		d.History = &v.History
		return d
	}
	if v.packed() {
		d.Infos, d.Packed = Infos{}, v.pack() // the cards hold them
	}
	d.ToSkip = new(signOf(show.ToSkip()))
	if v.ByHand != "" {
		d.ByHand = &handSign{v.ByHand, signOf(show.ByHand())}
	}
	d.Signs = map[engine.State]sign{}
	for _, s := range [...]engine.State{
		engine.Waiting, engine.Ready, engine.Starting, engine.Running, engine.Publishing, engine.Stopping,
		engine.Succeeded, engine.Failed, engine.TimedOut, engine.Stopped, engine.Skipped, engine.Lost,
	} {
		d.Signs[s] = signOf(show.OfState(s))
	}
	return d
}
