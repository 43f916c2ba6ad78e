package clock

import (
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

func open(t testing.TB, cfg Config) toolcrib.Toolbox {
	t.Helper()
	box, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox { return open(t, Config{}) })
}

func TestTell(t *testing.T) {
	for _, tt := range []struct {
		at, zone, want string
		nanos          int
		config         string
	}{
		{"2026-11-15T00:14:34Z", "", "2026-11-15T00:14:34.650949+00:00 2026-11-15 00:14:34 UTC", 650949123, "UTC"},
		{"2026-11-15T00:14:34Z", "", "2026-11-15T00:14:34+00:00 2026-11-15 00:14:34 UTC", 999, "UTC"}, // under a microsecond
		{"2026-07-01T22:00:00Z", "Asia/Tokyo", "2026-07-02T07:00:00+09:00 2026-07-02 07:00:00 JST", 0, "UTC"},
		{"2026-07-01T22:00:00Z", "", "2026-07-01T18:00:00-04:00 2026-07-01 18:00:00 EDT", 0, "America/New_York"},
		{"2026-01-01T00:00:00Z", "Asia/Kathmandu", "2026-01-01T05:45:00+05:45 2026-01-01 05:45:00 +0545", 0, "UTC"},
	} {
		at, err := time.Parse(time.RFC3339, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Duration(tt.nanos))
		c := &toolcrib.Crib{
			Catalog: &toolcrib.Catalog{}, Journal: toolcrib.Unrecorded{}, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Reads)},
		}
		c.Catalog.Load(t.Context(), toolcrib.Shelving{Boxes: []toolcrib.Toolbox{open(t, Config{Timezone: tt.config, Now: func() time.Time { return at }})}})
		out, err := toolcrib.Invoke[datetimeOut](t.Context(), c, "get_current_datetime", datetimeIn{Timezone: tt.zone})
		if got := out.ISO + " " + out.Date + " " + out.Time + " " + out.Timezone; err != nil || got != tt.want {
			t.Errorf("%s in %q: %s, %v; want %s", tt.at, tt.zone, got, err, tt.want)
		}
		for _, bad := range []string{"Nowhere/Town", "Local", "../../etc/passwd"} {
			if _, err := toolcrib.Invoke[datetimeOut](t.Context(), c, "get_current_datetime", datetimeIn{Timezone: bad}); err == nil {
				t.Errorf("the zone %q was taken", bad)
			}
		}
	}
	if _, err := Open(t.Context(), Config{Timezone: "Nowhere/Town"}); err == nil {
		t.Error("a box was opened in an unknown zone")
	}
}
