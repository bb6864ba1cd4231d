package exec

// Pins is how many runs the server keeps what they have pinned of.
func (e *Exec) Pins() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.pins)
}
