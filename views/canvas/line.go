package canvas

import (
	"fmt"

	"dogear/engine"
	"dogear/engine/graph"
)

// Box is where a card stands, in canvas pixels at 100 %.
type Box struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

// Line is how an edge is drawn.
type Line struct {
	Path   string       `json:"path"` // with its arrow head
	Middle engine.Point `json:"middle"`
	// Tight says that a word on the line would cover what stands at its ends:
	// they are close to each other, side by side.
	Tight bool `json:"tight"`
}

const (
	out    = 24 // that a line which leads back runs straight out of a card, px
	corner = 10 // radius of its corners, px
	lane   = 40 // that two cards must leave between them for it to pass there, px
)

// Between draws the edge from the middle of the right side of one card to the
// middle of the left side of another. One that leads back to the left takes the
// lane between the two cards where there is one, and else passes under both. The
// browser's module draws the same (static/src/canvas/line.ts); a test compares
// them.
func Between(from, to Box) Line {
	x1, y1, x2, y2 := from.X+from.W, from.Y+from.H/2, to.X, to.Y+to.H/2
	head := fmt.Sprintf("M%d %dL%d %dL%d %d", x2-7, y2-4, x2-1, y2, x2-7, y2+4)
	if x2 < x1-2*graph.Grid {
		y := laneOf(from, to)
		return Line{Path: back(x1, y1, x2, y2, y) + head, Middle: engine.Point{X: (x1 + x2) / 2, Y: y}}
	}
	bend := max(40, (x2-x1)/2)
	return Line{
		Path:   fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+bend, y1, x2-bend, y2, x2, y2) + head,
		Middle: engine.Point{X: (x1 + x2) / 2, Y: (y1 + y2) / 2},
		Tight:  x2 >= x1 && x2-x1 < 100 && max(y2-y1, y1-y2) < 60,
	}
}

// laneOf is how high a line runs that leads back to the left.
func laneOf(from, to Box) int {
	switch below, above := from.Y+from.H, to.Y+to.H; {
	case to.Y-below >= lane:
		return (below + to.Y) / 2
	case from.Y-above >= lane:
		return (above + from.Y) / 2
	default:
		return max(below, above) + out
	}
}

// back leads out of a card, along y, and into the other card from its left.
func back(x1, y1, x2, y2, y int) string {
	down1, down2 := corner, corner
	if y < y1 {
		down1 = -corner
	}
	if y2 < y {
		down2 = -corner
	}
	right, left := x1+out, x2-out
	return fmt.Sprintf("M%d %dH%dQ%d %d %d %dV%dQ%d %d %d %d", x1, y1, right-corner, right, y1, right, y1+down1, y-down1, right, y, right-corner, y) +
		fmt.Sprintf("H%dQ%d %d %d %dV%dQ%d %d %d %dH%d", left+corner, left, y, left, y+down2, y2-down2, left, y2, left+corner, y2, x2)
}
