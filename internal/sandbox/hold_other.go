//go:build !linux

package sandbox

import (
	"context"
	"os"
	"time"
)

// Hold is empty here: only Linux has a backend that can cover a place for good.
type Hold struct{}

// Files are none.
func (h *Hold) Files() []*os.File { return nil }

// Release does nothing.
func (h *Hold) Release() error { return nil }

// Moved does nothing.
func (h *Hold) Moved(string, string) {}

// Join does nothing.
func (h *Hold) Join(*Hold) {}

func (h *Holds) busy(string) bool { return false }

// Make makes nothing.
func (h *Holds) Make(string, []Place) (*Hold, []Cover, error) { return nil, nil, nil }

// Sweep finds nothing.
func (h *Holds) Sweep() (used int, err error) { return 0, nil }

// SweepFor finds nothing.
func (h *Holds) SweepFor(context.Context, time.Duration) (used int) { return 0 }
