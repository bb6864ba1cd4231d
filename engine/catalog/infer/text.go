package infer

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"dogear/engine"
)

// The encodings a file may have. Latin1 is read as Windows-1252, which holds
// it and also the typographic signs that files called Latin-1 really have.
const (
	UTF8   = "utf-8"
	UTF16  = "utf-16"
	Latin1 = "latin-1"
)

// The marks at the beginning of a file.
var (
	markUTF8    = []byte{0xEF, 0xBB, 0xBF}
	markUTF16LE = []byte{0xFF, 0xFE}
	markUTF16BE = []byte{0xFE, 0xFF}
)

// Encoding names the encoding of a file. A mark at its beginning decides,
// then what was given, then the bytes themselves.
func Encoding(head Head, given string) string {
	switch data := head.Data; {
	case bytes.HasPrefix(data, markUTF8):
		return UTF8
	case bytes.HasPrefix(data, markUTF16LE), bytes.HasPrefix(data, markUTF16BE):
		return UTF16
	case given != "":
		return given
	case nuls(data, 0) || nuls(data, 1):
		return UTF16
	case validStart(head):
		return UTF8
	}
	return Latin1
}

// nuls reports whether most bytes at odd or even places are NUL, as those of
// western text in UTF-16 are.
func nuls(data []byte, start int) bool {
	n, zero := 0, 0
	for i := start; i < len(data) && i < 4096; i += 2 {
		n++
		if data[i] == 0 {
			zero++
		}
	}
	return n > 2 && zero*10 > n*7
}

// validStart reports whether head is UTF-8, but for a character that its end
// may have cut.
func validStart(head Head) bool {
	data := head.Data
	if !head.Whole {
		for i := 0; i < utf8.UTFMax-1 && len(data) > 0; i++ {
			if r, size := utf8.DecodeLastRune(data); r != utf8.RuneError || size != 1 {
				break
			}
			data = data[:len(data)-1]
		}
	}
	return utf8.Valid(data)
}

// Decoder reads r, which is in encoding, as UTF-8 without a mark. start is
// the beginning of the file.
func Decoder(r io.Reader, encoding string, start []byte) (io.Reader, error) {
	switch strings.ToLower(encoding) {
	case UTF8, "":
		return transform.NewReader(r, unicode.BOMOverride(transform.Nop)), nil
	case Latin1, "iso-8859-1", "cp1252", "windows-1252":
		return transform.NewReader(r, charmap.Windows1252.NewDecoder()), nil
	case UTF16, "utf-16le", "utf-16be":
		endian := unicode.LittleEndian
		if bytes.HasPrefix(start, markUTF16BE) || nuls(start, 0) && !nuls(start, 1) {
			endian = unicode.BigEndian
		}
		return transform.NewReader(r, unicode.UTF16(endian, unicode.UseBOM).NewDecoder()), nil
	}
	return nil, engine.Errorf(engine.Invalid, "The encoding %q is not known. Use utf-8, utf-16 or latin-1.", encoding)
}

// decode returns head as text.
func decode(head Head, encoding string) (string, error) {
	data := head.Data
	if encoding == UTF16 && len(data)%2 == 1 && !head.Whole {
		data = data[:len(data)-1]
	}
	r, err := Decoder(bytes.NewReader(data), encoding, data)
	if err != nil {
		return "", err
	}
	out, err := io.ReadAll(r)
	if err != nil {
		return "", engine.Errorf(engine.Invalid, "The file is not %s text: %w", encoding, err)
	}
	return string(out), nil
}

// Records parses the beginning of a file under a frozen dialect, as CSV does.
func Records(head Head, d engine.Dialect) ([][]string, error) {
	text, err := decode(head, Encoding(head, d.Encoding))
	if err != nil {
		return nil, err
	}
	return parse(text, first(d.Delimiter, ','), first(d.Quote, '"'), head.Whole), nil
}

func first(s string, otherwise byte) byte {
	if s == "" {
		return otherwise
	}
	return s[0]
}

// parse splits text into records. Quotes protect delimiters and line breaks.
// The last record is left out where the text may end in the middle of it;
// blank lines are no records.
func parse(text string, delim, quote byte, whole bool) [][]string {
	var records [][]string
	var record []string
	var field strings.Builder
	quoted, started := false, false
	end := func() {
		record = append(record, field.String())
		field.Reset()
		started = false
	}
	line := func() {
		end()
		if len(record) > 1 || record[0] != "" {
			records = append(records, record)
		}
		record = nil
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == quote && i+1 < len(text) && text[i+1] == quote:
			field.WriteByte(c)
			i++
		case quoted && c == quote:
			quoted = false
		case quoted:
			field.WriteByte(c)
		case c == quote && !started:
			quoted, started = true, true
		case c == delim:
			end()
		case c == '\r' && i+1 < len(text) && text[i+1] == '\n':
		case c == '\n' || c == '\r':
			line()
		default:
			field.WriteByte(c)
			started = true
		}
	}
	if whole && (started || field.Len() > 0 || len(record) > 0) {
		line()
	}
	return records
}

// delimiters are looked for in this order; they are Glue's own list.
const delimiters = ",|\t;\x01"

// delimiter finds the one that splits most records alike.
func delimiter(text string, whole bool, quote byte) string {
	best, bestScore, bestWidth := ",", 0.5, 1
	for _, d := range []byte(delimiters) {
		score, width := alike(parse(text, d, quote, whole))
		if width > 1 && (score > bestScore || score == bestScore && width > bestWidth) {
			best, bestScore, bestWidth = string(d), score, width
		}
	}
	return best
}

// alike returns the share of records that are as wide as the first, and that
// width. An empty last field may be there or not.
func alike(records [][]string) (share float64, width int) {
	if len(records) == 0 {
		return 0, 0
	}
	trim := func(record []string) int {
		if n := len(record); n > 1 && record[n-1] == "" {
			return n - 1
		}
		return len(record)
	}
	width = trim(records[0])
	same := 0
	for _, record := range records {
		if trim(record) == width || len(record) == width || len(record) == len(records[0]) {
			same++
		}
	}
	return float64(same) / float64(len(records)), width
}

// decimal reports "," where some column holds nothing but numbers with a
// decimal comma.
func decimal(records [][]string) string {
	rows := records
	if len(rows) > 1 {
		rows = rows[1:]
	}
	for i := range rows[0] {
		commas, others := 0, 0
		for _, row := range rows {
			switch {
			case i >= len(row) || row[i] == "" || wholeNumber.MatchString(row[i]):
			case commaNumber.MatchString(row[i]):
				commas++
			default:
				others++
			}
		}
		if commas > 0 && others == 0 {
			return ","
		}
	}
	return ""
}
