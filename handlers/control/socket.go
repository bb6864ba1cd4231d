package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"dogear/engine"
)

// SocketName is the socket's name in the data folder.
const SocketName = "dogear.sock"

// Listen opens the socket in dir, which only its owner can open. A socket that
// a killed server left is replaced; whoever calls it holds the folder's lock.
//
// The socket is made inside a folder of its own that nobody else can enter and
// gets its place when its mode is right, so that there is no moment at which
// another user could connect, whatever the mode of dir.
func Listen(ctx context.Context, dir string) (net.Listener, error) {
	room, err := os.MkdirTemp(dir, ".socket-")
	if err != nil {
		return nil, fmt.Errorf("make room for the socket: %w", err)
	}
	defer os.RemoveAll(room)
	var listener net.Listener
	err = within(room, func(path string) (err error) {
		listener, err = (&net.ListenConfig{}).Listen(ctx, "unix", path)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open the socket: %w", err)
	}
	inner := listener.(*net.UnixListener) //nolint:forcetypeassert // "unix" makes this one
	inner.SetUnlinkOnClose(false)         // its name has changed by then
	made, place := filepath.Join(room, SocketName), filepath.Join(dir, SocketName)
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, place)); err != nil {
		return nil, errors.Join(fmt.Errorf("put the socket in its place: %w", err), listener.Close())
	}
	return &owned{UnixListener: inner, path: place}, nil
}

// Dial connects to the server of dir.
func Dial(ctx context.Context, dir string) (net.Conn, error) {
	var conn net.Conn
	err := within(dir, func(path string) (err error) {
		conn, err = (&net.Dialer{}).DialContext(ctx, "unix", path)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ECONNREFUSED) {
		return nil, engine.Errorf(engine.NotFound, "No server runs on %s. Start one with: dogear serve --data %s", dir, dir)
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, engine.Errorf(engine.Forbidden, "The server on %s is another user's. Only the user who runs it can command it.", dir)
	}
	return conn, err
}

// within gives use a short path of the socket in dir: the address of a socket
// holds about a hundred bytes, and a folder's path may be longer.
func within(dir string, use func(path string) error) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return use(filepath.Join("/proc/self/fd", strconv.Itoa(int(folder.Fd())), SocketName))
}

// owned lets in who runs as the server does, and root.
type owned struct {
	*net.UnixListener
	path string
}

// Accept waits for the next connection of the owner.
func (o *owned) Accept() (net.Conn, error) {
	for {
		conn, err := o.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if uid, err := peer(conn); err == nil && (uid == os.Geteuid() || uid == 0) {
			return conn, nil
		}
		_ = conn.Close() // no word to strangers
	}
}

// Close stops listening and removes the socket.
func (o *owned) Close() error {
	return errors.Join(os.Remove(o.path), o.UnixListener.Close())
}

// peer is the user at the other end.
func peer(conn *net.UnixConn) (uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var found *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		found, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if failed != nil {
		return 0, failed
	}
	return int(found.Uid), nil
}
