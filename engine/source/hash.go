package source

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"dogear/engine"
)

// Hash returns a hash of the content of a folder's file. It tells whether a
// file with a new time has new content; it is no protection against somebody
// who wants two files to look alike.
func (s *Source) Hash(_ context.Context, src engine.Source, o engine.Object) (string, error) {
	at, err := s.place(src)
	if err != nil {
		return "", err
	}
	if at.S3() {
		return o.ETag, nil
	}
	if !filepath.IsLocal(o.Key) {
		return "", engine.Errorf(engine.Forbidden, "%s does not lie below %s.", o.Key, at.Root)
	}
	real, err := s.roots.Check(filepath.Join(at.Root, o.Key))
	if err != nil {
		return "", err
	}
	f, err := os.Open(real)
	if err != nil {
		return "", engine.Errorf(engine.Invalid, "%s cannot be read: %w", o.Key, err)
	}
	defer f.Close()
	h := xxh3.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("hash %s: %w", o.Key, err)
	}
	sum := h.Sum128().Bytes()
	return hex.EncodeToString(sum[:]), nil
}
