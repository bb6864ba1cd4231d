// Package bucket opens S3-compatible object stores for the parts of the
// engine that read and write them, and puts their refusals into words.
package bucket

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"dogear/engine"
)

// defaultRegion signs requests where nobody named a region; stores that are
// not AWS accept any.
const defaultRegion = "us-east-1"

// Config is what a connection says of an object store, its secret included.
type Config struct {
	Endpoint  string // "" is AWS
	Region    string
	AccessKey string // "" is the ordinary AWS chain
	Secret    string
	PathStyle bool
}

// Connections looks up what a connection says.
type Connections interface {
	S3(ctx context.Context, id engine.ID) (Config, error)
}

// Buckets keeps one client for each store.
type Buckets struct {
	connections Connections
	mu          sync.Mutex
	clients     map[Config]*s3.Client
}

// New returns Buckets over connections; nil serves the ordinary AWS chain only.
func New(connections Connections) *Buckets {
	return &Buckets{connections: connections, clients: map[Config]*s3.Client{}}
}

// Store names the object store of a connection, so that two connections to one
// store can be told from two stores.
func (b *Buckets) Store(ctx context.Context, id engine.ID) (string, error) {
	c, err := b.config(ctx, id)
	if err != nil {
		return "", err
	}
	_, host, _ := strings.Cut(c.Endpoint, "://")
	return strings.ToLower(strings.TrimRight(cmp.Or(host, c.Endpoint, "aws"), "/")), nil
}

func (b *Buckets) config(ctx context.Context, id engine.ID) (Config, error) {
	if id == "" {
		return Config{}, nil
	}
	if b.connections == nil {
		return Config{}, engine.Errorf(engine.NotFound, "The connection of this path does not exist.")
	}
	return b.connections.S3(ctx, id)
}

// Client returns the client of a connection; without one it uses the
// credentials, region and endpoint that the ordinary AWS chain finds.
func (b *Buckets) Client(ctx context.Context, id engine.ID) (*s3.Client, error) {
	c, err := b.config(ctx, id)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if client := b.clients[c]; client != nil {
		return client, nil
	}
	client, err := Open(ctx, c)
	if err != nil {
		return nil, err
	}
	b.clients[c] = client
	return client, nil
}

// Open makes a client. It asks nothing of the store yet.
func Open(ctx context.Context, c Config) (*s3.Client, error) { return open(ctx, c, patience) }

func open(ctx context.Context, c Config, patience time.Duration) (*s3.Client, error) {
	options := []func(*config.LoadOptions) error{
		config.WithLogger(logging.Nop{}),
		config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired),
	}
	if c.Region != "" {
		options = append(options, config.WithRegion(c.Region))
	}
	if c.AccessKey != "" {
		options = append(options, config.WithCredentialsProvider(
			credentials.NewStaticCredentialsProvider(c.AccessKey, c.Secret, "")))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, engine.Errorf(engine.Invalid, "The AWS settings of this machine cannot be read: %w", err)
	}
	if loaded.Region == "" {
		loaded.Region = defaultRegion
	}
	return s3.NewFromConfig(loaded, func(o *s3.Options) {
		// An endpoint that is not AWS rarely serves a host name per bucket.
		o.UsePathStyle = c.PathStyle || loaded.BaseEndpoint != nil
		if c.Endpoint != "" {
			o.BaseEndpoint = aws.String(c.Endpoint)
		}
		o.HTTPClient = listener{o.HTTPClient, patience}
	}), nil
}

// Explain turns an answer of an object store into a sentence. Refusals are
// told apart from addresses that do not exist and from stores out of reach.
func Explain(err error, address string) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if silent, ok := errors.AsType[*silence](err); ok {
		return engine.Errorf(engine.Invalid, "The object store at %s sent nothing for %s while %s was read. See whether it runs, and run again.", silent.host, silent.wait, address)
	}
	switch Code(err) {
	case "AccessDenied", "Forbidden", "AllAccessDisabled", "AccountProblem":
		return engine.Errorf(engine.Forbidden, "The object store refuses access to %s. Check what its user may do: %w", address, err)
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken":
		return engine.Errorf(engine.Forbidden, "The object store does not accept the access key for %s: %w", address, err)
	case "NoSuchBucket":
		return engine.Errorf(engine.NotFound, "The bucket of %s does not exist.", address)
	case "NoSuchKey", "NotFound":
		return engine.Errorf(engine.NotFound, "%s does not exist.", address)
	case "":
		return engine.Errorf(engine.Invalid, "%s cannot be reached: %w", address, err)
	}
	return engine.Errorf(engine.Invalid, "The object store could not serve %s: %w", address, err)
}

// Code returns the error code of an object store's answer, "" where err is
// not an answer.
func Code(err error) string {
	if answer, ok := errors.AsType[smithy.APIError](err); ok && answer.ErrorCode() != "" && answer.ErrorCode() != "UnknownError" {
		return answer.ErrorCode()
	}
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		return http.StatusText(answer.HTTPStatusCode())
	}
	return ""
}
