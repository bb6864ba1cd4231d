package shim

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// watching is the guard. It waits for the end of its server, which it sees by
// the end of its input, and then cuts, once a second, what grows over the limit
// among the outputs of scripts that have not ended. With the last of them it
// ends; those that died without an exit code the next server clears away. What a
// script has put in the place of its files is left alone.
const watching = `trap '' TERM INT HUP
plain() { case $(stat -c '%h %F' "$1" 2>&1) in '1 regular'*) ;; *) false ;; esac; }
read -r gone
while :; do
	left=
	for dir in */; do
		mark= code=
		plain "$dir/end" && { read -r mark; read -r code; } <"$dir/end"
		[ "$mark" = began ] && [ ! "$code" ] || continue
		left=yes
		for file in "$dir/out" "$dir/err"; do
			! plain "$file" || [ "$(wc -c <"$file")" -le "$1" ] || truncate -s "$1" "$file"
		done
	done
	[ "$left" ] || exit
	sleep 1
done`

// Guard is the process that keeps the outputs of scripts within their limit
// while there is no server to do it.
type Guard struct {
	alive io.Closer     // what the guard sees the end of
	ended chan struct{} // closed once it has ended
}

// StartGuard starts a guard that lets each output have limit bytes. dir holds the
// folders of the shims.
func StartGuard(dir string, limit int64) (*Guard, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of shims: %w", err)
	}
	cmd := exec.Command("/bin/sh", "-c", watching, "guard", strconv.FormatInt(limit, 10)) //nolint:noctx // it outlives the server
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	closeInherited()
	alive, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start the guard of outputs: %w", err)
	}
	g := &Guard{alive: alive, ended: make(chan struct{})}
	go func() {
		defer close(g.ended)
		_ = cmd.Wait()
	}()
	return g, nil
}

// Leave tells the guard that the server ends. A server that is killed has no
// need to: the system says it.
func (g *Guard) Leave() { _ = g.alive.Close() }
