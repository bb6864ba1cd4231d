package app

import "dogear/engine"

// came tells the gate and open panels that an event came for a trigger.
func (h *house) came(trigger engine.ID) {
	h.gate.Wake()
	h.eventsChanged(trigger)
}

// eventsChanged tells open panels of a trigger to look again.
func (h *house) eventsChanged(trigger engine.ID) { h.changed("events", trigger) }
