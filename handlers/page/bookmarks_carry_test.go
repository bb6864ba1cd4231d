package page_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"testing"

	"dogear/engine"
	rules "dogear/engine/bookmark"
)

func TestAnExportIsImportedAgainAndABrokenOneIsRefused(t *testing.T) {
	t.Parallel()
	m := mark(t)
	_, text := m.get(t, m.at("/export"))
	_, err := m.rules.Make(t.Context(), m.mark.ID, rules.Move{Kind: engine.MoveReset}, "owner")
	must(t, err)

	broken, says := m.upload(t, m.at("/import"), text[:len(text)-20], "do", "import")
	_, looks := m.upload(t, m.at("/import"), text)
	other, refuses := m.upload(t, m.at("/import"), text, "do", "import", "expect", "another")
	stands := m.now(t)
	whole, _ := m.upload(t, m.at("/import"), text, "do", "import", "expect", value(t, looks, "expect"))

	contains(t, "the form", says, "cannot be imported", "Nothing was changed", "See what it would do")
	contains(t, "the preview", looks, "The next run reads nothing.", "5 files that do not count as read now would count as read: runs skip that.", `name="do" value="import"`)
	contains(t, "another file", refuses, "Look at it again")
	if other != http.StatusUnprocessableEntity {
		t.Errorf("another file than was looked at = %d, want it refused", other)
	}
	if broken != http.StatusUnprocessableEntity || stands.Version != 2 || stands.Files != 0 {
		t.Errorf("a broken file = %d at v%d, want 422 and v2", broken, stands.Version)
	}
	if now := m.now(t); whole != http.StatusOK || now.Version != 3 || now.Files != 5 {
		t.Errorf("imported %d, v%d with %d files, want v3 with 5", whole, now.Version, now.Files)
	}
}

// TestABookmarkOfGlueIsImportedAndWritten: what a job of Glue has read counts as
// read, and comes out again as Glue would say it.
func TestABookmarkOfGlueIsImportedAndWritten(t *testing.T) {
	t.Parallel()
	m := mark(t)
	glue := `{"JobBookmarkEntry":{"JobName":"sales","Version":3,"JobBookmark":"{\"src\":{\"jsonClass\":\"HadoopDataSourceJobBookmarkState\",\"timestamps\":{\"HIGH_BAND\":\"900000\",\"CURR_RUN_START_TIME\":\"2026-11-26T23:00:00.000Z\"}}}"}}`

	wrong, says := m.upload(t, m.at("/import"), "id,amount\n", "as", "glue")
	_, looks := m.upload(t, m.at("/import"), glue, "as", "glue")
	imported, _ := m.upload(t, m.at("/import"), glue, "as", "glue", "do", "import", "expect", value(t, looks, "expect"), "why", "moved from AWS")
	_, page := m.get(t, m.at(""))
	status, text := m.get(t, m.at("/export?as=glue"))

	contains(t, "what is not Glue's", says, "not a job bookmark of AWS Glue", "aws glue get-job-bookmark")
	contains(t, "the preview", looks, "The next run reads 1 file, 1.0 kB; 1 of them, 1.0 kB, was read before.")
	contains(t, "the page", page, "from AWS Glue&#39;s sales, v3: moved from AWS")
	contains(t, "the export", text, `"JobBookmarkEntry"`, `HadoopDataSourceJobBookmarkState`)
	if now := m.now(t); wrong != http.StatusUnprocessableEntity || imported != http.StatusOK || status != http.StatusOK || now.Files != 4 {
		t.Errorf("wrong %d, imported %d, exported %d with %d files, want 422, 200, 200 and 4", wrong, imported, status, now.Files)
	}
}

// upload posts a file, and pairs of a field and its value, as htmx does.
func (m *marked) upload(t *testing.T, path, text string, fields ...string) (int, string) {
	t.Helper()
	_, body := m.get(t, "/jobs")
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	must(t, parts.WriteField("_csrf", value(t, body, "_csrf")))
	for i := 0; i < len(fields); i += 2 {
		must(t, parts.WriteField(fields[i], fields[i+1]))
	}
	file, err := parts.CreateFormFile("file", "bookmark.jsonl")
	must(t, err)
	_, err = file.Write([]byte(text))
	must(t, err)
	must(t, parts.Close())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.server.URL+path, &form)
	must(t, err)
	request.Header.Set("Content-Type", parts.FormDataContentType())
	request.Header.Set("HX-Request", "true")
	return m.do(t, request)
}
