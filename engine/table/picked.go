package table

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"dogear/engine"
)

// Picked are rows of a table that a plan has chosen by comparing all of them.
// Their lists are files beside the worker that reads, because there may be as
// many as the table has rows.
type Picked struct {
	Keys    []string `json:"keys"`
	Instead string   `json:"instead,omitempty"`
	// List is a file of prints, in the order of their keys: the rows to read.
	List string `json:"list"`
	// Left is the file that gets the keys of those that were not read, because
	// they are gone or have changed since.
	Left string `json:"left"`
}

// WritePrints writes the file of a List.
func WritePrints(path string, rows iter.Seq2[engine.RowPrint, error]) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("make a list of rows: %w", err)
	}
	out := bufio.NewWriter(file)
	defer func() { err = errors.Join(err, out.Flush(), file.Close()) }()
	for print, err := range rows {
		if err != nil {
			return err
		}
		if err := writePrint(out, print); err != nil {
			return fmt.Errorf("write a list of rows: %w", err)
		}
	}
	return nil
}

// ReadPrints reads such a file.
func ReadPrints(path string) iter.Seq2[engine.RowPrint, error] {
	return func(yield func(engine.RowPrint, error) bool) {
		file, err := os.Open(path)
		if err != nil {
			yield(engine.RowPrint{}, fmt.Errorf("open a list of rows: %w", err))
			return
		}
		defer func() { _ = file.Close() }() // it was only read
		in := bufio.NewReader(file)
		for {
			print, err := readPrint(in)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(print, err) || err != nil {
				return
			}
		}
	}
}

func writePrint(out *bufio.Writer, print engine.RowPrint) error {
	head := binary.AppendUvarint(nil, uint64(len(print.Key)))
	head = binary.BigEndian.AppendUint64(head, print.Hash)
	_, err := out.Write(head)
	_, more := out.WriteString(print.Key)
	return errors.Join(err, more)
}

// readPrint returns io.EOF at the end.
func readPrint(in *bufio.Reader) (print engine.RowPrint, err error) {
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return print, err
	}
	var hash [8]byte
	key := make([]byte, n)
	if _, err = io.ReadFull(in, hash[:]); err == nil {
		_, err = io.ReadFull(in, key)
	}
	if err != nil {
		return print, fmt.Errorf("a list of rows is cut off: %w", io.ErrUnexpectedEOF)
	}
	return engine.RowPrint{Key: string(key), Hash: binary.BigEndian.Uint64(hash[:])}, nil
}

// picking goes through a list beside the rows of a table.
type picking struct {
	list    *os.File
	in      *bufio.Reader
	left    *os.File
	out     *bufio.Writer
	current *engine.RowPrint // the next on the list; nil at its end
}

// pick opens the list and the file of those that are left.
func pick(p Picked) (*picking, error) {
	list, err := os.Open(p.List)
	if err != nil {
		return nil, fmt.Errorf("open the list of rows to read: %w", err)
	}
	left, err := os.Create(p.Left)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the list of rows that are left: %w", err), list.Close())
	}
	k := &picking{list: list, in: bufio.NewReader(list), left: left, out: bufio.NewWriter(left)}
	if err := k.advance(); err != nil {
		return nil, errors.Join(err, k.close())
	}
	return k, nil
}

func (k *picking) advance() error {
	k.current = nil
	print, err := readPrint(k.in)
	if errors.Is(err, io.EOF) {
		return nil
	}
	k.current = &print
	return err
}

// wants reports whether a row is on the list, as it was when that was made.
func (k *picking) wants(row engine.RowPrint) (bool, error) {
	for k.current != nil && k.current.Key < row.Key {
		if err := k.leave(); err != nil {
			return false, err
		}
	}
	if k.current == nil || k.current.Key != row.Key {
		return false, nil
	}
	if k.current.Hash != row.Hash {
		return false, k.leave()
	}
	return true, k.advance()
}

// leave notes that the current row is not read.
func (k *picking) leave() error {
	if err := writePrint(k.out, *k.current); err != nil {
		return fmt.Errorf("write the list of rows that are left: %w", err)
	}
	return k.advance()
}

// end leaves what no row was found for.
func (k *picking) end() error {
	for k.current != nil {
		if err := k.leave(); err != nil {
			return err
		}
	}
	return k.out.Flush()
}

func (k *picking) close() error {
	if k == nil {
		return nil
	}
	return errors.Join(k.list.Close(), k.left.Close())
}
