package page_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dogear/engine"
)

// script makes a script job through the browser's form.
func (s *site) script(t *testing.T) engine.ID {
	t.Helper()
	status, _ := s.change(t, "/jobs", url.Values{"name": {"tidy"}, "kind": {"python"}})
	drafts, err := s.store.JobDrafts(t.Context())
	must(t, err)
	for _, d := range drafts {
		if d.Name == "tidy" && d.Body.Kind == engine.JobPython {
			return d.ID
		}
	}
	t.Fatalf("POST /jobs = %d and made no script job", status)
	return ""
}

// block makes a job or crawler as the palette does, and returns its card.
func (s *site) block(t *testing.T, kind string) (card string) {
	t.Helper()
	_, body := s.get(t, "/workflows")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL+"/api/ui"+s.at("/blocks"), strings.NewReader(`{"kind":"`+kind+`"}`))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-CSRF-Token", value(t, body, "_csrf"))
	response, err := s.client.Do(request)
	must(t, err)
	defer response.Body.Close()
	var made struct {
		Card string `json:"card"`
		Info struct{ Sub, Icon string }
	}
	must(t, json.NewDecoder(response.Body).Decode(&made))
	if made.Info.Sub != "Python script" || made.Info.Icon != "terminal" {
		t.Errorf("the card says %+v, want that it is a script", made.Info)
	}
	return made.Card
}

func TestAScriptJobIsMadeAndSaved(t *testing.T) {
	t.Parallel()
	site := serve(t)
	id := site.script(t)
	at := "/jobs/" + string(id)
	_, form := site.get(t, at)
	for _, want := range []string{"Script in Python", "editor-python.js", "A script has no bookmark yet", "Time to stop, seconds"} {
		if !strings.Contains(form, want) {
			t.Errorf("the form lacks %q", want)
		}
	}
	values := url.Values{
		"name": {"tidy"}, "base": {value(t, form, "base")}, "script.body": {"print('</textarea>')\r\n"}, "arguments": {"Day=a=b\r\nEmpty=\r\n"},
		"script.grace": {"3"}, "memory_mb": {"256"}, "timeout": {"5"}, "then": {"publish"},
	}

	status, _ := site.change(t, at, values)

	saved, err := site.store.Job(t.Context(), id)
	must(t, err)
	if status != http.StatusOK || saved.Version != 1 || saved.Script.Body != "print('</textarea>')\n" || saved.Script.Grace != 3 || saved.MemoryMB != 256 {
		t.Errorf("POST = %d, saved %+v", status, saved.Script)
	}
	if saved.Arguments["Day"] != "a=b" || len(saved.Arguments) != 2 || saved.Bookmark != engine.BookmarkOff {
		t.Errorf("arguments %v, bookmark %s", saved.Arguments, saved.Bookmark)
	}
	if _, again := site.get(t, at); !strings.Contains(again, "&lt;/textarea&gt;") {
		t.Error("the script is not escaped")
	}
}

func TestAScriptFormWithAMistakeKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	site := serve(t)
	id := site.script(t)

	status, body := site.change(t, "/jobs/"+string(id), url.Values{
		"name": {"tidy"}, "script.body": {" \n"}, "arguments": {"no equals sign"}, "script.grace": {"9999"}, "memory_mb": {"8"},
	})

	if status != http.StatusUnprocessableEntity {
		t.Fatalf("POST = %d, want 422", status)
	}
	for _, want := range []string{"no equals sign</textarea>", "Write each argument as Name=value", "Write the script, or give the address", "from 0 to 600", "At least 64 MB"} {
		if !strings.Contains(body, want) {
			t.Errorf("the form lacks %q", want)
		}
	}
}

func TestTheShortFormOfAScriptKeepsTheRestOfIt(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	made := s.block(t, "python")
	ref, err := engine.ParseRef(made)
	must(t, err)
	draft, err := s.store.JobDraft(t.Context(), ref.ID)
	must(t, err)
	draft.Body.RetryDelay, draft.Body.Priority, draft.Body.Script.Grace = 7, 5, 33
	_, err = s.store.SaveJobDraft(t.Context(), ref.ID, draft.Body, draft.Seq, "owner", time.Now())
	must(t, err)
	_, panel := s.get(t, s.at("/cards/"+made))
	form := url.Values{"script.body": {"print(2)"}, "arguments": {"A=1"}, "retries": {"2"}}
	for _, name := range []string{"name", "base", "memory_mb", "retry_delay", "priority", "script.grace", "timeout"} {
		form.Set(name, value(t, panel, name))
	}

	status, answer := s.change(t, s.at("/cards/"+made), form)

	saved, err := s.store.JobDraft(t.Context(), ref.ID)
	must(t, err)
	if b := saved.Body; status != 200 || !strings.Contains(answer, "Saved in the draft") || b.Script.Body != "print(2)" || b.Retries != 2 || b.RetryDelay != 7 || b.Priority != 5 || b.Script.Grace != 33 {
		t.Errorf("POST = %d, saved %+v with %+v", status, b, b.Script)
	}
}

// TestThePanelOfAScriptShowsWhatScriptsHave: an exit code and a process, and no
// files, rows, inputs or outputs, before it begins and after its end.
func TestThePanelOfAScriptShowsWhatScriptsHave(t *testing.T) {
	t.Parallel()
	s, _ := steered(t, func(r *engine.Run) { r.Properties = map[string]string{"Day": "1", "aws:eventIds": "[]"} })
	id, err := s.store.CreateJob(t.Context(), "tidy", engine.JobBody{Kind: engine.JobPython, Bookmark: engine.BookmarkOff, Script: &engine.ScriptJob{Body: "x"}}, "owner", noon)
	must(t, err)
	_, err = s.store.PublishJob(t.Context(), id, "owner", noon)
	must(t, err)
	sql := s.nodes[0].Ref
	s.nodes[0].Ref, s.nodes[0].Counts, s.nodes[0].State, s.nodes[0].Started = engine.Ref{Kind: engine.KindJob, ID: id}, engine.Counts{}, engine.Ready, time.Time{}
	at := "/runs/" + string(runID) + "/nodes/" + s.nodes[0].Ref.String()

	_, queued := s.get(t, at)
	_, asked := s.get(t, at+"?tab=inputs")
	exit := 3
	s.nodes[0].State, s.nodes[0].Ended, s.nodes[0].Counts.Exit, s.nodes[0].Process.PID = engine.Failed, noon, &exit, 4711
	_, ended := s.get(t, at)
	s.nodes[0].Ref = sql
	_, other := s.get(t, s.node())

	contains(t, "the panel of a script that waits", queued, "<dd>none yet</dd>")
	contains(t, "the panel of one that has ended", ended, "<dt>Exit code</dt><dd>3</dd>", "<dt>Held by process</dt><dd>4711</dd>", ">Bookmark</a>")
	contains(t, "the panel of a script, asked for its inputs", asked, `id="tab-log" aria-selected="true"`)
	contains(t, "the panel of an SQL job", other, ">Inputs</a>", ">Outputs</a>", "<dt>Rows in</dt>")
	for _, panel := range []string{queued, asked, ended} {
		for _, gone := range []string{"Rows in", "<dt>Files", "<dt>Written", ">Inputs</a>", ">Outputs</a>", "property.aws:"} {
			if strings.Contains(panel, gone) {
				t.Errorf("the panel of a script says %q", gone)
			}
		}
	}
	if strings.Contains(queued, "<dt>Process") {
		t.Error("a script that waits shows a process")
	}
}
