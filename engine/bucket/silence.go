package bucket

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// patience is how long a store may send nothing while something is read of it.
// The client asks again twice. What is written is waited for as long as the run
// may take: some stores put a large object together before they answer.
const patience = 30 * time.Second

// silence says that a store took a request and sent nothing.
type silence struct {
	host string
	wait time.Duration
}

func (s *silence) Error() string { return fmt.Sprintf("%s sent nothing for %s", s.host, s.wait) }

// listener is a client that gives up a request to read once nothing comes.
type listener struct {
	next aws.HTTPClient
	wait time.Duration
}

// Do sends a request.
func (l listener) Do(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return l.next.Do(r)
	}
	silent := &silence{r.URL.Host, l.wait}
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(l.wait, func() { cancel(silent) })
	response, err := l.next.Do(r.WithContext(ctx))
	timer.Stop()
	heard := &hearing{ctx: ctx, cancel: cancel, timer: timer, wait: l.wait}
	if err != nil {
		err = heard.cause(err)
		cancel(nil)
		return nil, err
	}
	heard.ReadCloser = response.Body
	response.Body = heard
	return response, nil
}

// hearing is a body that breaks off once nothing comes. Only the time in Read
// counts: whoever reads may be slow.
type hearing struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // it is that of the one request
	cancel context.CancelCauseFunc
	timer  *time.Timer
	wait   time.Duration
}

func (h *hearing) Read(p []byte) (int, error) {
	h.timer.Reset(h.wait)
	n, err := h.ReadCloser.Read(p)
	h.timer.Stop()
	if err != nil {
		err = h.cause(err)
	}
	return n, err
}

func (h *hearing) Close() error {
	h.timer.Stop()
	err := h.ReadCloser.Close()
	h.cancel(nil)
	return err
}

// cause is the silence that ended the request, or else err.
func (h *hearing) cause(err error) error {
	if silent, ok := context.Cause(h.ctx).(*silence); ok { //nolint:errorlint // it is the cause itself
		return silent
	}
	return err
}
