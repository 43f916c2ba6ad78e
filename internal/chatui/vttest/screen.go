// Package vttest is a terminal for tests: a screen that understands the few sequences
// that the chat uses, keeps what scrolled out of it, and tells of everything that it
// does not understand. Tests of the chat and of the program look at it as a person
// would look at the screen.
//
// The invariant: what is not understood is never passed over in silence. See
// [Screen.Odd].
package vttest

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Screen is what a terminal shows. It may be written and looked at from several
// goroutines.
type Screen struct {
	mu            sync.Mutex
	columns, rows int
	cells         [][]string // "" is the right half of a wide character
	inks          [][]string // how each cell was written: the numbers of the style, in the order they came
	ink           string
	row, column   int
	past          []string // what scrolled out at the top
	rest          []byte   // of a sequence that is not whole
	odd           []string
	styles        map[string]bool
	changed       chan struct{}
	writes        int
}

// New makes an empty screen.
func New(columns, rows int) *Screen {
	s := &Screen{styles: map[string]bool{}, changed: make(chan struct{})}
	s.columns, s.rows = columns, rows
	for range rows {
		s.cells = append(s.cells, s.blank())
		s.inks = append(s.inks, make([]string, columns))
	}
	return s
}

func (s *Screen) blank() []string {
	row := make([]string, s.columns)
	for i := range row {
		row[i] = " "
	}
	return row
}

// Write takes in what a program sends.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	s.rest = append(s.rest, p...)
	for len(s.rest) > 0 {
		n := s.one()
		if n == 0 {
			break
		}
		s.rest = s.rest[n:]
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return len(p), nil
}

// one takes in one character or sequence, and says how long it is; 0: it is not whole.
func (s *Screen) one() int {
	b := s.rest
	switch b[0] {
	case '\r':
		s.column = 0
		return 1
	case '\n':
		s.feed()
		return 1
	case 0x1b:
		return s.sequence()
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && n == 1 {
		s.odd = append(s.odd, fmt.Sprintf("%q", b[:n]))
		return n
	}
	s.put(r)
	return n
}

func (s *Screen) put(r rune) {
	w := Width(r)
	if w == 0 {
		if s.column > 0 {
			s.cells[s.row][s.column-1] += string(r)
		}
		return
	}
	if s.column+w > s.columns {
		s.column = 0
		s.feed()
	}
	s.cells[s.row][s.column] = string(r)
	s.inks[s.row][s.column] = s.ink
	if w == 2 {
		s.inks[s.row][s.column+1] = s.ink
		s.cells[s.row][s.column+1] = ""
	}
	s.column += w
}

func (s *Screen) feed() {
	if s.row < s.rows-1 {
		s.row++
		return
	}
	s.past = append(s.past, text(s.cells[0]))
	s.cells = append(s.cells[1:], s.blank())
	s.inks = append(s.inks[1:], make([]string, s.columns))
}

func (s *Screen) sequence() int {
	b := s.rest
	if len(b) < 2 {
		return 0
	}
	if b[1] != '[' {
		s.odd = append(s.odd, fmt.Sprintf("%q", b[:2]))
		return 2
	}
	for i := 2; i < len(b); i++ {
		if b[i] >= 0x40 && b[i] <= 0x7e {
			s.do(string(b[2:i]), b[i])
			return i + 1
		}
		if i > 40 {
			s.odd = append(s.odd, fmt.Sprintf("%q", b[:i]))
			return i
		}
	}
	return 0
}

func (s *Screen) do(args string, letter byte) {
	n, err := strconv.Atoi(args)
	if err != nil || n == 0 {
		n = 1
	}
	switch {
	case letter == 'A':
		s.row = max(s.row-n, 0)
	case letter == 'B':
		s.row = min(s.row+n, s.rows-1)
	case letter == 'C':
		s.column = min(s.column+n, s.columns-1)
	case letter == 'H' && args == "":
		s.row, s.column = 0, 0
	case letter == 'K' && args == "":
		s.erase(s.row, s.column)
	case letter == 'J' && args == "":
		s.erase(s.row, s.column)
		for r := s.row + 1; r < s.rows; r++ {
			s.erase(r, 0)
		}
	case letter == 'J' && args == "2":
		for r := range s.rows {
			s.erase(r, 0)
		}
	case letter == 'm':
		s.styles[args] = true
		s.ink = strings.TrimPrefix(s.ink+";"+args, ";")
		if args == "" || args == "0" {
			s.ink = ""
		}
	case (letter == 'h' || letter == 'l') && (args == "?25" || args == "?2004" || args == "?2026"):
	default:
		s.odd = append(s.odd, fmt.Sprintf("%q", "\x1b["+args+string(letter)))
	}
}

func (s *Screen) erase(row, from int) {
	for i := min(from, s.columns); i < s.columns; i++ {
		s.cells[row][i] = " "
		s.inks[row][i] = ""
	}
}

func text(row []string) string { return strings.TrimRight(strings.Join(row, ""), " ") }

// Resize gives it another size, as a terminal does that parts nothing anew: what is too
// wide is cut off, and rows leave at the top.
func (s *Screen) Resize(columns, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.row >= rows {
		s.past = append(s.past, text(s.cells[0]))
		s.cells, s.inks = s.cells[1:], s.inks[1:]
		s.row--
	}
	s.columns, s.rows = columns, rows
	for i := range s.cells {
		row := s.blank()
		copy(row, s.cells[i])
		inks := make([]string, columns)
		copy(inks, s.inks[i])
		s.cells[i], s.inks[i] = row, inks
	}
	for len(s.cells) < rows {
		s.cells = append(s.cells, s.blank())
		s.inks = append(s.inks, make([]string, columns))
	}
	s.cells, s.inks = s.cells[:rows], s.inks[:rows]
	s.column = min(s.column, columns-1)
}

// String is what can be seen now.
func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

func (s *Screen) now() string {
	var rows []string
	for _, r := range s.cells {
		rows = append(rows, text(r))
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n") + "\n"
}

// Span is a part of a row that was written in one style.
type Span struct {
	Column int    // of its first character
	Text   string // without blanks at the end of the row
	Style  string // the numbers of the style: "" is plain, "1;36" bold and cyan
}

// Spans gives the rows that can be seen with the style of each part.
func (s *Screen) Spans() [][]Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := make([][]Span, len(s.cells))
	for r, cells := range s.cells {
		end := len(cells)
		for end > 0 && cells[end-1] == " " {
			end--
		}
		for c := 0; c < end; c++ {
			if n := len(rows[r]); n > 0 && rows[r][n-1].Style == s.inks[r][c] {
				rows[r][n-1].Text += cells[c]
				continue
			}
			rows[r] = append(rows[r], Span{Column: c, Text: cells[c], Style: s.inks[r][c]})
		}
	}
	return rows
}

// All is what can be seen and what can be scrolled back to.
func (s *Screen) All() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.past) == 0 {
		return s.now()
	}
	return strings.Join(s.past, "\n") + "\n" + s.now()
}

// Cursor is where it stands.
func (s *Screen) Cursor() (row, column int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row, s.column
}

// Odd are the sequences and characters that no chat of ours would send.
func (s *Screen) Odd() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.odd...)
}

// Styled reports whether colours or weights were used.
func (s *Screen) Styled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.styles) > 0
}

// Writes is how often something was sent.
func (s *Screen) Writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// Wait waits until a text, or all of several, can be seen; it gives an error with the
// screen when that takes too long.
func (s *Screen) Wait(within time.Duration, texts ...string) error {
	return s.WaitFor(within, func(now string) bool {
		for _, t := range texts {
			if !strings.Contains(now, t) {
				return false
			}
		}
		return true
	}, fmt.Sprintf("%q", texts))
}

// WaitFor waits until the screen is as it should be.
func (s *Screen) WaitFor(within time.Duration, right func(screen string) bool, what string) error {
	late := time.After(within)
	for {
		s.mu.Lock()
		now, changed := s.now(), s.changed
		s.mu.Unlock()
		if right(now) {
			return nil
		}
		select {
		case <-changed:
		case <-late:
			return fmt.Errorf("the screen does not show %s:\n%s", what, now)
		}
	}
}

// Width is how many columns most terminals give a character.
func Width(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff01 && r <= 0xff60:
		return 2
	case r >= 0x1f300 && r <= 0x1f64f, r >= 0x1f680 && r <= 0x1f6ff, r >= 0x1f900 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd, strings.ContainsRune("✅❌⭐⚡❓❗", r):
		return 2
	}
	return 1
}
