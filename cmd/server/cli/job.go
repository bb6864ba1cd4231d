package cli

import (
	"context"
	"strconv"

	"dogear/engine"
	"dogear/handlers/control"
)

// Job are the commands about jobs.
type Job struct {
	List jobList `cmd:"" help:"List the jobs."`
	Run  jobRun  `cmd:"" help:"Run one job alone, or let it read chosen files again beside its bookmark."`

	Discard jobDiscard `cmd:"" help:"Make the draft of a job again what is published. That cannot be taken back."`
}

type jobList struct{ target }

// Run lists the jobs.
func (c *jobList) Run(ctx context.Context, term Terminal) error {
	list, err := get[[]engine.Job](ctx, c.Data, "/jobs", nil)
	if err != nil {
		return err
	}
	return c.print(term, list, func(t *table) {
		t.row("NAME", "KIND", "VERSION", "SOURCES", "TARGETS", "BOOKMARK")
		for i := range list {
			j := &list[i]
			sources, sinks := 0, 0
			if j.SQL != nil {
				sources, sinks = len(j.SQL.Sources), len(j.SQL.Sinks)
			}
			mark := string(j.Bookmark)
			if j.ReadsAll() {
				mark = "reads all"
			}
			t.row(j.Name, string(j.Kind), version(j.Version), strconv.Itoa(sources), strconv.Itoa(sinks), mark)
		}
	})
}

type jobRun struct {
	target
	pick
	wait
	Name     string            `arg:"" help:"Name of the job."`
	Property map[string]string `placeholder:"K=V" mapsep:"none" help:"A property of this run. May be repeated."`
	token
}

// Run starts the job. With --file, --pattern, --since or --until it reads those
// files again, whatever the bookmark says, and leaves the bookmark where it is.
func (c *jobRun) Run(ctx context.Context, term Terminal) error {
	run, err := c.start(ctx, c.Data, "/job", func(token string) any {
		return control.StartJob{Job: c.Name, Properties: c.Property, Pick: c.selection(), Token: token}
	})
	if err != nil {
		return err
	}
	return c.started(ctx, term, c.target, run)
}
