package source

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/bucket"
	"dogear/engine/place"
)

// listBucket yields the objects below a prefix. S3 lists in bytewise order of
// key, and so do the keys relative to the prefix.
func (s *Source) listBucket(ctx context.Context, connection engine.ID, at place.Place, emit emit) error {
	client, err := s.buckets.Client(ctx, connection)
	if err != nil {
		return err
	}
	l := &lister{client: client, bucket: at.Bucket, slots: make(chan struct{}, listAtOnce)}
	err = l.walk(ctx, at.Root, func(found []types.Object) error {
		for _, f := range found {
			o := remote(at.Root, f)
			if o.Key == "" || strings.HasPrefix(o.Key, engine.OwnFolder+"/") {
				continue
			}
			if !emit(bookmark.Listed{Object: o}) {
				return errEnough
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return bucket.Explain(err, at.Address())
}

const (
	// listAtOnce is how many requests of one listing are under way at once.
	listAtOnce = 8
	// mostFolders is up to how many folders are listed side by side; with more
	// of them a request for each would cost more than it saves.
	mostFolders = 256
)

// lister lists one bucket. A prefix of more than one page is listed folder by
// folder, several at once, and put together in order.
type lister struct {
	client *s3.Client
	bucket string
	slots  chan struct{}
}

// page asks for one page below prefix.
func (l *lister) page(ctx context.Context, prefix, delimiter string, token *string) (*s3.ListObjectsV2Output, error) {
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-l.slots }()
	in := &s3.ListObjectsV2Input{Bucket: aws.String(l.bucket), Prefix: aws.String(prefix), ContinuationToken: token}
	if delimiter != "" {
		in.Delimiter = aws.String(delimiter)
	}
	return l.client.ListObjectsV2(ctx, in)
}

// walk gives the objects below prefix to take, in order of key.
func (l *lister) walk(ctx context.Context, prefix string, take func([]types.Object) error) error {
	page, err := l.page(ctx, prefix, "", nil)
	if err != nil {
		return err
	}
	if aws.ToBool(page.IsTruncated) {
		parts, err := l.parts(ctx, prefix)
		if err != nil {
			return err
		}
		if parts != nil {
			return l.side(ctx, parts, take)
		}
	}
	for {
		if err := take(page.Contents); err != nil || !aws.ToBool(page.IsTruncated) {
			return err
		}
		if page, err = l.page(ctx, prefix, "", page.NextContinuationToken); err != nil {
			return err
		}
	}
}

// part is what lies directly below a prefix: an object, or a folder of them.
type part struct {
	key    string
	object *types.Object // nil for a folder
}

// parts lists what lies directly below prefix, or nil where it is not worth
// listing that side by side: there is no folder, or there are too many.
func (l *lister) parts(ctx context.Context, prefix string) ([]part, error) {
	page, err := l.page(ctx, prefix, "/", nil)
	if err != nil {
		return nil, err
	}
	if aws.ToBool(page.IsTruncated) || len(page.CommonPrefixes) == 0 || len(page.CommonPrefixes) > mostFolders {
		return nil, nil
	}
	var parts []part
	for _, folder := range page.CommonPrefixes {
		parts = append(parts, part{key: aws.ToString(folder.Prefix)})
	}
	for i := range page.Contents {
		parts = append(parts, part{key: aws.ToString(page.Contents[i].Key), object: &page.Contents[i]})
	}
	// All keys of a folder compare with another name as the folder itself does.
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.key, b.key) })
	return parts, nil
}

// batch is a page of a folder on its way to the reader.
type batch struct {
	objects []types.Object
	err     error
}

// side lists the folders among parts side by side, a few ahead of the reader,
// and gives everything to take in order.
func (l *lister) side(ctx context.Context, parts []part, take func([]types.Object) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the folders ahead where the reader stops
	ahead := map[int]chan batch{}
	next := 0
	for i, p := range parts {
		for ; next < len(parts) && next < i+listAtOnce; next++ {
			if parts[next].object == nil {
				ahead[next] = l.stream(ctx, parts[next].key)
			}
		}
		if p.object != nil {
			if err := take([]types.Object{*p.object}); err != nil {
				return err
			}
			continue
		}
		for b := range ahead[i] {
			if b.err != nil {
				return b.err
			}
			if err := take(b.objects); err != nil {
				return err
			}
		}
		if ctx.Err() != nil { // the folder ended early: what was listed is not all
			return context.Cause(ctx)
		}
		delete(ahead, i)
	}
	return nil
}

// stream lists a folder a few pages ahead of its reader.
func (l *lister) stream(ctx context.Context, prefix string) chan batch {
	const pagesAhead = 4
	out := make(chan batch, pagesAhead)
	send := func(b batch) error {
		select {
		case out <- b:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	go func() {
		defer close(out)
		err := l.walk(ctx, prefix, func(objects []types.Object) error { return send(batch{objects: objects}) })
		if err != nil {
			_ = send(batch{err: err}) // where nobody reads any more, nobody asks why
		}
	}()
	return out
}

// remote is what a listing says of an object in S3.
func remote(prefix string, found types.Object) engine.Object {
	return engine.Object{
		Key:   strings.TrimPrefix(aws.ToString(found.Key), prefix),
		Size:  aws.ToInt64(found.Size),
		ModNS: aws.ToTime(found.LastModified).UnixNano(),
		ETag:  strings.Trim(aws.ToString(found.ETag), `"`),
	}
}
