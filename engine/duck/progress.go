package duck

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"time"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// progressEvery is how often progress is looked at.
const progressEvery = 250 * time.Millisecond

// errNoHandle says that the driver hides its connection differently now.
var errNoHandle = errors.New("the driver's connection has no field conn")

// handle takes the C connection out of the driver's, which does not export
// it. It is only asked for progress, which DuckDB allows from any thread.
func handle(c *sql.Conn) (mapping.Connection, error) {
	var h mapping.Connection
	err := c.Raw(func(driver any) error {
		conn, ok := driver.(*duckdb.Conn)
		if !ok {
			return errNoHandle
		}
		field := reflect.ValueOf(conn).Elem().FieldByName("conn")
		if !field.IsValid() || field.Type() != reflect.TypeFor[mapping.Connection]() {
			return errNoHandle
		}
		h = *(*mapping.Connection)(unsafe.Pointer(field.UnsafeAddr()))
		return nil
	})
	return h, err
}

// follow reports the percentage of whatever h runs until ctx ends.
func follow(ctx context.Context, h mapping.Connection, report func(percent float64)) {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	last := 0.0
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		state := mapping.QueryProgress(h)
		percent, _, _ := mapping.QueryProgressTypeMembers(&state)
		if percent > last {
			report(percent)
			last = percent
		}
	}
}
