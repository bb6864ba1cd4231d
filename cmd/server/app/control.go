package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/draft"
	"dogear/engine/portable"
	"dogear/handlers/control"
)

// portables exports and imports workflows.
func (h *house) portables() *portable.Service {
	return &portable.Service{Store: h.store, Now: time.Now, Next: next, Schedules: h.schedules(), MayUse: h.mayUse, Fails: h.syntax.Faults, Imported: func(w engine.Workflow, entry *draft.Entry) {
		h.wakeClocks()
		h.changed("workflows", w.ID)
		h.changed("jobs", "")
		h.changed("crawlers", "")
		if entry != nil {
			h.drafted(w.ID, []draft.Entry{*entry})
		}
	}}
}

// commands answers the command line.
func (h *house) commands(moves *bookmark.Service, drafts *draft.Service) http.Handler {
	return control.New(control.Config{
		Store: h.told(), Exec: h.exec, Bookmarks: moves, Drafts: drafts, Publisher: h, Remover: h, Portable: h.portables(), Logs: logs{h.exec, h.store}, SignIn: h.signIn,
		Hub: h.hub, Outgrown: h.exec.Outgrew, Explain: h.store.Explain, Next: next, Came: h.came, Log: h.log, Now: time.Now,
	})
}

// signIn makes a link with which its holder becomes the owner, once.
func (h *house) signIn(ctx context.Context) (string, error) {
	token, err := h.auth.NewLink(ctx)
	return link(h.address, token), err
}

// command serves the command line on its socket until ctx ends. Whoever waits
// for a run or follows a log is told then, and not kept until the drain ends.
func (h *house) command(ctx context.Context, socket net.Listener) error {
	server := &http.Server{
		Handler: h.control, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() {
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if err := shut(drain, server); err != nil {
			h.log.Warn("the socket of the command line did not close in order", "err", err)
		}
	})
	defer stop()
	if err := server.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
