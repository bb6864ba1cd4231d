package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/static"
)

const (
	// leastRoom is how much the disk of a database must have for a server to
	// begin: it cannot even be read without room for what SQLite keeps beside it.
	leastRoom = 8 << 20
	// roomEvery is how often a server that waits for room looks whether there is.
	roomEvery = time.Second
)

// awaitRoom returns when there is room for a server to begin, or ctx has ended.
// Meanwhile it says on the terminal, and to whoever opens a page, what is wrong.
func awaitRoom(ctx context.Context, cfg *Config, log *slog.Logger) error {
	dir := cfg.Data
	if cfg.Database != "" && !strings.Contains(cfg.Database, "://") {
		dir = filepath.Dir(cfg.Database)
	}
	if roomIn(dir) {
		return nil
	}
	fmt.Fprintf(cfg.Out, "\n%s\n\n", noRoom(dir))
	if err := closed(ctx, cfg, dir); err != nil || ctx.Err() != nil {
		return err
	}
	log.Info("there is room on the disk again", "path", dir)
	return nil
}

// noRoom says what is wrong, where, and what to do.
func noRoom(dir string) string {
	var disk unix.Statfs_t
	_ = unix.Statfs(dir, &disk) // else it has nothing free, which is why we are here
	free := engine.Bytes(int64(disk.Bavail) * disk.Bsize)
	return fmt.Sprintf(`The disk of %s is full: it has %s free, and Dogear needs %s to begin.
Free some space on it, or stop this server and move the folder to a larger disk (--data).
Nothing is lost, and the server goes on by itself as soon as there is room.`, dir, free, engine.Bytes(leastRoom))
}

// roomIn reports whether as much as a server needs to begin can be written in a
// folder. It tries, for what a disk calls free may be kept for others. What else
// may be wrong with the folder is said by those who need it.
func roomIn(dir string) bool {
	path := filepath.Join(dir, "room")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(unix.Fallocate(int(file.Fd()), 0, 0, leastRoom), file.Close())
		if removed := os.Remove(path); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT)
}

// closed answers pages with the reason until there is room in dir.
func closed(ctx context.Context, cfg *Config, dir string) error {
	files, err := static.Load()
	if err != nil {
		return err
	}
	listener, err := listen(ctx, cfg.Addr)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           web.Closed(files, hosts(cfg.Addr, cfg.Origin), "The disk is full", "The disk of this server's database is full. Somebody who can reach the server has to free some space on it; then Dogear goes on by itself."),
		ReadHeaderTimeout: 10 * time.Second,
	}
	if cfg.closed != nil {
		cfg.closed("http://" + listener.Addr().String())
	}
	var work errgroup.Group
	work.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	tick := time.NewTicker(roomEvery)
	defer tick.Stop()
	for ctx.Err() == nil && !roomIn(dir) {
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return errors.Join(server.Close(), work.Wait())
}

// listen opens the address at which people reach the server.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, engine.Errorf(engine.Invalid, "Cannot listen on %s: %w. Choose another address with --addr.", addr, err)
	}
	return listener, nil
}
