// Package measure holds what the programs of the benchmarks share: the form of
// a figure and what is asked of the system.
package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Figure is one line of the output. Against, where it is set, was measured in
// the same run, and Ratio is how many times as much ours is. Limit is the most
// that the ratio, or ours where there is none, may be; with AtLeast the least.
type Figure struct {
	Name    string  `json:"name"`
	Ours    float64 `json:"ours"`
	Against float64 `json:"against,omitempty"`
	Ratio   float64 `json:"ratio,omitempty"`
	Limit   float64 `json:"limit,omitempty"`
	AtLeast bool    `json:"at_least,omitempty"`
	Holds   *bool   `json:"holds,omitempty"` // whether Limit does; filled in by Print
	Unit    string  `json:"unit"`
	Note    string  `json:"note,omitempty"`
}

// Print writes f as a line of JSON.
func (f Figure) Print() {
	if f.Against != 0 && f.Ratio == 0 {
		f.Ratio = f.Ours / f.Against
	}
	if f.Limit != 0 {
		value := f.Ours
		if f.Ratio != 0 {
			value = f.Ratio
		}
		holds := value <= f.Limit
		if f.AtLeast {
			holds = value >= f.Limit
		}
		f.Holds = &holds
	}
	line, _ := json.Marshal(f)
	fmt.Println(string(line))
}

// Median of durations in microseconds.
func Median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Nanoseconds()) / 1e3
}

// Quantile of durations in microseconds: the smallest that at least the share q
// of them does not exceed.
func Quantile(all []time.Duration, q float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	at := int(math.Ceil(q*float64(len(all)))) - 1
	return float64(all[max(at, 0)].Nanoseconds()) / 1e3
}

// Rounds are what a program and what it is measured against took by turns, so
// that whatever slows the machine meanwhile slows both.
type Rounds struct {
	ours, against, ratios []float64
}

// Add notes one round.
func (r *Rounds) Add(ours, against float64) {
	r.ours, r.against = append(r.ours, ours), append(r.against, against)
	if against != 0 {
		r.ratios = append(r.ratios, ours/against)
	}
}

// Figure fills f with the medians of the rounds. Its ratio is the median of the
// ratios, for the two sides of one round belong together.
func (r *Rounds) Figure(f Figure) Figure {
	f.Ours, f.Against, f.Ratio = middle(r.ours), middle(r.against), middle(r.ratios)
	return f
}

// middle is the median of numbers, 0 of none.
func middle(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// Peak is the highest resident memory of this process in MB.
func Peak() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			return kb / 1000
		}
	}
	return 0
}

// Again starts this program for another part of a figure, so that what that
// part takes of memory is not counted here.
func Again(ctx context.Context, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}
