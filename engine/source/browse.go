package source

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"dogear/engine"
	"dogear/engine/bucket"
	"dogear/engine/place"
)

// maxBrowse is how many names one level of the path picker shows.
const maxBrowse = 1000

// Level is one level of a place, for the path picker.
type Level struct {
	Address string // of this level
	Parent  string // "" at the top
	Folders []string
	Files   []engine.Object // keys are names
	More    bool            // there are more than are shown
}

// Browse lists one level of a folder or bucket. An empty path lists the
// allowed folders, or the buckets of the connection.
func (s *Source) Browse(ctx context.Context, connection engine.ID, path string) (Level, error) {
	if path == "" && connection == "" {
		return Level{Folders: s.roots.Allowed}, nil
	}
	if path == "" || path == "s3://" {
		return s.browseBuckets(ctx, connection)
	}
	at, err := s.roots.Parse(path)
	if err != nil {
		return Level{}, err
	}
	if at.S3() {
		return s.browseBucket(ctx, connection, at)
	}
	return s.browseFolder(at)
}

func (s *Source) browseFolder(at place.Place) (Level, error) {
	real, err := s.roots.Check(at.Root)
	if err != nil {
		return Level{}, err
	}
	entries, err := readDir(real)
	if err != nil {
		return Level{}, engine.Errorf(engine.Invalid, "The folder %s cannot be listed: %w", at.Root, err)
	}
	level := Level{Address: at.Root}
	if parent := filepath.Dir(at.Root); parent != at.Root {
		if _, err := s.roots.Check(parent); err == nil {
			level.Parent = parent
		}
	}
	for _, c := range entries {
		if len(level.Folders)+len(level.Files) == maxBrowse {
			level.More = true
			break
		}
		if c.entry.IsDir() {
			if c.entry.Name() != engine.OwnFolder {
				level.Folders = append(level.Folders, c.entry.Name())
			}
			continue
		}
		if info, err := c.entry.Info(); err == nil {
			level.Files = append(level.Files, object(c.name, info))
		}
	}
	return level, nil
}

func (s *Source) browseBuckets(ctx context.Context, connection engine.ID) (Level, error) {
	client, err := s.buckets.Client(ctx, connection)
	if err != nil {
		return Level{}, err
	}
	found, err := client.ListBuckets(ctx, &s3.ListBucketsInput{})
	if err != nil {
		return Level{}, bucket.Explain(err, "s3://")
	}
	level := Level{Address: "s3://"}
	for _, b := range found.Buckets {
		level.Folders = append(level.Folders, aws.ToString(b.Name))
	}
	return level, nil
}

func (s *Source) browseBucket(ctx context.Context, connection engine.ID, at place.Place) (Level, error) {
	client, err := s.buckets.Client(ctx, connection)
	if err != nil {
		return Level{}, err
	}
	found, err := client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
		Bucket:    aws.String(at.Bucket),
		Prefix:    aws.String(at.Root),
		Delimiter: aws.String("/"),
		MaxKeys:   aws.Int32(maxBrowse),
	})
	if err != nil {
		return Level{}, bucket.Explain(err, at.Address())
	}
	level := Level{Address: at.Address(), Parent: "s3://", More: aws.ToBool(found.IsTruncated)}
	if up := strings.TrimSuffix(at.Root, "/"); up != "" {
		level.Parent = "s3://" + at.Bucket + "/" + up[:strings.LastIndexByte(up, '/')+1]
	}
	for _, p := range found.CommonPrefixes {
		name := strings.TrimSuffix(strings.TrimPrefix(aws.ToString(p.Prefix), at.Root), "/")
		level.Folders = append(level.Folders, name)
	}
	for _, o := range found.Contents {
		if file := remote(at.Root, o); file.Key != "" {
			level.Files = append(level.Files, file)
		}
	}
	return level, nil
}

// Peek returns the first limit objects of src that it does not leave out.
func (s *Source) Peek(ctx context.Context, src engine.Source, limit int) ([]engine.Object, error) {
	var first []engine.Object
	for listed, err := range s.List(ctx, src) {
		if err != nil {
			return nil, err
		}
		if listed.Filtered != "" {
			continue
		}
		first = append(first, listed.Object)
		if len(first) == limit {
			break
		}
	}
	return first, nil
}

// Head returns the first n bytes of an object, fewer where it is shorter.
func (s *Source) Head(ctx context.Context, src engine.Source, o engine.Object, n int64) ([]byte, error) {
	at, err := s.place(src)
	if err != nil {
		return nil, err
	}
	if !at.S3() {
		return s.headFile(at, o, n)
	}
	client, err := s.buckets.Client(ctx, src.Connection)
	if err != nil {
		return nil, err
	}
	answer, err := client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: aws.String(at.Bucket),
		Key:    aws.String(at.Root + o.Key),
		Range:  aws.String(fmt.Sprintf("bytes=0-%d", n-1)),
	})
	if err != nil {
		return nil, bucket.Explain(err, at.Address()+o.Key)
	}
	defer answer.Body.Close()
	head, err := io.ReadAll(io.LimitReader(answer.Body, n))
	if err != nil {
		return nil, bucket.Explain(err, at.Address()+o.Key)
	}
	return head, nil
}

func (s *Source) headFile(at place.Place, o engine.Object, n int64) ([]byte, error) {
	if !filepath.IsLocal(o.Key) {
		return nil, engine.Errorf(engine.Forbidden, "%s does not lie below %s.", o.Key, at.Root)
	}
	real, err := s.roots.Check(filepath.Join(at.Root, o.Key))
	if err != nil {
		return nil, err
	}
	f, err := os.Open(real)
	if err != nil {
		return nil, engine.Errorf(engine.Invalid, "%s cannot be read: %w", o.Key, err)
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, n))
	if err != nil {
		return nil, engine.Errorf(engine.Invalid, "%s cannot be read: %w", o.Key, err)
	}
	return head, nil
}
