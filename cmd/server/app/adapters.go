package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"dogear/db"
	"dogear/engine"
	"dogear/engine/bucket"
	"dogear/engine/exec"
	"dogear/engine/place"
	"dogear/engine/source"
	"dogear/engine/table"
)

// logs reads the logs that exec has written, or what servers beside this one
// have shipped of theirs.
type logs struct {
	exec  *exec.Exec
	store *db.Store
}

// Log returns up to limit bytes of a log from offset, and how long it is.
func (l logs) Log(ctx context.Context, key engine.NodeKey, offset, limit int64) ([]byte, int64, error) {
	if l.store.Shared() {
		return l.store.LogText(ctx, key, offset, limit)
	}
	file, err := os.Open(l.exec.LogPath(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open a log: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("look at a log: %w", err)
	}
	text := make([]byte, max(0, min(limit, info.Size()-offset)))
	n, err := file.ReadAt(text, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("read a log: %w", err)
	}
	return text[:n], info.Size(), nil
}

// places looks into folders and buckets for the path picker.
type places struct {
	roots   place.Roots
	sources *source.Source
	buckets *bucket.Buckets
	tables  *table.Databases
	store   *db.Store
}

// Tables lists the tables of a database.
func (p places) Tables(ctx context.Context, connection engine.ID) ([]string, error) {
	found, err := p.tables.Tables(ctx, connection)
	names := make([]string, 0, len(found))
	for _, t := range found {
		if !table.Ours(t.Name) {
			names = append(names, t.Name)
		}
	}
	return names, err
}

// TableColumns describes a table.
func (p places) TableColumns(ctx context.Context, connection engine.ID, name string) ([]engine.TableColumn, error) {
	found, err := p.tables.Columns(ctx, connection, name)
	columns := make([]engine.TableColumn, len(found))
	for i, c := range found {
		columns[i] = engine.TableColumn{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Key: c.Key}
	}
	return columns, err
}

// Browse lists one level of a folder or bucket.
func (p places) Browse(ctx context.Context, connection engine.ID, path string) (engine.Level, error) {
	level, err := p.sources.Browse(ctx, connection, path)
	return engine.Level{Address: level.Address, Parent: level.Parent, Folders: level.Folders, Files: level.Files, More: level.More}, err
}

// MayUse says why a path may not be used. Whether a bucket may is known only by
// asking it.
func (p places) MayUse(path string) error {
	at, err := p.roots.Parse(path)
	if err != nil || at.S3() {
		return err
	}
	_, err = p.roots.MayExist(at.Root)
	return err
}

// TestConnection lists the buckets of a connection, or asks a database what it
// is.
func (p places) TestConnection(ctx context.Context, id engine.ID) (string, error) {
	made, err := p.store.Connection(ctx, id)
	if err != nil {
		return "", err
	}
	if made.Type.IsDatabase() {
		what, err := p.tables.Test(ctx, id)
		return "It answers: " + what + ".", err
	}
	client, err := p.buckets.Client(ctx, id)
	if err != nil {
		return "", err
	}
	found, err := client.ListBuckets(ctx, &s3.ListBucketsInput{})
	if err != nil {
		return "", bucket.Explain(err, "The object store")
	}
	if n := len(found.Buckets); n != 1 {
		return fmt.Sprintf("It answers and shows %d buckets.", n), nil
	}
	return "It answers and shows one bucket.", nil
}
