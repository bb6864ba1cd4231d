package source

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"dogear/engine"
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
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{
		Bucket: aws.String(at.Bucket),
		Prefix: aws.String(at.Root),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return bucket.Explain(err, at.Address())
		}
		for _, found := range page.Contents {
			o := remote(at.Root, found)
			if o.Key == "" || strings.HasPrefix(o.Key, ownFolder+"/") {
				continue
			}
			if !emit(o, "") {
				return nil
			}
		}
	}
	return nil
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
