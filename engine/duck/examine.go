package duck

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"dogear/engine"
	"dogear/engine/catalog/infer"
)

// facts is what is known of a file before DuckDB sees it.
type facts struct {
	file        File
	path        string // of the bytes that DuckDB reads
	converted   bool   // path is a copy in UTF-8
	compression string // none, gzip or zstd
	empty       bool   // there is nothing in it
	size        int64  // in bytes, as it lies there
	shape       infer.Shape
	layout      string // of JSON: array, newline_delimited or unstructured
}

// examineAll looks into every file of in. A file that cannot be read fails
// the input, or is held where the input says so.
func (s *session) examineAll(ctx context.Context, number int, in Input) ([]facts, error) {
	found := make([]facts, len(in.Files))
	bad := make([]*Failure, len(in.Files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for i, f := range in.Files {
		group.Go(func() error {
			copyTo := filepath.Join(s.limits.Scratch, fmt.Sprintf("utf8-%d-%d", number, i))
			fact, err := examine(ctx, in, f, copyTo)
			failure, ok := errors.AsType[*Failure](err)
			if err != nil && !ok {
				return err
			}
			found[i], bad[i] = fact, failure
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	kept := found[:0]
	for i, fact := range found {
		switch {
		case bad[i] == nil:
			kept = append(kept, fact)
		case in.Hold:
			s.hold(in.Name, bad[i].File, bad[i].Message)
		default:
			return nil, bad[i]
		}
	}
	return kept, nil
}

// hold leaves a file out of the batch, and says so.
func (s *session) hold(input, key, note string) {
	s.held = append(s.held, Held{Input: input, Key: key, Note: note})
	s.events.note(true, "held: %s", note)
}

// unreadable says what is wrong with a file.
func unreadable(in Input, f File, format string, args ...any) *Failure {
	failure := failf(FailUnreadable, "%s cannot be read: %s", f.Key, fmt.Sprintf(format, args...))
	failure.Input, failure.File = in.Name, f.Key
	return failure
}

func examine(ctx context.Context, in Input, f File, copyTo string) (facts, error) {
	fact := facts{file: f, path: f.Path, compression: "none"}
	file, err := os.Open(f.Path)
	if err != nil {
		return fact, unreadable(in, f, "%v.", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fact, unreadable(in, f, "%v.", err)
	}
	fact.size = info.Size()
	if in.Format == engine.Parquet {
		return fact, checkParquet(in, f, file, fact.size)
	}
	text, err := decompress(file, &fact)
	if err != nil {
		return fact, unreadable(in, f, "it is damaged at its beginning (%v).", err)
	}
	defer text.Close()
	head, err := infer.Read(text)
	if err != nil {
		return fact, cut(in, f, int64(len(head.Data)), err)
	}
	if !head.Whole && fact.compression != "none" {
		n, err := drain(ctx, text)
		if ctx.Err() != nil {
			return fact, ctx.Err()
		}
		if err != nil {
			return fact, cut(in, f, int64(len(head.Data))+n, err)
		}
	}
	if fact.empty = len(bytes.TrimSpace(head.Data)) == 0; fact.empty {
		return fact, nil
	}
	if err := fact.recode(in, head, copyTo); err != nil {
		return fact, err
	}
	if in.Format == engine.JSON {
		fact.layout = jsonLayout(head)
		return fact, nil
	}
	fact.shape, err = infer.CSV(head, in.Dialect)
	if err != nil {
		return fact, unreadable(in, f, "%s", engine.MessageOf(err))
	}
	return fact, nil
}

// cut says where a compressed file stops making sense.
func cut(in Input, f File, at int64, err error) *Failure {
	return unreadable(in, f, "it is cut off or damaged after %d bytes of text (%v). Write it again, or set the source to hold such files.", at, err)
}

// decompress reads file by what it is, not by what its name says.
func decompress(file *os.File, fact *facts) (io.ReadCloser, error) {
	r := bufio.NewReaderSize(file, 64<<10)
	magic, err := r.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		fact.compression = "gzip"
		return gzip.NewReader(r)
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		fact.compression = "zstd"
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return io.NopCloser(r), nil
}

// recode copies a file that is not UTF-8 as UTF-8, because DuckDB reads some
// encodings wrongly and others not at all.
func (f *facts) recode(in Input, head infer.Head, copyTo string) error {
	encoding := infer.Encoding(head, in.Dialect.Encoding)
	frozen := len(in.Schema) > 0 && !in.Inferred
	if frozen && in.Dialect.Encoding == "" && encoding == infer.Latin1 {
		n, broken := notUTF8(head.Data)
		failure := unreadable(in, f.file, "it is not UTF-8 text: line %d has the byte 0x%02X. Name its encoding in the source's options, or correct the file.", n, broken)
		failure.Line = n
		return failure
	}
	mark := bytes.HasPrefix(head.Data, []byte("\xef\xbb\xbf"))
	if encoding == infer.UTF8 && (in.Format == engine.CSV || !mark) {
		return nil
	}
	file, err := os.Open(f.file.Path)
	if err != nil {
		return unreadable(in, f.file, "%v.", err)
	}
	defer file.Close()
	text, err := decompress(file, f)
	if err != nil {
		return unreadable(in, f.file, "it is damaged (%v).", err)
	}
	defer text.Close()
	decoded, err := infer.Decoder(text, encoding, head.Data)
	if err != nil {
		return unreadable(in, f.file, "%s", engine.MessageOf(err))
	}
	out, err := os.Create(copyTo)
	if err != nil {
		return fmt.Errorf("make a copy in UTF-8: %w", err)
	}
	_, err = io.Copy(out, decoded)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if diskFull(err) {
		return err // the file is not to blame
	}
	if err != nil {
		return unreadable(in, f.file, "it is not %s text (%v).", encoding, err)
	}
	f.path, f.converted, f.compression = copyTo, true, "none"
	return nil
}

// notUTF8 is the line of the first byte of data that is not UTF-8, and that byte.
func notUTF8(data []byte) (line int, broken byte) {
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			return 1 + bytes.Count(data[:len(data)-len(rest)], []byte{'\n'}), rest[0]
		}
		rest = rest[size:]
	}
	return 1, 0
}

// jsonLayout tells an array, one value a line, and values over many lines
// apart by the first character and the first line.
func jsonLayout(head infer.Head) string {
	data := bytes.TrimSpace(head.Data)
	if bytes.HasPrefix(data, []byte("[")) {
		return "array"
	}
	line, _, more := bytes.Cut(data, []byte("\n"))
	if json.Valid(line) || !more && !head.Whole {
		return "newline_delimited"
	}
	return "unstructured"
}

// parquetMagic begins and ends every Parquet file.
var parquetMagic = []byte("PAR1")

// checkParquet finds files that were cut, before DuckDB names them only by
// their scratch path.
func checkParquet(in Input, f File, file *os.File, size int64) error {
	const ends = 12 // magic, length of the footer, magic
	start, end := make([]byte, 4), make([]byte, 8)
	if size < ends {
		return unreadable(in, f, "%s are too few for a Parquet file.", plural(size, "byte", "bytes"))
	}
	if _, err := file.ReadAt(start, 0); err != nil {
		return unreadable(in, f, "%v.", err)
	}
	if _, err := file.ReadAt(end, size-int64(len(end))); err != nil {
		return unreadable(in, f, "%v.", err)
	}
	footer := int64(binary.LittleEndian.Uint32(end))
	if !bytes.Equal(start, parquetMagic) || !bytes.Equal(end[4:], parquetMagic) || footer > size-ends {
		return unreadable(in, f, "it is not a whole Parquet file; it has %s bytes.", strconv.FormatInt(size, 10))
	}
	return nil
}
