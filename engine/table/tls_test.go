package table_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/table"
	"dogear/engine/table/tabletest"
)

// secured is a server that demands TLS and a password of the user keeper, with
// a certificate made for database.test.
func secured(t *testing.T, b tabletest.Base) table.Config {
	t.Helper()
	path := os.Getenv(map[engine.ConnectionType]string{engine.ConnectionPostgres: "DOGEAR_TEST_POSTGRES_CA", engine.ConnectionMySQL: "DOGEAR_TEST_MYSQL_CA"}[b.Config.Kind])
	if path == "" {
		t.Skip("no server with a certificate; make test runs this on two")
	}
	ca, err := os.ReadFile(path)
	tabletest.Must(t, err)
	c := b.Config
	c.User, c.Password, c.TLS, c.CA, c.ServerName, c.Database = "keeper", "hush-hush", engine.TLSVerify, string(ca), "database.test", ""
	if c.Kind == engine.ConnectionPostgres {
		c.Database = "postgres"
	}
	return c
}

// otherCA is the certificate of an authority that vouches for nobody here.
func otherCA(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	tabletest.Must(t, err)
	of := &x509.Certificate{
		SerialNumber: big.NewInt(9), Subject: pkix.Name{CommonName: "another CA"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	made, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	tabletest.Must(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}))
}

func TestAServerProvesItsNameAndAUserThemselves(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*table.Config)
		want   string // part of the refusal; "" where it lets us in
	}{
		"all as it should be":         {func(*table.Config) {}, ""},
		"encrypted, whoever answers":  {func(c *table.Config) { c.TLS, c.CA, c.ServerName = engine.TLSEncrypt, "", "" }, ""},
		"another CA":                  {func(c *table.Config) { c.CA = otherCA(t) }, "the CA certificate of the connection is not the one that vouches for the server"},
		"the CAs of the machine":      {func(c *table.Config) { c.CA = "" }, "give the connection the certificate of its CA"},
		"the address as name":         {func(c *table.Config) { c.ServerName = "" }, "the certificate is not made for 127.0.0.1: give the connection the server name"},
		"another name":                {func(c *table.Config) { c.ServerName = "elsewhere.test" }, "the certificate is not made for elsewhere.test"},
		"a CA that is no certificate": {func(c *table.Config) { c.CA = "hello" }, "The CA certificate is not whole PEM"},
		"a wrong password":            {func(c *table.Config) { c.Password = "guess-guess" }, "check the user and the password"},
		"no password":                 {func(c *table.Config) { c.Password = "" }, "check the user and the password"},
		"without TLS":                 {func(c *table.Config) { c.TLS = engine.TLSOff }, "cannot be reached"},
	}
	for name, tt := range tests {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
				if b.Config.Kind == engine.ConnectionSQLite {
					t.Skip("a file has no server")
				}
				c := secured(t, b)
				tt.change(&c)

				db, err := table.Open(t.Context(), c)
				if err == nil {
					_, err = db.Version(t.Context())
					tabletest.Must(t, db.Close())
				}
				snapshot, read := table.OpenSnapshot(t.Context(), c)
				if read == nil {
					tabletest.Must(t, snapshot.Close())
				}

				for _, err := range []error{err, read} { // both ways in
					switch {
					case tt.want == "" && err != nil:
						t.Errorf("got %v", err)
					case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
						t.Errorf("got %v, want %q", err, tt.want)
					case err != nil && (strings.Contains(err.Error(), "hush-hush") || strings.Contains(err.Error(), "guess-guess")):
						t.Errorf("the password is told: %v", err)
					}
				}
			})
		})
	}
}

func TestAKeyAmongTheCertificatesOfACAIsRefused(t *testing.T) {
	t.Parallel()
	good := otherCA(t)
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("secret")}))
	for name, tt := range map[string]struct{ text, want string }{
		"one":          {good, ""},
		"two":          {good + "\n" + good, ""},
		"a key":        {good + key, "holds a private key"},
		"cut off":      {good[:len(good)-20], "is not whole PEM"},
		"broken":       {string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})), "cannot be read"},
		"rest of text": {good + "more", "is not whole PEM"},
	} {
		_, err := engine.Authorities(tt.text)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}
