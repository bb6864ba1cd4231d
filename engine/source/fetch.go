package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"golang.org/x/sync/errgroup"

	"dogear/engine"
	"dogear/engine/bucket"
	"dogear/engine/place"
)

// downloads is how many objects are fetched at once.
const downloads = 4

// File is an object that can be read from this machine.
type File struct {
	engine.Object
	Path string // absolute, without symbolic links on the way to the root
}

// Fetched is what Fetch brought.
type Fetched struct {
	Root    string // below which every Path lies
	Files   []File
	Changed []engine.Object // differ from the plan: they are left for the next one
}

// Fetch makes objects readable. Those of a folder are used in place; those of
// a bucket are downloaded below dir, each only if it still is what the plan
// says. An object that is not is named in Changed and left out.
func (s *Source) Fetch(ctx context.Context, src engine.Source, objects []engine.Object, dir string) (Fetched, error) {
	at, err := s.place(src)
	if err != nil {
		return Fetched{}, err
	}
	if at.S3() {
		return s.download(ctx, src.Connection, at, objects, dir)
	}
	root, err := s.roots.Check(at.Root)
	if err != nil {
		return Fetched{}, err
	}
	got := Fetched{Root: root}
	for _, o := range objects {
		got.Files = append(got.Files, File{o, filepath.Join(root, filepath.FromSlash(o.Key))})
	}
	changed, err := s.Verify(ctx, src, got)
	if err != nil {
		return Fetched{}, err
	}
	return got.without(changed), nil
}

// without leaves out the files of changed objects.
func (f Fetched) without(changed []engine.Object) Fetched {
	gone := make(map[string]bool, len(changed))
	for _, o := range changed {
		gone[o.Key] = true
	}
	kept := Fetched{Root: f.Root, Changed: append(f.Changed, changed...)}
	for _, file := range f.Files {
		if !gone[file.Key] {
			kept.Files = append(kept.Files, file)
		}
	}
	return kept
}

// Verify compares the files of a folder with their plan again, and returns
// those that changed. It is called after the worker has read them: what was
// rewritten meanwhile may have been read by halves. Downloads cannot change.
func (s *Source) Verify(_ context.Context, src engine.Source, got Fetched) ([]engine.Object, error) {
	if place.IsS3(src.Path) {
		return nil, nil
	}
	root, err := os.OpenRoot(got.Root)
	if err != nil {
		return nil, fmt.Errorf("open the folder %s: %w", got.Root, err)
	}
	defer root.Close()
	var changed []engine.Object
	for _, f := range got.Files {
		if !s.unchanged(root, f) {
			changed = append(changed, f.Object)
		}
	}
	return changed, nil
}

func (s *Source) unchanged(root *os.Root, f File) bool {
	info, err := root.Lstat(f.Key)
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		real, checked := s.roots.Check(f.Path)
		if checked != nil {
			return false
		}
		info, err = os.Stat(real)
	}
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	now := object(f.Key, info)
	return now.Size == f.Size && now.ModNS == f.ModNS && (f.Inode == 0 || now.Inode == f.Inode)
}

func (s *Source) download(ctx context.Context, connection engine.ID, at place.Place, objects []engine.Object, dir string) (Fetched, error) {
	client, err := s.buckets.Client(ctx, connection)
	if err != nil {
		return Fetched{}, err
	}
	got := Fetched{Root: dir}
	var mu sync.Mutex // guards changed
	changed := []engine.Object{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(downloads)
	for i, o := range objects {
		file := File{o, filepath.Join(dir, scratchName(i, o.Key))}
		got.Files = append(got.Files, file)
		group.Go(func() error {
			err := downloadOne(ctx, client, at, file)
			if errors.Is(err, errChanged) {
				mu.Lock()
				changed = append(changed, o)
				mu.Unlock()
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Fetched{}, err
	}
	return got.without(changed), nil
}

// errChanged says that an object is not what the plan saw.
var errChanged = errors.New("changed since the plan")

func downloadOne(ctx context.Context, client *s3.Client, at place.Place, f File) error {
	answer, err := client.GetObject(ctx, &s3.GetObjectInput{
		Bucket:  aws.String(at.Bucket),
		Key:     aws.String(at.Root + f.Key),
		IfMatch: aws.String(`"` + f.ETag + `"`),
	})
	switch bucket.Code(err) {
	case "":
	case "PreconditionFailed", "Precondition Failed", "NoSuchKey":
		return errChanged
	}
	if err != nil {
		return bucket.Explain(err, at.Address()+f.Key)
	}
	defer answer.Body.Close()
	// Some stores ignore the condition, so the answer is compared as well.
	if strings.Trim(aws.ToString(answer.ETag), `"`) != f.ETag {
		return errChanged
	}
	return save(f.Path, answer.Body, f.Size)
}

// save writes body to a new file and insists on its length: a connection that
// breaks must not leave a shorter file that looks whole.
func save(path string, body io.Reader, size int64) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the scratch folder: %w", err)
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("make the scratch file: %w", err)
	}
	n, err := io.Copy(out, body)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return engine.Errorf(engine.LimitHit, "The disk for downloads, with the folder %s, is full. Make room on it, or let the job read less at once.", filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("download to %s: %w", path, err)
	}
	return nil
}

// scratchName is where an object of a bucket is kept: its number, and those
// parts of the key that carry meaning (the partition and the name's suffix).
// Other parts may be longer than a file name can be, or climb out of it.
func scratchName(i int, key string) string {
	parts := strings.Split(key, "/")
	name := parts[len(parts)-1]
	kept := []string{strconv.Itoa(i)}
	for _, part := range parts[:len(parts)-1] {
		if strings.Contains(part, "=") && len(part) < 200 {
			kept = append(kept, part)
		}
	}
	if len(name) > 100 {
		name = name[len(name)-100:]
	}
	return filepath.Join(append(kept, "f-"+name)...)
}
