package web

import (
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"golang.org/x/time/rate"

	"dogear/engine"
)

// limitRate refuses an address that sends more than perSecond requests for long.
func limitRate(perSecond int) echo.MiddlewareFunc {
	return middleware.RateLimiterWithConfig(middleware.RateLimiterConfig{
		Store: middleware.NewRateLimiterMemoryStoreWithConfig(middleware.RateLimiterMemoryStoreConfig{
			Rate: rate.Limit(perSecond), Burst: 4 * perSecond, ExpiresIn: time.Minute,
		}),
		IdentifierExtractor: func(c Ctx) (string, error) { return c.RealIP(), nil },
		DenyHandler: func(c Ctx, _ string, _ error) error {
			c.Response().Header().Set("Retry-After", "1")
			return engine.Errorf(engine.LimitHit, "Too many requests came from this address. Send it again in a second.")
		},
	})
}
