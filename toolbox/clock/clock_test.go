package clock

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// at is a clock that has stopped.
func at(t time.Time) func() time.Time { return func() time.Time { return t } }

func open(t testing.TB, cfg Config) toolcrib.Tool {
	t.Helper()
	box, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := box.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tools, func(tool toolcrib.Tool) bool { return tool.Name == "get_current_datetime" })
	if box.Name() != "clock" || i < 0 || tools[i].Effects != toolcrib.Reads || tools[i].Group != "clock" {
		t.Fatalf("box %s has %v", box.Name(), tools)
	}
	return tools[i]
}

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox {
		box, err := Open(t.Context(), Config{})
		if err != nil {
			t.Fatal(err)
		}
		return box
	})
}

// The first row is as recorded from OpenVoiceOS; the others follow what
// CPython's isoformat and tzname give.
func TestGetCurrentDatetime(t *testing.T) {
	utc := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		now   string
		zone  *time.Location
		input string
		want  datetimeOut
	}{
		{"2026-11-15T00:19:34.231857Z", time.UTC, `{}`, datetimeOut{"2026-11-15T00:19:34.231857+00:00", "2026-11-15", "00:19:34", "UTC"}},
		{"2026-11-15T00:19:34Z", time.UTC, `{}`, datetimeOut{"2026-11-15T00:19:34+00:00", "2026-11-15", "00:19:34", "UTC"}},
		{"2026-11-15T00:19:34.0000009Z", time.UTC, `{}`, datetimeOut{"2026-11-15T00:19:34+00:00", "2026-11-15", "00:19:34", "UTC"}},
		{"2026-11-15T00:19:34.000007999Z", time.UTC, `{}`, datetimeOut{"2026-11-15T00:19:34.000007+00:00", "2026-11-15", "00:19:34", "UTC"}},
		{"2026-07-01T22:30:00Z", time.UTC, `{"timezone": "Europe/Berlin"}`, datetimeOut{"2026-07-02T00:30:00+02:00", "2026-07-02", "00:30:00", "CEST"}},
		{"2026-01-01T02:30:00Z", time.UTC, `{"timezone": "America/New_York"}`, datetimeOut{"2025-12-31T21:30:00-05:00", "2025-12-31", "21:30:00", "EST"}},
		{"2026-01-01T00:00:00Z", time.UTC, `{"timezone": "Asia/Kathmandu"}`, datetimeOut{"2026-01-01T05:45:00+05:45", "2026-01-01", "05:45:00", "+0545"}},
		{"2026-01-01T00:00:00Z", time.UTC, `{"timezone": "UTC"}`, datetimeOut{"2026-01-01T00:00:00+00:00", "2026-01-01", "00:00:00", "UTC"}},
		{"2026-01-01T00:00:00Z", time.UTC, `{"timezone": null}`, datetimeOut{"2026-01-01T00:00:00+00:00", "2026-01-01", "00:00:00", "UTC"}},
		{"2026-01-01T00:00:00Z", time.FixedZone("LMT", -(5*3600 + 1)), `{}`, datetimeOut{"2025-12-31T18:59:59-05:00:01", "2025-12-31", "18:59:59", "LMT"}},
		{"2026-01-01T00:00:00Z", time.FixedZone("", 3600), `{}`, datetimeOut{"2026-01-01T01:00:00+01:00", "2026-01-01", "01:00:00", "+01:00"}},
	} {
		tool := open(t, Config{Now: at(utc(c.now)), Location: c.zone})
		result, err := tool.Run(t.Context(), nil, json.RawMessage(c.input))
		if err != nil {
			t.Errorf("%s %s: %v", c.now, c.input, err)
			continue
		}
		var got datetimeOut
		if err := json.Unmarshal(result.Value, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.now, c.input, diff)
		}
	}
}

func TestUnknownTimezone(t *testing.T) {
	tool := open(t, Config{})
	for _, name := range []string{
		"Mars/Olympus", "Local", "europe", " UTC", "+02:00", "../UTC", "/etc/passwd", "../../../../etc/passwd", "Europe\\Berlin", "UTC\x00", "zone.tab",
	} {
		input, err := json.Marshal(map[string]string{"timezone": name})
		if err != nil {
			t.Fatal(err)
		}
		result, err := tool.Run(t.Context(), nil, input)
		if err == nil || !strings.Contains(err.Error(), "unknown timezone") || !strings.Contains(err.Error(), "IANA") {
			t.Errorf("%q: %v, %v", name, result, err)
		}
	}
}

func TestConfiguredTimezone(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	tool := open(t, Config{Timezone: "Europe/Lisbon", Now: at(now), Location: time.UTC})
	result, err := tool.Run(t.Context(), nil, json.RawMessage(`{}`))
	if err != nil || !strings.Contains(string(result.Value), `"2026-07-01T13:00:00+01:00"`) || !strings.Contains(string(result.Value), "WEST") {
		t.Errorf("%s, %v", result.Value, err)
	}
	if _, err := Open(t.Context(), Config{Timezone: "Nowhere"}); err == nil || !strings.Contains(err.Error(), `unknown timezone "Nowhere"`) {
		t.Errorf("a zone that does not exist: %v", err)
	}
}

// TestSystemClock: without a configuration the box tells the time.
func TestSystemClock(t *testing.T) {
	tool := open(t, Config{})
	before := time.Now().Truncate(time.Microsecond)
	result, err := tool.Run(t.Context(), nil, json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	var got datetimeOut
	if err := json.Unmarshal(result.Value, &got); err != nil {
		t.Fatal(err)
	}
	told, err := time.Parse("2006-01-02T15:04:05.999999-07:00", got.ISO)
	if err != nil || told.Before(before) || told.After(time.Now()) {
		t.Errorf("%v is not now: %v", got, err)
	}
	if name, _ := time.Now().Zone(); got.Timezone != name {
		t.Errorf("zone %s, want %s", got.Timezone, name)
	}
}
