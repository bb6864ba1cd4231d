package job

import "strings"

// ofHive is a type of AWS Glue and Hive, such as array<struct<a:int>>, as it is written
// here: struct(a int)[]. ok is false where it is no such type.
func ofHive(kind string) (here string, ok bool) {
	kind = strings.TrimSpace(kind)
	word, rest, angled := strings.Cut(kind, "<")
	if !angled {
		return kind, kind != "" && !strings.ContainsAny(kind, ">:")
	}
	inner, closed := strings.CutSuffix(rest, ">")
	if !closed {
		return "", false
	}
	parts := apart(inner)
	for i, part := range parts {
		name := ""
		if strings.EqualFold(strings.TrimSpace(word), "struct") {
			field, of, named := strings.Cut(part, ":")
			if !named {
				return "", false
			}
			name, part = strings.Trim(strings.TrimSpace(field), "`")+" ", of
		}
		of, ok := ofHive(part)
		if !ok {
			return "", false
		}
		parts[i] = name + of
	}
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "array":
		return parts[0] + "[]", len(parts) == 1
	case "map":
		return "MAP(" + strings.Join(parts, ", ") + ")", len(parts) == 2
	case "struct":
		return "STRUCT(" + strings.Join(parts, ", ") + ")", true
	}
	return "", false
}

// apart cuts text at the commas that stand in no brackets.
func apart(text string) []string {
	var parts []string
	depth, from := 0, 0
	for i, r := range text {
		switch r {
		case '<', '(':
			depth++
		case '>', ')':
			depth--
		case ',':
			if depth == 0 {
				parts, from = append(parts, text[from:i]), i+1
			}
		}
	}
	return append(parts, text[from:])
}
