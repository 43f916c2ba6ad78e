package secrets

import "strings"

// lead is what the text before a name on its line makes of it.
type lead uint8

const (
	leadNone  lead = iota // the name is a word in a sentence
	leadMaybe             // a remark or an item of a list: it may begin with a line of settings or with a sentence
	leadLine              // nothing, or what programs put before the lines that they show
)

const leadMost = 6 // so many marks are taken off a line

// lineBefore gives what stands before a place on its line, and whether that line stands in a string
// of JSON, whose own lines end with an escape.
func lineBefore(t string, at int) (before string, inString bool) {
	before = t[beginOf(t, at, programReach, func(c byte) bool { return c != '\n' }):at]
	if n := strings.LastIndex(before, `\n`); n >= 0 {
		before, inString = before[n+2:], true
	}
	if n := strings.LastIndexByte(before, '"'); n >= 0 {
		before, inString = before[n+1:], true
	}
	if inString && strings.IndexByte(before, '\\') >= 0 {
		before = strings.ReplaceAll(before, `\t`, "\t")
	}
	return before, inString
}

// leadOf judges the text before a name: the places and numbers of grep, the signs of diff, the
// columns of cat -n and git blame, the mark of a quoted mail. It takes one after the other off.
func leadOf(before string) lead {
	lead := leadLine
	for range leadMost {
		rest := strings.TrimRight(before, " \t\r")
		if rest == "" {
			return lead
		}
		gap := before[len(rest):]
		last := len(rest) - 1
		switch c := rest[last]; {
		case strings.HasSuffix(rest, "->"), strings.HasSuffix(rest, "--") && gap == "":
			return leadNone // an arrow, a flag
		case c == '+' || c == '<' || c == '>' || c == '!':
			before = rest[:last]
		case c == '-':
			if place := leadOfPlace(rest[:last], gap, '-'); place != leadNone {
				return min(lead, place)
			}
			if gap == " " { // an item of a list, or a remark of SQL
				lead = leadMaybe
			}
			before = rest[:last]
		case c == '#' || c == '*' || c == ';':
			before, lead = rest[:last], leadMaybe
		case strings.HasSuffix(rest, "//"):
			before, lead = rest[:last-1], leadMaybe
		case c == ':':
			return min(lead, leadOfPlace(rest[:last], gap, ':'))
		case strings.HasSuffix(rest, "│"), strings.HasSuffix(rest, "→"):
			return min(lead, leadOfNumber(rest[:last-2], "\t"))
		case c == '|':
			return min(lead, leadOfNumber(rest[:last], "\t"))
		case c == ')' && blamed(rest[:last]):
			return lead
		default:
			return min(lead, leadOfNumber(rest, gap))
		}
	}
	return leadNone
}

// leadOfNumber judges a column of numbers. A sentence may begin with a number as well, but no tab
// follows it then.
func leadOfNumber(text, gap string) lead {
	text = strings.Trim(text, " \t")
	switch {
	case text == "" || endOf(text, 0, len(text), func(c byte) bool { return digit(c) || c == ' ' || c == '\t' }) < len(text):
		return leadNone
	case strings.IndexByte(gap, '\t') >= 0:
		return leadLine
	}
	return leadMaybe
}

// leadOfPlace judges the path and the numbers that grep puts before a line, whose last sign was
// taken off: a colon, or a dash before the lines around a match.
func leadOfPlace(text, gap string, sign byte) lead {
	path, numbered := strings.TrimLeft(text, " \t"), false
	for {
		from := beginOf(path, len(path), len(path), digit)
		if from == len(path) || from > 0 && path[from-1] != sign {
			break
		}
		numbered = true
		if from == 0 {
			path = ""
			break
		}
		path = path[:from-1]
	}
	named := strings.ContainsAny(path, "./\\")
	switch {
	case path == "" && !numbered, strings.ContainsAny(path, "\"'`<>(){}=,;"), sign == '-' && !named && !numbered:
		return leadNone
	case strings.ContainsAny(path, " \t"): // a sentence with a colon, as a rule
		if numbered || gap == "" {
			return leadMaybe
		}
		return leadNone
	case gap == " ", gap != "" && !named && !numbered: // programs write so before what they say
		return leadMaybe
	}
	return leadLine
}

// blamed: this is what git blame puts before a line, up to its number: a time with its zone.
func blamed(text string) bool {
	number := beginOf(text, len(text), len(text), digit)
	zone := strings.TrimRight(text[:number], " ")
	n := len(zone) - len("+0000")
	return number < len(text) && n > 0 && (zone[n] == '+' || zone[n] == '-') && endOf(zone, n+1, 4, digit) == len(zone) && strings.IndexByte(zone, '(') >= 0
}
