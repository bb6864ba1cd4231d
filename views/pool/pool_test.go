package pool_test

import (
	"strings"
	"testing"

	"dogear/engine"
	"dogear/views/pool"
)

func TestNamesOfJobsAreApartByACommaAndASpace(t *testing.T) {
	t.Parallel()
	v := pool.View{Pools: []engine.Pool{{Name: "warehouse", Places: 2, Jobs: []engine.Head{{ID: "1", Name: "load"}, {ID: "2", Name: "clean"}}}}}
	var page strings.Builder

	if err := pool.Page(v).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	if want := `<a href="/jobs/1">load</a>, <a href="/jobs/2">clean</a>`; !strings.Contains(page.String(), want) {
		t.Errorf("the page %s has no %s", page.String(), want)
	}
}
