package duck

import (
	"context"
	"fmt"
)

// reject is a row of a CSV file that does not fit.
type reject struct {
	input, key string
	line       int64
	column     string
	message    string
}

func (r reject) String() string {
	where := fmt.Sprintf("%s line %d", r.key, r.line)
	if r.column != "" {
		where += ", column " + r.column
	}
	return where + ": " + r.message
}

// rejects lists the refused rows, each once however often its file was read.
func (s *session) rejects(ctx context.Context) ([]reject, error) {
	tables, err := s.count(ctx, "SELECT count(*) FROM duckdb_tables() WHERE table_name IN ('reject_errors', 'reject_scans')")
	if err != nil || tables < 2 {
		return nil, err
	}
	rows, err := s.c.QueryContext(ctx, `
		SELECT s.file_path, e.line, coalesce(first(e.column_name ORDER BY e.column_idx), ''),
			coalesce(first(e.error_message ORDER BY e.column_idx), '')
		FROM reject_errors e JOIN reject_scans s USING (scan_id, file_id)
		GROUP BY s.file_path, e.line ORDER BY ALL`)
	if err != nil {
		return nil, fmt.Errorf("read the refused rows: %w", err)
	}
	defer rows.Close()
	known := s.keys()
	inputs := map[string]string{}
	for _, in := range s.inputs {
		for _, f := range in.Files {
			inputs[f.Path] = in.Name
		}
	}
	var all []reject
	for rows.Next() {
		var r reject
		var path, message string
		if err := rows.Scan(&path, &r.line, &r.column, &message); err != nil {
			return nil, fmt.Errorf("read a refused row: %w", err)
		}
		file := known[path]
		r.key, r.input, r.message = file.Key, inputs[file.Path], sentence(message)
		all = append(all, r)
	}
	return all, rows.Err()
}

// noted is how many refused rows the log names one by one.
const noted = 20

// judge decides what refused rows mean. Within the job's limit they are
// named and the work goes on. Beyond it, files of inputs that hold are
// returned to be left out; otherwise the work fails with the first row.
func (s *session) judge(ctx context.Context) (count int64, hold []Held, err error) {
	all, err := s.rejects(ctx)
	if err != nil {
		return 0, nil, err
	}
	count = int64(len(all))
	if count > s.maxRejects {
		return count, s.holdable(all), s.tooMany(all)
	}
	for i, r := range all {
		if i == noted {
			s.events.note(true, "%d more rows were refused", len(all)-noted)
			break
		}
		s.events.note(true, "row refused: %s", r)
	}
	return count, nil, nil
}

// holdable lists the files with refused rows whose input holds such files.
func (s *session) holdable(all []reject) []Held {
	holds := map[string]bool{}
	for _, in := range s.inputs {
		holds[in.Name] = in.Hold
	}
	var held []Held
	seen := map[Held]bool{}
	for _, r := range all {
		id := Held{Input: r.input, Key: r.key}
		if holds[r.input] && !seen[id] {
			seen[id] = true
			held = append(held, Held{Input: r.input, Key: r.key, Note: r.String()})
		}
	}
	return held
}

func (s *session) tooMany(all []reject) error {
	f := failf(FailUnreadable, "%s", all[0])
	if n := len(all); n > 1 {
		f.Message = fmt.Sprintf("%d rows do not fit; the first is in %s", n, all[0])
	}
	if s.maxRejects > 0 {
		f.Message += fmt.Sprintf(" The job accepts %s.", plural(s.maxRejects, "such row", "such rows"))
	}
	f.Input, f.File, f.Line = all[0].input, all[0].key, int(all[0].line)
	return f
}
