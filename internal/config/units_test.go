package config

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "4_096": 4096, " 7 ": 7, "1B": 1, "4KiB": 4096, "16 MiB": 16 << 20, "1GB": 1e9, "1.5GiB": 3 << 29, "2.5kB": 2500,
		"4kib": 4096, "1TB": 1e12, "1TiB": 1 << 40, "8191PiB": 8191 << 50, "1pb": 1e15, "9223372036854775807": math.MaxInt64,
	} {
		if got, err := parseBytes(text); err != nil || got != want {
			t.Errorf("parseBytes(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", "B", "KiB", "-1", "+1", "1.5B", "1.5", ".5KiB", "1.KiB", "1.2.3KiB", "1 K", "1K", "1 M i B", "1e3", "0x10", "1KiB2",
		"8192PiB", "9223372036854775808", "99999999999999999999999999999999999999999999999999", "１KiB", "1\nKiB",
	} {
		if got, err := parseBytes(text); err == nil {
			t.Errorf("parseBytes(%q) = %d", text, got)
		}
	}
}

func TestFormatBytes(t *testing.T) {
	for size, want := range map[int64]string{
		0: "0", 1: "1", 1023: "1023", 1024: "1KiB", 4097: "4097", 64_000: "64kB", 1 << 20: "1MiB", 1e9: "1GB", 3 << 29: "1536MiB", -5: "-5",
		math.MaxInt64: "9223372036854775807",
	} {
		if got := formatBytes(size); got != want {
			t.Errorf("formatBytes(%d) = %q, want %q", size, got, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "30s": 30 * time.Second, "1h30m": 90 * time.Minute, "90d": 90 * day, "1d12h": 36 * time.Hour, "1.5h": 90 * time.Minute,
		"250ms": 250 * time.Millisecond, "3us": 3000, "3\u00b5s": 3000, "3\u03bcs": 3000, "7ns": 7, "0.5d": 12 * time.Hour,
		"106751d": 106751 * day,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("parseDuration(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "5", "s", "-1s", "+1s", "1w", "1y", "1 h", "1h 30m", "1h30", "1.s", ".5s", "1.5ns", "106752d", "106751d24h", "1e9s", "1hh", "forever",
		"99999999999999999999999999999999999999999999s",
	} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("parseDuration(%q) = %s", text, got)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 90 * day: "90d", 36 * time.Hour: "1d12h", 90 * time.Minute: "1h30m", time.Hour: "1h", 10 * time.Minute: "10m",
		time.Hour + time.Second: "1h0m1s", 30 * time.Second: "30s", 250 * time.Millisecond: "250ms", 1500 * time.Millisecond: "1.5s",
		day + time.Second: "1d1s", 20 * time.Hour: "20h", math.MinInt64: time.Duration(math.MinInt64).String(),
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("formatDuration(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestUnitsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]int64{1, 1000, 1024, 1e6, 1 << 20, 1e9, 1 << 30, int64(time.Minute), int64(time.Hour), int64(day)}).Draw(t, "unit")
		n := rapid.Int64Range(0, math.MaxInt64/unit).Draw(t, "n") * unit
		if got, err := parseBytes(formatBytes(n)); err != nil || got != n {
			t.Errorf("%d is written %q and read %d, %v", n, formatBytes(n), got, err)
		}
		d := time.Duration(n)
		if got, err := parseDuration(formatDuration(d)); err != nil || got != d {
			t.Errorf("%d is written %q and read %d, %v", d, formatDuration(d), got, err)
		}
	})
}
