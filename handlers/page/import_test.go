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
	_, page := s.get(t, "/workflows")
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	must(t, form.WriteField("_csrf", value(t, page, "_csrf")))
	file, err := form.CreateFormFile("file", "workflow.yaml")
	must(t, err)
	_, err = io.WriteString(file, text)
	must(t, err)
	must(t, form.Close())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL+"/workflows/import", &body)
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

	if response.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, `id="import-form"`) || !strings.Contains(body, "line 4: the key &lt;script&gt; is not known in a workflow") {
		t.Errorf("got %d %s\nwant 422 with the form and the line", response.StatusCode, body)
	}
	if _, err := site.store.WorkflowNamed(t.Context(), "bad"); engine.CodeOf(err) != engine.NotFound {
		t.Errorf("got %v, want no workflow", err)
	}
}

func TestTheScheduleOfACopyArrivesPausedAndTheAnswerSaysSo(t *testing.T) {
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
	contains(t, "the answer", body, "second was imported", "arrives paused", "the workflow first starts the crawler curated-crawler by itself already", "/workflows/"+string(made.ID))
	if strings.Contains(body, "<script>alert") {
		t.Error("the answer holds a name as markup")
	}
}
