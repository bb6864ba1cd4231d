package page

import (
	"context"
	"net/http"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/handlers/web"
	"dogear/views/editor"
)

// compareJob answers GET /jobs/:id/compare?from=N&to=M with how two versions of a job
// differ, of which 0 is the draft. Without from, the version before the other is taken.
func (p *Pages) compareJob(c web.Ctx) error {
	ctx := c.Request().Context()
	drawn, err := p.Store.JobDraft(ctx, web.ID(c))
	if err != nil {
		return err
	}
	view := editor.Comparing{Job: drawn.ID, Name: drawn.Name, To: int(number(c, "to", 0))}
	if view.Versions, err = p.Store.Versions(ctx, drawn.ID); err != nil {
		return err
	}
	view.From = editor.Other(view.Versions, view.To)
	if c.QueryParam("from") != "" {
		view.From = int(number(c, "from", 0))
	}
	from, err := p.jobAt(ctx, drawn, view.From)
	if err != nil {
		return err
	}
	to, err := p.jobAt(ctx, drawn, view.To)
	if err != nil {
		return err
	}
	names, err := p.connectionNames(ctx)
	if err != nil {
		return err
	}
	if from.Name != to.Name {
		view.Fields = append(view.Fields, draft.Field{Name: "Name", From: from.Name, To: to.Name})
	}
	view.Fields = append(view.Fields, draft.JobFields(from.JobBody, to.JobBody, names)...)
	return web.Render(c, http.StatusOK, editor.Compare(view))
}

// jobAt is a version of a job, or its draft where version is 0.
func (p *Pages) jobAt(ctx context.Context, drawn engine.Draft[engine.JobBody], version int) (engine.Job, error) {
	if version == 0 {
		return engine.Job{Head: drawn.Head, JobBody: drawn.Body}, nil
	}
	return p.Store.JobVersion(ctx, drawn.ID, version)
}

// connectionNames are the names by which what differs is said.
func (p *Pages) connectionNames(ctx context.Context) (draft.Names, error) {
	connections, err := p.Store.Connections(ctx)
	if err != nil {
		return nil, err
	}
	names := draft.Names{}
	for i := range connections {
		names[engine.Ref{Kind: engine.KindConnection, ID: connections[i].ID}] = connections[i].Name
	}
	return names, nil
}
