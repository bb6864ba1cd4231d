// Package measure holds what the programs of the benchmarks share: the form of
// a figure and what is asked of the system.
package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Figure is one line of the output. Against, where it is set, was measured in
// the same run; Limit is what must hold.
type Figure struct {
	Name    string  `json:"name"`
	Ours    float64 `json:"ours"`
	Against float64 `json:"against,omitempty"`
	Ratio   float64 `json:"ratio,omitempty"`
	Limit   float64 `json:"limit,omitempty"`
	Unit    string  `json:"unit"`
	Note    string  `json:"note,omitempty"`
}

// Print writes f as a line of JSON.
func (f Figure) Print() {
	if f.Against != 0 {
		f.Ratio = f.Ours / f.Against
	}
	line, _ := json.Marshal(f)
	fmt.Println(string(line))
}

// Median of durations in microseconds.
func Median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Nanoseconds()) / 1e3
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
