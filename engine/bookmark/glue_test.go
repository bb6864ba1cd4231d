package bookmark_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
)

// glueAnswer is what get-job-bookmark printed for a job with one context.
func glueAnswer(name, start, hashes string) string {
	return fmt.Sprintf(`{
    "JobBookmarkEntry": {
        "JobName": "gha_job1", "Version": 4, "Run": 3, "Attempt": 0,
        "PreviousRunId": "jr_16cd15a400d35a3e", "RunId": "jr_6d3a4e661a941a4a",
        "JobBookmark": "{\"%s\":{\"jsonClass\":\"HadoopDataSourceJobBookmarkState\",\"timestamps\":{\"RUN\":\"2\",\"HIGH_BAND\":\"900000\",\"CURR_LATEST_PARTITION\":\"0\",\"CURR_LATEST_PARTITIONS\":\"\",\"CURR_RUN_START_TIME\":\"%s\",\"INCLUDE_LIST\":\"%s\"}}}"
    }
}`, name, start, hashes)
}

// glueWorld is a source of files written at 11:00, 11:50, 11:55 and 13:00, of
// which a run of Glue at 12:00 has read the first, and by name what came in the
// 15 minutes before it.
func glueWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(engine.Source{Name: "src", Path: "s3://lake/in/", Format: engine.CSV, Ctx: "src"}, engine.Append)
	for key, minutes := range map[string]int{"in/a": -60, "in/b": -10, "in/c": -5, "in/d": 60} {
		w.put(key, 10, key, noon.Add(time.Duration(minutes)*time.Minute))
	}
	_, err := w.service(noon).Open(t.Context(), w.job.ID, "src")
	must(t, err)
	return w
}

func glueMove(text string) bookmark.Move {
	return bookmark.Move{Kind: engine.MoveImport, Glue: true, File: strings.NewReader(text)}
}

func TestABookmarkOfGlueIsTakenOver(t *testing.T) {
	t.Parallel()
	const start = "2026-03-01T12:00:00.000Z"
	answer := glueAnswer("src", start, "")
	inside := strings.TrimSuffix(strings.TrimSpace(answer[strings.Index(answer, ":")+1:]), "}")
	tests := map[string]struct {
		text   string
		left   string // for the next run
		notice string
	}{
		"none of the band is named": {answer, "in/b in/c in/d", ""},
		"all of the band is named":  {glueAnswer("src", start, "f437cb0563bdfffd,5383de8c63a95349"), "in/d", ""},
		"one of two is named":       {glueAnswer("src", start, "f437cb0563bdfffd"), "in/d", "Glue names 1 files that it read of those written from 2026-03-01 11:45:00 to 2026-03-01 12:00:00"},
		"the entry alone":           {inside, "in/b in/c in/d", ""},
		"the text alone":            {`{"src":{"jsonClass":"HadoopDataSourceJobBookmarkState","timestamps":{"CURR_RUN_START_TIME":"` + start + `"}}}`, "in/d", ""},
		"one context of any name":   {glueAnswer("node1730078287682", start, ""), "in/b in/c in/d", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := glueWorld(t)
			service := w.service(noon.Add(2 * time.Hour))

			preview, err := service.Preview(t.Context(), w.mark.ID, glueMove(tt.text), "owner")
			must(t, err)
			moved, err := service.Make(t.Context(), w.mark.ID, glueMove(tt.text), "owner")

			must(t, err)
			if got := strings.Join(keysOf(preview.Plan.Taken), " "); got != tt.left || preview.Skipped != moved.Files {
				t.Errorf("the preview reads %q and skips %d, want %q and %d", got, preview.Skipped, tt.left, moved.Files)
			}
			if notice := strings.Join(preview.Plan.Notices, " "); !strings.HasPrefix(notice, tt.notice) || (notice == "") != (tt.notice == "") {
				t.Errorf("it notices %q, want %q", notice, tt.notice)
			}
			read, _, err := w.run(t, noon.Add(3*time.Hour), true)
			must(t, err)
			if got := strings.Join(read, " "); got != tt.left {
				t.Errorf("the next run read %q, want %q", got, tt.left)
			}
			if why := w.history[len(w.history)-1].Why; !strings.HasPrefix(why, "from AWS Glue's ") {
				t.Errorf("the history says %q", why)
			}
		})
	}
}

func TestWhatIsNoBookmarkOfGlueIsRefused(t *testing.T) {
	t.Parallel()
	const start = "2026-03-01T12:00:00.000Z"
	two := `{"a":{"jsonClass":"HadoopDataSourceJobBookmarkState"},"b":{}}`
	tests := map[string]struct{ text, want string }{
		"nothing":              {"", "it is not JSON"},
		"a table of text":      {"id,amount\n1,2\n", "it is not JSON"},
		"cut off":              {glueAnswer("src", start, "")[:300], "it is not JSON"},
		"a bookmark of ours":   {`{"dogear_bookmark":1,"job":"load"}`, `no context "src"`},
		"a job that was reset": {`{"JobBookmarkEntry":{"JobName":"j","JobBookmark":"{}"}}`, "has read nothing, or was reset"},
		"not an object":        {`{"JobBookmarkEntry":{"JobName":"j","JobBookmark":"[]"}}`, "not a JSON object"},
		"an array":             {`[{"JobName":"j"}]`, "it is not a JSON object, but of the kind array."},
		"a number for a text":  {`{"JobBookmarkEntry":{"JobName":7}}`, "it has a JobBookmarkEntry.JobName of the kind number"},
		"a context of arrays":  {`{"src":[]}`, `its context "src" is not a JSON object, but of the kind array.`},
		"other contexts":       {two, `It has: a, b.`},
		"a table":              {`{"src":{"jsonClass":"SomethingElse"}}`, `its context "src" is a SomethingElse`},
		"no class":             {`{"src":{}}`, "thing without a jsonClass"},
		"no time":              {`{"src":{"jsonClass":"HadoopDataSourceJobBookmarkState","timestamps":{}}}`, `CURR_RUN_START_TIME is ""`},
		"a broken time":        {glueAnswer("src", "yesterday", ""), `CURR_RUN_START_TIME is "yesterday"`},
		"a broken band":        {strings.Replace(glueAnswer("src", start, ""), "900000", "-3", 1), `HIGH_BAND is "-3"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := glueWorld(t)
			before := *w.mark

			_, err := w.service(noon).Make(t.Context(), w.mark.ID, glueMove(tt.text), "owner")

			if engine.CodeOf(err) != engine.Invalid || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "Nothing was changed.") || strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "bookmark.glue") {
				t.Errorf("Make = %v, want it refused with %q", err, tt.want)
			}
			if *w.mark != before {
				t.Errorf("the bookmark moved to %+v", *w.mark)
			}
		})
	}
}

// TestAnExportForGlueComesBackAsItWas: by it the same files count as read.
func TestAnExportForGlueComesBackAsItWas(t *testing.T) {
	t.Parallel()
	w := readWorld(t, engine.Merge)
	w.put("in/2026/11/03/late.csv", 10, "e", noon.AddDate(0, 0, 2).Add(time.Second))
	var out bytes.Buffer

	must(t, w.service(noon.AddDate(0, 0, 5)).ExportGlue(t.Context(), w.mark.ID, &out))

	root := w.mark.Root
	_, err := w.make(t, bookmark.Move{Kind: engine.MoveReset})
	must(t, err)
	moved, err := w.make(t, glueMove(out.String()))
	must(t, err)
	difference := 0
	for d, err := range bookmark.Diff(t.Context(), w, root, moved.Root) {
		must(t, err)
		if d.From == nil || d.To == nil || d.From.State != d.To.State {
			difference++
		}
	}
	if difference != 0 || moved.Files != 3 {
		t.Errorf("%d files of %d differ after the way there and back:\n%s", difference, moved.Files, out.String())
	}
}

func TestWhatGlueCannotSayIsNotExported(t *testing.T) {
	t.Parallel()
	w := readWorld(t, engine.Merge)
	_, err := w.make(t, bookmark.Move{Kind: engine.MoveReadAgain, Pick: engine.Selection{Pattern: "2026/11/01/*"}})
	must(t, err)

	err = w.service(noon.AddDate(0, 0, 5)).ExportGlue(t.Context(), w.mark.ID, io.Discard)

	if engine.CodeOf(err) != engine.Conflict || !strings.Contains(err.Error(), "in/2026/11/01/a.csv does not count as read (reopened)") {
		t.Errorf("ExportGlue = %v, want it to name the file that is not read", err)
	}
	_, err = w.make(t, bookmark.Move{Kind: engine.MoveReset})
	must(t, err)
	if err := w.service(noon).ExportGlue(t.Context(), w.mark.ID, io.Discard); engine.CodeOf(err) != engine.Conflict {
		t.Errorf("of a bookmark at its beginning: %v, want it refused", err)
	}
}
