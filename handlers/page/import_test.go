package page_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"dogear/engine"
)

// upload posts a file as the import form of the workflows page does.
func (s *site) upload(t *testing.T, text string) (*http.Response, string) {
	t.Helper()
	return s.sendFile(t, "/workflows/import", text, "")
}

// sendFile posts a file to a path, with the sum of what was shown of it before.
func (s *site) sendFile(t *testing.T, path, text, seen string) (*http.Response, string) {
	t.Helper()
	_, page := s.get(t, "/workflows")
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	must(t, form.WriteField("_csrf", value(t, page, "_csrf")))
	must(t, form.WriteField("seen", seen))
	file, err := form.CreateFormFile("file", "workflow.yaml")
	must(t, err)
	_, err = io.WriteString(file, text)
	must(t, err)
	must(t, form.Close())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL+path, &body)
	must(t, err)
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("HX-Request", "true")
	response, err := s.client.Do(request)
	must(t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	must(t, err)
	return response, string(answer)
}

func TestAnUploadedWorkflowIsMadeAndExportedAgain(t *testing.T) {
	t.Parallel()
	site := serve(t)

	response, _ := site.upload(t, "dogear: 1\nworkflow:\n  name: uploaded\n")
	made, err := site.store.WorkflowNamed(t.Context(), "uploaded")
	must(t, err)
	status, text := site.get(t, "/workflows/"+string(made.ID)+"/export")

	if got, want := response.Header.Get("HX-Redirect"), "/workflows/"+string(made.ID); response.StatusCode != http.StatusOK || got != want {
		t.Errorf("got %d to %q, want 200 to %q", response.StatusCode, got, want)
	}
	if made.Version != 1 {
		t.Errorf("got version %d, want 1", made.Version)
	}
	if status != http.StatusOK || text != "dogear: 1\nworkflow:\n  name: uploaded\n" {
		t.Errorf("export = %d %q, want the text that came in", status, text)
	}
}

func TestAWrongFileIsRefusedNextToTheField(t *testing.T) {
	t.Parallel()
	site := serve(t)

	response, body := site.upload(t, "dogear: 1\nworkflow:\n  name: bad\n  <script>: 1\n")

	if response.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, `id="import-preview"`) || !strings.Contains(body, "line 4: the key &lt;script&gt; is not known in a workflow") {
		t.Errorf("got %d %s\nwant 422 with the line below the field", response.StatusCode, body)
	}
	if _, err := site.store.WorkflowNamed(t.Context(), "bad"); engine.CodeOf(err) != engine.NotFound {
		t.Errorf("got %v, want no workflow", err)
	}
}

// TestAFileIsShownBeforeItIsImported: what would be made, changed and left as it is,
// and nothing is written; what is then imported is what was shown.
func TestAFileIsShownBeforeItIsImported(t *testing.T) {
	t.Parallel()
	site := serve(t)
	text := `dogear: 1
workflow:
  name: shown
  triggers:
    - {name: by hand, type: on_demand, start: [{job: "fresh <script>alert"}, {crawler: curated-crawler}]}
jobs:
  - {name: "fresh <script>alert", kind: python, bookmark: off, script: {body: pass}}
`
	preview := "/workflows/import/preview"

	status, first := site.sendFile(t, preview, text, "")
	seen := value(t, first, "seen")
	_, absent := site.store.WorkflowNamed(t.Context(), "shown")
	made, _ := site.sendFile(t, "/workflows/import", text, seen)
	_, same := site.sendFile(t, preview, text, "")
	changed := strings.Replace(text, "body: pass", "body: exit", 1)
	_, second := site.sendFile(t, preview, changed, "")
	late, told := site.sendFile(t, "/workflows/import", changed, seen)
	now, err := site.store.WorkflowNamed(t.Context(), "shown")
	must(t, err)
	wrong, sentence := site.sendFile(t, preview, "dogear: 1\nworkflow:\n  nam: bad\n", "")

	contains(t, "the first look", first, "Would be made: 2", `<span class="wrap">shown</span>`, "fresh &lt;script&gt;alert")
	if status.StatusCode != http.StatusOK || engine.CodeOf(absent) != engine.NotFound {
		t.Errorf("the look = %d, and the workflow is there: %v", status.StatusCode, absent)
	}
	if made.Header.Get("HX-Redirect") == "" {
		t.Errorf("the import of what was shown = %d, want the workflow", made.StatusCode)
	}
	contains(t, "the look at the same", same, "would change nothing", "Would be left as it is: 2")
	contains(t, "the look at a changed file", second, "Would be changed: 1", "Would be left as it is: 1")
	contains(t, "an import of what was not shown", told, "has changed since this was shown", "Would be changed: 1")
	if late.StatusCode != http.StatusConflict || now.Version != 1 {
		t.Errorf("it = %d at v%d, want 409 and nothing imported", late.StatusCode, now.Version)
	}
	contains(t, "a wrong file", sentence, "line 3", `role="alert"`)
	if wrong.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a wrong file = %d, want 422", wrong.StatusCode)
	}
}

// TestAnotherFileWithTheSameNamesIsNotWhatWasLookedAt: of what is new a preview shows
// the names, and two files that make the same things can still do different ones.
func TestAnotherFileWithTheSameNamesIsNotWhatWasLookedAt(t *testing.T) {
	t.Parallel()
	site := serve(t)
	shown := `dogear: 1
workflow:
  name: twice
  triggers:
    - {name: by hand, type: on_demand, start: [{job: new one}]}
jobs:
  - {name: new one, kind: python, bookmark: off, script: {body: print("looked at")}}
`
	other := strings.Replace(shown, "looked at", "somebody else's", 1)
	_, first := site.sendFile(t, "/workflows/import/preview", shown, "")

	refused, told := site.sendFile(t, "/workflows/import", other, value(t, first, "seen"))
	_, absent := site.store.WorkflowNamed(t.Context(), "twice")
	made, _ := site.sendFile(t, "/workflows/import", other, value(t, told, "seen"))
	job, err := site.store.JobNamed(t.Context(), "new one")
	must(t, err)

	contains(t, "the answer", told, "has changed since this was shown. Nothing was imported yet", "Would be made: 2")
	if refused.StatusCode != http.StatusConflict || engine.CodeOf(absent) != engine.NotFound {
		t.Errorf("another file = %d, and the workflow is there: %v; want 409 and nothing", refused.StatusCode, absent)
	}
	if made.Header.Get("HX-Redirect") == "" || !strings.Contains(job.Script.Body, "somebody else's") {
		t.Errorf("after a look at it = %d, and the job is %+v; want what was looked at", made.StatusCode, job.Script)
	}
}

func TestTheScheduleOfACopyArrivesTurnedOffAndTheAnswerSaysSo(t *testing.T) {
	t.Parallel()
	site := serve(t)
	text := `dogear: 1
workflow:
  name: NAME
  triggers:
    - {name: "at noon <script>alert", type: scheduled, schedule: "cron(0 12 * * ? *)", start: [{crawler: curated-crawler}]}
`
	first, _ := site.upload(t, strings.Replace(text, "NAME", "first", 1))

	second, body := site.upload(t, strings.Replace(text, "NAME", "second", 1))

	made, err := site.store.WorkflowNamed(t.Context(), "second")
	must(t, err)
	if first.Header.Get("HX-Redirect") == "" || second.StatusCode != http.StatusOK || second.Header.Get("HX-Redirect") != "" || !made.Triggers[0].Disabled {
		t.Errorf("first goes to %q, second %d to %q with %+v; want the first opened, the second said and its schedule off",
			first.Header.Get("HX-Redirect"), second.StatusCode, second.Header.Get("HX-Redirect"), made.Triggers)
	}
	contains(t, "the answer", body, "second was imported", "arrives turned off", "the workflow first starts the crawler curated-crawler by itself already", "/workflows/"+string(made.ID))
	if strings.Contains(body, "<script>alert") {
		t.Error("the answer holds a name as markup")
	}
}
