package account

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// When reads a moment as a person writes it: today, yesterday, a time ago as 2h, 90m,
// 7d or 2w, a date, a date with a time, or a time of today. Days begin at midnight where
// now is.
func When(said string, now time.Time) (time.Time, error) {
	word := strings.ToLower(strings.TrimSpace(said))
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch word {
	case "now":
		return now, nil
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	}
	if ago, ok := ago(word); ok {
		return now.Add(-ago), nil
	}
	plain := strings.ToUpper(word) // the T and the Z of a time
	for _, layout := range [...]string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, plain, now.Location()); err == nil {
			return t, nil
		}
	}
	for _, layout := range [...]string{"15:04:05", "15:04"} {
		if t, err := time.Parse(layout, plain); err == nil {
			return midnight.Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: write today, yesterday, 2h, 7d, 2026-11-01 or 2026-11-01 14:30", said)
}

// ago reads how long ago something was.
func ago(word string) (time.Duration, bool) {
	const day = 24 * time.Hour
	for _, unit := range [...]struct {
		letter string
		length time.Duration
	}{{"d", day}, {"w", 7 * day}} {
		if number, ok := strings.CutSuffix(word, unit.letter); ok {
			n, err := strconv.ParseUint(number, 10, 16)
			return time.Duration(n) * unit.length, err == nil
		}
	}
	d, err := time.ParseDuration(word)
	return d, err == nil && d >= 0
}
