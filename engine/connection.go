package engine

import (
	"crypto/x509"
	"encoding/pem"
	"strings"
)

// Connection is one version of a connection to an object store or a database.
type Connection struct {
	Head
	ConnectionBody
}

// ConnectionBody is what a version of a connection holds. The secret is not
// part of it: it is write-only and lives apart (model.md, Secrets).
type ConnectionBody struct {
	Description string         `json:"description,omitempty"`
	Type        ConnectionType `json:"type"`
	// Of an object store.
	Endpoint  string `json:"endpoint,omitempty"` // "" is AWS
	Region    string `json:"region,omitempty"`
	PathStyle bool   `json:"path_style,omitempty"`
	AccessKey string `json:"access_key,omitempty"` // "" is the ordinary AWS chain
	// Of a database. SQLite has none of them but Database, the path of its file.
	Host     string  `json:"host,omitempty"`
	Port     int     `json:"port,omitempty"` // 0 is the usual one
	Database string  `json:"database,omitempty"`
	User     string  `json:"user,omitempty"`
	TLS      TLSMode `json:"tls,omitempty"`
	// CA are the certificates, as PEM, of the authorities that may vouch for the
	// server; "" are those that this machine trusts.
	CA string `json:"ca,omitempty"`
	// ServerName is the name that the server's certificate must have; "" is Host.
	ServerName string `json:"server_name,omitempty"`
	// HasSecret tells whether a secret is kept beside it. It is no part of what is
	// published: a secret can go by itself, when the key of all secrets is lost.
	HasSecret bool `json:"-"`
}

// ConnectionType says what a connection leads to.
type ConnectionType string

// The types: an S3-compatible object store, and databases. MySQL is MariaDB too.
const (
	ConnectionS3        ConnectionType = "s3"
	ConnectionPostgres  ConnectionType = "postgres"
	ConnectionMySQL     ConnectionType = "mysql"
	ConnectionSQLite    ConnectionType = "sqlite"
	ConnectionSQLServer ConnectionType = "sqlserver"
)

// IsDatabase reports whether a connection of this type has tables.
func (t ConnectionType) IsDatabase() bool {
	switch t {
	case ConnectionPostgres, ConnectionMySQL, ConnectionSQLite, ConnectionSQLServer:
		return true
	case ConnectionS3:
	}
	return false
}

// TLSMode says how the way to a database is protected.
type TLSMode string

// The modes. The default protects it and checks the server's certificate.
const (
	TLSVerify  TLSMode = ""        // encrypted, and the server proves its name
	TLSEncrypt TLSMode = "encrypt" // encrypted, whoever answers
	TLSOff     TLSMode = "off"
)

// Authorities reads the certificates of a CA. A private key among them is
// refused: nobody needs it here.
func Authorities(text string) (*x509.CertPool, error) {
	pool, found := x509.NewCertPool(), 0
	rest := []byte(text)
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, Errorf(Invalid, "The CA certificate holds a %s. Paste only certificates, and keep keys to yourself.", strings.ToLower(block.Type))
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, Errorf(Invalid, "The CA certificate cannot be read: %w.", err)
		}
		pool.AddCert(certificate)
		found++
	}
	if found == 0 || strings.TrimSpace(string(rest)) != "" {
		return nil, Errorf(Invalid, "The CA certificate is not whole PEM. Paste it from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----.")
	}
	return pool, nil
}
