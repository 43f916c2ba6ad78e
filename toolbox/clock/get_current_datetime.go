package clock

import (
	"context"
	_ "embed" // the description
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
)

//go:embed get_current_datetime.md
var getCurrentDatetimeText string

type datetimeIn struct {
	Timezone *string `json:"timezone,omitempty" maxlen:"64" doc:"IANA name of a time zone, such as Europe/Lisbon or UTC. Left out: the zone of this system."`
}

type datetimeOut struct {
	ISO      string `json:"iso" doc:"Date and time with offset, ISO 8601."`
	Date     string `json:"date" doc:"The date, YYYY-MM-DD."`
	Time     string `json:"time" doc:"The time, HH:MM:SS."`
	Timezone string `json:"timezone" doc:"Abbreviation of the zone, such as UTC or CEST; its offset if it has none."`
}

func (b box) getCurrentDatetime() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name:        "get_current_datetime",
		Title:       "Current date and time",
		Description: getCurrentDatetimeText,
		Effects:     toolcrib.Reads,
		Group:       "clock",
	}, func(_ context.Context, _ *toolcrib.Env, in datetimeIn) (datetimeOut, error) {
		zone := b.zone
		if in.Timezone != nil && *in.Timezone != "" {
			var err error
			if zone, err = findZone(*in.Timezone); err != nil {
				return datetimeOut{}, err
			}
		}
		return describe(b.now().In(zone)), nil
	})
}

// findZone looks up an IANA name. The words that Go gives a meaning of its
// own, and anything that could be a path, are no names.
func findZone(name string) (*time.Location, error) {
	if name != "Local" && !strings.HasPrefix(name, "/") && !strings.Contains(name, "..") {
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	return nil, fmt.Errorf("unknown timezone %q: use an IANA name such as Europe/Lisbon, America/New_York or UTC", name)
}

// describe writes a time as Python's isoformat, strftime and tzname do:
// microseconds if there are any, an offset with a colon.
func describe(t time.Time) datetimeOut {
	t = t.Truncate(time.Microsecond)
	iso := t.Format("2006-01-02T15:04:05")
	if us := t.Nanosecond() / 1000; us != 0 {
		iso += fmt.Sprintf(".%06d", us)
	}
	name, seconds := t.Zone()
	offset := isoOffset(seconds)
	if name == "" {
		name = offset
	}
	return datetimeOut{
		ISO:      iso + offset,
		Date:     t.Format(time.DateOnly),
		Time:     t.Format(time.TimeOnly),
		Timezone: name,
	}
}

// isoOffset is +HH:MM, with seconds only where a zone has some.
func isoOffset(seconds int) string {
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	s := fmt.Sprintf("%c%02d:%02d", sign, seconds/3600, seconds/60%60)
	if seconds%60 != 0 {
		s += fmt.Sprintf(":%02d", seconds%60)
	}
	return s
}
