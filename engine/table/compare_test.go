package table_test

import (
	"fmt"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/table/tabletest"
)

// printsOf are the prints of a table's rows, by key.
func printsOf(t *testing.T, b tabletest.Base, name string, keys ...string) (order []string, hashes map[string]uint64, err error) {
	t.Helper()
	src := engine.Source{Name: name, Connection: tabletest.Connection, Table: name, Keys: keys, Read: engine.ReadCompare}
	found, err := b.Databases.Survey(t.Context(), engine.TableQuestion{Source: src, Now: noon, Compare: true})
	if err != nil {
		return nil, nil, err
	}
	hashes = map[string]uint64{}
	for print, err := range b.Databases.Rows(t.Context(), src, found.Columns, found.Keys) {
		if err != nil {
			return nil, nil, err
		}
		key := engine.RowKeyWords(print.Key)
		order, hashes[key] = append(order, key), print.Hash
	}
	return order, hashes, nil
}

func TestRowsAreComparedInTheOrderOfTheBytesOfTheirKeys(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, "CREATE TABLE k (a VARCHAR(20), b INTEGER, PRIMARY KEY (a, b))",
			"INSERT INTO k VALUES ('b', 1), ('a', 10), ('a', 9), ('a-b', 1), ('a b', 1), ('Z', 1), ('é', 1), ('😀', 1), ('', 5)")

		order, _, err := printsOf(t, b, "k")

		tabletest.Must(t, err)
		if got := strings.Join(order, "; "); got != ", 5; Z, 1; a, 10; a, 9; a b, 1; a-b, 1; b, 1; é, 1; 😀, 1" {
			t.Errorf("got %s", got)
		}
	})
}

func TestAPrintChangesWithTheContentAlone(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, "CREATE TABLE p (id INTEGER PRIMARY KEY, x VARCHAR(10), y VARCHAR(10), n DECIMAL(10,2))",
			"INSERT INTO p VALUES (1, 'a', 'b', 1), (2, 'b', 'a', 1), (3, '', NULL, 1), (4, NULL, '', 1), (5, 'ab', NULL, 1)")
		_, before, err := printsOf(t, b, "p")
		tabletest.Must(t, err)
		b.Do(t, "ALTER TABLE p ADD COLUMN fresh VARCHAR(10)", "UPDATE p SET fresh = 'x' WHERE id = 5")

		_, after, err := printsOf(t, b, "p")

		tabletest.Must(t, err)
		seen := map[uint64]string{}
		for key, hash := range before {
			if other, ok := seen[hash]; ok {
				t.Errorf("rows %s and %s have one hash", key, other)
			}
			seen[hash] = key
			if changed := after[key] != hash; changed != (key == "5") {
				t.Errorf("row %s: changed is %t after an empty column came", key, changed)
			}
		}
	})
}

func TestTwoRowsWithOneKeyCannotBeCompared(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, "CREATE TABLE d (id INTEGER, n INTEGER)", "INSERT INTO d VALUES (7, 1), (8, 1), (7, 2), (NULL, 3)")

		_, _, none := printsOf(t, b, "d")
		_, _, twice := printsOf(t, b, "d", "id")
		order, _, fine := printsOf(t, b, "d", "id", "n")

		if none == nil || !strings.Contains(none.Error(), "d has no primary key, so its rows cannot be told apart") {
			t.Errorf("without a key: got %v", none)
		}
		if twice == nil || !strings.Contains(twice.Error(), "Two rows of d have the key 7") {
			t.Errorf("with a key of two rows: got %v", twice)
		}
		if fine != nil || fmt.Sprint(order) != "[7, 1 7, 2 8, 1]" {
			t.Errorf("with a key of two columns: got %v, %v", order, fine)
		}
	})
}
