package sink

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"dogear/engine"
	"dogear/engine/bucket"
	"dogear/engine/place"
)

// Like finds the newest Parquet file of a target to which a batch adds, and makes
// readable what tells the columns in it; of one in a bucket that is its end, in a
// file below dir that has its size. Path is "" where the target holds none, and
// where it is replaced whole or has no types of its own.
func (s *Sink) Like(ctx context.Context, sink engine.Sink, dir string) (Existing, error) {
	if sink.Table != "" || sink.Mode == engine.Replace || cmp.Or(sink.Format, engine.Parquet) != engine.Parquet {
		return Existing{}, nil
	}
	at, err := s.place(sink)
	if err != nil {
		return Existing{}, err
	}
	if at.S3() {
		all, err := s.listBucket(ctx, sink, at)
		if err != nil {
			return Existing{}, err
		}
		newest := newestOf(sink, all)
		if newest.Key == "" {
			return newest, nil
		}
		newest.Path = filepath.Join(dir, "like.parquet")
		return newest, s.downloadEnd(ctx, sink, at, newest)
	}
	root, err := s.roots.MayExist(at.Root)
	if err != nil {
		return Existing{}, err
	}
	if _, err := os.Stat(root); errors.Is(err, os.ErrNotExist) {
		return Existing{}, nil
	}
	all, err := listFolder(root)
	if err != nil {
		return Existing{}, err
	}
	newest := newestOf(sink, all)
	if newest.Key != "" {
		newest.Path = filepath.Join(root, filepath.FromSlash(newest.Key))
	}
	return newest, nil
}

// newestOf is the newest of the data files of a target, of two that are alike the
// one with the later name; zero for none.
func newestOf(sink engine.Sink, all []Existing) Existing {
	mine, _ := divide(sink, all)
	if len(mine) == 0 {
		return Existing{}
	}
	return slices.MaxFunc(mine, func(a, b Existing) int {
		return cmp.Or(a.written.Compare(b.written), cmp.Compare(a.Key, b.Key))
	})
}

const (
	footerGuess = 64 << 10 // bytes in which the footer of most Parquet files lies
	footerTail  = 8        // its length and the magic bytes, at the very end
)

// downloadEnd writes the footer of a Parquet file in a bucket to where it stands in
// one of its size. A reader of columns looks at nothing else.
func (s *Sink) downloadEnd(ctx context.Context, sink engine.Sink, at place.Place, f Existing) error {
	client, err := s.buckets.Client(ctx, sink.Connection)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return fmt.Errorf("make room for the end of a file of the target: %w", err)
	}
	out, err := os.Create(f.Path)
	if err != nil {
		return writeError(f.Path, err)
	}
	defer out.Close()
	if err := out.Truncate(f.Size); err != nil {
		return writeError(f.Path, err)
	}
	if _, err := out.WriteAt([]byte("PAR1"), 0); err != nil {
		return writeError(f.Path, err)
	}
	if f.Size < footerTail {
		return nil // no Parquet, as its reader will say
	}
	end, err := tailOf(ctx, client, at, f, footerGuess)
	if err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(end[len(end)-footerTail:])) + footerTail
	if length > int64(len(end)) && length <= f.Size {
		if end, err = tailOf(ctx, client, at, f, length); err != nil {
			return err
		}
	}
	if _, err := out.WriteAt(end, f.Size-int64(len(end))); err != nil {
		return writeError(f.Path, err)
	}
	return nil
}

// tailOf reads the last n bytes of an object, or all of a shorter one.
func tailOf(ctx context.Context, client *s3.Client, at place.Place, f Existing, n int64) ([]byte, error) {
	from := max(0, f.Size-n)
	answer, err := client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: aws.String(at.Bucket), Key: aws.String(at.Root + f.Key),
		Range: aws.String("bytes=" + strconv.FormatInt(from, 10) + "-" + strconv.FormatInt(f.Size-1, 10)),
	})
	if err != nil {
		return nil, bucket.Explain(err, at.Address()+f.Key)
	}
	defer answer.Body.Close()
	end, err := io.ReadAll(io.LimitReader(answer.Body, f.Size-from))
	if err != nil {
		return nil, fmt.Errorf("read the end of %s: %w", f.Key, err)
	}
	return end, nil
}
