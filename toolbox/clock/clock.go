// Package clock is the toolbox that tells the time.
//
// It is for whoever wires up a crib; other toolboxes never import it. Its one
// invariant: the time comes from the clock it was opened with and from
// nowhere else, so that a test can say what time it is.
package clock

import (
	"context"
	"fmt"
	"time"
	_ "time/tzdata" // zones must be known where the system has no database

	"github.com/toolcrib/toolcrib"
)

// Config says which clock to read.
type Config struct {
	// Timezone is the IANA name of the zone to tell the time in when a call
	// names none. Empty: Location.
	Timezone string `yaml:"timezone"`

	// Now is the clock. Nil: the system's.
	Now func() time.Time `yaml:"-"`
	// Location is the zone if Timezone is empty. Nil: the system's.
	Location *time.Location `yaml:"-"`
}

// box holds what its tools need.
type box struct {
	now  func() time.Time
	zone *time.Location
}

// Open makes the box. It fails if the configured zone does not exist.
func Open(_ context.Context, cfg Config) (toolcrib.Toolbox, error) {
	b := box{now: cfg.Now, zone: cfg.Location}
	if b.now == nil {
		b.now = time.Now
	}
	if b.zone == nil {
		b.zone = time.Local
	}
	if cfg.Timezone != "" {
		zone, err := findZone(cfg.Timezone)
		if err != nil {
			return nil, fmt.Errorf("opening toolbox clock: %w", err)
		}
		b.zone = zone
	}
	return toolcrib.NewBox("clock", b.getCurrentDatetime()), nil
}
