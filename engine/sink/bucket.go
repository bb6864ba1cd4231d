package sink

import (
	"context"
	"crypto/md5" //nolint:gosec // the ETag of S3 is defined by it
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"dogear/engine"
	"dogear/engine/bucket"
	"dogear/engine/failpoint"
	"dogear/engine/place"
)

const (
	partSize  = 16 << 20
	transfers = 4 // files up or down at once
)

// upload is a file whose parts lie in the store and which nobody sees until
// it is completed.
type upload struct {
	Key   string   `json:"key"` // below the root
	ID    string   `json:"id"`
	ETags []string `json:"etags"`
	ETag  string   `json:"etag"` // of the whole, once it is completed
	Size  int64    `json:"size"`
	Path  string   `json:"path"` // kept until the batch is finalized
}

func (s *Sink) listBucket(ctx context.Context, sink engine.Sink, at place.Place) ([]Existing, error) {
	client, err := s.buckets.Client(ctx, sink.Connection)
	if err != nil {
		return nil, err
	}
	var files []Existing
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: aws.String(at.Bucket), Prefix: aws.String(at.Root)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, bucket.Explain(err, at.Address())
		}
		for _, o := range page.Contents {
			key := strings.TrimPrefix(aws.ToString(o.Key), at.Root)
			if key == "" || strings.HasSuffix(key, "/") || place.Hidden(key) || !filepath.IsLocal(key) {
				continue
			}
			files = append(files, Existing{Key: key, Partition: partitionOf(key), Size: aws.ToInt64(o.Size), written: aws.ToTime(o.LastModified)})
		}
	}
	return files, nil
}

// download brings existing files to dir, under names that say nothing.
func (s *Sink) download(ctx context.Context, sink engine.Sink, at place.Place, files []Existing, dir string) ([]Existing, error) {
	client, err := s.buckets.Client(ctx, sink.Connection)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make room for the target's files: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for i := range files {
		files[i].Path = filepath.Join(dir, strconv.Itoa(i)+".parquet")
		group.Go(func() error { return downloadOne(ctx, client, at, files[i]) })
	}
	return files, group.Wait()
}

func downloadOne(ctx context.Context, client *s3.Client, at place.Place, f Existing) error {
	answer, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(at.Bucket), Key: aws.String(at.Root + f.Key)})
	if err != nil {
		return bucket.Explain(err, at.Address()+f.Key)
	}
	defer answer.Body.Close()
	out, err := os.Create(f.Path)
	if err != nil {
		return writeError(f.Path, err)
	}
	n, err := io.Copy(out, answer.Body)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err == nil && n != f.Size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("download %s: %w", f.Key, writeError(f.Path, err))
	}
	return nil
}

// upload sends the parts of every file and completes none.
func (s *Sink) upload(ctx context.Context, sink engine.Sink, m engine.SinkManifest, data string) ([]upload, error) {
	at, err := s.roots.Parse(m.Root)
	if err != nil {
		return nil, err
	}
	client, err := s.buckets.Client(ctx, sink.Connection)
	if err != nil {
		return nil, err
	}
	uploads := make([]upload, len(m.Files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for i, f := range m.Files {
		uploads[i] = upload{Key: f.Path, Size: f.Bytes, Path: filepath.Join(data, f.Path)}
		group.Go(func() error {
			if err := uploads[i].send(ctx, client, at); err != nil {
				return bucket.Explain(err, at.Address()+f.Path)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		// The cause may be a cancelled context; what was begun is dropped anyway.
		return nil, errors.Join(err, s.abort(context.WithoutCancel(ctx), sink, at, uploads))
	}
	return uploads, nil
}

func (u *upload) send(ctx context.Context, client *s3.Client, at place.Place) error {
	file, err := os.Open(u.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	failpoint.Hit("sink.begin.before")
	begun, err := client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: aws.String(at.Bucket), Key: aws.String(at.Root + u.Key)})
	failpoint.Hit("sink.begin.after")
	if err != nil {
		return err
	}
	u.ID = aws.ToString(begun.UploadId)
	var sums []byte
	for offset := int64(0); offset < u.Size || offset == 0; offset += partSize {
		part := io.NewSectionReader(file, offset, min(partSize, u.Size-offset))
		sum := md5.New() //nolint:gosec // the ETag of S3 is defined by it
		if _, err := io.Copy(sum, part); err != nil {
			return err
		}
		sums = sum.Sum(sums)
		if _, err := part.Seek(0, io.SeekStart); err != nil {
			return err
		}
		sent, err := client.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: aws.String(at.Bucket), Key: aws.String(at.Root + u.Key), UploadId: begun.UploadId,
			PartNumber: aws.Int32(int32(len(u.ETags) + 1)), Body: part,
		})
		if err != nil {
			return err
		}
		failpoint.Hit("sink.part.after")
		u.ETags = append(u.ETags, aws.ToString(sent.ETag))
	}
	whole := md5.Sum(sums) //nolint:gosec // the ETag of S3 is defined by it
	u.ETag = fmt.Sprintf("%s-%d", hex.EncodeToString(whole[:]), len(u.ETags))
	return nil
}

// publishBucket completes the uploads and then deletes what they replace. On
// a bare prefix readers may see both for a moment, and never none.
func (s *Sink) publishBucket(ctx context.Context, sink engine.Sink, m engine.SinkManifest, x extra) error {
	at, err := s.roots.Parse(m.Root)
	if err != nil {
		return err
	}
	client, err := s.buckets.Client(ctx, sink.Connection)
	if err != nil {
		return err
	}
	for _, u := range x.Uploads {
		s.step()
		failpoint.Hit("sink.complete.before")
		if err := u.complete(ctx, client, at); err != nil {
			return bucket.Explain(err, at.Address()+u.Key)
		}
		failpoint.Hit("sink.complete.after")
	}
	for _, key := range x.Old {
		if slices.ContainsFunc(m.Files, func(f engine.OutFile) bool { return f.Path == key }) {
			continue
		}
		s.step()
		failpoint.Hit("sink.delete.before")
		_, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String(at.Bucket), Key: aws.String(at.Root + key)})
		failpoint.Hit("sink.delete.after")
		if err != nil {
			return bucket.Explain(err, at.Address()+key)
		}
	}
	return nil
}

// complete makes an upload an object. A store that no longer knows the upload
// has either completed it before, which size and ETag show, or dropped it;
// then the file is sent again.
func (u upload) complete(ctx context.Context, client *s3.Client, at place.Place) error {
	var parts []types.CompletedPart
	for i, etag := range u.ETags {
		parts = append(parts, types.CompletedPart{ETag: aws.String(etag), PartNumber: aws.Int32(int32(i + 1))})
	}
	key := aws.String(at.Root + u.Key)
	_, err := client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: aws.String(at.Bucket), Key: key, UploadId: aws.String(u.ID),
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	if bucket.Code(err) != "NoSuchUpload" {
		return err
	}
	head, headErr := client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String(at.Bucket), Key: key})
	if headErr == nil && aws.ToInt64(head.ContentLength) == u.Size && strings.Trim(aws.ToString(head.ETag), `"`) == u.ETag {
		return nil
	}
	if _, statErr := os.Stat(u.Path); errors.Is(statErr, fs.ErrNotExist) {
		return fmt.Errorf("the store dropped the upload and its file is no longer here: %w", err)
	}
	again := upload{Key: u.Key, Size: u.Size, Path: u.Path}
	if err := again.send(ctx, client, at); err != nil {
		return err
	}
	return again.complete(ctx, client, at)
}

// abort drops uploads that will not be published.
func (s *Sink) abort(ctx context.Context, sink engine.Sink, at place.Place, uploads []upload) error {
	client, err := s.buckets.Client(ctx, sink.Connection)
	if err != nil {
		return err
	}
	for _, u := range uploads {
		if u.ID == "" {
			continue
		}
		failpoint.Hit("sink.abort.before")
		_, err := client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
			Bucket: aws.String(at.Bucket), Key: aws.String(at.Root + u.Key), UploadId: aws.String(u.ID),
		})
		failpoint.Hit("sink.abort.after")
		if err != nil && bucket.Code(err) != "NoSuchUpload" {
			return bucket.Explain(err, at.Address()+u.Key)
		}
	}
	return nil
}

// discardUploads drops the uploads below a target whose files begin with name.
// Where the store does not let us list uploads, they are left to the bucket's
// rule for incomplete ones.
func (s *Sink) discardUploads(ctx context.Context, sink engine.Sink, at place.Place, name string) error {
	client, err := s.buckets.Client(ctx, sink.Connection)
	if err != nil {
		return err
	}
	var open []upload
	pages := s3.NewListMultipartUploadsPaginator(client, &s3.ListMultipartUploadsInput{Bucket: aws.String(at.Bucket), Prefix: aws.String(at.Root)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		switch bucket.Code(err) {
		case "":
		case "AccessDenied", "NotImplemented", "NoSuchBucket", "NoSuchUpload": // the last where a store has none at all
			return nil
		}
		if err != nil {
			return bucket.Explain(err, at.Address())
		}
		for _, u := range page.Uploads {
			key := strings.TrimPrefix(aws.ToString(u.Key), at.Root)
			if strings.HasPrefix(path.Base(key), name) {
				open = append(open, upload{Key: key, ID: aws.ToString(u.UploadId)})
			}
		}
	}
	return s.abort(ctx, sink, at, open)
}
