// Package clock tells the time. It is a toolbox of one tool; programs and
// internal/app import it. Its one invariant: it reads the clock it was given
// and nothing else.
package clock

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Config sets up the box. The zero value is this machine's clock and zone.
type Config struct {
	// Timezone is the IANA name of the zone to answer in when a call names
	// none. Empty: the local zone.
	Timezone string
	// Now is the clock. Nil: time.Now.
	Now func() time.Time
}

// Open makes the box.
func Open(_ context.Context, cfg Config) (toolcrib.Toolbox, error) {
	b := box{now: cfg.Now, zone: time.Local}
	if b.now == nil {
		b.now = time.Now
	}
	if cfg.Timezone != "" {
		zone, err := loadZone(cfg.Timezone)
		if err != nil {
			return nil, err
		}
		b.zone = zone
	}
	return toolcrib.NewBox("clock", b.getCurrentDatetime()), nil
}

type box struct {
	now  func() time.Time
	zone *time.Location
}

// loadZone finds a zone by its IANA name. "Local" is refused: which zone that
// is depends on where the program runs, and a caller cannot know.
func loadZone(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, fmt.Errorf("unknown time zone %q: use an IANA name such as Europe/Lisbon or UTC", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q: use an IANA name such as Europe/Lisbon or UTC", name)
	}
	return zone, nil
}
