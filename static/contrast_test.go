package static_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// Every ink is read on every ground that it stands on, in both themes.
func TestInksKeepTheirContrast(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("src/css/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string][2]float64{} // name: luminance in light, in dark
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`).FindAllStringSubmatch(string(css), -1) {
		tokens[m[1]] = [2]float64{luminance(m[2]), luminance(m[3])}
	}
	tokens["on-accent"] = [2]float64{luminance("#ffffff"), luminance("#ffffff")}
	pairs := map[string][]string{
		"ink": {"ground", "surface", "surface-2"}, "ink-2": {"ground", "surface", "surface-2"}, "ink-3": {"ground", "surface", "surface-2"},
		"accent-ink": {"surface", "accent-soft"}, "on-accent": {"accent"},
		"run": {"surface", "ground", "run-soft"}, "ok": {"surface", "ground", "ok-soft"}, "bad": {"surface", "ground", "bad-soft"},
		"warn": {"surface", "ground", "warn-soft"}, "idle": {"surface", "ground", "idle-soft"},
	}
	for ink, grounds := range pairs {
		for _, ground := range grounds {
			for i, theme := range []string{"light", "dark"} {
				a, known := tokens[ink]
				b, alsoKnown := tokens[ground]
				if !known || !alsoKnown {
					t.Fatalf("tokens.css lacks --%s or --%s", ink, ground)
				}
				if got := (math.Max(a[i], b[i]) + 0.05) / (math.Min(a[i], b[i]) + 0.05); got < 4.5 {
					t.Errorf("%s: --%s on --%s has contrast %.2f, want 4.5", theme, ink, ground, got)
				}
			}
		}
	}
}

// luminance is the relative luminance of WCAG 2.
func luminance(hex string) float64 {
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			return math.NaN()
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
