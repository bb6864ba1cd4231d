package job

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/views/form"
)

// readBounds reads how much of a source a run takes. A form that does not show
// it leaves it as it was.
func (f *Fields) readBounds(values url.Values, at string, i int, s *engine.Source) {
	if !values.Has(at + "max_files") {
		return
	}
	o := &s.Options
	o.From, o.To = f.day(values.Get(at+"from"), field("source", i, "from")), f.day(values.Get(at+"to"), field("source", i, "to"))
	o.MaxFiles, o.MaxBytes = int(amount(values, at+"max_files")), amount(values, at+"max_bytes")
	o.SettleMS = f.settle(values.Get(at+"settle"), field("source", i, "settle"))
}

// day reads a day or a minute, in UTC; "" is none.
func (f *Fields) day(text, field string) time.Time {
	if text = strings.TrimSpace(text); text == "" {
		return time.Time{}
	}
	for _, layout := range []string{time.DateOnly, minutes, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC()
		}
	}
	f.Errors[field] = "Write a day as 2026-11-29."
	return time.Time{}
}

// settle reads seconds; "" is what holds for the kind of source.
func (f *Fields) settle(text, field string) *int64 {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || seconds < 0 || seconds > 1e6 {
		f.Errors[field] = "Write a number of seconds, 0 or more."
		return nil
	}
	ms := int64(seconds * 1000)
	return &ms
}

const minutes = "2006-01-02T15:04"

// dayText writes a bound as its field takes it: a day, or a minute where it is
// not the beginning of one.
func dayText(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case t.UTC().Equal(t.UTC().Truncate(24 * time.Hour)):
		return t.UTC().Format(time.DateOnly)
	default:
		return t.UTC().Format(minutes)
	}
}

// dayType is the kind of field that a bound is written in.
func dayType(t time.Time) string {
	if strings.Contains(dayText(t), "T") {
		return "datetime-local"
	}
	return "date"
}

func settleText(ms *int64) string {
	if ms == nil {
		return ""
	}
	return strconv.FormatFloat(float64(*ms)/1000, 'f', -1, 64)
}

// bounded reports that a source is not simply read whole as it comes, or that
// something is wrong with how it is.
func bounded(o *engine.SourceOptions, wrong form.Errors, i int) bool {
	for _, name := range []string{"from", "to", "max_files", "max_bytes", "settle"} {
		if wrong[field("source", i, name)] != "" {
			return true
		}
	}
	return !o.From.IsZero() || !o.To.IsZero() || o.MaxFiles != 0 || o.MaxBytes != 0 || o.SettleMS != nil
}
