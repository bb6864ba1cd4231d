package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"dogear/engine/portable"
)

// TestAnImportSaysWhatItChangesAndWhatWouldFail: line by line, with the place of
// what is wrong, before it is written and when it is; it is written all the same.
func TestAnImportSaysWhatItChangesAndWhatWouldFail(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	text := `dogear: 1
workflow:
  name: shown
  triggers:
    - {name: by hand, type: on_demand, start: [{job: load}, {job: tell}]}
jobs:
  - name: load
    kind: sql
    bookmark: enabled
    sources: [{name: "in", path: "in/*.csv"}]
    steps: [{name: out, sql: "SELECT *,\n\tupper('x') AS job\nFROM \"in\""}]
    sinks: [{from: out, path: out}]
  - name: tell
    kind: python
    bookmark: off
    script: {body: "a = 1\nb = 2\nc = 3\nd = 4\nprint(a)\n"}
`
	made, err := s.run(t, text, "workflow", "import", "-")
	must(t, err)
	changed := strings.NewReplacer("FROM", "FORM", "print(a)", "print(a").Replace(text)

	dry, err := s.run(t, changed, "workflow", "import", "--dry-run", "-")
	must(t, err)
	untouched := s.ok(t, "workflow", "export", "shown")
	whole, err := s.run(t, changed, "workflow", "import", "--dry-run", "--json", "-")
	must(t, err)
	var report portable.Report
	must(t, json.Unmarshal([]byte(whole), &report))
	written, err := s.run(t, changed, "workflow", "import", "-")
	must(t, err)

	if strings.Contains(made, "warning") || strings.Contains(untouched, "FORM") {
		t.Errorf("a good import says\n%s\nand after a dry run there is\n%s", made, untouched)
	}
	for _, says := range []string{"would change", "changed"} {
		of := map[string]string{"would change": dry, "changed": written}[says]
		for _, want := range []string{
			says + " ", "Step out SQL:", "    SELECT *,", "      upper('x')", `- FROM "in"`, `+ FORM "in"`,
			"Script body:", "… 2 unchanged", "- print(a)", "+ print(a\n",
			`load: its next run would fail. The step out at line 3, column 1: syntax error at or near "FORM".`,
			"tell: its next run would fail. The script at line 5, column 6: '(' was never closed.",
		} {
			if !strings.Contains(of, want) {
				t.Errorf("the import says\n%s\nwant %q in it", of, want)
			}
		}
	}
	if len(report.Objects) != 3 || len(report.Objects[1].Fails) != 1 || len(report.Objects[2].Fields) != 1 {
		t.Errorf("as JSON it is %+v", report)
	}
}
