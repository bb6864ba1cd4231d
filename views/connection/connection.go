// Package connection shows connections to object stores and databases.
package connection

import (
	"cmp"
	"net/url"
	"strconv"

	"dogear/engine"
	"dogear/views/form"
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
	if v.Body.Type.IsDatabase() {
		v.checkDatabase()
		return
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

func (v *View) checkDatabase() {
	b := v.Body
	if b.Database == "" {
		v.Errors["database"] = "Say which database it leads to."
	}
	if b.Type == engine.ConnectionSQLite {
		return
	}
	if b.Host == "" {
		v.Errors["host"] = "Say on which machine the database runs."
	}
	if b.User == "" {
		v.Errors["user"] = "Say as whom to sign in to it."
	}
	if b.Port < 0 || b.Port > 65535 {
		v.Errors["port"] = "Write a port from 1 to 65535, or nothing for the usual one."
	}
	if b.CA != "" {
		if _, err := engine.Authorities(b.CA); err != nil {
			v.Errors["ca"] = engine.MessageOf(err)
		}
	}
	if b.TLS != engine.TLSVerify && (b.CA != "" || b.ServerName != "") {
		v.Errors["tls"] = "Without a check of the certificate neither its CA nor its name counts. Choose the check, or leave those two empty."
	}
}

func (v View) href(tail string) string {
	if v.ID == "" {
		return "/connections"
	}
	return "/connections/" + string(v.ID) + tail
}

// kinds are what a connection may lead to.
var kinds = []form.Choice{
	{string(engine.ConnectionS3), "S3-compatible object store"},
	{string(engine.ConnectionPostgres), "PostgreSQL"},
	{string(engine.ConnectionMySQL), "MySQL or MariaDB"},
	{string(engine.ConnectionSQLite), "SQLite file"},
	{string(engine.ConnectionSQLServer), "SQL Server"},
}

var tlsModes = []form.Choice{
	{string(engine.TLSVerify), "On, with a certificate that is checked"},
	{string(engine.TLSEncrypt), "On, whoever answers"},
	{string(engine.TLSOff), "Off"},
}

// kind is the type of a connection; one that was never said leads to S3.
func kind(b engine.ConnectionBody) string {
	return cmp.Or(string(b.Type), string(engine.ConnectionS3))
}

func kindWord(b engine.ConnectionBody) string {
	for _, k := range kinds {
		if k.Value() == kind(b) {
			return k.Word()
		}
	}
	return kind(b)
}

func usualPort(b engine.ConnectionBody) string {
	return map[engine.ConnectionType]string{engine.ConnectionPostgres: "5432", engine.ConnectionMySQL: "3306", engine.ConnectionSQLServer: "1433"}[b.Type]
}

func port(b engine.ConnectionBody) string {
	if b.Port == 0 {
		return ""
	}
	return strconv.Itoa(b.Port)
}

func endpoint(b engine.ConnectionBody) string {
	switch {
	case b.Type == engine.ConnectionSQLite:
		return b.Database
	case b.Type.IsDatabase():
		at := b.Host
		if b.Port != 0 {
			at += ":" + port(b)
		}
		return at + "/" + b.Database
	}
	if b.Endpoint == "" {
		return "AWS"
	}
	return b.Endpoint
}

func credentials(b engine.ConnectionBody) string {
	if b.Type == engine.ConnectionSQLite {
		return "none"
	}
	if b.Type.IsDatabase() {
		return b.User
	}
	if b.AccessKey == "" {
		return "from the machine"
	}
	return b.AccessKey
}

// locked reports whether an access key lacks its secret, without which nothing can
// be reached: it was removed, or the key with which it was sealed is lost.
func locked(b engine.ConnectionBody) bool {
	return b.Type == engine.ConnectionS3 && b.AccessKey != "" && !b.HasSecret
}
