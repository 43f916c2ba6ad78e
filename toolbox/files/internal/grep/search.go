package grep

import (
	"bytes"
	"errors"
	"io"
)

// Match is one line that matches.
type Match struct {
	Line   int // from 1
	Text   string
	Before []string // lines around it, as many as were asked for
	After  []string
}

// Searcher searches one file after the other with buffers of its own.
type Searcher struct {
	q       *Query
	dfa     *dfa
	context int
	buf     []byte
	next    []int // where the next of each literal is; beyond the buffer: nowhere

	lines   int // newlines before counted
	counted int
	err     error // the pattern could not be tried on a line
}

const (
	window  = 64 << 10 // as much as stays in the nearest caches
	maxLine = 1 << 20  // a longer line is searched in pieces
	maxKeep = 8 << 20  // with lines around wanted, files up to this are read whole
	maxText = 500      // bytes of a line that are shown
)

// NewSearcher makes a searcher that gives some lines around each match.
func (q *Query) NewSearcher(context int) *Searcher {
	s := &Searcher{q: q, context: context, buf: make([]byte, window), next: make([]int, len(q.lits))}
	if q.auto != nil {
		s.dfa = newDFA(q.auto)
	}
	return s
}

// Search reads r and calls found for every line that matches, until that
// returns false. A text with a NUL byte in its first part is binary: nothing
// is found in it. size is what r is said to hold, 0 if that is not known.
func (s *Searcher) Search(r io.Reader, size int64, found func(Match) bool) (binary bool, err error) {
	s.lines, s.counted, s.err = 0, 0, nil
	fill, total := 0, int64(0)
	for first := true; ; first = false {
		n, err := r.Read(s.buf[fill:])
		fill += n
		total += int64(n)
		eof := errors.Is(err, io.EOF) || size > 0 && total >= size
		if err != nil && !eof {
			return false, err
		}
		if first && !s.q.all && bytes.IndexByte(s.buf[:fill], 0) >= 0 {
			return true, nil
		}
		end := s.ready(fill, eof)
		if end == 0 && !eof {
			continue
		}
		if !s.scan(s.buf[:end], found) || eof || s.err != nil {
			return false, s.err
		}
		s.lines += bytes.Count(s.buf[s.counted:end], newline())
		s.counted = 0
		fill = copy(s.buf, s.buf[end:fill])
	}
}

// ready tells how much of the buffer can be searched: whole lines, once it is
// full. It grows the buffer for a line, or a file, that has to be read whole.
func (s *Searcher) ready(fill int, eof bool) int {
	if eof {
		return fill
	}
	if fill < len(s.buf) {
		return 0
	}
	end := bytes.LastIndexByte(s.buf, '\n') + 1
	if end == 0 && len(s.buf) < maxLine || s.context > 0 && len(s.buf) < maxKeep {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
		return 0
	}
	if end == 0 {
		return fill
	}
	return end
}

func newline() []byte { return []byte{'\n'} }

// scan searches whole lines.
func (s *Searcher) scan(b []byte, found func(Match) bool) bool {
	for i := range s.next {
		s.next[i] = -1
	}
	for pos := 0; pos < len(b); {
		at := s.candidate(b, pos)
		if at < 0 {
			return true
		}
		start := pos + bytes.LastIndexByte(b[pos:at], '\n') + 1
		end := len(b)
		if n := bytes.IndexByte(b[at:], '\n'); n >= 0 {
			end = at + n
		}
		if s.matches(b[start:end]) && !found(s.match(b, start, end)) || s.err != nil {
			return false
		}
		pos = end + 1
	}
	return true
}

// candidate finds a place in the next line that may match.
func (s *Searcher) candidate(b []byte, pos int) int {
	switch {
	case len(s.q.lits) > 0:
		best := len(b)
		for i, l := range s.q.lits {
			if s.next[i] < pos {
				s.next[i] = len(b)
				if n := l.index(b[pos:]); n >= 0 {
					s.next[i] = pos + n
				}
			}
			best = min(best, s.next[i])
		}
		if best == len(b) {
			return -1
		}
		return best
	case s.dfa != nil && !s.dfa.gaveUp():
		if n := s.dfa.scan(b[pos:]); n >= 0 {
			return pos + n
		}
		return -1
	}
	return pos
}

// matches has the last word on a candidate.
func (s *Searcher) matches(line []byte) bool {
	if s.q.exact {
		return true
	}
	if s.q.back != nil {
		ok, err := s.q.back.Match(bytes.TrimSuffix(line, []byte{'\r'}))
		if err != nil {
			s.err = ErrSlow
		}
		return ok
	}
	if s.dfa == nil || !isPlain(line) {
		return s.q.re.Match(bytes.TrimSuffix(line, []byte{'\r'}))
	}
	if len(s.q.lits) > 0 && !s.dfa.gaveUp() && s.dfa.scan(line) < 0 {
		return false
	}
	return !s.dfa.gaveUp() || s.q.re.Match(line)
}

// isPlain reports whether the automaton and regexp see a line alike.
func isPlain(line []byte) bool {
	for _, c := range line {
		if c >= 0x80 || c == '\r' {
			return false
		}
	}
	return true
}

func (s *Searcher) match(b []byte, start, end int) Match {
	s.lines += bytes.Count(b[s.counted:start], newline())
	s.counted = start
	m := Match{Line: s.lines + 1, Text: s.shown(b[start:end])}
	for from := start; len(m.Before) < s.context && from > 0; {
		to := from - 1
		from = bytes.LastIndexByte(b[:to], '\n') + 1
		m.Before = append([]string{cutText(b[from:to], 0)}, m.Before...)
	}
	for from := end + 1; len(m.After) < s.context && from < len(b); {
		to := len(b)
		if n := bytes.IndexByte(b[from:], '\n'); n >= 0 {
			to = from + n
		}
		m.After = append(m.After, cutText(b[from:to], 0))
		from = to + 1
	}
	return m
}

// shown is a line as it is shown: of a long one the part with the match.
func (s *Searcher) shown(line []byte) string {
	from := 0
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) > maxText && s.q.re != nil {
		if loc := s.q.re.FindIndex(line); len(loc) == 2 && loc[1] > maxText {
			from = max(0, loc[0]-maxText/4)
		}
	}
	return cutText(line, from)
}

func cutText(line []byte, from int) string {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	from = min(from, len(line))
	text, lead, tail := line[from:], "", ""
	if from > 0 {
		lead = "…"
	}
	if len(text) > maxText {
		text, tail = text[:maxText], "…"
	}
	if lead+tail == "" {
		return string(text)
	}
	return lead + string(bytes.ToValidUTF8(text, nil)) + tail
}
