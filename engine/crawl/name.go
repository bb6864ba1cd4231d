package crawl

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strings"
)

// maxTableName is Glue's limit in characters.
const maxTableName = 128

var notInName = regexp.MustCompile(`[^a-z0-9_]+`)

// TableName makes the name of a table of the folder it lies in. One folder has
// one name, whatever else there is and in whatever order it is listed: a name
// that had to be changed to fit carries a mark made of the folder alone (C24).
func TableName(prefix, root string) string {
	base := path.Base(strings.TrimSuffix(root, "/"))
	clean := strings.Trim(notInName.ReplaceAllString(strings.ToLower(base), "_"), "_")
	if clean == "" {
		clean = "table"
	}
	name := strings.ToLower(prefix) + clean
	if clean == base && len(name) <= maxTableName {
		return name
	}
	sum := sha256.Sum256([]byte(base))
	mark := "_" + hex.EncodeToString(sum[:3])
	return name[:min(len(name), maxTableName-len(mark))] + mark
}
