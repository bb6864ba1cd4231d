package page_test

import (
	"maps"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/draft"
)

// arrivals draws an event trigger for files and publishes nothing.
func (s *site) arrivals(t *testing.T) (card string) {
	t.Helper()
	job, _ := s.cards()
	status, answer := s.patch(t, 0,
		draft.Op{Kind: draft.AddTrigger, New: &engine.Trigger{ID: daily, Type: engine.OnEvent, Event: engine.EventRule{Source: engine.EventFiles, Size: 1}}},
		draft.Op{Kind: draft.AddNode, Card: job},
		draft.Op{Kind: draft.Connect, Card: string(daily), To: job},
	)
	if status != 200 {
		t.Fatalf("PATCH = %d %v", status, answer)
	}
	return s.at("/cards/" + string(daily))
}

var eventNames = []string{"source", "size", "window", "path", "connection", "queue", "every", "settle"}

// eventForm is the form of panel with some fields typed anew.
func eventForm(t *testing.T, panel string, typed url.Values) url.Values {
	t.Helper()
	form := url.Values{"name": {"Event"}, "seen.name": {"Event"}, "enabled": {"yes"}}
	for _, name := range eventNames {
		seen := value(t, panel, "seen.event."+name)
		form.Set("seen.event."+name, seen)
		form.Set("event."+name, seen)
	}
	maps.Copy(form, typed)
	return form
}

func (s *site) rule(t *testing.T) engine.EventRule {
	t.Helper()
	d, err := s.store.Draft(t.Context(), s.workflow)
	must(t, err)
	return d.Body.Trigger(daily).Event
}

func TestTheFormOfAnEventTriggerSavesWhatWasTypedAndSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := edit(t)
	card := s.arrivals(t)
	_, panel := s.get(t, card)
	before := s.rule(t)

	wrong, refused := s.change(t, card, eventForm(t, panel, url.Values{"event.size": {"101"}, "event.every": {"soon"}, "event.path": {"in/*.csv"}}))
	kept := s.rule(t)
	right, saved := s.change(t, card, eventForm(t, refused, url.Values{"event.size": {"10"}, "event.window": {"60"}, "event.path": {"in/*.csv"}}))

	if wrong != 422 || kept != before {
		t.Errorf("a wrong form = %d and saved %+v, want 422 and nothing", wrong, kept)
	}
	contains(t, "the refused form", refused, "A batch has 1 to 100 events.", "Write a whole number.", `value="in/*.csv"`)
	want := engine.EventRule{Source: engine.EventFiles, Size: 10, Window: 60, Path: "in/*.csv"}
	if right != 200 || s.rule(t) != want {
		t.Errorf("a right form = %d and saved %+v, want 200 and %+v", right, s.rule(t), want)
	}
	contains(t, "the saved form", saved, "A run starts for 10 files, or 1 min after the first of fewer.", "once the workflow is published", "10 files, or 1 min")
}

// TestTwoWhoEditDifferentFieldsOfARuleKeepBoth, and a field that somebody else
// has changed is not overwritten unseen.
func TestTwoWhoEditDifferentFieldsOfARuleKeepBoth(t *testing.T) {
	t.Parallel()
	s := edit(t)
	card := s.arrivals(t)
	_, panel := s.get(t, card)

	first, _ := s.change(t, card, eventForm(t, panel, url.Values{"event.path": {"in/*.csv"}}))
	second, _ := s.change(t, card, eventForm(t, panel, url.Values{"event.size": {"7"}}))
	third, told := s.change(t, card, eventForm(t, panel, url.Values{"event.path": {"elsewhere"}}))

	if first != 200 || second != 200 || third != 409 {
		t.Errorf("got %d, %d, %d, want both saved and the third told", first, second, third)
	}
	contains(t, "the third", told, "changed meanwhile")
	if got := s.rule(t); got.Path != "in/*.csv" || got.Size != 7 {
		t.Errorf("rule = %+v, want what the first two typed", got)
	}
}

func TestASecretIsShownOnceAndNowhereElse(t *testing.T) {
	t.Parallel()
	s := edit(t)
	card := s.arrivals(t)
	_, panel := s.get(t, card)
	_, panel = s.change(t, card, eventForm(t, panel, url.Values{"event.source": {"calls"}}))
	contains(t, "before", panel, "no call is taken", "https://dogear.example/hooks/"+string(daily))

	status, made := s.change(t, card+"/secret", url.Values{})
	_, again := s.get(t, card)

	secret := regexp.MustCompile(`whsec_[A-Za-z0-9+/=]{20,}`).FindString(made)
	kept, err := s.store.Secret(t.Context(), daily)
	must(t, err)
	if status != 200 || secret == "" || secret != kept {
		t.Errorf("making a secret = %d and shows %q, want the one that is kept", status, secret)
	}
	if strings.Contains(again, secret) {
		t.Error("the secret is shown a second time")
	}
	contains(t, "afterwards", again, "Make a new secret")
	other, _ := s.change(t, s.at("/cards/"+strings.Replace(string(daily), "1", "2", 1)+"/secret"), url.Values{})
	if other != 404 {
		t.Errorf("a secret for a card that is not there = %d, want 404", other)
	}
}

func TestWhatCameIsShownEscapedAndCanBeDiscarded(t *testing.T) {
	t.Parallel()
	s := edit(t)
	card := s.arrivals(t)
	_, panel := s.get(t, card)
	s.change(t, card, eventForm(t, panel, url.Values{"event.path": {"in"}, "event.size": {"5"}}))
	d, err := s.store.Draft(t.Context(), s.workflow)
	must(t, err)
	_, err = world{s.store, s}.Publish(t.Context(), s.workflow, d.Seq, nil, "owner")
	must(t, err)
	for id, detail := range map[string]string{"e1": `{"path": "in/` + "<script>alert(1)</script>" + `.csv"}`, "e2": ""} {
		_, err := s.store.AddEvent(t.Context(), engine.TriggerEvent{Trigger: daily, ID: id, At: noon, Detail: detail})
		must(t, err)
	}

	_, events := s.get(t, card+"/events")
	status, discarded := s.change(t, card+"/discard", url.Values{})

	contains(t, "the events", events, "2 of 5 waiting.", "event e2", "waits", "28 Nov 12:15")
	if strings.Contains(events, "<script>alert") {
		t.Error("the panel holds a file's name as markup")
	}
	if status != 200 {
		t.Errorf("discarding = %d, want 200", status)
	}
	contains(t, "afterwards", discarded, "discarded by owner", "no run")
}
