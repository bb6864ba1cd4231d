package job_test

import (
	"net/url"
	"testing"
	"time"

	"dogear/engine"
	"dogear/views/job"
)

// bounds reads the form of a second source, the first of which was removed.
func bounds(fields map[string]string) job.Fields {
	values := url.Values{
		"name": {"load"}, "bookmark": {"enabled"}, "source.4.name": {"orders"}, "source.4.path": {"in/*.csv"}, "source.4.max_files": {""},
		"source.4.rest": {`{"name":"orders","options":{"max_files":7,"settle_ms":3000}}`},
	}
	for name, text := range fields {
		values.Set("source.4."+name, text)
	}
	return job.ReadForm(values, engine.Draft[engine.JobBody]{Body: engine.JobBody{Kind: engine.JobSQL}})
}

func TestTheBoundsOfASourceAreRead(t *testing.T) {
	t.Parallel()

	form := bounds(map[string]string{"from": "2026-11-01", "to": "2026-11-03T12:30", "max_files": "10", "max_bytes": "5000000000", "settle": "1.5"})

	o := form.Body.SQL.Sources[0].Options
	if !o.From.Equal(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)) || !o.To.Equal(time.Date(2026, 11, 3, 12, 30, 0, 0, time.UTC)) {
		t.Errorf("from %s to %s", o.From, o.To)
	}
	if o.MaxFiles != 10 || o.MaxBytes != 5_000_000_000 || o.SettleMS == nil || *o.SettleMS != 1500 || len(form.Errors) != 0 {
		t.Errorf("got %+v, wrong %v", o, form.Errors)
	}
	if o := bounds(nil).Body.SQL.Sources[0].Options; o.MaxFiles != 0 || o.SettleMS != nil {
		t.Errorf("fields that were emptied: %+v, want no bound", o)
	}
}

// TestAShortFormKeepsTheBounds: the panel of a card does not show them.
func TestAShortFormKeepsTheBounds(t *testing.T) {
	t.Parallel()

	form := job.ReadForm(url.Values{
		"name": {"load"}, "source.0.name": {"orders"}, "source.0.path": {"in/*.csv"}, "source.0.rest": {`{"options":{"max_files":7,"settle_ms":3000}}`},
	}, engine.Draft[engine.JobBody]{})

	if o := form.Body.SQL.Sources[0].Options; o.MaxFiles != 7 || o.SettleMS == nil {
		t.Errorf("got %+v, want what the form does not show kept", o)
	}
}

func TestWrongBoundsAreSaidBesideTheirFields(t *testing.T) {
	t.Parallel()
	for field, text := range map[string]string{"from": "soon", "to": "2026-13-01", "max_files": "-1", "max_bytes": "many", "settle": "-3"} {
		form := bounds(map[string]string{field: text})

		if len(form.Errors) != 1 || form.Errors["source.0."+field] == "" {
			t.Errorf("%s %q: %v, want one error there", field, text, form.Errors)
		}
	}
	if form := bounds(map[string]string{"from": "2026-11-03", "to": "2026-11-01"}); form.Errors["source.0.to"] == "" {
		t.Errorf("an end before the beginning: %v, want an error at the end", form.Errors)
	}
}
