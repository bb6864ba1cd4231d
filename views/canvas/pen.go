package canvas

import (
	"cmp"
	"context"
	"io"
	"strconv"

	"github.com/a-h/templ"
)

// What a graph has hundreds of, its cards, lines and pills, is written by a pen
// and not by a template of its own for each: a graph of 500 nodes then renders
// in a third of the time. Everything a person can name goes through text.

// pen gathers markup in a page and passes on each page that is full. After a
// failed write it writes no more.
type pen struct {
	w    io.Writer
	page []byte
	err  error
}

const pageSize = 32 << 10

// drawn makes a component of what a pen writes.
func drawn(draw func(p *pen)) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		p := pen{w: w, page: make([]byte, 0, pageSize)}
		draw(&p)
		p.turn()
		return p.err
	})
}

// turn passes on the page and begins another.
func (p *pen) turn() {
	if p.err == nil {
		_, p.err = p.w.Write(p.page)
	}
	p.page = p.page[:0]
}

// raw writes markup of our own.
func (p *pen) raw(markup string) {
	if len(p.page)+len(markup) > pageSize {
		p.turn()
	}
	p.page = append(p.page, markup...)
}

// text writes text that may hold anything.
func (p *pen) text(text string) { p.raw(templ.EscapeString(text)) }

// open begins an element with attributes, given as names and values. One without
// a value is left out.
func (p *pen) open(element string, attributes ...string) {
	p.raw("<")
	p.raw(element)
	for i := 0; i+1 < len(attributes); i += 2 {
		if attributes[i+1] == "" {
			continue
		}
		p.raw(" ")
		p.raw(attributes[i])
		p.raw(`="`)
		p.text(attributes[i+1])
		p.raw(`"`)
	}
	p.raw(">")
}

// put writes a whole element that holds only text.
func (p *pen) put(element, text string, attributes ...string) {
	p.open(element, attributes...)
	p.text(text)
	p.raw("</")
	p.raw(element)
	p.raw(">")
}

func (p *pen) icon(name string) {
	p.raw(`<svg class="ic" aria-hidden="true"><use href="/static/sprite.svg#`)
	p.text(name)
	p.raw(`"></use></svg>`)
}

// cards are the cards of a view.
func cards(v View) templ.Component {
	return drawn(func(p *pen) {
		for i := range v.Cards {
			p.card(&v.Cards[i], v.Cards[i].Key == v.Selected)
		}
	})
}

// blank is a card without a name, from which the browser makes new ones.
func blank(shape, icon string) templ.Component {
	return drawn(func(p *pen) { p.card(&Card{Shape: shape, Icon: icon}, false) })
}

// card writes one node or trigger. Its visible name comes first, so that the
// name a screen reader says begins with what is seen.
func (p *pen) card(c *Card, selected bool) {
	p.open("li", "id", "node-"+c.Key, "class", c.class(), "role", "option", "tabindex", "-1",
		"aria-selected", strconv.FormatBool(selected), "data-id", c.Key, "data-kind", c.Kind,
		"data-x", strconv.Itoa(c.At.X), "data-y", strconv.Itoa(c.At.Y), "data-status", string(c.State), "data-kept", kept(c),
		"data-started", c.Started, "data-ended", c.Ended, "style", c.place())
	p.raw(`<div class="head"><span class="picture">`)
	p.icon(c.Icon)
	p.raw(`</span><span class="words">`)
	p.put("b", c.Name, "data-slot", "name", "title", c.Name)
	p.put("small", c.Sub, "data-slot", "sub", "title", cmp.Or(c.SubTitle, c.Sub))
	p.raw(`</span></div>`)
	if c.Shape == "node" {
		p.foot(c)
	}
	p.put("span", c.aside(), "class", "sr", "data-slot", "aside")
	p.raw(`<i class="port in" data-port="in" aria-hidden="true"></i><i class="port out" data-port="out" aria-hidden="true"></i>`)
	p.put("span", "!", "class", "badge", "data-slot", "problem", "title", cmp.Or(c.Problem, c.Warning), "aria-hidden", "true")
	p.raw("</li>")
}

// kept marks a card of which nothing more becomes in its run.
func kept(c *Card) string {
	if c.Kept {
		return "yes"
	}
	return ""
}

// foot is the lower part of a job's or crawler's card.
func (p *pen) foot(c *Card) {
	p.raw(`<div class="foot"><span class="mark">`)
	p.icon(c.footIcon())
	p.raw("</span>")
	p.put("span", c.Note, "data-slot", "note")
	p.put("span", c.Fact, "data-slot", "fact", "class", "fact")
	p.raw("</div>")
	p.raw(`<i class="bar"></i>`)
}

// class says how a card looks: its shape, the hue of its state, and whether it
// is switched off or has a problem.
func (c *Card) class() string {
	class := "node"
	if c.Shape != "node" {
		class += " " + c.Shape
	}
	if hue := c.hue(); hue != "" {
		class += " " + hue
	}
	if c.Disabled {
		class += " off"
	}
	if c.Problem != "" {
		class += " wrong"
	} else if c.Warning != "" {
		class += " warned"
	}
	return class
}

// Rows are the lines of the list from the given one on; of a long list of a run
// those of one page, and a line that asks for the next.
func Rows(v View, from int) templ.Component {
	return drawn(func(p *pen) {
		from = min(max(from, 0), len(v.Cards))
		to := len(v.Cards)
		if v.packed() {
			to = min(from+listed, to)
		}
		for i := from; i < to; i++ {
			p.row(&v.Cards[i], v.Mode)
		}
		if to < len(v.Cards) {
			p.open("tr", "hx-get", v.Base+"/list?from="+strconv.Itoa(to), "hx-trigger", "revealed", "hx-swap", "outerHTML")
			p.raw(`<td colspan="5" class="muted">Loading more of `)
			p.text(strconv.Itoa(len(v.Cards)))
			p.raw("…</td></tr>")
		}
	})
}

func (p *pen) row(c *Card, mode Mode) {
	p.open("tr", "data-row", c.Key)
	p.raw("<td>")
	p.put("a", c.Name, "href", "?node="+c.Key)
	p.raw("</td>")
	p.put("td", kindWord(c.Kind))
	p.put("td", c.Waits, "class", "wrap", "data-label", "waits for")
	p.put("td", c.Starts, "class", "wrap", "data-label", "starts")
	if mode != Run {
		p.put("td", cmp.Or(c.Problem, c.Warning), "class", "wrap", "data-label", "to do")
		p.raw("</tr>")
		return
	}
	look := c.sign()
	p.raw("<td>")
	p.open("span", "class", "pill "+look.Hue)
	p.icon(look.Icon)
	p.text(look.Word)
	p.raw("</span> ")
	p.put("span", c.Fact, "class", "tiny", "data-fact", c.Key)
	p.raw("</td></tr>")
}

// lines are the edges of a view, each with a wider one that the pointer hits.
func lines(v View) templ.Component {
	return drawn(func(p *pen) {
		for i := range v.Edges {
			e := &v.Edges[i]
			class := "edge"
			if e.Taken {
				class += " taken"
			}
			if e.Back {
				class += " back"
			}
			p.put("path", "", "class", "hit", "data-hit", e.Key, "d", e.Path)
			p.put("path", "", "class", class, "data-id", e.Key, "data-s", e.From, "data-t", e.To,
				"data-trigger", string(e.Trigger), "data-state", string(e.State), "d", e.Path)
		}
	})
}

// pills are the conditions on the edges of a view.
func pills(v View) templ.Component {
	return drawn(func(p *pen) {
		for i := range v.Edges {
			if v.Edges[i].Word != "" {
				p.pill(&v.Edges[i], v.Mode)
			}
		}
	})
}

// blankPill is a pill from which the browser makes new ones.
func blankPill(mode Mode) templ.Component {
	return drawn(func(p *pen) { p.pill(&Edge{}, mode) })
}

// pill writes the condition on an edge. Where the graph can be edited it opens
// the choice of conditions.
func (p *pen) pill(e *Edge, mode Mode) {
	look := []string{"class", "cond " + string(e.State), "data-pill", e.Key, "title", e.Title, "style", e.place()}
	if e.Tight {
		look = append(look, "data-tight", "")
	}
	if mode == Edit {
		p.put("button", e.Word, append(look, "type", "button", "tabindex", "-1", "aria-haspopup", "menu")...)
		return
	}
	p.put("span", e.Word, look...)
}
