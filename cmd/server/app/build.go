package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dogear/db"
	"dogear/engine"
	"dogear/engine/arrival/gate"
	"dogear/engine/arrival/lookout"
	"dogear/engine/auth"
	"dogear/engine/bookmark"
	"dogear/engine/bucket"
	"dogear/engine/crawl"
	"dogear/engine/draft"
	"dogear/engine/duck"
	"dogear/engine/event"
	"dogear/engine/exec"
	"dogear/engine/place"
	"dogear/engine/query"
	"dogear/engine/queue"
	"dogear/engine/runner"
	"dogear/engine/runner/shim"
	"dogear/engine/schedule"
	"dogear/engine/schedule/alarm"
	"dogear/engine/sink"
	"dogear/engine/source"
	"dogear/engine/syntax"
	"dogear/engine/table"
	"dogear/handlers/hook"
	"dogear/handlers/live"
	"dogear/handlers/page"
	"dogear/handlers/web"
	"dogear/static"
)

// house is a wired server that does not run yet.
type house struct {
	cfg     Config
	log     *slog.Logger
	store   *db.Store
	mayUse  func(path string) error // why a path is not for this server
	hub     *event.Hub
	auth    *auth.Service
	exec    *exec.Exec
	clock   *alarm.Clock
	gate    *gate.Gate
	lookout *lookout.Lookout
	sinks   *sink.Sink
	shims   *shim.Shims
	syntax  *syntax.Checker
	handler http.Handler
	control http.Handler // of the command line
	metrics *metrics
	address string        // at which people see the server, once it listens
	sampled atomic.Bool   // the sample was made, or looked for, at the start
	halted  chan struct{} // closed when this server is outgrown
}

// build wires the rooms. Nothing here waits or talks to anything.
func build(cfg Config, store *db.Store, log *slog.Logger) (*house, error) {
	h := &house{cfg: cfg, log: log, store: store, hub: event.New(), halted: make(chan struct{}), auth: auth.New(store, time.Now), metrics: newMetrics(prometheus.NewRegistry())}
	roots := place.Roots{Base: cfg.folder("files"), Allowed: append([]string{cfg.folder("files")}, cfg.Root...)}
	buckets := bucket.New(connections{store})
	h.mayUse = places{roots: roots}.MayUse
	sources := source.New(roots, buckets)
	tables := table.New(roots, connections{store})
	worker := duck.Worker{Command: cfg.Worker}
	planner := &bookmark.Planner{Ledger: store, Lister: sources, Tables: store, Hasher: sources, Surveyor: tables}
	h.syntax = &syntax.Checker{Worker: worker, Python: cfg.Python, Dir: cfg.folder("runs", "syntax"), Log: log, Catalog: store}
	questions := &query.Service{Catalog: store, Source: sources, Tables: tables, Worker: worker, Dir: cfg.folder("runs", "query"), Read: h.syntax.Read}
	crawler := &crawl.Service{Files: sources, Describer: questions, Planner: planner, Catalog: store, Now: time.Now}
	sinks := sink.New(roots, buckets)
	sinks.Tables, sinks.Batches = tables, store
	sources.Whole = &place.Whole{}
	sinks.Whole = sources.Whole
	h.sinks = sinks
	jobs, processes := h.jobs(planner, sources, sinks, tables)

	var steps exec.Store = store
	if cfg.store != nil {
		steps = cfg.store(store)
	}
	h.exec = exec.New(exec.Config{
		Store: steps, Runners: map[engine.Kind]runner.Runner{engine.KindJob: jobs, engine.KindCrawler: crawler}, Processes: processes,
		Log: log, Now: time.Now, Slots: cfg.Slots, TTL: cfg.TTL, Self: self(cfg), Dir: cfg.folder("runs"), Drain: cfg.Drain, Target: sinks.Target,
		Fits: h.fits(roots), Outgrown: func(error) { close(h.halted) }, Committed: h.committed, Progress: h.progress, Logged: h.logged,
	})
	h.clock = alarm.New(store, h.exec, log, time.Now)
	h.gate = gate.New(store, h.exec, log, time.Now, h.eventsChanged)
	h.lookout = lookout.New(store, sources, queue.New(connections{store}), log, time.Now, h.came)
	hooks := &hook.Hooks{Store: store, Now: time.Now, Came: h.came}
	moves := &bookmark.Service{Store: store, Planner: planner, Now: time.Now, Changed: func(b engine.Bookmark) { h.changed("bookmarks", b.ID) }}
	drafts := draft.NewService(h.told(), store, h.drafted, time.Now)

	h.control = h.commands(moves, drafts)

	files, err := static.Load()
	if err != nil {
		return nil, err
	}
	sessions := web.NewSessions(store, h.auth, isHTTPS(cfg.Origin), log)
	pages := page.New(page.Config{
		Store: h.told(), Exec: h.exec, Bookmarks: moves, Logs: logs{h.exec, h.store}, SQL: questions, Syntax: h.syntax, Places: places{roots, sources, buckets, tables, store},
		Drafts: drafts, Publisher: h, Remover: h, Portable: h.portables(), Schedules: h.schedules(), Health: h, Sample: h.samplePage(),
		Next: next, Came: h.came, Address: func() string { return h.address }, Auth: h.auth, Sessions: sessions, Files: files, Log: log, Now: time.Now,
	})
	sockets := live.New(live.Config{
		Hub: h.hub, Sessions: sessions, Origin: cfg.Origin, Log: log,
		Snapshots: map[string]live.Snapshot{"run": live.OfRun(store), "draft": live.OfDraft(drafts)},
	})
	h.handler, err = web.New(web.Config{
		Routes: slices.Concat(pages.Routes(), hooks.Routes(), sockets.Routes(), h.healthRoutes()),
		Files:  files, Sessions: sessions, Outgrown: h.exec.Outgrew, Explain: h.store.Explain, Origin: cfg.Origin, Hosts: hosts(cfg.Addr, cfg.Origin), Log: log, Now: time.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("wire the routes: %w", err)
	}
	return h, nil
}

func isHTTPS(origin string) bool { return len(origin) > 8 && origin[:8] == "https://" }

// hosts are the names by which a server may be called: one on loopback only by
// those of this machine.
func hosts(addr, origin string) []string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil || origin != "" {
		return nil
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return web.LoopbackHosts
	}
	return nil
}

// self is this server as others see it. What it runs in is part of its host's
// name: a process of another container cannot be looked at from here.
func self(cfg Config) engine.Replica {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	if space, err := os.Readlink("/proc/self/ns/pid"); err == nil {
		host += " " + space
	}
	process, err := shim.Identify(os.Getpid())
	if err != nil {
		process = engine.Process{} // then nobody takes it for dead before its lease ends
	}
	return engine.Replica{Host: host, Process: process, Address: cfg.Addr}
}

// next says when a trigger of a workflow fires next.
func next(t engine.Trigger, after time.Time) time.Time {
	if t.Type != engine.Scheduled || t.Disabled {
		return time.Time{}
	}
	cron, err := schedule.Parse(t.Schedule)
	if err != nil {
		return time.Time{}
	}
	zone, err := schedule.Zone(t.Zone)
	if err != nil {
		return time.Time{}
	}
	return cron.Next(after, zone)
}

// connections turns a stored connection into what a client of S3 needs.
type connections struct{ store *db.Store }

// S3 returns the settings and the secret of a connection.
func (c connections) S3(ctx context.Context, id engine.ID) (bucket.Config, error) {
	made, err := c.store.Connection(ctx, id)
	if err != nil {
		return bucket.Config{}, err
	}
	plain, err := c.store.Secret(ctx, id)
	return bucket.Config{Endpoint: made.Endpoint, Region: made.Region, AccessKey: made.AccessKey, Secret: plain, PathStyle: made.PathStyle}, err
}

// Database returns the settings and the secret of a connection to a database.
func (c connections) Database(ctx context.Context, id engine.ID) (table.Config, error) {
	made, err := c.store.Connection(ctx, id)
	if err != nil {
		return table.Config{}, err
	}
	plain, err := c.store.Secret(ctx, id)
	return table.Config{
		Kind: made.Type, Host: made.Host, Port: made.Port, Database: made.Database, User: made.User, Password: plain, TLS: made.TLS, CA: made.CA, ServerName: made.ServerName,
	}, err
}
