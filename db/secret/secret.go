// Package secret seals what must not be readable in the database: AES-256-GCM
// with the id of the key in the blob. The key comes from the environment or
// from a file that lies beside, not inside, the database.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dogear/engine"
)

const (
	keySize = 32
	idSize  = 4
	format  = 1 // the first byte of a blob
)

// Key seals and opens secrets.
type Key struct {
	id   [idSize]byte
	aead cipher.AEAD
}

// New makes a Key of 32 bytes.
func New(raw []byte) (*Key, error) {
	if len(raw) != keySize {
		return nil, engine.Errorf(engine.Invalid, "The secret key has %d bytes; it needs %d, written in base64.", len(raw), keySize)
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, fmt.Errorf("set up the secret key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("set up the secret key: %w", err)
	}
	sum := sha256.Sum256(raw)
	return &Key{id: [idSize]byte(sum[:idSize]), aead: aead}, nil
}

// Load takes the key from text in base64 or, where text is empty, from the
// file at path, which it makes on the first start and which only its owner may
// read.
func Load(text, path string) (*Key, error) {
	if text == "" {
		read, err := readOrMake(path)
		if err != nil {
			return nil, err
		}
		text = read
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, engine.Errorf(engine.Invalid, "The secret key is not base64 text. Make one with: head -c 32 /dev/urandom | base64")
	}
	return New(raw)
}

func readOrMake(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return makeFile(path)
	case err != nil:
		return "", fmt.Errorf("read the secret key: %w", err)
	case info.Mode().Perm()&0o077 != 0:
		return "", engine.Errorf(engine.Invalid, "The secret key %s may be read by others. Run: chmod 600 %s", path, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the secret key: %w", err)
	}
	if len(text) == 0 {
		return "", engine.Errorf(engine.Invalid, "The file of the secret key %s is empty. Put the key back from a backup; if there is none, remove the file and a new key is made, with which the secrets of connections must be entered again.", path)
	}
	return string(text), nil
}

func makeFile(path string) (string, error) {
	raw := make([]byte, keySize)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("make a secret key: %w", err)
	}
	text := base64.StdEncoding.EncodeToString(raw) + "\n"
	if err := place(path, text); err != nil {
		return "", fmt.Errorf("keep the secret key: %w", err)
	}
	return text, nil
}

// place makes the file at path, whole or not at all: an empty key would keep
// the server from ever starting, and one that the disk does not have yet might
// seal what nobody opens again. A file that is there is never written over.
func place(path, text string) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil { // a rename would replace what is there
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Seal encrypts plain. about is bound to the blob: it opens for nothing else.
func (k *Key) Seal(plain []byte, about string) ([]byte, error) {
	nonce := make([]byte, k.aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("seal a secret: %w", err)
	}
	blob := append([]byte{format}, k.id[:]...)
	blob = append(blob, nonce...)
	return k.aead.Seal(blob, nonce, plain, []byte(about)), nil
}

// Open decrypts what Seal made.
func (k *Key) Open(blob []byte, about string) ([]byte, error) {
	head := 1 + idSize
	if len(blob) < head+k.aead.NonceSize() || blob[0] != format {
		return nil, errors.New("a stored secret is broken")
	}
	if [idSize]byte(blob[1:head]) != k.id {
		return nil, engine.Errorf(engine.Invalid, "This secret was sealed with another key. Start the server with that key, or enter the secret again.")
	}
	nonce := blob[head : head+k.aead.NonceSize()]
	plain, err := k.aead.Open(nil, nonce, blob[head+k.aead.NonceSize():], []byte(about))
	if err != nil {
		return nil, fmt.Errorf("open a secret: %w", err)
	}
	return plain, nil
}

// Opens reports whether a blob was sealed with this key.
func (k *Key) Opens(blob []byte) bool {
	return len(blob) > 1+idSize && [idSize]byte(blob[1:1+idSize]) == k.id
}
