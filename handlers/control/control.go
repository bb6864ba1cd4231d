// Package control answers the command line. It is served on a Unix socket in
// the data folder, which only its owner can open, and never on the network:
// whoever may open the socket may read the database beside it, too.
package control

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"time"

	"dogear/engine"
	"dogear/engine/auth"
	"dogear/engine/bookmark"
	"dogear/engine/draft"
	"dogear/engine/event"
	"dogear/engine/exec"
	"dogear/engine/portable"
)

// Store is what the command line reads.
type Store interface {
	Ping(ctx context.Context) error
	Owner(ctx context.Context) (auth.User, error)
	Names(ctx context.Context) (draft.Names, error)
	Jobs(ctx context.Context) ([]engine.Job, error)
	JobNamed(ctx context.Context, name string) (engine.Job, error)
	JobDraft(ctx context.Context, id engine.ID) (engine.Draft[engine.JobBody], error)
	Crawlers(ctx context.Context) ([]engine.Crawler, error)
	CrawlerNamed(ctx context.Context, name string) (engine.Crawler, error)
	CrawlerDraft(ctx context.Context, id engine.ID) (engine.Draft[engine.CrawlerBody], error)
	// DiscardDraft makes a job or crawler again what is published of it.
	DiscardDraft(ctx context.Context, ref engine.Ref, base int64) error
	Workflows(ctx context.Context) ([]engine.Workflow, error)
	Workflow(ctx context.Context, id engine.ID) (engine.Workflow, error)
	WorkflowNamed(ctx context.Context, name string) (engine.Workflow, error)
	// Versions are the published versions of a workflow, newest first.
	Versions(ctx context.Context, id engine.ID) ([]engine.Head, error)
	// WorkflowVersion is one of them, NotFound where there is none.
	WorkflowVersion(ctx context.Context, id engine.ID, version int) (engine.Workflow, error)
	Runs(ctx context.Context, f engine.RunFilter) ([]engine.Run, error)
	Run(ctx context.Context, id engine.ID) (engine.Run, error)
	NodeRuns(ctx context.Context, run engine.ID) ([]engine.NodeRun, error)
	// Twins finds the runs that ask for the same as one shortly before.
	Twins(ctx context.Context, runs []engine.Run) (map[engine.ID]engine.Twin, error)
	// Waits says what nodes of open runs wait for.
	Waits(ctx context.Context, runs []engine.Run) (map[engine.ID]string, error)
	// Fallen says which node each of runs failed of.
	Fallen(ctx context.Context, runs []engine.Run) (map[engine.ID]engine.Fallen, error)
	// Schedules lists when each schedule is due next.
	Schedules(ctx context.Context) (map[engine.ID]engine.Schedule, error)
	Pools(ctx context.Context) ([]engine.Pool, error)
	PutPool(ctx context.Context, name string, places int, by string, now time.Time) error
	DeletePool(ctx context.Context, name string) error
	Bookmarks(ctx context.Context) ([]engine.Bookmark, error)
	BookmarksOf(ctx context.Context, job engine.ID) ([]engine.Bookmark, error)
	BookmarkMoves(ctx context.Context, id engine.ID) ([]engine.BookmarkMove, error)
	Branches(ctx context.Context, job engine.ID, name string) ([]engine.Bookmark, error)
	DropBranch(ctx context.Context, id engine.ID) error
	AddEvent(ctx context.Context, e engine.TriggerEvent) (fresh bool, err error)
	EventTrigger(ctx context.Context, id engine.ID) (engine.EventTrigger, error)
}

// Exec starts and stops runs.
type Exec interface {
	Start(ctx context.Context, o exec.Order) (engine.Run, error)
	SetProperties(ctx context.Context, run engine.ID, change map[string]string, by string) (engine.Run, error)
	Resume(ctx context.Context, run engine.ID, how exec.Resume, by string) (engine.Run, error)
	Pause(ctx context.Context, run engine.ID, by string) (engine.Run, error)
	GoOn(ctx context.Context, run engine.ID, by string) (engine.Run, error)
	Skip(ctx context.Context, run engine.ID, ref engine.Ref, by, why string) (engine.Run, error)
	Unskip(ctx context.Context, run engine.ID, ref engine.Ref, by string) (engine.Run, error)
	StopNode(ctx context.Context, run engine.ID, ref engine.Ref, start int, by string) (engine.Run, error)
	Stop(ctx context.Context, run engine.ID, by string) (engine.Run, error)
	// PoolsChanged makes the places of pools count that were just written.
	PoolsChanged(ctx context.Context) error
}

// Drafts edits the drafts of workflows.
type Drafts interface {
	Draft(ctx context.Context, workflow engine.ID) (draft.Draft, error)
	// BringBack makes a draft what an earlier version was.
	BringBack(ctx context.Context, drawn draft.Draft, earlier engine.WorkflowBody, by, client string) (seq int64, err error)
}

// Publisher makes a draft the version that runs. One that is not at seq any more
// is a Conflict.
type Publisher interface {
	Publish(ctx context.Context, workflow engine.ID, seq int64, with []engine.Ref, by string) (engine.Workflow, error)
	// Switch publishes what runs with one trigger turned, whatever the draft holds.
	Switch(ctx context.Context, workflow engine.ID, turn draft.Turn, by string) (engine.Workflow, error)
}

// Remover deletes what nothing depends on; the rest is a Conflict.
type Remover interface {
	Delete(ctx context.Context, kind engine.Kind, id engine.ID, now time.Time) error
}

// Bookmarks makes the moves.
type Bookmarks interface {
	Open(ctx context.Context, job engine.ID, name string) (engine.Bookmark, error)
	Make(ctx context.Context, id engine.ID, m bookmark.Move, who string) (engine.Bookmark, error)
	Preview(ctx context.Context, id engine.ID, m bookmark.Move, who string) (bookmark.Preview, error)
	ResetJob(ctx context.Context, job engine.ID, why, who string) ([]engine.Bookmark, error)
	Branch(ctx context.Context, id engine.ID, name, why, who string) (engine.Bookmark, error)
	PreviewDrop(ctx context.Context, id engine.ID) (bookmark.Dropped, error)
	Export(ctx context.Context, id engine.ID, to io.Writer) error
	ExportGlue(ctx context.Context, id engine.ID, to io.Writer) error
	Waiting(ctx context.Context, id engine.ID) (engine.SourcePlan, error)
}

// Portable exports and imports workflows.
type Portable interface {
	Export(ctx context.Context, name string) ([]byte, error)
	Import(ctx context.Context, ask portable.Ask) (portable.Report, error)
}

// Logs reads what attempts have written.
type Logs interface {
	Log(ctx context.Context, key engine.NodeKey, offset, limit int64) (text []byte, size int64, err error)
}

// Config is what the answers are made of.
type Config struct {
	Store     Store
	Exec      Exec
	Bookmarks Bookmarks
	Drafts    Drafts
	Publisher Publisher
	Remover   Remover
	Portable  Portable
	Logs      Logs
	Hub       *event.Hub
	// SignIn makes a link with which its holder becomes the owner, once.
	SignIn func(ctx context.Context) (string, error)
	Next   func(t engine.Trigger, after time.Time) time.Time
	Came   func(trigger engine.ID) // an event came for it
	// Outgrown says why this server does nothing any more; nil, or nil from it, while
	// it works.
	Outgrown func() error
	// Explain puts errors into words that say nothing of what was asked, such as that
	// the database is away; nil leaves all as they are.
	Explain func(error) error
	Log     *slog.Logger
	Now     func() time.Time
}

// control answers requests.
type control struct{ Config }

// New returns the handler of the socket.
func New(cfg Config) http.Handler {
	c := &control{cfg}
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /health":    c.health,
		"POST /signin":   c.signIn,
		"GET /workflows": c.workflows,
		"GET /workflow":  c.workflow,
		"POST /workflow": c.startWorkflow,
		"GET /export":    c.export,
		"POST /import":   c.importFile,
		"GET /runs":      c.runs,
		"GET /run":       c.run,
		"GET /log":       c.log,
		"POST /stop":     c.stop,
		"POST /skip":     c.skip,
		"POST /resume":   c.resume,
		"POST /again":    c.again,
		"POST /pause":    c.pause,
		"POST /go-on":    c.goOn,

		"POST /properties": c.setProperties,

		"POST /workflow/delete":  c.deleteWorkflow,
		"GET /workflow/versions": c.versions,
		"POST /workflow/restore": c.restore,
		"POST /workflow/discard": c.discardWorkflow,

		"GET /triggers":     c.triggers,
		"POST /trigger":     c.switchTrigger,
		"GET /pools":        c.pools,
		"POST /pool":        c.setPool,
		"POST /pool/delete": c.deletePool,

		"POST /event":         c.sendEvent,
		"GET /jobs":           c.jobs,
		"POST /job":           c.startJob,
		"GET /crawlers":       c.crawlers,
		"POST /crawler":       c.startCrawler,
		"GET /draft":          c.showPart,
		"POST /draft/discard": c.discardPart,
		"GET /bookmarks":      c.bookmarks,
		"GET /bookmark":       c.bookmark,
		"POST /bookmark":      c.move,

		"GET /bookmark/plan":     c.waiting,
		"POST /bookmark/plan":    c.preview,
		"GET /bookmark/branches": c.branches,
		"POST /bookmark/branch":  c.branch,
		"GET /bookmark/export":   c.exportBookmark,
		"POST /bookmark/import":  c.importBookmark,
		"/":                      c.nothing,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			err := c.refuses(r)
			if err == nil {
				err = answer(w, r)
			}
			if err != nil {
				c.fail(w, r, err)
			}
		})
	}
	return mux
}

// refuses says why r is not answered once a newer version took the database: it asks for
// a change, or whether this server works. What only reads is answered on.
func (c *control) refuses(r *http.Request) error {
	if c.Outgrown == nil || r.Method != http.MethodPost && r.URL.Path != "/health" {
		return nil
	}
	return c.Outgrown()
}

// signIn answers POST /signin with a link. Only the owner of the data folder
// can open the socket.
func (c *control) signIn(w http.ResponseWriter, r *http.Request) error {
	link, err := c.SignIn(r.Context())
	if err != nil {
		return err
	}
	return answer(w, link)
}

// nothing answers a command line of another version.
func (c *control) nothing(http.ResponseWriter, *http.Request) error {
	return engine.Errorf(engine.NotFound, "This server does not know that command. Use the command line of the version that runs.")
}

// health answers GET /health.
func (c *control) health(w http.ResponseWriter, r *http.Request) error {
	if err := c.Store.Ping(r.Context()); err != nil {
		return err
	}
	return answer(w, map[string]string{"status": "ready"})
}

// Failure is the body of an answer that is an error.
type Failure struct {
	Code    engine.Code `json:"code"`
	Message string      `json:"message"`
}

var statuses = map[engine.Code]int{
	engine.Invalid: http.StatusUnprocessableEntity, engine.NotFound: http.StatusNotFound, engine.Conflict: http.StatusConflict,
	engine.Forbidden: http.StatusForbidden, engine.LimitHit: http.StatusTooManyRequests, engine.Internal: http.StatusInternalServerError,
	engine.Away: http.StatusServiceUnavailable,
}

func (c *control) fail(w http.ResponseWriter, r *http.Request, err error) {
	said := err
	if c.Explain != nil {
		said = c.Explain(err)
	}
	failure := Failure{Code: engine.CodeOf(said), Message: engine.MessageOf(said)}
	if engine.CodeOf(err) == engine.Internal {
		c.Log.ErrorContext(r.Context(), "a command failed", "path", r.URL.Path, "err", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(statuses[failure.Code])
	_ = json.NewEncoder(w).Encode(failure) // who does not wait for the answer does not get it
}

func answer(w http.ResponseWriter, body any) error {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // who does not wait for the answer does not get it
	return nil
}

// read decodes what was sent.
func read[T any](w http.ResponseWriter, r *http.Request) (T, error) {
	var body T
	from := json.NewDecoder(http.MaxBytesReader(w, r.Body, portable.MaxSize))
	from.DisallowUnknownFields()
	if err := from.Decode(&body); err != nil {
		return body, engine.Errorf(engine.Invalid, "The request cannot be read: %w", err)
	}
	return body, nil
}

// by is the name that histories keep: the socket is the owner's.
func (c *control) by(ctx context.Context) (string, error) {
	owner, err := c.Store.Owner(ctx)
	return owner.Name, err
}

// byCommand is the name that runs keep of who starts, stops and steers them through the
// socket, which the command line alone comes through: whoever has the page of a run open
// wants to know where it came from.
func (c *control) byCommand(ctx context.Context) (string, error) {
	by, err := c.by(ctx)
	return by + ", by the command line", err
}
