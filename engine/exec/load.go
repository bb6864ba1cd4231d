package exec

// Load is how many slots this server has, and how many of them are taken.
func (e *Exec) Load() (slots, working int) {
	e.slots.mu.Lock()
	defer e.slots.mu.Unlock()
	return e.Slots, e.Slots - e.slots.free
}
