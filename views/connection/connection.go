// Package connection shows connections to object stores.
package connection

import (
	"net/url"

	"dogear/engine"
)

// View is the form of one connection. It never holds a secret.
type View struct {
	ID     engine.ID // "" for a new one
	Name   string
	Body   engine.ConnectionBody
	Errors map[string]string
	CSRF   string
}

// Check says what is wrong before anything is saved; secret tells whether one
// was typed.
func (v *View) Check(secret bool) {
	if err := engine.CheckName("connection", v.Name); err != nil {
		v.Errors["name"] = engine.MessageOf(err)
	}
	if v.Body.Endpoint != "" {
		u, err := url.Parse(v.Body.Endpoint)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			v.Errors["endpoint"] = "Write an address such as https://storage.example:9000, without a user name or password."
		}
	}
	if secret && v.Body.AccessKey == "" {
		v.Errors["access_key"] = "A secret key needs the access key that it belongs to."
	}
}

func (v View) href(tail string) string {
	if v.ID == "" {
		return "/connections"
	}
	return "/connections/" + string(v.ID) + tail
}

func endpoint(b engine.ConnectionBody) string {
	if b.Endpoint == "" {
		return "AWS"
	}
	return b.Endpoint
}

func credentials(b engine.ConnectionBody) string {
	if b.AccessKey == "" {
		return "from the machine"
	}
	return b.AccessKey
}
