package page_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"dogear/handlers/page"
)

// samples is a sample whose files lie in folder; "" where it was deleted.
type samples struct{ folder *string }

func (s samples) Folder(context.Context) (string, error)     { return *s.folder, nil }
func (s samples) AddNextDay(context.Context) (string, error) { return "Added a.csv.", nil }

func TestTheCardOfTheSampleIsThereWhileTheSampleIs(t *testing.T) {
	t.Parallel()
	folder := "/data/raw"
	s := serve(t)
	s.open(t, page.Config{Store: world{s.store, s}, Sample: samples{&folder}})

	_, with := s.get(t, "/workflows")
	added, says := s.change(t, "/sample/files", url.Values{})
	folder = ""
	_, without := s.get(t, "/workflows")
	refused, why := s.change(t, "/sample/files", url.Values{})

	contains(t, "the list", with, "Try the sample", "/data/raw")
	if strings.Contains(without, "Try the sample") {
		t.Error("the list offers a sample that was deleted")
	}
	if added != http.StatusOK || !strings.Contains(says, "Added a.csv.") || refused != http.StatusNotFound || !strings.Contains(why, "--sample") {
		t.Errorf("adding files = %d, and of a sample that was deleted %d: %s", added, refused, why)
	}
}
