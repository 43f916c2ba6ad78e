package toolcrib

import "time"

// Event is something happening now, for screens. Events may be lost; what
// must not be lost goes into the journal.
type Event struct {
	Time     time.Time `json:"time"`
	Call     string    `json:"call"`
	Caller   Caller    `json:"-"` // whose call it is: others can have one of the same ID
	Tool     string    `json:"tool"`
	Kind     string    `json:"kind"` // progress, stdout, stderr, log
	Text     string    `json:"text,omitempty"`
	Progress float64   `json:"progress,omitempty"`
	Total    float64   `json:"total,omitempty"`
}
