package sandbox

import "golang.org/x/sys/unix"

// moment is a time by the clock that changes are told by, in its steps.
type moment int64

func now() moment {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t) != nil {
		return 0 // then nothing lies before it
	}
	return moment(t.Nano())
}

// before tells whether it changed last in an earlier step than this one, so that
// a change from now on would show.
func (d dirState) before(m moment) bool { return moment(d.changed) < m }
