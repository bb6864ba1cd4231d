package arrival_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/arrival"
)

// signed is a call that is signed as its sender does.
func signed(t *testing.T, secret, id string, at time.Time, body string) arrival.Call {
	t.Helper()
	signature, err := arrival.Sign(secret, id, at, []byte(body))
	must(t, err)
	return arrival.Call{ID: id, Time: strconv.FormatInt(at.Unix(), 10), Signature: signature, Body: []byte(body)}
}

// TestTheSignatureIsThatOfStandardWebhooks by the example in its specification.
func TestTheSignatureIsThatOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	at := time.Unix(1614265330, 0)

	got, err := arrival.Sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", at, []byte(`{"test": 2432232314}`))
	must(t, err)

	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("Sign = %s, want %s", got, want)
	}
}

func TestACallIsTakenOnlyWithItsOwnSignatureAndInTime(t *testing.T) {
	t.Parallel()
	secret := arrival.NewSecret()
	change := func(with func(c *arrival.Call)) arrival.Call {
		c := signed(t, secret, "e1", noon, `{"a": 1}`)
		with(&c)
		return c
	}
	tests := map[string]struct {
		call arrival.Call
		now  time.Time
		ok   bool
		says string
	}{
		"as it was signed":            {call: change(func(*arrival.Call) {}), ok: true},
		"five minutes late":           {call: change(func(*arrival.Call) {}), now: noon.Add(arrival.Tolerance), ok: true},
		"one of several signatures":   {call: change(func(c *arrival.Call) { c.Signature = "v1a,x v1,bm8= " + c.Signature }), ok: true},
		"later than that":             {call: change(func(*arrival.Call) {}), now: noon.Add(arrival.Tolerance + time.Second), says: "signed at"},
		"from a clock that is ahead":  {call: change(func(*arrival.Call) {}), now: noon.Add(-arrival.Tolerance - time.Second), says: "signed at"},
		"another body":                {call: change(func(c *arrival.Call) { c.Body = []byte(`{"a": 2}`) }), says: "signature"},
		"another id":                  {call: change(func(c *arrival.Call) { c.ID = "e2" }), says: "signature"},
		"another time":                {call: change(func(c *arrival.Call) { c.Time = strconv.FormatInt(noon.Unix()+1, 10) }), says: "signature"},
		"no signature":                {call: change(func(c *arrival.Call) { c.Signature = "" }), says: "signature"},
		"a signature without version": {call: change(func(c *arrival.Call) { c.Signature = strings.TrimPrefix(c.Signature, "v1,") }), says: "signature"},
		"another secret":              {call: signed(t, arrival.NewSecret(), "e1", noon, `{"a": 1}`), says: "signature"},
		"a time that is none":         {call: forged(t, secret, "soon"), says: "seconds since 1970"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := tt.now
			if now.IsZero() {
				now = noon
			}

			err := tt.call.Verify(secret, now)

			if tt.ok && err != nil || !tt.ok && (engine.CodeOf(err) != engine.Forbidden || !strings.Contains(engine.MessageOf(err), tt.says)) {
				t.Errorf("Verify = %v, want ok %t saying %q", err, tt.ok, tt.says)
			}
		})
	}
}

// forged signs a time that is no number: no honest sender does.
func forged(t *testing.T, secret, at string) arrival.Call {
	t.Helper()
	c := arrival.Call{ID: "e1", Time: at, Body: nil}
	// id.timestamp.body is one text: an id that holds the point moves the parts.
	signature, err := arrival.Sign(secret, "e1."+at, noon, nil)
	must(t, err)
	c.Signature, c.Time = signature, at+"."+strconv.FormatInt(noon.Unix(), 10)
	return c
}

// TestNothingIsTakenWithoutASecret: an empty secret signs nothing, though
// anybody could compute its signature.
func TestNothingIsTakenWithoutASecret(t *testing.T) {
	t.Parallel()
	call := signed(t, arrival.NewSecret(), "e1", noon, "")

	for _, secret := range []string{"", "whsec_", "whsec_c2hvcnQ=", "tell-nobody"} {
		if err := call.Verify(secret, noon); engine.CodeOf(err) != engine.Forbidden {
			t.Errorf("Verify(%q) = %v, want a refusal", secret, err)
		}
	}
}
