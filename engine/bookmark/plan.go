package bookmark

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"iter"
	"slices"
	"strings"
	"time"

	"dogear/engine"
)

// Ledger is what a plan needs of the store.
type Ledger interface {
	Pages
	// BookmarkOf returns the bookmark of one context of a job, or nil where
	// none was written yet.
	BookmarkOf(ctx context.Context, job engine.ID, name string) (*engine.Bookmark, error)
}

// Tables finds the catalog table that a source names.
type Tables interface {
	TableNamed(ctx context.Context, fullName string) (engine.Table, error)
}

// Hasher reads the content of an object where only its time differs, to tell
// touched from changed.
type Hasher interface {
	Hash(ctx context.Context, src engine.Source, o engine.Object) (string, error)
}

// Surveyor looks at tables of databases.
type Surveyor interface {
	Survey(ctx context.Context, q engine.TableQuestion) (engine.TableSurvey, error)
}

// Planner makes the one Plan that runs, dry runs and previews share.
type Planner struct {
	Ledger   Ledger
	Lister   Lister
	Tables   Tables
	Hasher   Hasher   // may be nil: a file of the same size is then taken as touched
	Surveyor Surveyor // may be nil where no source is a table
}

// Request is what a plan is asked for.
type Request struct {
	Job engine.Job
	Run engine.ID // the run that will read; "" for a preview
	Now time.Time
	// Roots replace the ledger's newest root by context: what a rewind or a
	// reset would make of it.
	Roots map[string]string
	// Adopt accepts a source whose fingerprint has changed.
	Adopt bool
}

// Plan compares what the sources of the job hold with what its ledgers say was
// read. It reads no content but where a Hasher must decide.
func (p *Planner) Plan(ctx context.Context, q Request) (engine.Plan, error) {
	if q.Job.SQL == nil {
		return engine.Plan{}, engine.Errorf(engine.Invalid, "Job %s has no SQL definition.", q.Job.Name)
	}
	plan := engine.Plan{
		ID:  engine.NewID(q.Now),
		Job: q.Job.ID,
		At:  q.Now,
	}
	for _, src := range q.Job.SQL.Sources {
		part, err := p.source(ctx, q, src)
		if err != nil {
			return engine.Plan{}, err
		}
		plan.Sources = append(plan.Sources, part)
	}
	return plan, nil
}

// source plans one source.
func (p *Planner) source(ctx context.Context, q Request, src engine.Source) (engine.SourcePlan, error) {
	spec, err := p.resolve(ctx, src)
	if err != nil {
		return engine.SourcePlan{}, err
	}
	part := engine.SourcePlan{
		Spec: spec, Source: src.Name, Ctx: ContextOf(src), Read: src.Read, Root: p.root(spec),
		Fingerprint: Fingerprint(src), Schema: spec.Schema, Counts: map[engine.Reason]engine.Tally{},
	}
	if part.Read == "" {
		part.Read = engine.ReadNew
	}
	if part.Read == engine.ReadAll || q.Job.Bookmark == engine.BookmarkOff {
		part.Read = engine.ReadAll
		if spec.Table != "" {
			return part, p.wholeTable(ctx, q, &part)
		}
		return part, p.all(ctx, spec, &part)
	}

	mark, err := p.Ledger.BookmarkOf(ctx, q.Job.ID, part.Ctx)
	if err != nil {
		return part, err
	}
	if mark != nil {
		if mark.Fingerprint != part.Fingerprint && !q.Adopt {
			return part, engine.Errorf(engine.Conflict,
				"Source %s is not the one its bookmark was made for: its path, glob, table, key or format has changed. Open the bookmark of %s and say whether it is the same thing, or reset it.",
				src.Name, q.Job.Name)
		}
		part.LedgerVersion, part.LedgerRoot = mark.Version, mark.Root
	}
	if root, ok := q.Roots[part.Ctx]; ok {
		part.LedgerRoot = root
	}
	part.Moves = q.Job.Bookmark == engine.BookmarkOn && (mark == nil || !mark.Paused)
	if spec.Table != "" {
		return part, p.table(ctx, q, &part)
	}
	m := &merge{planner: p, src: spec, now: q.Now, part: &part, changed: changedPolicy(spec, q.Job.SQL.Sinks)}
	if err := m.run(ctx); err != nil {
		return part, err
	}
	if overwrites(q.Job.SQL.Sinks) && spec.Options.Partition != "" {
		if err := m.reopen(ctx); err != nil {
			return part, err
		}
	}
	return part, nil
}

// resolve turns a catalog table into the path it stands for.
func (p *Planner) resolve(ctx context.Context, src engine.Source) (engine.Source, error) {
	if src.CatalogTable == "" {
		return src, nil
	}
	table, err := p.Tables.TableNamed(ctx, src.CatalogTable)
	if err != nil {
		return src, err
	}
	src.Path, src.Connection, src.Format = table.Location, table.Connection, table.Format
	src.Options.CSV = table.Dialect
	if len(src.Schema) == 0 {
		src.Schema = append(slices.Clone(table.Columns), table.Keys...)
	}
	return src, nil
}

// all takes everything the source holds.
func (p *Planner) all(ctx context.Context, src engine.Source, part *engine.SourcePlan) error {
	for o, err := range p.Lister.List(ctx, src) {
		if err != nil {
			return fmt.Errorf("list source %s: %w", src.Name, err)
		}
		if o.Filtered != "" {
			count(part, engine.ReasonFiltered, o.Object)
			continue
		}
		part.Taken = append(part.Taken, engine.Planned{Object: o.Object, Taken: true, Reason: engine.ReasonNew})
		count(part, engine.ReasonNew, o.Object)
	}
	part.Complete = true
	return nil
}

// ContextOf names the bookmark of a source within its job.
func ContextOf(src engine.Source) string {
	if src.Ctx != "" {
		return src.Ctx
	}
	return src.Name
}

// Fingerprint names what makes a source the same thing (cases B09, B27).
func Fingerprint(src engine.Source) string {
	parts := []any{src.Connection, strings.TrimRight(src.Path, "/"), src.CatalogTable, src.Format}
	if src.Table != "" {
		parts = []any{src.Connection, src.Table, src.Keys, src.Options.Table.Descending}
	}
	text, _ := json.Marshal(parts)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// changedPolicy says what happens to an object whose content has changed: read
// again only where the target can take the rows twice (Safe writes).
func changedPolicy(src engine.Source, sinks []engine.Sink) string {
	if src.Policy.Changed != "" {
		return src.Policy.Changed
	}
	for _, sink := range sinks {
		if sink.Mode == engine.Append || sink.Mode == "" {
			return "hold"
		}
	}
	return "read"
}

func overwrites(sinks []engine.Sink) bool {
	return slices.ContainsFunc(sinks, func(s engine.Sink) bool { return s.Mode == engine.OverwritePartitions })
}

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
	digest  hash.Hash
}

func (m *merge) run(ctx context.Context) error {
	m.digest = sha256.New()
	next, stop := iter.Pull2(Entries(ctx, m.planner.Ledger, m.part.LedgerRoot))
	defer stop()
	known, err, more := next()
	for o, listErr := range m.planner.Lister.List(ctx, m.src) {
		if listErr != nil {
			return fmt.Errorf("list source %s: %w", m.src.Name, listErr)
		}
		for more && err == nil && known.Key < o.Key {
			m.gone(known)
			known, err, more = next()
		}
		if err != nil {
			return err
		}
		var prior *engine.Entry
		if more && known.Key == o.Key {
			same := known
			prior = &same
			known, err, more = next()
		}
		if err := m.judge(ctx, o, prior); err != nil {
			return err
		}
	}
	for ; more && err == nil; known, err, more = next() {
		m.gone(known)
	}
	if err != nil {
		return err
	}
	m.part.Complete = true
	m.part.Digest = hex.EncodeToString(m.digest.Sum(nil)[:8])
	m.bound()
	return nil
}

// gone notes an object that the ledger knows and a listing no longer shows.
// Should the listing break off later, the whole plan fails and nothing is
// gone.
func (m *merge) gone(e engine.Entry) {
	if e.State == engine.EntryGone {
		return
	}
	m.except(e.Object, engine.ReasonGone, "", &e)
}

// judge gives one listed object its reason.
func (m *merge) judge(ctx context.Context, o Listed, prior *engine.Entry) error {
	fmt.Fprintf(m.digest, "%s\x00%d\x00%d\x00%s\n", o.Key, o.Size, o.ModNS, o.ETag)
	if o.Filtered != "" {
		count(m.part, engine.ReasonFiltered, o.Object)
		return nil
	}
	if prior == nil || prior.State == engine.EntryGone {
		m.fresh(o.Object, engine.ReasonNew, prior)
		return nil
	}
	difference, err := m.compare(ctx, o.Object, *prior)
	if err != nil {
		return err
	}
	switch {
	case difference == engine.ReasonAlreadyRead && prior.State == engine.EntryHeld:
		m.except(o.Object, engine.ReasonHeld, prior.Note, prior)
	case difference == engine.ReasonAlreadyRead:
		count(m.part, engine.ReasonAlreadyRead, o.Object)
	case difference == engine.ReasonTouched:
		m.except(o.Object, engine.ReasonTouched, "only its time has changed", prior)
	case prior.State == engine.EntryHeld && prior.Hash == heldUnread:
		m.fresh(o.Object, engine.ReasonNew, prior) // it was held as it was; now it is another
	default:
		m.changedObject(o.Object, prior)
	}
	return nil
}

// heldUnread marks the entry of an object that was held before its first
// reading: once its content changes it is new, not changed.
const heldUnread = "unread"

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
	case m.src.Options.SettleMS != nil:
		return time.Duration(*m.src.Options.SettleMS) * time.Millisecond
	case strings.HasPrefix(m.src.Path, "s3://"):
		return 0
	}
	return 3 * time.Second
}

// compare says whether a listed object is what the ledger knows: the same, the
// same with another time, or another.
func (m *merge) compare(ctx context.Context, o engine.Object, e engine.Entry) (engine.Reason, error) {
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
	case m.planner.Hasher == nil || e.Hash == "" || e.Hash == heldUnread:
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
	m.part.Taken = append(m.part.Taken, engine.Planned{Object: o, Taken: true, Reason: reason, Prior: prior})
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
	if files <= 0 && bytes <= 0 {
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
