package dbtest

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"regexp"
	"sync"
	"testing"
)

// Proxy stands between a store and its PostgreSQL and can break the line.
type Proxy struct {
	// Address is that of the database through the proxy.
	Address string

	t        *testing.T
	listener net.Listener
	network  string
	target   string

	mu    sync.Mutex
	down  bool
	cut   Cut
	cuts  int
	names map[string]bool // of prepared statements that commit
	lines map[net.Conn]struct{}
}

// Cut is where the proxy breaks the line of the next message that commits, once.
type Cut int

// The places to break a line.
const (
	NoCut    Cut = iota
	CutLost      // it does not arrive
	CutAfter     // it arrives, its answer does not
)

// NewProxy makes a proxy to the database at address.
func NewProxy(t *testing.T, address string) *Proxy {
	t.Helper()
	at, err := url.Parse(address)
	must(t, err)
	p := &Proxy{t: t, network: "tcp", target: at.Host, lines: map[net.Conn]struct{}{}, names: map[string]bool{}}
	query := at.Query()
	if dir := query.Get("host"); dir != "" { // a Unix socket
		p.network, p.target = "unix", dir+"/.s.PGSQL."+query.Get("port")
	}
	p.listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable")
	at.Host, at.RawQuery = p.listener.Addr().String(), query.Encode()
	p.Address = at.String()
	var serving sync.WaitGroup
	serving.Go(func() { p.serve(&serving) })
	t.Cleanup(func() {
		_ = p.listener.Close()
		p.Down()
		serving.Wait()
	})
	return p
}

// Down breaks every line, and keeps new ones from being made until Up.
func (p *Proxy) Down() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for line := range p.lines {
		_ = line.Close()
	}
}

// Up lets lines be made again.
func (p *Proxy) Up() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}

// CutNext breaks the line of the next message that commits.
func (p *Proxy) CutNext(where Cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = where
}

func (p *Proxy) serve(serving *sync.WaitGroup) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		serving.Go(func() { p.join(client) })
	}
}

// join carries what client and database say to each other.
func (p *Proxy) join(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).DialContext(context.Background(), p.network, p.target)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	p.mu.Lock()
	if p.down {
		p.mu.Unlock()
		return
	}
	p.lines[client], p.lines[server] = struct{}{}, struct{}{}
	p.mu.Unlock()
	var deaf sync.Map // set once the answer must not come through
	var both sync.WaitGroup
	both.Go(func() {
		defer func() { _ = client.Close() }()
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			if _, gone := deaf.Load("deaf"); err != nil || gone {
				return
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	})
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			break
		}
		switch p.cutting(buffer[:n]) {
		case CutLost:
			_ = client.Close()
		case CutAfter:
			deaf.Store("deaf", true)
			fallthrough
		default:
			_, err = server.Write(buffer[:n])
		}
		if err != nil {
			break
		}
	}
	if _, gone := deaf.Load("deaf"); !gone {
		_ = server.Close()
	}
	both.Wait()
	p.mu.Lock()
	delete(p.lines, client)
	delete(p.lines, server)
	p.mu.Unlock()
}

// Cuts is how often the line was broken.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// prepared finds the name under which a COMMIT is prepared, or what begins a
// message that is a transaction by itself; later it is sent by that name alone.
var prepared = regexp.MustCompile("(?s)P....(\\w+)\x00(?:COMMIT|WITH [^\x00]*UPDATE writer[^\x00]*)\x00")

// cutting says where the line breaks that carries message.
func (p *Proxy) cutting(message []byte) Cut {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range prepared.FindAllSubmatch(message, -1) {
		p.names[string(m[1])] = true
		return NoCut // it is only prepared
	}
	commits := bytes.Contains(message, []byte("COMMIT"))
	for name := range p.names {
		commits = commits || bytes.Contains(message, []byte("\x00"+name+"\x00"))
	}
	if p.cut == NoCut || !commits {
		return NoCut
	}
	where := p.cut
	p.cut, p.cuts = NoCut, p.cuts+1
	return where
}
