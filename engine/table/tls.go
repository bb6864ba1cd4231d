package table

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"

	"dogear/engine"
)

// tlsConfig is how the way to c is protected; nil where it is not.
func tlsConfig(c Config) (*tls.Config, error) {
	switch c.TLS {
	case engine.TLSOff:
		return nil, nil
	case engine.TLSEncrypt:
		return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, nil //nolint:gosec // the person has chosen so
	case engine.TLSVerify:
	}
	config := &tls.Config{ServerName: cmp.Or(c.ServerName, c.Host), MinVersion: tls.VersionTLS12}
	if c.CA == "" {
		return config, nil
	}
	var err error
	config.RootCAs, err = engine.Authorities(c.CA)
	return config, err
}

// refusals are what databases say when they refuse a connection, and what to do.
var refusals = []struct{ says, advice string }{
	{"password authentication failed", "check the user and the password"},
	{"Access denied for user", "check the user and the password, and from where that user may sign in"},
	{"Login failed for user", "check the user and the password"},
	{"server refused TLS connection", "the server speaks no TLS: let it, or switch TLS off where the way to it is safe"},
	{"TLS requested but server does not support TLS", "the server speaks no TLS: let it, or switch TLS off where the way to it is safe"},
	{"no encryption", "the server may want TLS: switch it on"},
	{"require_secure_transport", "the server wants TLS: switch it on"},
}

// advice is what a person can do about a connection that was refused; "" where
// that is not known.
func (c Config) advice(err error) string {
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return "the certificate is not made for " + name.Host + ": give the connection the server name that it is made for"
	case errors.As(err, &unknown) && c.CA == "":
		return "this machine does not know who vouches for the server: give the connection the certificate of its CA"
	case errors.As(err, &unknown):
		return "the CA certificate of the connection is not the one that vouches for the server: give it the right one"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate of the server has expired, or a clock is wrong"
	}
	for _, r := range refusals {
		if strings.Contains(err.Error(), r.says) {
			return r.advice
		}
	}
	return ""
}
