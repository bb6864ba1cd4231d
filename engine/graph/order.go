package graph

import (
	"cmp"
	"slices"
)

// order sorts the nodes within their columns so that few edges cross. It
// sweeps over the columns, ordering each by the median and then the mean of its
// neighbours' places, and keeps the best order seen.
func (p *part) order() {
	p.seed()
	best, fewest := p.copyColumns(), p.crossings()
	stale := 0
	for sweep := 0; sweep < p.patience() && fewest > 0 && stale < 8; sweep++ {
		wish := median
		if sweep%4 >= 2 {
			wish = mean
		}
		p.sweep(sweep%2 == 0, wish)
		stale++
		if n := p.crossings(); n < fewest {
			best, fewest, stale = p.copyColumns(), n, 0
		}
	}
	p.columns = best
}

// patience is how many sweeps are worth their time: fewer for graphs that only
// a machine could have drawn.
func (p *part) patience() int { return min(max(work/len(p.nodes), 4), sweeps) }

// seed orders the columns by a walk from the starts, so that what hangs
// together begins near each other.
func (p *part) seed() {
	for r := range p.columns {
		p.columns[r] = p.columns[r][:0]
	}
	seen := make([]bool, len(p.nodes))
	var visit func(i int)
	visit = func(i int) {
		seen[i] = true
		p.columns[p.nodes[i].rank] = append(p.columns[p.nodes[i].rank], i)
		for _, j := range p.nodes[i].next {
			if !seen[j] {
				visit(j)
			}
		}
	}
	for i := range p.nodes {
		if !seen[i] && len(p.nodes[i].prev) == 0 {
			visit(i)
		}
	}
}

func (p *part) copyColumns() [][]int {
	columns := make([][]int, len(p.columns))
	for r, column := range p.columns {
		columns[r] = slices.Clone(column)
	}
	return columns
}

// sweep orders the columns one after the other by wish, to the right by the
// nodes' predecessors or to the left by their successors.
func (p *part) sweep(right bool, wish func(places []float64) float64) {
	place := p.places()
	want := make([]float64, len(p.nodes))
	for k := range p.columns {
		r := k
		if !right {
			r = len(p.columns) - 1 - k
		}
		column := p.columns[r]
		for _, i := range column {
			near := p.nodes[i].prev
			if !right {
				near = p.nodes[i].next
			}
			want[i] = place[i]
			if len(near) > 0 {
				want[i] = wish(placesOf(near, place))
			}
		}
		slices.SortFunc(column, func(a, b int) int {
			return cmp.Or(cmp.Compare(want[a], want[b]), cmp.Compare(place[a], place[b]))
		})
		spread(column, place)
	}
}

// places is where each node stands in its column, from 0 to 1, so that short
// and long columns compare.
func (p *part) places() []float64 {
	place := make([]float64, len(p.nodes))
	for _, column := range p.columns {
		spread(column, place)
	}
	return place
}

func spread(column []int, place []float64) {
	for k, i := range column {
		place[i] = (float64(k) + 0.5) / float64(len(column))
	}
}

func placesOf(nodes []int, place []float64) []float64 {
	places := make([]float64, len(nodes))
	for k, i := range nodes {
		places[k] = place[i]
	}
	return places
}

func median(places []float64) float64 {
	slices.Sort(places)
	half := len(places) / 2
	if len(places)%2 == 1 {
		return places[half]
	}
	return (places[half-1] + places[half]) / 2
}

func mean(places []float64) float64 {
	sum := 0.0
	for _, v := range places {
		sum += v
	}
	return sum / float64(len(places))
}

// crossings counts the pairs of edges between neighbouring columns that cross,
// with a tree of counts (Fenwick) in O(edges · log nodes).
func (p *part) crossings() int {
	at := make([]int, len(p.nodes))
	for _, column := range p.columns {
		for k, i := range column {
			at[i] = k
		}
	}
	total := 0
	for r := 0; r+1 < len(p.columns); r++ {
		tree := make([]int, len(p.columns[r+1])+1)
		passed := 0
		for _, i := range p.columns[r] {
			ends := p.endsIn(r+1, i, at)
			for _, end := range ends {
				total += passed - sumTo(tree, end+1)
			}
			for _, end := range ends {
				passed++
				addAt(tree, end+1)
			}
		}
	}
	return total
}

func (p *part) endsIn(rank, i int, at []int) []int {
	var ends []int
	for _, j := range p.nodes[i].next {
		if p.nodes[j].rank == rank {
			ends = append(ends, at[j])
		}
	}
	return ends
}

func sumTo(tree []int, i int) int {
	sum := 0
	for ; i > 0; i -= i & -i {
		sum += tree[i]
	}
	return sum
}

func addAt(tree []int, i int) {
	for ; i < len(tree); i += i & -i {
		tree[i]++
	}
}
