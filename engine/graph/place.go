package graph

import (
	"math"

	"dogear/engine"
)

// place turns columns into points below top, adds them to places, and returns
// the lowest edge of a card.
func (p *part) place(top int, places map[string]engine.Point) int {
	p.align()
	highest := math.Inf(1)
	for _, n := range p.nodes {
		if n.card != "" {
			highest = min(highest, n.y-float64(n.half))
		}
	}
	shift := float64(top) - highest
	x, bottom := margin, top
	for _, column := range p.columns {
		width, gap := 0, gapPlain
		for _, i := range column {
			width = max(width, p.nodes[i].width)
			if p.nodes[i].pillAfter {
				gap = gapPill
			}
		}
		for _, i := range column {
			n := &p.nodes[i]
			if n.card == "" {
				continue
			}
			y := snap(n.y + shift - float64(n.half))
			places[n.card] = engine.Point{X: x + (width-n.width)/2/Grid*Grid, Y: y}
			bottom = max(bottom, y+2*n.half)
		}
		x += width + gap
	}
	return (bottom + Grid - 1) / Grid * Grid
}

func snap(y float64) int { return int(math.Floor(y/Grid+1e-6)) * Grid }

// align gives every node the height of its middle: near the mean of its
// neighbours, in the column's order, and with room between cards.
func (p *part) align() {
	for _, column := range p.columns {
		y := 0.0
		for k, i := range column {
			if k > 0 {
				y += p.room(column[k-1], i)
			}
			p.nodes[i].y = y
		}
	}
	const rounds = 8
	for round := range rounds {
		for k := range p.columns {
			r := k
			if round%2 == 1 {
				r = len(p.columns) - 1 - k
			}
			p.settle(p.columns[r], round)
		}
	}
}

// room is the least distance between the middles of two neighbours in a
// column. It is always a multiple of the grid, so that snapping never makes two
// cards overlap.
func (p *part) room(a, b int) float64 {
	gap := 34
	if p.nodes[a].card == "" {
		gap -= 10
	}
	if p.nodes[b].card == "" {
		gap -= 10
	}
	return float64(p.nodes[a].half + p.nodes[b].half + gap)
}

// settle moves the nodes of a column as near to their wishes as the room
// between them allows: a least-squares fit under order constraints, found by
// pooling neighbours that would overlap.
func (p *part) settle(column []int, round int) {
	type block struct {
		sum, weight float64
		from        int
	}
	offsets := make([]float64, len(column))
	var blocks []block
	for k, i := range column {
		if k > 0 {
			offsets[k] = offsets[k-1] + p.room(column[k-1], i)
		}
		wish, weight := p.wish(i, round)
		next := block{sum: (wish - offsets[k]) * weight, weight: weight, from: k}
		for len(blocks) > 0 && blocks[len(blocks)-1].sum/blocks[len(blocks)-1].weight > next.sum/next.weight {
			last := blocks[len(blocks)-1]
			next = block{sum: last.sum + next.sum, weight: last.weight + next.weight, from: last.from}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, next)
	}
	for b, own := range blocks {
		end := len(column)
		if b+1 < len(blocks) {
			end = blocks[b+1].from
		}
		for k := own.from; k < end; k++ {
			p.nodes[column[k]].y = own.sum/own.weight + offsets[k]
		}
	}
}

// wish is where a node would like to stand and how much it minds. The early
// rounds look one way, the last two both; dummies mind most, so that long edges
// run straight.
func (p *part) wish(i, round int) (y, weight float64) {
	n := &p.nodes[i]
	near := n.prev
	switch {
	case round >= 6:
		near = append(append([]int{}, n.prev...), n.next...)
	case round%2 == 1:
		near = n.next
	}
	if len(near) == 0 {
		return n.y, 0.5
	}
	sum := 0.0
	for _, j := range near {
		sum += p.nodes[j].y
	}
	weight = 1
	if n.card == "" {
		weight = 3
	}
	return sum / float64(len(near)), weight
}

// Place returns a point for every card that is drawn: where its author put it,
// and else near what it hangs on. A workflow without any stored place gets the
// whole layout.
func Place(g *Graph, stored map[string]engine.Point) map[string]engine.Point {
	laid := Layout(g)
	places := make(map[string]engine.Point, len(laid))
	for card := range laid {
		if point, ok := stored[card]; ok {
			places[card] = point
		}
	}
	if len(places) == 0 {
		return laid
	}
	for _, card := range g.cards {
		if _, drawn := laid[card]; !drawn {
			continue
		}
		if _, placed := places[card]; !placed {
			places[card] = g.free(g.beside(card, places), card, places)
		}
	}
	return places
}

// beside is the point right of a placed predecessor of card, else left of a
// placed successor, else below everything.
func (g *Graph) beside(card string, places map[string]engine.Point) engine.Point {
	const reach = 3 // through a pill and its trigger
	if at, ok := g.nearest(g.prev, card, places, reach); ok {
		return engine.Point{X: places[at].X + CardWidth + gapPill, Y: places[at].Y}
	}
	if at, ok := g.nearest(g.next, card, places, reach); ok {
		return engine.Point{X: places[at].X - CardWidth - gapPill, Y: places[at].Y}
	}
	below := engine.Point{X: margin, Y: margin}
	for _, point := range places {
		below.Y = max(below.Y, point.Y+CardHeight+34)
	}
	below.Y = below.Y / Grid * Grid
	return below
}

func (g *Graph) nearest(edges [][]int, card string, places map[string]engine.Point, reach int) (string, bool) {
	if reach == 0 {
		return "", false
	}
	for _, name := range g.names(edges, card) {
		if _, ok := places[name]; ok {
			return name, true
		}
	}
	for _, name := range g.names(edges, card) {
		if at, ok := g.nearest(edges, name, places, reach-1); ok {
			return at, true
		}
	}
	return "", false
}

// free moves point down until card overlaps nothing there.
func (g *Graph) free(point engine.Point, card string, places map[string]engine.Point) engine.Point {
	for g.covered(point, card, places) {
		point.Y += Grid
	}
	return point
}

func (g *Graph) covered(point engine.Point, card string, places map[string]engine.Point) bool {
	width, height := g.Size(card)
	for other, at := range places {
		w, h := g.Size(other)
		if point.X < at.X+w && at.X < point.X+width && point.Y < at.Y+h && at.Y < point.Y+height {
			return true
		}
	}
	return false
}
