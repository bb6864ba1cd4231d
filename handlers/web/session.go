package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"

	"dogear/engine"
	"dogear/engine/auth"
)

const (
	// A session ends by age alone: an idle time would write to the store at
	// every request.
	sessionLife  = 14 * 24 * time.Hour
	aliveWait    = 5 * time.Second // for the store to answer
	userKey      = "user"
	tokenKey     = "token"
	userOfCtx    = "user-of-request"
	tokenHeader  = "X-CSRF-Token"
	tokenField   = "_csrf"
	tokenLen     = 32
	cookieName   = "dogear"
	secureCookie = "__Host-dogear" // browsers take it only over https, from this very host
)

// SessionStore keeps sessions. Tokens come hashed, so that whoever reads the
// store cannot use them.
type SessionStore interface {
	// Session returns what is kept under token, or NotFound where there is
	// nothing or it has expired.
	Session(ctx context.Context, token string) ([]byte, error)
	SaveSession(ctx context.Context, token string, data []byte, expires time.Time) error
	// DeleteSession forgets a session; one that is not there is no error.
	DeleteSession(ctx context.Context, token string) error
}

// Users knows who signed in.
type Users interface {
	User(ctx context.Context, id engine.ID) (auth.User, error)
}

// Sessions remembers who signed in.
type Sessions struct {
	manager *scs.SessionManager
	users   Users
	log     *slog.Logger
}

// NewSessions returns sessions over store. With secure the cookie is sent over
// https only.
func NewSessions(store SessionStore, users Users, secure bool, log *slog.Logger) *Sessions {
	manager := scs.New()
	manager.Store = sessionStore{store}
	manager.HashTokenInStore = true
	manager.Lifetime = sessionLife
	manager.Cookie.Name = cookieName
	if secure {
		manager.Cookie.Name = secureCookie
	}
	manager.Cookie.Secure = secure
	manager.Cookie.HttpOnly = true
	manager.Cookie.SameSite = http.SameSiteLaxMode
	return &Sessions{manager: manager, users: users, log: log}
}

// SignIn starts a session of user under a new token.
func (s *Sessions) SignIn(c Ctx, user auth.User) error {
	ctx := c.Request().Context()
	if err := s.manager.RenewToken(ctx); err != nil {
		return fmt.Errorf("renew the session: %w", err)
	}
	var secret [tokenLen]byte
	rand.Read(secret[:])
	s.manager.Put(ctx, userKey, string(user.ID))
	s.manager.Put(ctx, tokenKey, secret[:])
	return nil
}

// SignOut ends the session.
func (s *Sessions) SignOut(c Ctx) error {
	if err := s.manager.Destroy(c.Request().Context()); err != nil {
		return fmt.Errorf("end the session: %w", err)
	}
	return nil
}

// Alive reports whether the session that c came with still stands. A socket
// asks again and again, because it lives longer than its request.
func (s *Sessions) Alive(c Ctx) bool {
	cookie, err := c.Cookie(s.manager.Cookie.Name)
	if err != nil {
		return false
	}
	// Not the context of the request: it holds the session as it was then.
	ctx, cancel := context.WithTimeout(context.Background(), aliveWait)
	defer cancel()
	loaded, err := s.manager.Load(ctx, cookie.Value)
	return err == nil && s.manager.GetString(loaded, userKey) != ""
}

// User is who asks; the zero User where nobody signed in.
func User(c Ctx) auth.User {
	user, _ := c.Get(userOfCtx).(auth.User)
	return user
}

// Token is the session's token for forms, masked anew for every page, so that
// the length of a compressed page tells nothing of it. It is "" without a
// session.
func (s *Sessions) Token(c Ctx) string {
	if User(c).ID == "" {
		return ""
	}
	secret := s.manager.GetBytes(c.Request().Context(), tokenKey)
	if len(secret) != tokenLen {
		return ""
	}
	var out [2 * tokenLen]byte
	rand.Read(out[:tokenLen])
	subtle.XORBytes(out[tokenLen:], out[:tokenLen], secret)
	return base64.RawURLEncoding.EncodeToString(out[:])
}

// forMachines are paths that answer whoever asks, also while the database is away.
var forMachines = []string{"/healthz", "/readyz", "/metrics"}

// load brings the session into the request and writes it back before the
// answer begins.
func (s *Sessions) load(next Handler) Handler {
	return func(c Ctx) error {
		if strings.HasPrefix(c.Path(), "/static/") || slices.Contains(forMachines, c.Path()) {
			return next(c)
		}
		token := ""
		if cookie, err := c.Cookie(s.manager.Cookie.Name); err == nil {
			token = cookie.Value
		}
		ctx, err := s.manager.Load(c.Request().Context(), token)
		if err != nil {
			return fmt.Errorf("load the session: %w", err)
		}
		c.SetRequest(c.Request().WithContext(ctx))
		if id := s.manager.GetString(ctx, userKey); id != "" {
			user, err := s.users.User(ctx, engine.ID(id))
			if err != nil && engine.CodeOf(err) != engine.NotFound {
				return fmt.Errorf("find who signed in: %w", err)
			}
			c.Set(userOfCtx, user)
		}
		c.Response().Before(func() { s.save(c) })
		if err := next(c); err != nil {
			return err
		}
		if !c.Response().Committed { // nothing was written, so Before has not run
			s.save(c)
		}
		return nil
	}
}

func (s *Sessions) save(c Ctx) {
	ctx := c.Request().Context()
	switch s.manager.Status(ctx) {
	case scs.Modified:
		token, expires, err := s.manager.Commit(ctx)
		if err != nil {
			s.log.ErrorContext(ctx, "session not saved", "err", err)
			return
		}
		s.manager.WriteSessionCookie(ctx, c.Response(), token, expires)
	case scs.Destroyed:
		s.manager.WriteSessionCookie(ctx, c.Response(), "", time.Time{})
	case scs.Unmodified:
	}
}

// need lets only those through who signed in.
func (s *Sessions) need(next Handler) Handler {
	return func(c Ctx) error {
		if User(c).ID == "" {
			return echo.NewHTTPError(http.StatusUnauthorized)
		}
		return next(c)
	}
}

// needToken lets a change through only with the token of the session, from the
// header that htmx sends or from the field of a form.
func (s *Sessions) needToken(next Handler) Handler {
	return func(c Ctx) error {
		r := c.Request()
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			return next(c)
		}
		given := r.Header.Get(tokenHeader)
		if given == "" {
			given = c.FormValue(tokenField)
		}
		secret := s.manager.GetBytes(r.Context(), tokenKey)
		if !matches(given, secret) {
			return engine.Errorf(engine.Forbidden, "This page is from an earlier session. Load it again and repeat what you did.")
		}
		return next(c)
	}
}

// matches reports whether masked hides secret.
func matches(masked string, secret []byte) bool {
	raw, err := base64.RawURLEncoding.DecodeString(masked)
	if err != nil || len(raw) != 2*tokenLen || len(secret) != tokenLen {
		return false
	}
	var plain [tokenLen]byte
	subtle.XORBytes(plain[:], raw[:tokenLen], raw[tokenLen:])
	return subtle.ConstantTimeCompare(plain[:], secret) == 1
}

// sessionStore gives our port the shape that scs wants.
type sessionStore struct{ SessionStore }

func (s sessionStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	data, err := s.Session(ctx, token)
	if engine.CodeOf(err) == engine.NotFound {
		return nil, false, nil
	}
	return data, err == nil, err
}

func (s sessionStore) CommitCtx(ctx context.Context, token string, data []byte, expires time.Time) error {
	return s.SaveSession(ctx, token, data, expires)
}

func (s sessionStore) DeleteCtx(ctx context.Context, token string) error {
	return s.DeleteSession(ctx, token)
}

// The three methods without a context are part of scs's interface and are not
// called where the ones above exist.
func (s sessionStore) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

func (s sessionStore) Commit(token string, data []byte, expires time.Time) error {
	return s.CommitCtx(context.Background(), token, data, expires)
}

func (s sessionStore) Delete(token string) error {
	return s.DeleteCtx(context.Background(), token)
}
