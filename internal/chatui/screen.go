package chatui

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Terminal is where a person sits: its keys as they come, unprocessed, and a screen
// that understands the few sequences that every terminal does.
type Terminal struct {
	In      io.Reader
	Out     io.Writer
	Size    func() (columns, rows int)
	Resized <-chan struct{} // nil: it never is
	Colour  bool
	ASCII   bool // it cannot show other signs
}

// screen prints lines that stay, and paints the rows below them again and again: the
// live rows. Each change is one write, so that nobody sees a half of it.
type screen struct {
	out           io.Writer
	colour        bool
	columns, rows int
	live          []line // as they stand on the screen
	at            place  // where the cursor is in them
	err           error  // that nothing can be written any more
}

// place is a row and a column of the live rows.
type place struct{ row, column int }

// These are understood or ignored by every terminal. Between the last two a terminal
// that can shows nothing until all is there.
const (
	eraseDown  = "\x1b[J"
	eraseLine  = "\x1b[K"
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	pasteOn    = "\x1b[?2004h"
	pasteOff   = "\x1b[?2004l"
	begin      = "\x1b[?2026h"
	end        = "\x1b[?2026l"
)

// paint prints lines above the live rows, and puts others in their place.
func (s *screen) paint(lines, live []line, at place) {
	live = fit(live, &at, s.rows)
	var b strings.Builder
	switch {
	case len(lines) > 0 || len(s.live) == 0:
		b.WriteString(s.home() + eraseDown)
		for _, l := range lines {
			b.WriteString(s.write(l) + "\r\n")
		}
		for i, l := range live {
			if i > 0 {
				b.WriteString("\r\n")
			}
			b.WriteString(s.write(l))
		}
		s.at = place{max(len(live)-1, 0), 0}
	case !slices.EqualFunc(s.live, live, sameLine):
		s.change(&b, live)
	case s.at == at:
		return
	}
	s.live = live
	b.WriteString(s.move(at))
	s.send(begin + hideCursor + b.String() + showCursor + end)
}

// change writes only the live rows that are others now.
func (s *screen) change(b *strings.Builder, live []line) {
	b.WriteString(s.home())
	row := 0
	for i, l := range live {
		if i < len(s.live) && sameLine(s.live[i], l) {
			continue
		}
		if i >= len(s.live) {
			// A new row: only a line end makes room at the foot of the screen.
			if i > 0 {
				b.WriteString(down(i-1-row) + "\r\n")
			}
		} else {
			b.WriteString(down(i-row) + "\r")
		}
		row = i
		b.WriteString(s.write(l) + eraseLine)
	}
	s.at = place{row, 0}
	if len(s.live) > len(live) {
		b.WriteString(down(len(live)-row) + "\r" + eraseDown)
		s.at.row = len(live)
	}
}

// home moves to the first of the live rows.
func (s *screen) home() string {
	row := s.at.row
	s.at = place{}
	return "\r" + up(row)
}

// move brings the cursor to a place.
func (s *screen) move(to place) string {
	from := s.at.row
	s.at = to
	return "\r" + up(from-to.row) + down(to.row-from) + right(to.column)
}

// resize takes in that the terminal has another size. What stood there was parted anew
// by the terminal, so the live rows are counted as it shows them now, and wiped.
func (s *screen) resize(columns, rows int) {
	if columns == s.columns && rows == s.rows {
		return
	}
	if columns < s.columns && columns > 0 {
		above := s.at.column / columns
		for _, l := range s.live[:min(s.at.row, len(s.live))] {
			above += max(1, (l.width()+columns-1)/columns)
		}
		s.at.row = min(above, max(rows-1, 0))
	}
	s.columns, s.rows = columns, rows
	s.send("\r" + up(s.at.row) + eraseDown)
	s.live, s.at = nil, place{}
}

// write gives a line with its colours. Whatever made the spans: what steers a terminal
// is written out here once more.
func (s *screen) write(l line) string {
	var b strings.Builder
	for _, p := range l {
		shown := text.ShowLine(whole(p.text))
		if code := p.style.code(); s.colour && code != "" && shown != "" {
			shown = "\x1b[" + code + "m" + shown + "\x1b[0m"
		}
		b.WriteString(shown)
	}
	return b.String()
}

func (s *screen) send(what string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.out, what)
	}
}

// fit cuts the live rows to what the screen has room for, around the cursor: what
// scrolls out of it cannot be painted again.
func fit(live []line, at *place, rows int) []line {
	most := max(rows-1, 1)
	if len(live) <= most {
		return live
	}
	from := min(max(at.row-most+1, 0), len(live)-most)
	if at.row >= len(live)-most {
		from = len(live) - most
	}
	at.row -= from
	return live[from : from+most]
}

func sameLine(a, b line) bool { return slices.Equal(a, b) }

func up(n int) string    { return csi(n, 'A') }
func down(n int) string  { return csi(n, 'B') }
func right(n int) string { return csi(n, 'C') }

func csi(n int, letter byte) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%d%c", n, letter)
}
