// Package static holds what the browser runs and the addresses under which
// the server offers it. `npm run build` makes dist.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"path"
	"strings"
)

//go:embed all:dist
var dist embed.FS

// Prefix is where the server offers the files.
const Prefix = "/static/"

// File is one file of the build.
type File struct {
	Body []byte
	Type string // of the content
	Hash string // of the content, quoted in addresses
}

// Files is the build, by name below Prefix. A name is looked up, never
// opened, so that no spelling of it can lead out of the build.
type Files map[string]File

// Load reads the embedded build.
func Load() (Files, error) {
	files := Files{}
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		files[strings.TrimPrefix(name, "dist/")] = File{
			Body: body,
			Type: typeOf(name),
			Hash: hex.EncodeToString(sum[:8]),
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the embedded build: %w", err)
	}
	return files, nil
}

// URL is the address of a file. It changes with the content, so that browsers
// may keep what they have for ever.
func (f Files) URL(name string) string {
	file, ok := f[name]
	if !ok {
		return Prefix + name
	}
	return Prefix + name + "?v=" + file.Hash
}

// typeOf knows the types of a build by itself: the table of the system may
// lack them or be wrong.
func typeOf(name string) string {
	switch ext := path.Ext(name); ext {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	case ".txt":
		return "text/plain; charset=utf-8"
	default:
		return mime.TypeByExtension(ext)
	}
}
