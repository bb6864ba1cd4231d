package place

import (
	"strings"
)

// decode undoes the %XX of a partition's directory name. What is not such an
// escape stays as it is.
func decode(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if high, low := hex(text[i+1]), hex(text[i+2]); high >= 0 && low >= 0 {
				out.WriteByte(byte(high<<4 | low))
				i += 2
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

func hex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// Hidden reports whether a part of key begins with a dot or an underscore, as
// markers, checksums and unfinished writes do.
func Hidden(key string) bool {
	return strings.HasPrefix(key, ".") || strings.HasPrefix(key, "_") ||
		strings.Contains(key, "/.") || strings.Contains(key, "/_")
}
