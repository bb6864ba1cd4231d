package graph

import (
	"slices"

	"dogear/engine"
)

// Cycle returns the cards of a loop of body in order, each once, or nil where
// there is none. The last leads to the first.
func Cycle(body *engine.WorkflowBody) []string { return New(body).Cycle() }

// Cycle returns the cards of a loop in order, each once, or nil where there is
// none. It begins with a job or crawler.
func (g *Graph) Cycle() []string {
	const (
		unseen = iota
		open   // on the way from the start of the search
		closed
	)
	marks := make([]byte, len(g.cards))
	var way []int
	var visit func(i int) []string
	visit = func(i int) []string {
		marks[i] = open
		way = append(way, i)
		for _, j := range g.next[i] {
			switch marks[j] {
			case open:
				return g.turned(g.named(way[slices.Index(way, j):]))
			case unseen:
				if loop := visit(j); loop != nil {
					return loop
				}
			}
		}
		marks[i] = closed
		way = way[:len(way)-1]
		return nil
	}
	for i := range g.cards {
		if marks[i] == unseen {
			if loop := visit(i); loop != nil {
				return loop
			}
		}
	}
	return nil
}

// turned turns a loop so that it begins with a job or crawler.
func (g *Graph) turned(loop []string) []string {
	first := slices.IndexFunc(loop, func(card string) bool { return g.Trigger(engine.ID(card)) == nil })
	return slices.Concat(loop[first:], loop[:first])
}

// Reaches reports whether a way leads from one card to another. A card reaches
// itself only through a loop.
func (g *Graph) Reaches(from, to string) bool { return g.PathBetween(from, to) != nil }

// PathBetween returns the cards of a shortest way from one card to another,
// both included, or nil where there is none.
func (g *Graph) PathBetween(from, to string) []string {
	start, ok := g.index[from]
	if !ok {
		return nil
	}
	goal, ok := g.index[to]
	if !ok {
		return nil
	}
	came := map[int]int{}
	queue := []int{start}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, j := range g.next[i] {
			if _, seen := came[j]; seen {
				continue
			}
			came[j] = i
			if j == goal {
				return g.named(walkBack(came, start, goal))
			}
			queue = append(queue, j)
		}
	}
	return nil
}

func walkBack(came map[int]int, start, goal int) []int {
	way := []int{goal}
	for i := came[goal]; i != start; i = came[i] {
		way = append(way, i)
	}
	way = append(way, start)
	slices.Reverse(way)
	return way
}

func (g *Graph) named(nodes []int) []string {
	names := make([]string, len(nodes))
	for k, i := range nodes {
		names[k] = g.cards[i]
	}
	return names
}
