package draft

// maxActs is how far back an undo reaches.
const maxActs = 200

// CommandLine is the client of what was done in a terminal. That is published at
// once, so an undo in the editor does not reach behind it.
const CommandLine = "command line"

// Act is what a person did in one go, as the changes it made, in order.
type Act struct {
	ID     string  `json:"id"`
	Deltas []Delta `json:"deltas"`
}

// Inverse lists the changes that take the act back, in the order to apply them.
func (a Act) Inverse() []Delta {
	back := make([]Delta, 0, len(a.Deltas))
	for i := range a.Deltas {
		back = append(back, a.Deltas[len(a.Deltas)-1-i].Inverse())
	}
	return back
}

// History is what a person can undo and redo, the next one last. Taking back
// an entry of Redo repeats what was undone.
type History struct {
	Undo []Act `json:"undo"`
	Redo []Act `json:"redo"`
}

// Stacks reads the log of one person, oldest first, as an undo history.
func Stacks(entries []Entry) History {
	h := History{Undo: []Act{}, Redo: []Act{}}
	for i := 0; i < len(entries); {
		act := Act{ID: entries[i].Act}
		first := entries[i]
		for ; i < len(entries) && entries[i].Act == act.ID; i++ {
			act.Deltas = append(act.Deltas, entries[i].Delta)
		}
		switch {
		case first.Kind == Switch: // it is published: turned back is another turn, and no undo
		case first.Client == CommandLine:
			h.Undo, h.Redo = h.Undo[:0], h.Redo[:0]
		case first.Kind != Restore:
			h.Undo = append(h.Undo, act)
			h.Redo = h.Redo[:0]
		case first.Of == Redo:
			h.Redo = pop(h.Redo)
			h.Undo = append(h.Undo, act)
		default:
			h.Undo = pop(h.Undo)
			h.Redo = append(h.Redo, act)
		}
	}
	return h
}

func pop(acts []Act) []Act { return acts[:max(len(acts)-1, 0)] }
