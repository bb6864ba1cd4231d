package bookmark

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"dogear/engine"
	"dogear/engine/bookmark/page"
)

func count(part *engine.SourcePlan, reason engine.Reason, o engine.Object) {
	tally := part.Counts[reason]
	tally.Files++
	tally.Bytes += o.Size
	if r, ok := o.KeyRange(); ok {
		tally.Rows += r.Rows
	}
	part.Counts[reason] = tally
}

// merge walks the listing and the ledger of one source side by side.
type merge struct {
	planner *Planner
	src     engine.Source
	now     time.Time
	part    *engine.SourcePlan
	changed string
	pick    *picker // only these, where it is set
	left    string  // the first object that the source leaves out, and why
	whole   bool    // without the source's bounds and settle time
	looks   bool    // nothing is read by the plan
	digest  *xxhash.Digest
	line    []byte       // of the digest
	settled bool         // the object that is judged need not settle
	read    engine.Tally // already read: counted here, for they are nearly all
}

func (m *merge) run(ctx context.Context) error {
	m.digest = xxhash.New()
	ledger := newCursor(ctx, m.planner.Ledger, m.part.LedgerRoot).ahead()
	known := ledger.next()
	for o, err := range m.planner.Lister.List(ctx, m.src) {
		if err != nil {
			return fmt.Errorf("list source %s: %w", m.src.Name, err)
		}
		for known != nil && known.Key < o.Key {
			m.gone(known)
			known = ledger.next()
		}
		if ledger.err != nil {
			return ledger.err
		}
		var prior *engine.Entry
		if known != nil && known.Key == o.Key {
			prior = known
		}
		if err := m.judge(ctx, o, prior); err != nil {
			return err
		}
		if prior != nil {
			known = ledger.next()
		}
	}
	for ; known != nil; known = ledger.next() {
		m.gone(known)
	}
	if ledger.err != nil {
		return ledger.err
	}
	if m.read.Files > 0 {
		m.part.Counts[engine.ReasonAlreadyRead] = m.read
	}
	if out := m.part.Counts[engine.ReasonFiltered].Files; out > 0 && len(m.part.Counts) == 1 {
		m.notice("No file of the source fits, and %d others lie there. The first is %s. Write ** in the path to read sub-folders.", out, m.left)
	}
	m.part.Complete = true
	m.flush()
	m.part.Digest = strconv.FormatUint(m.digest.Sum64(), 16)
	m.bound()
	return m.sameContent(ctx)
}

// sum adds an object to the digest of the listing, by which two plans know
// that they saw the same.
func (m *merge) sum(o engine.Object) {
	const many = 8 << 10
	line := append(m.line, o.Key...)
	line = binary.AppendVarint(append(line, 0), o.Size)
	line = binary.AppendVarint(line, o.ModNS)
	m.line = append(append(line, o.ETag...), 0)
	if len(m.line) > many {
		m.flush()
	}
}

func (m *merge) flush() {
	_, _ = m.digest.Write(m.line) // it never fails
	m.line = m.line[:0]
}

// gone notes an object that the ledger knows and a listing no longer shows.
// Should the listing break off later, the whole plan fails and nothing is
// gone.
func (m *merge) gone(e *engine.Entry) {
	if e.State == engine.EntryGone || m.pick != nil {
		return
	}
	kept := keep(e)
	m.except(kept.Object, engine.ReasonGone, "", kept)
}

// judge gives one listed object its reason.
func (m *merge) judge(ctx context.Context, o Listed, prior *engine.Entry) error {
	m.sum(o.Object)
	m.settled = o.Whole
	if o.Filtered != "" {
		m.left = cmp.Or(m.left, o.Key+", which "+o.Filtered)
		count(m.part, engine.ReasonFiltered, o.Object)
		return nil
	}
	if m.outside(o.Object) {
		count(m.part, engine.ReasonOutside, o.Object)
		return nil
	}
	if m.pick != nil {
		m.judgePicked(o.Object, prior)
		return nil
	}
	if prior == nil || prior.State == engine.EntryGone {
		m.fresh(o.Object, engine.ReasonNew, keep(prior))
		return nil
	}
	if prior.State == engine.EntryReopened || prior.State == engine.EntryHeld && prior.Hash == heldByPerson {
		m.judgeAsked(o.Object, keep(prior))
		return nil
	}
	difference, err := m.compare(ctx, o.Object, prior)
	if err != nil {
		return err
	}
	if difference == engine.ReasonAlreadyRead && (prior.State == engine.EntryRead || prior.State == engine.EntrySkipped) {
		m.read.Files++
		m.read.Bytes += o.Size
		return nil
	}
	m.judgeKnown(o.Object, keep(prior), difference)
	return nil
}

// outside reports an object that the source's own range leaves out.
func (m *merge) outside(o engine.Object) bool {
	from, to := m.src.Options.From, m.src.Options.To
	return !from.IsZero() && o.Mod().Before(from) || !to.IsZero() && !o.Mod().Before(to)
}

// judgePicked takes what was picked and read before. What was never read waits
// for an ordinary run, which marks it as read: a run beside the bookmark that
// took it would have the next one double it.
func (m *merge) judgePicked(o engine.Object, prior *engine.Entry) {
	switch {
	case !m.pick.picks(o):
		count(m.part, engine.ReasonOutside, o)
	case prior == nil || prior.State != engine.EntryRead && prior.State != engine.EntrySkipped:
		m.except(o, engine.ReasonOutside, "is not read yet; the next ordinary run reads it", keep(prior))
	default:
		m.take(o, engine.ReasonReopened, keep(prior))
	}
}

// judgeAsked gives an object the reason that a person wants.
func (m *merge) judgeAsked(o engine.Object, prior *engine.Entry) {
	if prior.State == engine.EntryHeld {
		m.except(o, engine.ReasonHeld, prior.Note, prior)
		return
	}
	m.fresh(o, engine.ReasonReopened, prior)
}

// keep copies an entry that a plan holds on to.
func keep(e *engine.Entry) *engine.Entry {
	if e == nil {
		return nil
	}
	kept := page.Keep(*e)
	return &kept
}

// judgeKnown gives an object its reason that the ledger knows and that is not
// simply read already.
func (m *merge) judgeKnown(o engine.Object, prior *engine.Entry, difference engine.Reason) {
	switch {
	case difference == engine.ReasonAlreadyRead && prior.State == engine.EntryHeld:
		m.except(o, engine.ReasonHeld, prior.Note, prior)
	case difference == engine.ReasonTouched:
		m.except(o, engine.ReasonTouched, "only its time has changed", prior)
	case prior.State == engine.EntryHeld && prior.Hash == HeldUnread:
		m.fresh(o, engine.ReasonNew, prior) // it was held as it was; now it is another
	default:
		m.changedObject(o, prior)
	}
}

// HeldUnread marks the entry of an object that was held before its first
// reading: once its content changes it is new, not changed.
const HeldUnread = "unread"

// fresh takes an object that has not been read, if it has settled.
func (m *merge) fresh(o engine.Object, reason engine.Reason, prior *engine.Entry) {
	if age := m.now.Sub(o.Mod()); age >= 0 && age < m.settle() {
		m.except(o, engine.ReasonTooYoung, fmt.Sprintf("written %s before the plan; it must be unchanged for %s",
			age.Round(100*time.Millisecond), m.settle()), prior)
		return
	} else if age < 0 {
		m.notice("%s is dated in the future (%s); it is read and remembered by name.", o.Key, o.Mod().Format(time.RFC3339))
	}
	m.take(o, reason, prior)
}

func (m *merge) changedObject(o engine.Object, prior *engine.Entry) {
	what := fmt.Sprintf("size %d → %d", prior.Size, o.Size)
	if prior.Size == o.Size {
		what = "same size, other content"
	}
	switch m.changed {
	case "hold":
		m.except(o, engine.ReasonHeld, "changed in place ("+what+"); the target appends, so reading it again would double its rows", prior)
	case "skip":
		m.except(o, engine.ReasonChanged, "changed in place ("+what+"); this source skips such files", prior)
	default:
		if age := m.now.Sub(o.Mod()); age >= 0 && age < m.settle() {
			m.except(o, engine.ReasonTooYoung, "changed in place a moment ago; "+what, prior)
			return
		}
		m.take(o, engine.ReasonChanged, prior)
	}
}

// settle is how long a file must lie unchanged before it is read: folders show
// a file while it is still being written, S3 does not.
func (m *merge) settle() time.Duration {
	switch {
	case m.whole, m.settled:
		return 0
	case m.src.Options.SettleMS != nil:
		return time.Duration(*m.src.Options.SettleMS) * time.Millisecond
	case strings.HasPrefix(m.src.Path, "s3://"):
		return 0
	}
	return 3 * time.Second
}

// compare says whether a listed object is what the ledger knows: the same, the
// same with another time, or another.
func (m *merge) compare(ctx context.Context, o engine.Object, e *engine.Entry) (engine.Reason, error) {
	switch {
	case o.Size != e.Size:
		return engine.ReasonChanged, nil
	case o.ETag != "" && e.ETag != "":
		if o.ETag != e.ETag {
			return engine.ReasonChanged, nil
		}
		return engine.ReasonAlreadyRead, nil // stores report times in other precisions on other paths (B05)
	case o.ModNS == e.ModNS && (o.Inode == e.Inode || o.Inode == 0 || e.Inode == 0):
		return engine.ReasonAlreadyRead, nil
	case e.Hash == HeldUnread:
		return engine.ReasonChanged, nil // it may have been mended
	case m.planner.Hasher == nil || e.Hash == "":
		return engine.ReasonTouched, nil
	}
	content, err := m.planner.Hasher.Hash(ctx, m.src, o)
	if err != nil {
		return "", err
	}
	if content == e.Hash {
		return engine.ReasonTouched, nil
	}
	return engine.ReasonChanged, nil
}

func (m *merge) take(o engine.Object, reason engine.Reason, prior *engine.Entry) {
	note := ""
	if prior != nil && prior.State == engine.EntryReopened {
		note = prior.Note
	}
	m.part.Taken = append(m.part.Taken, engine.Planned{Object: o, Taken: true, Reason: reason, Note: note, Prior: prior})
	count(m.part, reason, o)
}

func (m *merge) except(o engine.Object, reason engine.Reason, note string, prior *engine.Entry) {
	m.part.Exceptions = append(m.part.Exceptions, engine.Planned{Object: o, Reason: reason, Note: note, Prior: prior})
	count(m.part, reason, o)
}

// maxNotices keeps a plan readable when ten thousand files are odd in one way.
const maxNotices = 20

func (m *merge) notice(format string, args ...any) {
	if len(m.part.Notices) < maxNotices {
		m.part.Notices = append(m.part.Notices, fmt.Sprintf(format, args...))
	}
}

// bound keeps the oldest objects up to the source's limits; the first is taken
// whatever its size (B31).
func (m *merge) bound() {
	files, bytes := m.src.Options.MaxFiles, m.src.Options.MaxBytes
	if m.whole || m.pick != nil || files <= 0 && bytes <= 0 {
		return
	}
	all := m.part.Taken
	slices.SortFunc(all, func(a, b engine.Planned) int {
		return cmp.Or(cmp.Compare(a.ModNS, b.ModNS), strings.Compare(a.Key, b.Key))
	})
	var sum int64
	n := 0
	for n < len(all) && (files <= 0 || n < files) {
		sum += all[n].Size
		if bytes > 0 && sum > bytes && n > 0 {
			break
		}
		n++
	}
	m.part.Taken = slices.Clone(all[:n])
	for _, o := range all[n:] {
		discount(m.part, o.Reason, o.Object)
		m.except(o.Object, engine.ReasonOverBound, "waits for the next run: this source reads at most "+bounds(files, bytes)+" at once", o.Prior)
	}
	slices.SortFunc(m.part.Taken, func(a, b engine.Planned) int { return strings.Compare(a.Key, b.Key) })
}

func bounds(files int, bytes int64) string {
	switch {
	case bytes <= 0:
		return fmt.Sprintf("%d files", files)
	case files <= 0:
		return engine.Bytes(bytes)
	}
	return fmt.Sprintf("%d files or %s", files, engine.Bytes(bytes))
}

func discount(part *engine.SourcePlan, reason engine.Reason, o engine.Object) {
	tally := part.Counts[reason]
	tally.Files--
	tally.Bytes -= o.Size
	if tally.Files == 0 {
		delete(part.Counts, reason)
		return
	}
	part.Counts[reason] = tally
}
