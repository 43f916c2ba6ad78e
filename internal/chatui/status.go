package chatui

import (
	"fmt"
	"strings"
)

// statusRow is the last row. What there is no room for goes, the least telling first.
func (c *chat) statusRow() line {
	s := c.b.Status()
	type piece struct {
		text string
		rank int // the highest goes first
		st   style
	}
	modeStyle := dim
	if s.Mode == "yolo" {
		modeStyle = alarm
	}
	price := cost(s)
	if s.Cost == 0 {
		price = "" // nothing was said yet, or it is free
	}
	pieces := []piece{{orNone(s.Model, "no model"), 2, dim}, {s.Agent, 3, dim}, {s.Mode, 0, modeStyle}, {s.Profile, 6, dim}, {room(s), 4, dim}, {tokens(s), 5, dim}, {price, 1, dim}}
	for most := 6; ; most-- {
		var l line
		for _, p := range pieces {
			if p.text == "" || p.rank > most {
				continue
			}
			if len(l) > 0 {
				l = l.and(say(dim, c.signs.dot))
			}
			l = l.and(exact(p.st, p.text))
		}
		if l.width() <= c.wide || most == 0 {
			return l.clip(c.wide)
		}
	}
}

func orNone(s, none string) string {
	if s == "" {
		return none
	}
	return s
}

// room says how much of the context is used.
func room(s Status) string {
	switch {
	case s.Used <= 0:
		return ""
	case s.Context > 0:
		return fmt.Sprintf("%d%% of %s", (s.Used*100+s.Context/2)/s.Context, count(s.Context))
	}
	return count(s.Used) + " in context"
}

func tokens(s Status) string {
	if s.Usage.Input == 0 && s.Usage.Output == 0 {
		return ""
	}
	return count(s.Usage.Input) + " in, " + count(s.Usage.Output) + " out"
}

func cost(s Status) string {
	if !s.Priced {
		return ""
	}
	sign := s.Currency
	if sign == "" {
		sign = "$"
	}
	digits := 2
	if s.Cost < 1 {
		digits = 4
	}
	return sign + strings.TrimSpace(fmt.Sprintf("%.*f", digits, s.Cost))
}

// count writes a number of tokens.
func count(n int) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprint(n)
}
