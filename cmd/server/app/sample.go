package app

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"dogear/cmd/server/sample"
	"dogear/engine"
	"dogear/handlers/page"
)

// sample makes the sample pipeline, where it is not there, and runs it once.
func (h *house) sample(ctx context.Context) error {
	defer h.sampled.Store(true)
	_, err := h.store.WorkflowNamed(ctx, sample.Name)
	if err == nil {
		return nil
	}
	if engine.CodeOf(err) != engine.NotFound {
		return err
	}
	files := h.sampleFiles()
	if err := files.Fill(time.Now().UTC()); err != nil {
		return err
	}
	made, err := sample.Make(ctx, h.store, time.Now().UTC())
	if err != nil {
		return err
	}
	h.clock.Wake()
	h.changed("workflows", made.ID)
	run, err := h.exec.StartWorkflow(ctx, made.ID, nil, "sample")
	if err != nil {
		return err
	}
	fmt.Fprintf(h.cfg.Out, "The sample pipeline %s has started: run %s\nDrop CSV files into its folder and run it again:\n\n  %s\n\n", sample.Name, run.ID, files.Dir)
	return nil
}

func (h *house) sampleFiles() sample.Files {
	return sample.Files{Dir: filepath.Join(h.cfg.folder("files"), "raw", "sales")}
}

// samples adds files to the sample pipeline for a page's button.
type samples struct{ h *house }

// Folder is where the files of the sample lie; "" once somebody has deleted its
// workflow.
func (s samples) Folder(ctx context.Context) (string, error) {
	if s.h.sampled.Load() { // else it is still to come
		_, err := s.h.store.WorkflowNamed(ctx, sample.Name)
		if engine.CodeOf(err) == engine.NotFound {
			return "", nil
		}
		if err != nil {
			return "", err
		}
	}
	return s.h.sampleFiles().Dir, nil
}

// AddNextDay adds the next day's files and says what it added.
func (s samples) AddNextDay(context.Context) (string, error) {
	// They are written whole before they get their names, so nobody has to wait
	// for them to settle: a run started at once reads them.
	added, err := s.h.sampleFiles().AddNextDay(time.Now().Add(-time.Minute))
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("Added %s, and %s with late orders of an earlier day.", added.New, added.Late)
	if added.Changed != "" {
		text += fmt.Sprintf(" %s was corrected in place.", added.Changed)
	}
	return text, nil
}

// samplePage is what the pages need of the sample; nil without one.
func (h *house) samplePage() page.Sample {
	if !h.cfg.Sample {
		return nil
	}
	return samples{h}
}
