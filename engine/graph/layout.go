package graph

import (
	"slices"

	"dogear/engine"
)

// The sizes of cards in canvas pixels at 100 %, and the grid that cards snap
// to. The two heights differ by a multiple of two grid steps, so that cards on
// the grid can stand with their middles on one line.
const (
	CardWidth     = 190
	CardHeight    = 76
	TriggerWidth  = 150
	TriggerHeight = 56
	Grid          = 10
)

const (
	margin   = 40  // from the origin to the first card
	gapPlain = 70  // between columns
	gapPill  = 130 // between columns with a pill on an edge between them
	gapParts = 60  // between parts that nothing connects
	rowPitch = 110 // of loose cards
	sweeps   = 24
	work     = 60_000 // nodes, dummies too, that all sweeps together look at
	// longest is the length in columns up to which an edge bends around cards.
	longest = 40
)

// Size returns the width and height of a card.
func (g *Graph) Size(card string) (width, height int) {
	if _, ok := g.byID[engine.ID(card)]; ok {
		return TriggerWidth, TriggerHeight
	}
	return CardWidth, CardHeight
}

// Layout places every card of the compact view in columns from left to right.
// It is the same for the same graph. Unconnected parts stand below each other.
// Of the triggers that are pills those in cards get a place as well.
func Layout(g *Graph, cards ...string) map[string]engine.Point {
	places := map[string]engine.Point{}
	top := margin
	parts, loose := g.compact(cards).parts()
	for _, part := range parts {
		part.rank()
		part.addDummies()
		part.order()
		top = part.place(top, places) + gapParts
	}
	placeLoose(g, loose, top, places)
	return places
}

// placeLoose puts cards that have no edge into rows of four.
func placeLoose(g *Graph, cards []string, top int, places map[string]engine.Point) {
	const perRow = 4
	for i, card := range cards {
		_, height := g.Size(card)
		places[card] = engine.Point{
			X: margin + i%perRow*(CardWidth+gapPlain),
			Y: top + i/perRow*rowPitch + (CardHeight-height)/2,
		}
	}
}

// node is a card of the part that is laid out, or a dummy that leads a long
// edge through one column.
type node struct {
	card        string // "" for a dummy
	width, half int    // half of the height
	next, prev  []int
	rank        int
	y           float64 // of the middle
	pillAfter   bool
}

// part is one connected part of the graph in its compact view.
type part struct {
	nodes   []node
	columns [][]int
}

// compact is g with the triggers that are pills replaced by edges, but for those in
// cards.
func (g *Graph) compact(cards []string) *part {
	p := &part{}
	at := map[string]int{}
	for _, card := range g.cards {
		if t := g.Trigger(engine.ID(card)); t != nil && Compact(t) && !slices.Contains(cards, card) {
			continue
		}
		width, height := g.Size(card)
		at[card] = len(p.nodes)
		p.nodes = append(p.nodes, node{card: card, width: width, half: height / 2})
	}
	for _, card := range g.cards {
		from, ok := at[card]
		if !ok {
			continue
		}
		for _, to := range g.Next(card) {
			if i, ok := at[to]; ok {
				p.link(from, i)
				continue
			}
			p.nodes[from].pillAfter = true
			for _, end := range g.Next(to) {
				p.link(from, at[end])
			}
		}
	}
	return p
}

func (p *part) link(from, to int) {
	if from == to || slices.Contains(p.nodes[from].next, to) {
		return
	}
	p.nodes[from].next = append(p.nodes[from].next, to)
	p.nodes[to].prev = append(p.nodes[to].prev, from)
}

// parts splits p into its connected parts and the cards that stand alone.
func (p *part) parts() (parts []*part, loose []string) {
	p.breakLoops()
	seen := make([]bool, len(p.nodes))
	for i := range p.nodes {
		if seen[i] {
			continue
		}
		members := p.connected(i, seen)
		if len(members) == 1 {
			loose = append(loose, p.nodes[i].card)
			continue
		}
		parts = append(parts, p.cut(members))
	}
	return parts, loose
}

// breakLoops drops the edges that close a loop, so that a stored workflow with
// a loop can still be shown and repaired.
func (p *part) breakLoops() {
	marks := make([]byte, len(p.nodes)) // 1 on the way, 2 done
	var visit func(i int)
	visit = func(i int) {
		marks[i] = 1
		p.nodes[i].next = slices.DeleteFunc(p.nodes[i].next, func(j int) bool {
			if marks[j] == 1 {
				p.nodes[j].prev = without(p.nodes[j].prev, i)
				return true
			}
			if marks[j] == 0 {
				visit(j)
			}
			return false
		})
		marks[i] = 2
	}
	for i := range p.nodes {
		if marks[i] == 0 {
			visit(i)
		}
	}
}

func without(list []int, one int) []int {
	return slices.DeleteFunc(list, func(i int) bool { return i == one })
}

func (p *part) connected(start int, seen []bool) []int {
	seen[start] = true
	members := []int{start}
	for k := 0; k < len(members); k++ {
		n := &p.nodes[members[k]]
		for _, list := range [][]int{n.next, n.prev} {
			for _, j := range list {
				if !seen[j] {
					seen[j] = true
					members = append(members, j)
				}
			}
		}
	}
	slices.Sort(members)
	return members
}

// cut copies members into a part of their own.
func (p *part) cut(members []int) *part {
	at := make(map[int]int, len(members))
	for k, i := range members {
		at[i] = k
	}
	own := &part{nodes: make([]node, len(members))}
	for k, i := range members {
		n := p.nodes[i]
		n.next, n.prev = renumber(n.next, at), renumber(n.prev, at)
		own.nodes[k] = n
	}
	return own
}

func renumber(list []int, at map[int]int) []int {
	numbers := make([]int, len(list))
	for k, i := range list {
		numbers[k] = at[i]
	}
	return numbers
}

// rank gives every node its column: as far left as its predecessors allow, then
// pulled right towards its successors where that shortens more edges than it
// lengthens.
func (p *part) rank() {
	topo := p.topological()
	for _, i := range topo {
		for _, j := range p.nodes[i].next {
			p.nodes[j].rank = max(p.nodes[j].rank, p.nodes[i].rank+1)
		}
	}
	for _, i := range slices.Backward(topo) {
		n := &p.nodes[i]
		if len(n.next) == 0 || len(n.next) <= len(n.prev) {
			continue
		}
		nearest := p.nodes[n.next[0]].rank
		for _, j := range n.next {
			nearest = min(nearest, p.nodes[j].rank)
		}
		n.rank = nearest - 1
	}
}

func (p *part) topological() []int {
	waits := make([]int, len(p.nodes))
	var order []int
	for i := range p.nodes {
		waits[i] = len(p.nodes[i].prev)
		if waits[i] == 0 {
			order = append(order, i)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, j := range p.nodes[order[k]].next {
			if waits[j]--; waits[j] == 0 {
				order = append(order, j)
			}
		}
	}
	return order
}

// addDummies replaces every edge over several columns by a chain with a dummy
// in each column between.
func (p *part) addDummies() {
	for i := range len(p.nodes) {
		for k, j := range p.nodes[i].next {
			length := p.nodes[j].rank - p.nodes[i].rank
			if length < 2 || length > longest {
				continue
			}
			p.nodes[j].prev = without(p.nodes[j].prev, i)
			last := i
			for r := p.nodes[i].rank + 1; r < p.nodes[j].rank; r++ {
				dummy := len(p.nodes)
				p.nodes = append(p.nodes, node{half: 8, rank: r, prev: []int{last}})
				if last == i {
					p.nodes[i].next[k] = dummy
				} else {
					p.nodes[last].next = []int{dummy}
				}
				last = dummy
			}
			p.nodes[last].next = []int{j}
			p.nodes[j].prev = append(p.nodes[j].prev, last)
		}
	}
	for i, n := range p.nodes {
		for len(p.columns) <= n.rank {
			p.columns = append(p.columns, nil)
		}
		p.columns[n.rank] = append(p.columns[n.rank], i)
	}
}
