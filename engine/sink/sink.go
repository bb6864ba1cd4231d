// Package sink writes what a job puts out: to folders of this machine, to
// prefixes of S3-compatible object stores and to tables of databases. Output is staged first, where no
// reader looks, and published after the batch was committed. Publishing may be
// cut off anywhere and done again; it then ends in the same state.
package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/bucket"
	"dogear/engine/failpoint"
	"dogear/engine/place"
	"dogear/engine/table"
)

// Sink stages and publishes.
type Sink struct {
	// Tables finds the databases of sinks that write tables; nil where none does.
	Tables *table.Databases
	// Whole is told of the files of folders, which are complete when they are
	// published; it may be nil.
	Whole *place.Whole
	// Batches knows the batches of before; where it is nil, targets that are
	// tables remember every batch for ever, and files that a sink wrote by other
	// partitions are taken for somebody's.
	Batches Batches

	now     func() time.Time
	pruned  pruned
	roots   place.Roots
	buckets *bucket.Buckets
	// step is called between any two changes of a publish; tests end the
	// process there.
	step func()
}

// Batches knows how batches ended.
type Batches interface {
	// Finalized returns those of ids that are finalized: nobody will ask for
	// them to be published again.
	Finalized(ctx context.Context, ids []engine.ID) ([]engine.ID, error)
	// Siblings returns the tags of the batches of the job of a batch, by their
	// numbers, of those that are asked for.
	Siblings(ctx context.Context, batch engine.ID, numbers []int64) (map[int64]string, error)
}

// New returns a Sink that writes below roots on this machine and whatever the
// buckets' connections may reach.
func New(roots place.Roots, buckets *bucket.Buckets) *Sink {
	return &Sink{roots: roots, buckets: buckets, now: time.Now, step: func() {}}
}

// Stage is where the output of one sink is made ready.
type Stage struct {
	Root     string // address of the target
	Dir      string // of the stage
	Data     string // an empty folder below Dir, for the writer
	Existing []Existing
	Left     Left          // what the target holds besides
	Table    *table.Target // of a table, instead of the folders
}

// Existing is a file that the target holds when the stage is made, and that
// the sink may replace.
type Existing struct {
	Key       string `json:"key"` // below the root
	Partition string `json:"partition"`
	Size      int64  `json:"size"`
	Path      string `json:"path,omitempty"` // where it can be read, in a merge
	written   time.Time
}

// extra is what a manifest keeps for publishing.
type extra struct {
	Old     []string `json:"old,omitempty"` // keys that the batch replaces
	Uploads []upload `json:"uploads,omitempty"`
}

// Prepare makes an empty stage for batch, and lists what the target holds
// unless the sink only appends. dir is a scratch folder of the attempt, and fence
// its fence: a server that hung and one that does its batch again have stages of
// their own.
func (s *Sink) Prepare(ctx context.Context, sink engine.Sink, index int, batch engine.ID, fence int64, dir string) (Stage, error) {
	if sink.Table != "" {
		target, err := s.target(ctx, sink, index, batch)
		return Stage{Root: sink.Place(), Table: &target}, err
	}
	at, err := s.place(sink)
	if err != nil {
		return Stage{}, err
	}
	stage := Stage{Root: at.Address()}
	name := stageOf(batch, index) + strconv.FormatInt(fence, 10)
	if at.S3() {
		stage.Dir = filepath.Join(dir, name)
	} else {
		root, err := s.roots.MayExist(at.Root)
		if err != nil {
			return Stage{}, err
		}
		if err := mayHold(root, sink.Path); err != nil {
			return Stage{}, err
		}
		stage.Root = root
		stage.Dir = filepath.Join(root, engine.OwnFolder, name)
	}
	stage.Data = filepath.Join(stage.Dir, "data")
	if err := os.RemoveAll(stage.Dir); err != nil {
		return Stage{}, writeError(stage.Root, err)
	}
	failpoint.Hit("sink.prepare.before")
	if err := os.MkdirAll(stage.Data, 0o755); err != nil {
		return Stage{}, writeError(stage.Root, err)
	}
	failpoint.Hit("sink.prepare.after")
	if sink.Mode == "" || sink.Mode == engine.Append {
		return stage, nil
	}
	var all []Existing
	if at.S3() {
		all, err = s.listBucket(ctx, sink, at)
	} else {
		all, err = listFolder(stage.Root)
	}
	if err != nil {
		return Stage{}, err
	}
	mine, others := divide(sink, all)
	if sink.Mode == engine.Replace {
		if mine, others, err = s.formerly(ctx, batch, index, mine, others); err != nil {
			return Stage{}, err
		}
	}
	stage.Existing, stage.Left = mine, leftOf(others)
	if sink.Mode == engine.Merge {
		stage.Existing, err = s.readable(ctx, sink, at, stage)
	}
	return stage, err
}

// place reads the path of a sink, which may not be a glob.
func (s *Sink) place(sink engine.Sink) (place.Place, error) {
	at, err := s.roots.Parse(sink.Path)
	if err != nil {
		return at, err
	}
	if at.Glob.String() != "" {
		return at, engine.Errorf(engine.Invalid, "The sink of %s writes to %s, which is a pattern. Name one folder.", sink.From, sink.Path)
	}
	return at, inOwn(at.Root, sink.Path)
}

// readable puts the files of a merge's target where they can be read.
func (s *Sink) readable(ctx context.Context, sink engine.Sink, at place.Place, stage Stage) ([]Existing, error) {
	files := stage.Existing
	if at.S3() {
		return s.download(ctx, sink, at, files, filepath.Join(stage.Dir, "existing"))
	}
	for i := range files {
		files[i].Path = filepath.Join(stage.Root, files[i].Key)
	}
	return files, nil
}

// Stage makes the written files durable and returns the manifest by which
// they are published. touched are the partitions that the batch replaces.
func (s *Sink) Stage(ctx context.Context, sink engine.Sink, index int, stage Stage, m engine.SinkManifest) (engine.SinkManifest, error) {
	m.Sink, m.Root, m.Stage = index, stage.Root, stage.Dir
	if stage.Table != nil {
		return stageTable(ctx, *stage.Table, m)
	}
	if sink.Mode == engine.Replace {
		// What is replaced whole includes what gets no row.
		for _, e := range stage.Existing {
			m.Touched = append(m.Touched, e.Partition)
		}
		slices.Sort(m.Touched)
		m.Touched = slices.Compact(m.Touched)
	}
	if err := checkTouched(m); err != nil {
		return m, err
	}
	var x extra
	for _, e := range stage.Existing {
		if slices.Contains(m.Touched, e.Partition) {
			x.Old = append(x.Old, e.Key)
		}
	}
	var err error
	if place.IsS3(m.Root) {
		x.Uploads, err = s.upload(ctx, sink, m, stage.Data)
	} else {
		err = s.stageFolder(m, stage.Data)
	}
	if err != nil {
		return m, err
	}
	if m.Extra, err = json.Marshal(x); err != nil {
		return m, fmt.Errorf("write the manifest: %w", err)
	}
	return m, nil
}

// stageFolder makes the files of a folder durable.
func (s *Sink) stageFolder(m engine.SinkManifest, data string) error {
	if err := checkFolders(m); err != nil {
		return err
	}
	failpoint.Hit("sink.sync.before")
	if err := syncTree(data); err != nil {
		return err
	}
	failpoint.Hit("sink.sync.after")
	s.Whole.Forget()
	for _, f := range m.Files {
		info, err := os.Lstat(filepath.Join(data, f.Path))
		if err != nil {
			return fmt.Errorf("look at a staged file: %w", err)
		}
		s.Whole.Note(filepath.Join(m.Root, f.Path), info)
	}
	return nil
}

// Recall notes the files of a manifest that was committed before this server
// began, as far as they lie in the stage or the target and have their size.
func (s *Sink) Recall(m engine.Manifest) {
	for _, written := range m.Sinks {
		for _, f := range written.Files {
			whole := filepath.Join(written.Root, f.Path)
			for _, path := range []string{filepath.Join(written.Stage, "data", f.Path), whole} {
				if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == f.Bytes {
					s.Whole.Note(whole, info)
					break
				}
			}
		}
	}
}

// checkTouched refuses a batch that replaces and also writes into a partition
// that it does not replace: its rows would stand beside others they belong with.
func checkTouched(m engine.SinkManifest) error {
	for _, f := range m.Files {
		if !filepath.IsLocal(f.Path) || f.Partition != "" && !filepath.IsLocal(f.Partition) {
			return fmt.Errorf("the manifest names %q, which is not below the target", f.Path)
		}
		if len(m.Touched) > 0 && !slices.Contains(m.Touched, f.Partition) {
			return engine.Errorf(engine.Conflict, "The batch writes into the partition %s of %s, which it does not replace. Nothing was published.", f.Partition, m.Root)
		}
	}
	for _, p := range m.Touched {
		if p != "" && !filepath.IsLocal(p) {
			return fmt.Errorf("the manifest names the partition %q, which is not below the target", p)
		}
	}
	return nil
}

// Publish makes the files of a committed batch visible, and removes what they
// replace.
func (s *Sink) Publish(ctx context.Context, sink engine.Sink, m engine.SinkManifest) error {
	if sink.Table != "" {
		return s.publishTable(ctx, sink, m)
	}
	if err := checkTouched(m); err != nil {
		return err
	}
	var x extra
	if len(m.Extra) > 0 {
		if err := json.Unmarshal(m.Extra, &x); err != nil {
			return fmt.Errorf("read the manifest: %w", err)
		}
	}
	if place.IsS3(m.Root) {
		return s.publishBucket(ctx, sink, m, x)
	}
	root, err := s.roots.MayExist(m.Root)
	if err != nil {
		return err
	}
	p := publisher{root: root, stage: m.Stage, data: filepath.Join(m.Stage, "data"), manifest: m, old: x.Old, step: s.step}
	return p.publish(ctx)
}

// Discard removes what batch has staged for a sink and will not publish. It
// finds that by the batch alone, because a process may have died before there
// was a manifest.
func (s *Sink) Discard(ctx context.Context, sink engine.Sink, index int, batch engine.Batch) error {
	if sink.Table != "" {
		target, err := s.target(ctx, sink, index, batch.ID)
		if err != nil {
			return err
		}
		return target.Discard(ctx)
	}
	at, err := s.place(sink)
	if err != nil {
		return err
	}
	if at.S3() {
		return s.discardUploads(ctx, sink, at, engine.PartName(batch.Number, batch.Tag(), index))
	}
	root, err := s.roots.MayExist(at.Root)
	if engine.CodeOf(err) == engine.Forbidden {
		return nil // so no stage was made, and that is why the batch failed
	}
	if err != nil {
		return err
	}
	own := filepath.Join(root, engine.OwnFolder)
	all, err := os.ReadDir(own)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for the stage of %s: %w", sink.Path, err)
	}
	failpoint.Hit("sink.discard.before")
	for _, stage := range all {
		if strings.HasPrefix(stage.Name(), stageOf(batch.ID, index)) {
			if err := os.RemoveAll(filepath.Join(own, stage.Name())); err != nil {
				return fmt.Errorf("remove the stage of %s: %w", sink.Path, err)
			}
		}
	}
	failpoint.Hit("sink.discard.after")
	_ = os.Remove(own) // it stays where another batch has its stage
	return nil
}

// stageOf is how the names of all stages of one sink of a batch begin.
func stageOf(batch engine.ID, index int) string { return fmt.Sprintf("stage-%s-%d-", batch, index) }

// Leave removes a stage of this attempt in a folder, and nothing of another
// attempt at the same batch. What lies elsewhere is left to that one.
func (s *Sink) Leave(stage Stage) error {
	if stage.Dir == "" {
		return nil
	}
	if err := os.RemoveAll(stage.Dir); err != nil {
		return fmt.Errorf("remove a stage: %w", err)
	}
	_ = os.Remove(filepath.Dir(stage.Dir)) // it stays where another batch has its stage
	return nil
}

// partitionOf is the folder of a key: "" for none.
func partitionOf(key string) string {
	if dir := path.Dir(key); dir != "." {
		return dir
	}
	return ""
}
