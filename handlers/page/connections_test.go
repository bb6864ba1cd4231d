package page_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestAConnectionToADatabaseIsSavedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	site := serve(t)
	form := url.Values{"name": {"shop"}, "type": {"postgres"}, "host": {"db.example"}, "port": {"5433"}, "database": {"shop"}, "user": {"reader"}, "tls": {"encrypt"}, "secret": {"tell-nobody"}}

	status, _ := site.change(t, "/connections", form)
	_, list := site.get(t, "/connections")

	if status >= http.StatusBadRequest || !strings.Contains(list, "db.example:5433/shop") || !strings.Contains(list, "reader") || strings.Contains(list, "tell-nobody") {
		t.Errorf("got %d and %s", status, list)
	}
	for field, wrong := range map[string]string{"host": "", "database": "", "user": "", "port": "many", "ca": "no certificate", "server_name": "db.test"} {
		broken := maps.Clone(form)
		broken.Set("name", "other")
		broken.Set(field, wrong)
		if field == "server_name" { // which counts for nothing without a check of the certificate
			field = "tls"
		}
		status, body := site.change(t, "/connections", broken)
		if status != http.StatusUnprocessableEntity || !strings.Contains(body, `id="`+field+`.error"`) || strings.Contains(body, "tell-nobody") {
			t.Errorf("%s %q: got %d", field, wrong, status)
		}
	}
}

// TestAnAccessKeyWithoutItsSecretIsMarked: such as after a start with --forget-secrets.
func TestAnAccessKeyWithoutItsSecretIsMarked(t *testing.T) {
	t.Parallel()
	site := serve(t)
	whole := url.Values{"name": {"whole"}, "type": {"s3"}, "access_key": {"AK1"}, "secret": {"tell-nobody"}}
	site.change(t, "/connections", whole)
	if _, list := site.get(t, "/connections"); !strings.Contains(list, "AK1") || strings.Contains(list, "No secret key") {
		t.Errorf("with a secret the list is %s", list)
	}
	site.change(t, "/connections", url.Values{"name": {"locked"}, "type": {"s3"}, "access_key": {"AK2"}})
	if _, list := site.get(t, "/connections"); strings.Count(list, "No secret key") != 1 {
		t.Errorf("the one without a secret is not marked: %s", list)
	}
}

func TestAJobFormKeepsATable(t *testing.T) {
	t.Parallel()
	site := serve(t)
	path := "/jobs/" + string(site.job)
	form := url.Values{
		"name": {"from-table"}, "bookmark": {"enabled"}, "base": {"999"},
		"source.0.name": {"orders"}, "source.0.connection": {string(site.connection)}, "source.0.table": {"public.orders"}, "source.0.keys": {"updated_at, id"},
		"source.0.overlap": {"60"}, "source.0.null_keys": {"read"}, "source.0.compare": {"yes"},
		"sink.0.from": {"orders"}, "sink.0.connection": {string(site.connection)}, "sink.0.table": {"public.copy"}, "sink.0.mode": {"merge"}, "sink.0.keys": {"id"},
	}

	// The form comes back as it was typed, with one part more.
	_, body := site.change(t, path+"/form/step", form)

	for _, want := range []string{`value="public.orders"`, `value="updated_at, id"`, `value="60"`, `<option value="read" selected>`, `value="public.copy"`, "A key shows new rows only"} {
		if !strings.Contains(body, want) {
			t.Errorf("the form does not hold %s", want)
		}
	}
	form.Set("source.0.lag", "-3")
	form.Set("source.0.path", "in/*.csv")
	status, body := site.change(t, path, form)
	if status != http.StatusUnprocessableEntity || !strings.Contains(body, `id="source.0.lag.error"`) || !strings.Contains(body, "Say what to read, one of") {
		t.Errorf("a wrong form: got %d", status)
	}
}
