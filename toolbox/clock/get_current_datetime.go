package clock

import (
	"context"
	_ "embed"
	"time"

	"github.com/toolcrib/toolcrib"
)

//go:embed get_current_datetime.md
var getCurrentDatetimeDoc string

type datetimeIn struct {
	Timezone string `json:"timezone,omitempty" maxlen:"64" doc:"IANA name of the zone to answer in, such as Europe/Lisbon. Left out: the zone of the machine."`
}

type datetimeOut struct {
	ISO      string `json:"iso" doc:"Date and time in ISO 8601, with the offset from UTC."`
	Date     string `json:"date" doc:"The date, as YYYY-MM-DD."`
	Time     string `json:"time" doc:"The time of day, as HH:MM:SS."`
	Timezone string `json:"timezone" doc:"The zone's abbreviation, or its offset where it has none."`
}

func (b box) getCurrentDatetime() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "get_current_datetime", Title: "Current date and time", Description: getCurrentDatetimeDoc,
		Effects: toolcrib.Reads, Group: "clock",
	}, func(_ context.Context, _ *toolcrib.Env, in datetimeIn) (datetimeOut, error) {
		zone := b.zone
		if in.Timezone != "" {
			var err error
			if zone, err = loadZone(in.Timezone); err != nil {
				return datetimeOut{}, err
			}
		}
		return tell(b.now().In(zone)), nil
	})
}

// tell writes a time the way Python's isoformat does, which clients of the
// OpenVoiceOS tool parse: microseconds, and none at all if they are zero.
func tell(now time.Time) datetimeOut {
	form := "2006-01-02T15:04:05.000000-07:00"
	if now.Nanosecond()/1000 == 0 {
		form = "2006-01-02T15:04:05-07:00"
	}
	name, _ := now.Zone()
	return datetimeOut{ISO: now.Format(form), Date: now.Format(time.DateOnly), Time: now.Format(time.TimeOnly), Timezone: name}
}
