package chatui

import "strings"

// stream is an answer that is being written. Rows that are full are printed, the last
// one is painted until it is.
type stream struct {
	source  string // the line of the source that is not ended
	printed int    // how many of its rows were printed
	fence   string // the sign that ends the block of code that we are in
	diff    bool   // the block is a difference
}

// lineMost bounds a line of the source: longer ones are parted.
const lineMost = 4 << 10

// add takes in a piece, and gives the rows that are done.
func (s *stream) add(piece string, most int) (done []line) {
	for {
		head, rest, ended := strings.Cut(piece, "\n")
		for len(s.source)+len(head) > lineMost {
			n := lineMost - len(s.source)
			s.source += strings.ToValidUTF8(head[:n], "")
			head = head[n:]
			done = append(done, s.close(most)...)
		}
		s.source += head
		if !ended {
			rows := s.rows(most)
			if full := len(rows) - 1; full > s.printed && s.fence == "" {
				done = append(done, rows[s.printed:full]...)
				s.printed = full
			}
			return done
		}
		done = append(done, s.close(most)...)
		piece = rest
	}
}

// close ends the line of the source.
func (s *stream) close(most int) []line {
	var rows []line
	if s.fence != "" || strings.HasPrefix(strings.TrimSpace(s.source), "```") {
		rows = []line{s.styled()} // code is not parted: it shall be copied as it is
	} else if rows = s.rows(most); s.printed < len(rows) {
		rows = rows[s.printed:]
	} else {
		rows = nil
	}
	s.turnFence()
	s.source, s.printed = "", 0
	return rows
}

// end closes the answer.
func (s *stream) end(most int) (done []line) {
	if s.source != "" {
		done = s.close(most)
	}
	*s = stream{}
	return done
}

// live is the row that is being written.
func (s *stream) live(most int) []line {
	if s.source == "" {
		return nil
	}
	rows := s.rows(most)
	return rows[min(s.printed, len(rows)-1):]
}

func (s *stream) rows(most int) []line {
	return s.styled().wrap(most, hanging(s.source))
}

// turnFence takes in that a block of code begins or ends.
func (s *stream) turnFence() {
	text := strings.TrimSpace(s.source)
	switch {
	case s.fence != "" && strings.HasPrefix(text, s.fence) && strings.Trim(text, "`~") == "":
		s.fence, s.diff = "", false
	case s.fence == "" && (strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~")):
		s.fence, s.diff = text[:3], strings.TrimSpace(strings.Trim(text, "`~")) == "diff"
	}
}

// styled shows the source as it is, with its signs, so that what is copied is what was
// said; only the style says what they mean.
func (s *stream) styled() line {
	text := strings.TrimSpace(s.source)
	switch {
	case strings.HasPrefix(text, "```") || s.fence != "" && strings.HasPrefix(text, s.fence):
		return say(dim, s.source)
	case s.diff:
		return say(diffStyle(s.source), s.source)
	case s.fence != "":
		return say(accent, s.source)
	case strings.HasPrefix(text, "#") && strings.HasPrefix(strings.TrimLeft(text, "#"), " "):
		return say(bold, s.source)
	}
	return inline(s.source)
}

// inline finds code and what is strong in a line.
func inline(source string) (out line) {
	code, strong := false, false
	from := 0
	flush := func(to int) {
		st := plain
		switch {
		case code:
			st = accent
		case strong:
			st = bold
		}
		out = out.and(say(st, source[from:to]))
		from = to
	}
	for i := 0; i < len(source); i++ {
		switch {
		case source[i] == '`' && code:
			flush(i + 1)
			code = false
		case source[i] == '`' && strings.Contains(source[i+1:], "`"):
			flush(i)
			code = true
		case !code && strings.HasPrefix(source[i:], "**"):
			if strong {
				flush(i + 2)
				strong = false
				i++
			} else if strings.Contains(source[i+2:], "**") && !strings.HasPrefix(source[i+2:], " ") {
				flush(i)
				strong = true
				i++
			}
		}
	}
	flush(len(source))
	return out
}

// hanging is the indent of the rows after the first: under the text of an item.
func hanging(source string) line {
	text := strings.TrimLeft(source, " ")
	in := len(source) - len(text)
	mark := 0
	for mark < len(text) && text[mark] >= '0' && text[mark] <= '9' {
		mark++
	}
	switch {
	case mark > 0 && mark < 4 && strings.HasPrefix(text[mark:], ". "):
		in += mark + 2
	case strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "* ") || strings.HasPrefix(text, "> "):
		in += 2
	}
	if in == 0 {
		return nil
	}
	return line{{plain, strings.Repeat(" ", min(in, 16))}}
}

// diffStyle is the style of a line of a difference.
func diffStyle(l string) style {
	switch {
	case strings.HasPrefix(l, "+++") || strings.HasPrefix(l, "---"):
		return dim
	case strings.HasPrefix(l, "+"):
		return good
	case strings.HasPrefix(l, "-"):
		return bad
	case strings.HasPrefix(l, "@"):
		return accent
	}
	return plain
}
