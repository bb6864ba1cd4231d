package auth_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/auth"
)

func TestLinkSignsInOnce(t *testing.T) {
	t.Parallel()
	clock := &clock{at: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	service := auth.New(&store{links: map[string]auth.Link{}}, clock.now)
	token, err := service.NewLink(t.Context())
	must(t, err)

	user, err := service.Redeem(t.Context(), token)
	_, again := service.Redeem(t.Context(), token)

	must(t, err)
	if user.Role != auth.Owner {
		t.Errorf("Redeem gave role %q, want %q", user.Role, auth.Owner)
	}
	if got := engine.CodeOf(again); got != engine.Forbidden {
		t.Errorf("second Redeem = %v, want code %s", again, engine.Forbidden)
	}
}

func TestRedeemRefusesWhatIsNoLink(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		wait  time.Duration
		alter func(token string) string
		want  engine.Code
	}{
		"in time":     {wait: auth.LinkLife - time.Second},
		"too late":    {wait: auth.LinkLife, want: engine.Forbidden},
		"another":     {alter: func(string) string { return auth.NewToken() }, want: engine.Forbidden},
		"empty":       {alter: func(string) string { return "" }, want: engine.Forbidden},
		"with a tail": {alter: func(token string) string { return token + "=" }, want: engine.Forbidden},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := &clock{at: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
			service := auth.New(&store{links: map[string]auth.Link{}}, clock.now)
			token, err := service.NewLink(t.Context())
			must(t, err)
			if tt.alter != nil {
				token = tt.alter(token)
			}
			clock.at = clock.at.Add(tt.wait)

			_, err = service.Redeem(t.Context(), token)

			if got := engine.CodeOf(err); got != tt.want {
				t.Errorf("Redeem = %v, want code %q", err, tt.want)
			}
		})
	}
}

func TestStoreNeverSeesTheToken(t *testing.T) {
	t.Parallel()
	kept := &store{links: map[string]auth.Link{}}
	service := auth.New(kept, time.Now)

	token, err := service.NewLink(t.Context())

	must(t, err)
	if len(token) != 43 {
		t.Errorf("token has %d characters, want 43 for 256 bits", len(token))
	}
	for hash := range kept.links {
		if strings.Contains(hash, token) || len(hash) != 64 {
			t.Errorf("kept %q for token %q, want a SHA-256 in hex", hash, token)
		}
	}
}

func TestOwnerStaysTheSame(t *testing.T) {
	t.Parallel()
	service := auth.New(&store{links: map[string]auth.Link{}}, time.Now)
	var ids []engine.ID

	for range 2 {
		token, err := service.NewLink(t.Context())
		must(t, err)
		user, err := service.Redeem(t.Context(), token)
		must(t, err)
		ids = append(ids, user.ID)
	}

	if ids[0] != ids[1] {
		t.Errorf("two links signed in %s and %s, want one owner", ids[0], ids[1])
	}
}

type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// store is the port in memory, for rules that do not depend on a database.
type store struct {
	mu    sync.Mutex
	owner *auth.User
	links map[string]auth.Link
}

func (s *store) Owner(context.Context) (auth.User, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owner == nil {
		return auth.User{}, engine.Errorf(engine.NotFound, "There is no owner yet.")
	}
	return *s.owner, nil
}

func (s *store) User(ctx context.Context, _ engine.ID) (auth.User, error) { return s.Owner(ctx) }

func (s *store) AddUser(_ context.Context, user auth.User) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owner = &user
	return nil
}

func (s *store) AddLink(_ context.Context, link auth.Link) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links[link.Hash] = link
	return nil
}

func (s *store) TakeLink(_ context.Context, hash string) (auth.Link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	link, ok := s.links[hash]
	if !ok {
		return auth.Link{}, engine.Errorf(engine.NotFound, "There is no such link.")
	}
	delete(s.links, hash)
	return link, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
