package show_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"dogear/engine"
	"dogear/views/show"
)

// An icon that is not in the sprite shows as nothing at all, so every name in
// the views has to be in its list.
func TestEveryIconIsInTheSprite(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("../../static/icons.mjs")
	must(t, err)
	named := regexp.MustCompile(`(?:show\.Icon|[^.\w]Icon|show\.Empty|show\.Note)\((?:"(?:ok|run|bad|warn|idle|acc)", )?"([a-z0-9-]+)"`)
	count := 0

	err = filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".templ") {
			return err
		}
		text, err := os.ReadFile(path)
		must(t, err)
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			count++
			if !strings.Contains(string(list), `"`+m[1]+`"`) {
				t.Errorf("%s shows the icon %q, which static/icons.mjs lacks", path, m[1])
			}
		}
		return nil
	})

	must(t, err)
	if count < 30 {
		t.Errorf("only %d icons were looked at; the pattern no longer finds them", count)
	}
	for _, s := range []engine.State{
		engine.Waiting, engine.Ready, engine.Starting, engine.Running, engine.Publishing, engine.Stopping,
		engine.Succeeded, engine.Failed, engine.TimedOut, engine.Stopped, engine.Skipped, engine.Lost,
	} {
		sign := show.OfState(s)
		if !strings.Contains(string(list), `"`+sign.Icon+`"`) || sign.Word == "" || sign.Hue == "" {
			t.Errorf("the sign of %s is %+v, want an icon of the list, a word and a hue", s, sign)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	tests := map[string][2]string{
		"small count": {show.Count(612), "612"}, "count": {show.Count(612440), "612,440"}, "negative count": {show.Count(-1000), "-1,000"},
		"one": {show.Many(1, "file"), "1 file"}, "many": {show.Many(1204, "file"), "1,204 files"}, "y": {show.Many(2, "entry"), "2 entries"}, "day": {show.Many(2, "day"), "2 days"}, "ch": {show.Many(0, "batch"), "0 batches"},
		"tenths": {show.Length(4100 * time.Millisecond), "4.1 s"}, "seconds": {show.Length(41 * time.Second), "41 s"}, "minutes": {show.Length(245 * time.Second), "4 min 05 s"},
		"hours": {show.Length(130 * time.Minute), "2 h 10 min"}, "negative": {show.Length(-time.Second), "0.0 s"}, "less than a tenth": {show.Length(49 * time.Millisecond), "49 ms"}, "a tenth": {show.Length(50 * time.Millisecond), "0.1 s"},
		"clock": {show.Elapsed(41 * time.Second), "0:41"}, "long clock": {show.Elapsed(3723 * time.Second), "1:02:03"},
		"now": {show.Ago(now, now), "just now"}, "ago": {show.Ago(now.Add(-2*time.Hour), now), "2 h ago"}, "soon": {show.Ago(now.Add(3*time.Hour), now), "in 3 h"},
	}
	for name, tt := range tests {
		if tt[0] != tt[1] {
			t.Errorf("%s: got %q, want %q", name, tt[0], tt[1])
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRowsSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	rows := engine.Rows{Columns: []engine.Column{{Name: "a", Type: "VARCHAR"}}, Notices: []string{"left out: <cut>.gz"}}

	if err := show.Rows(rows).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}

	if !strings.Contains(page.String(), "left out: &lt;cut&gt;.gz") {
		t.Errorf("got %s, want the notice, escaped", page.String())
	}
}

func TestATimeSaysItsZone(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 23, 4, 5, 0, time.FixedZone("CET", 3600))
	for name, shown := range map[string]templ.Component{"At": show.At(at), "Clock": show.Clock(at), "Relative": show.Relative(at, at)} {
		var html strings.Builder
		must(t, shown.Render(t.Context(), &html))
		if want := `title="29 Nov 2026 22:04:05 UTC"`; !strings.Contains(html.String(), want) {
			t.Errorf("%s shows %s, want %s", name, html.String(), want)
		}
	}
}
