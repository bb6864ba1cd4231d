package exec

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"dogear/engine"
	"dogear/engine/failpoint"
)

// Logs keeps the logs of attempts where every server of the database can read
// them.
type Logs interface {
	PutLog(ctx context.Context, key engine.NodeKey, fence, offset int64, text []byte) error
	LogText(ctx context.Context, key engine.NodeKey, offset, limit int64) (text []byte, size int64, err error)
}

// shipEvery is how long a line of a log may wait until other servers see it.
const shipEvery = 300 * time.Millisecond

// maxPiece bounds the bytes of one piece of a log.
const maxPiece = 64 << 10

// shipped is the part of a log file that the database has. The file of an
// attempt and its log in the database have the same bytes at the same places.
type shipped struct {
	logs Logs
	key  engine.NodeKey
	// fence is that of the attempt: once another server has it, nothing more of it
	// is kept.
	fence int64
	path  string
	done  int64
	dirt  chan struct{} // holds one token while there is something to ship
}

// fetch makes the file of an attempt that another server began the same as its
// log in the database, and learns how much of it the database has.
func (s *shipped) fetch(ctx context.Context) error {
	_, size, err := s.logs.LogText(ctx, s.key, 0, 0)
	s.done = size
	if err != nil || size == 0 {
		return err
	}
	file, err := os.OpenFile(s.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	for at := int64(0); err == nil && info.Size() < size && at < size; {
		var text []byte
		if text, _, err = s.logs.LogText(ctx, s.key, at, maxPiece); err == nil {
			if len(text) == 0 {
				break
			}
			_, err = file.WriteAt(text, at)
			at += int64(len(text))
		}
	}
	return errors.Join(err, file.Close())
}

// run ships what is written until ctx ends, and then the rest.
func (s *shipped) run(ctx context.Context, told func()) {
	for last := false; !last; {
		select {
		case <-ctx.Done():
		case <-s.dirt:
			select {
			case <-ctx.Done():
			case <-time.After(shipEvery):
			}
		}
		last = ctx.Err() != nil // before the ship: what is written during it is not in it
		if s.ship(context.WithoutCancel(ctx)) == nil {
			told()
		}
	}
}

// ship brings the database up to the end of the file.
func (s *shipped) ship(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second) // a log must not keep its attempt from ending
	defer cancel()
	file, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer file.Close()
	piece := make([]byte, maxPiece)
	for {
		n, err := file.ReadAt(piece, s.done)
		if n == 0 {
			return ignoreEOF(err)
		}
		failpoint.Hit("exec.ship.before")
		if err := s.logs.PutLog(ctx, s.key, s.fence, s.done, bytes.Clone(piece[:n])); err != nil {
			return err
		}
		failpoint.Hit("exec.ship.after")
		s.done += int64(n)
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// touch notes that the file has grown.
func (s *shipped) touch() {
	select {
	case s.dirt <- struct{}{}:
	default:
	}
}
