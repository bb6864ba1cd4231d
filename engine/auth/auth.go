// Package auth says who a person is. For now there is one user, the owner of
// the server, who comes in by a one-time link; roles, keys and single sign-on
// have their place behind User and Service.
package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"time"

	"dogear/engine"
)

// LinkLife is how long a sign-in link works.
const LinkLife = 15 * time.Minute

// Role says what a user may do.
type Role string

// Owner may do everything.
const Owner Role = "owner"

// User is a person who may sign in.
type User struct {
	ID   engine.ID `json:"id"`
	Name string    `json:"name"` // shown in histories
	Role Role      `json:"role"`
	At   time.Time `json:"at"`
}

// Link is a one-time right to sign in. The token itself is kept nowhere: whoever
// reads the store cannot sign in with what is there.
type Link struct {
	Hash    string // hex of the SHA-256 of the token
	User    engine.ID
	Expires time.Time
}

// Store keeps users and links.
type Store interface {
	// Owner returns the owner, or NotFound before the first start.
	Owner(ctx context.Context) (User, error)
	// User returns a user, or NotFound.
	User(ctx context.Context, id engine.ID) (User, error)
	// AddUser keeps a new user. A second owner is a Conflict.
	AddUser(ctx context.Context, user User) error
	// AddLink keeps a link.
	AddLink(ctx context.Context, link Link) error
	// TakeLink removes the link with that hash and returns it, in one step, so
	// that of two who come with one token the second gets NotFound.
	TakeLink(ctx context.Context, hash string) (Link, error)
}

// Service signs people in.
type Service struct {
	store Store
	now   func() time.Time
}

// New returns a service over store.
func New(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now}
}

// NewLink makes a one-time sign-in token for the owner, and the owner where
// there is none yet.
func (s *Service) NewLink(ctx context.Context) (token string, err error) {
	owner, err := s.owner(ctx)
	if err != nil {
		return "", err
	}
	token = NewToken()
	link := Link{Hash: hash(token), User: owner.ID, Expires: s.now().Add(LinkLife).UTC()}
	if err := s.store.AddLink(ctx, link); err != nil {
		return "", fmt.Errorf("keep a sign-in link: %w", err)
	}
	return token, nil
}

// Redeem signs in with a token and uses it up.
func (s *Service) Redeem(ctx context.Context, token string) (User, error) {
	refused := engine.Errorf(engine.Forbidden,
		"This sign-in link was used already or is older than %d minutes. Run `dogear signin` on the server for a new one.",
		int(LinkLife.Minutes()))
	link, err := s.store.TakeLink(ctx, hash(token))
	switch {
	case engine.CodeOf(err) == engine.NotFound:
		return User{}, refused
	case err != nil:
		return User{}, fmt.Errorf("take a sign-in link: %w", err)
	case !s.now().Before(link.Expires):
		return User{}, refused
	}
	return s.store.User(ctx, link.User)
}

// User returns a user who signed in before, or NotFound.
func (s *Service) User(ctx context.Context, id engine.ID) (User, error) {
	return s.store.User(ctx, id)
}

// owner returns the owner and makes one at the first start. Two processes that
// start together end with one owner.
func (s *Service) owner(ctx context.Context) (User, error) {
	owner, err := s.store.Owner(ctx)
	if engine.CodeOf(err) != engine.NotFound {
		return owner, err
	}
	now := s.now().UTC()
	owner = User{ID: engine.NewID(now), Name: "owner", Role: Owner, At: now}
	if err := s.store.AddUser(ctx, owner); err != nil && engine.CodeOf(err) != engine.Conflict {
		return User{}, fmt.Errorf("add the owner: %w", err)
	}
	return s.store.Owner(ctx)
}

// NewToken returns 256 random bits as text for an address.
func NewToken() string {
	var random [32]byte
	rand.Read(random[:])
	return base64.RawURLEncoding.EncodeToString(random[:])
}

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
