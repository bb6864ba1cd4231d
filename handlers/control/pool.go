package control

import "net/http"

// Pool names a pool, and how many places it is to have.
type Pool struct {
	Name   string `json:"name"`
	Places int    `json:"places,omitempty"`
}

// pools answers GET /pools.
func (c *control) pools(w http.ResponseWriter, r *http.Request) error {
	all, err := c.Store.Pools(r.Context())
	if err != nil {
		return err
	}
	return answer(w, all)
}

// setPool answers POST /pool with all pools: it makes one or changes its places,
// which counts at once.
func (c *control) setPool(w http.ResponseWriter, r *http.Request) error {
	ask, err := read[Pool](w, r)
	if err != nil {
		return err
	}
	by, err := c.by(r.Context())
	if err != nil {
		return err
	}
	if err := c.Store.PutPool(r.Context(), ask.Name, ask.Places, by, c.Now()); err != nil {
		return err
	}
	return c.poolsChanged(w, r)
}

// deletePool answers POST /pool/delete with the pools that are left.
func (c *control) deletePool(w http.ResponseWriter, r *http.Request) error {
	ask, err := read[Pool](w, r)
	if err != nil {
		return err
	}
	if err := c.Store.DeletePool(r.Context(), ask.Name); err != nil {
		return err
	}
	return c.poolsChanged(w, r)
}

func (c *control) poolsChanged(w http.ResponseWriter, r *http.Request) error {
	if err := c.Exec.PoolsChanged(r.Context()); err != nil {
		return err
	}
	return c.pools(w, r)
}
