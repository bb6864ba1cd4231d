package arrival

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
)

// The headers of a signed call are those of the Standard Webhooks
// specification, so that senders need no code of ours.
const (
	HeaderID        = "webhook-id"        // of the event; a second one of the same id is taken once
	HeaderTime      = "webhook-timestamp" // seconds since 1970
	HeaderSignature = "webhook-signature" // "v1," and base64 of HMAC-SHA256 over id.timestamp.body; several with blanks between
)

// Tolerance is how far the time of a call may lie from ours, either way.
const Tolerance = 5 * time.Minute

const (
	secretPrefix = "whsec_"
	version      = "v1,"
)

// NewSecret makes the secret of a trigger. Its key is text, so that a shell can
// sign with it.
func NewSecret() string {
	return secretPrefix + base64.StdEncoding.EncodeToString([]byte(rand.Text()+rand.Text()))
}

// Sign is the signature of a call, for tests and for senders in Go.
func Sign(secret, id string, at time.Time, body []byte) (string, error) {
	key, err := keyOf(secret)
	if err != nil {
		return "", err
	}
	return version + base64.StdEncoding.EncodeToString(mac(key, id, strconv.FormatInt(at.Unix(), 10), body)), nil
}

func keyOf(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < 24 { // the specification's least
		return nil, engine.Errorf(engine.Invalid, "This is no secret of a trigger.")
	}
	return key, nil
}

func mac(key []byte, id, at string, body []byte) []byte {
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte(id + "." + at + "."))
	sum.Write(body)
	return sum.Sum(nil)
}

// Call is what a signed call says of itself.
type Call struct {
	ID, Time, Signature string
	Body                []byte
}

// Verify refuses a call that secret did not sign, or signed too long ago. The
// answer does not say which part was wrong, but for the time, which only an
// honest sender gets to know.
func (c *Call) Verify(secret string, now time.Time) error {
	key, err := keyOf(secret)
	if err != nil || !c.signedBy(key) {
		return engine.Errorf(engine.Forbidden, "The signature is missing or wrong. Sign id.timestamp.body with the trigger's secret; its panel shows how.")
	}
	seconds, err := strconv.ParseInt(c.Time, 10, 64)
	if err != nil {
		return engine.Errorf(engine.Forbidden, "The header %s holds the seconds since 1970.", HeaderTime)
	}
	if off := now.Sub(time.Unix(seconds, 0)); off > Tolerance || off < -Tolerance {
		return engine.Errorf(engine.Forbidden, "The call was signed at %s, which is more than %d minutes from this server's time. Sign it anew, or set the clock.",
			time.Unix(seconds, 0).UTC().Format(time.RFC3339), int(Tolerance.Minutes()))
	}
	return CheckID(c.ID)
}

func (c *Call) signedBy(key []byte) bool {
	want := mac(key, c.ID, c.Time, c.Body)
	for part := range strings.FieldsSeq(c.Signature) {
		text, ok := strings.CutPrefix(part, version)
		got, err := base64.StdEncoding.DecodeString(text)
		if ok && err == nil && hmac.Equal(got, want) {
			return true
		}
	}
	return false
}
