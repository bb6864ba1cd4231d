package control

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"dogear/engine"
)

// TestEveryCodeHasAnAnswer: a code without a status would break the connection
// instead of telling the command line what is wrong.
func TestEveryCodeHasAnAnswer(t *testing.T) {
	t.Parallel()
	want := map[engine.Code]int{
		engine.Internal: 500, engine.Invalid: 422, engine.NotFound: 404, engine.Conflict: 409, engine.Forbidden: 403, engine.LimitHit: 429, engine.Away: 503,
	}
	c := &control{Config{Log: slog.New(slog.DiscardHandler)}}
	for _, code := range engine.Codes() {
		recorder := httptest.NewRecorder()

		c.fail(recorder, httptest.NewRequest(http.MethodGet, "/health", nil), engine.Errorf(code, "It is so."))

		var failure Failure
		if err := json.Unmarshal(recorder.Body.Bytes(), &failure); err != nil {
			t.Fatal(err)
		}
		if recorder.Code != want[code] || failure.Code != code || failure.Message == "" {
			t.Errorf("%s = %d with %+v, want %d", code, recorder.Code, failure, want[code])
		}
	}
}
