package bookmark

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"dogear/engine"
	"dogear/engine/bookmark/page"
)

// Carried is the first line of an exported bookmark; every line after it is
// one entry of the ledger, in order of key, or one of a list of rows.
type Carried struct {
	Format      int    `json:"dogear_bookmark"` // 1
	Job         string `json:"job"`
	Ctx         string `json:"ctx"`
	Fingerprint string `json:"fingerprint"`
	Version     int    `json:"version"`
	Files       int64  `json:"files"`
	Bytes       int64  `json:"bytes"`
}

const carriedFormat = 1

// Export writes a bookmark and all that its ledger says, as JSON lines.
func (s *Service) Export(ctx context.Context, id engine.ID, to io.Writer) error {
	mark, err := s.Store.Bookmark(ctx, id)
	if err != nil {
		return err
	}
	job, err := s.Store.Job(ctx, mark.Job)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(to)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(Carried{
		Format: carriedFormat, Job: job.Name, Ctx: mark.Ctx, Fingerprint: mark.Fingerprint, Version: mark.Version, Files: mark.Files, Bytes: mark.Bytes,
	}); err != nil {
		return fmt.Errorf("export a bookmark: %w", err)
	}
	if err := exportLists(ctx, s.Store, mark.Root, lines); err != nil {
		return err
	}
	for e, err := range Entries(ctx, s.Store, mark.Root) {
		if err != nil {
			return err
		}
		if err := lines.Encode(e); err != nil {
			return fmt.Errorf("export a bookmark: %w", err)
		}
	}
	return out.Flush()
}

// maxLine bounds one line of an import: a key may have 1,024 bytes, a range of
// a table a few kilobytes.
const maxLine = 1 << 20

// imported is the ledger of the file that an import takes over, for b. Nothing
// moves where any line of it is wrong.
func (s *Service) imported(ctx context.Context, b engine.Bookmark, m Move, by By) (prepared, error) {
	if m.Glue {
		return s.fromGlue(ctx, b, m, by)
	}
	ledger, head, err := readCarried(ctx, s.Store, m.File)
	if err != nil {
		return prepared{}, err
	}
	ready := prepared{ledger: &ledger, origin: fmt.Sprintf("from %s of %s, v%d", head.Ctx, head.Job, head.Version)}
	return ready, s.replace(ctx, b, m, &ready)
}

// replace counts what an import changes, and refuses a file that is not the one
// that was previewed.
func (s *Service) replace(ctx context.Context, b engine.Bookmark, m Move, ready *prepared) error {
	if m.Expect != "" && m.Expect != ready.ledger.Root {
		return engine.Errorf(engine.Conflict, "The file or the source is not as it was when you saw what the import would do. Look at it again.")
	}
	difference, err := replacing(ctx, s.Store, b.Root, ready.ledger.Root)
	ready.ledger.Added, ready.ledger.Removed = difference.Added, difference.Removed
	return err
}

// readCarried reads an export into a ledger, a chunk at a time.
func readCarried(ctx context.Context, pages Pages, from io.Reader) (rewritten, Carried, error) {
	ledger := rewritten{}
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	var head Carried
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &head) != nil || head.Format != carriedFormat {
		return ledger, head, errors.Join(notCarried(1, "it is not the head of an exported bookmark"), lines.Err())
	}
	var lists carriedLists
	var changes []engine.Entry
	last, n := "", 2
	for ; lines.Scan(); n++ {
		var line carriedLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return ledger, head, notCarried(n, "it is not an entry: "+err.Error())
		}
		taken, wrong, err := lists.takes(ctx, pages, line)
		if err != nil {
			return ledger, head, err
		}
		e := line.Entry
		if !taken {
			wrong = lists.rename(&e)
		}
		switch {
		case wrong != "":
			return ledger, head, notCarried(n, wrong)
		case taken:
			continue
		case e.State < engine.EntryRead || e.State > engine.EntryReopened:
			return ledger, head, notCarried(n, fmt.Sprintf("it has the state %d, which there is not", e.State))
		case e.Size < 0:
			return ledger, head, notCarried(n, fmt.Sprintf("its size is %d, and no file has less than 0 bytes", e.Size))
		case e.Key <= last:
			return ledger, head, notCarried(n, fmt.Sprintf("its key %q does not come after %q", e.Key, last))
		}
		last = e.Key
		if e.State == engine.EntryRead && e.ModNS >= ledger.newest.ModNS {
			ledger.newest = e.Object
		}
		if changes = append(changes, e); len(changes) == rewriteChunk {
			written, err := Write(ctx, pages, ledger.Root, changes)
			if err != nil {
				return ledger, head, err
			}
			ledger.Written, changes = written, changes[:0]
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return ledger, head, notCarried(n, "it is longer than any entry")
	} else if err != nil {
		return ledger, head, fmt.Errorf("read an exported bookmark: %w", err)
	}
	written, err := Write(ctx, pages, ledger.Root, changes)
	ledger.Written = written
	ledger.newest = page.Keep(engine.Entry{Object: ledger.newest}).Object
	if err == nil && written.Files != head.Files {
		err = engine.Errorf(engine.Invalid, "The file is cut off: its head speaks of %d files read, and %d follow.", head.Files, written.Files)
	}
	return ledger, head, err
}

func notCarried(line int, why string) error {
	return engine.Errorf(engine.Invalid, "Line %d of the file cannot be imported: %s. Nothing was changed.", line, why)
}
