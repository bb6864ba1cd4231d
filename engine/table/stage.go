package table

// writing is what a dialect does its own way when rows are written.
type writing interface{}
