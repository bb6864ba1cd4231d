package source

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"dogear/engine"
)

// Hash reads the content of a file of a folder and names it, so that a file of
// which only the time differs is known for what it was. It tells versions of a
// file apart and is no seal against somebody who wants to deceive.
func (s *Source) Hash(_ context.Context, src engine.Source, o engine.Object) (string, error) {
	at, err := s.place(src)
	if err != nil {
		return "", err
	}
	root, err := s.roots.Check(at.Root)
	if err != nil {
		return "", err
	}
	return HashFile(root, o.Key)
}

// HashFile is the Hash of a file below root.
func HashFile(root, key string) (string, error) {
	below, err := os.OpenRoot(root)
	if err != nil {
		return "", fmt.Errorf("open the folder %s: %w", root, err)
	}
	defer below.Close()
	file, err := below.Open(filepath.FromSlash(key))
	if err != nil {
		return "", fmt.Errorf("read %s again: %w", key, err)
	}
	defer file.Close()
	sum := xxhash.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read %s again: %w", key, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
