// Package queue receives from SQS queues what buckets say of themselves.
package queue

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go/logging"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/bucket"
)

const (
	atOnce      = 10 // messages of one answer, the most that SQS gives
	waitSeconds = 20 // the longest that SQS waits for one

	defaultRegion = "us-east-1"
)

// Queues reads the queues that the connections of buckets may read.
type Queues struct {
	connections bucket.Connections
}

// New returns Queues that sign with the keys of connections.
func New(connections bucket.Connections) *Queues { return &Queues{connections} }

// client makes the client for the queue at address. A queue lives where its
// address says, whatever endpoint the connection has for its buckets.
func (q *Queues) client(ctx context.Context, connection engine.ID, address string) (*sqs.Client, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, engine.Errorf(engine.Invalid, "%s is no address of a queue.", address)
	}
	var keys bucket.Config
	if connection != "" {
		if keys, err = q.connections.S3(ctx, connection); err != nil {
			return nil, err
		}
	}
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	if keys.AccessKey != "" {
		options = append(options, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(keys.AccessKey, keys.Secret, "")))
	}
	if region := RegionOf(at.Hostname(), keys.Region); region != "" {
		options = append(options, config.WithRegion(region))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, engine.Errorf(engine.Invalid, "The AWS settings of this machine cannot be read: %w", err)
	}
	if loaded.Region == "" {
		loaded.Region = defaultRegion
	}
	return sqs.NewFromConfig(loaded, func(o *sqs.Options) { o.BaseEndpoint = aws.String(at.Scheme + "://" + at.Host) }), nil
}

// RegionOf is the region in a host name of AWS, else that of the connection.
func RegionOf(host, other string) string {
	if parts := strings.Split(host, "."); len(parts) >= 4 && parts[0] == "sqs" && parts[2] == "amazonaws" {
		return parts[1]
	}
	return other
}

// Receive waits up to 20 seconds for messages of the queue at address. They come
// again after the queue's own time unless they are deleted.
func (q *Queues) Receive(ctx context.Context, connection engine.ID, address string) ([]arrival.Message, error) {
	client, err := q.client(ctx, connection, address)
	if err != nil {
		return nil, err
	}
	answer, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(address), MaxNumberOfMessages: atOnce, WaitTimeSeconds: waitSeconds,
	})
	if err != nil {
		return nil, explain(err, address)
	}
	messages := make([]arrival.Message, len(answer.Messages))
	for i, m := range answer.Messages {
		messages[i] = arrival.Message{Handle: aws.ToString(m.ReceiptHandle), Body: []byte(aws.ToString(m.Body))}
	}
	return messages, nil
}

// Delete removes messages from the queue at address.
func (q *Queues) Delete(ctx context.Context, connection engine.ID, address string, messages []arrival.Message) error {
	client, err := q.client(ctx, connection, address)
	if err != nil {
		return err
	}
	in := &sqs.DeleteMessageBatchInput{QueueUrl: aws.String(address)}
	for i, m := range messages {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: aws.String(m.Handle)})
	}
	answer, err := client.DeleteMessageBatch(ctx, in)
	if err != nil {
		return explain(err, address)
	}
	if len(answer.Failed) > 0 {
		return engine.Errorf(engine.Invalid, "The queue %s did not delete %d messages that were taken: %s. They come again and are known.",
			address, len(answer.Failed), aws.ToString(answer.Failed[0].Message))
	}
	return nil
}

// explain puts a refusal of a queue into words.
func explain(err error, address string) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var missing *types.QueueDoesNotExist
	if errors.As(err, &missing) || bucket.Code(err) == "AWS.SimpleQueueService.NonExistentQueue" {
		return engine.Errorf(engine.NotFound, "There is no queue %s.", address)
	}
	return engine.Errorf(engine.Invalid, "The queue %s cannot be read. Check its address and what the connection's key may do: %w", address, err)
}
