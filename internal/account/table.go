package account

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/refusal"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Look is how wide a screen is and what it can show.
type Look struct {
	Wide  int  // columns; 0: nobody looks, nothing is cut
	Plain bool // what is drawn is drawn in ASCII
	Now   time.Time
	ID    func(id string) string // how an ID is shown; nil: whole
	// Kept are the widths of columns that were written before, for rows that come one
	// by one and are to stand below each other. Nil: each table is by itself.
	Kept *[]int
}

// Header and Row give a list of calls; Layout puts them in columns.
func (l Look) header() []string {
	switch {
	case l.Wide == 0:
		return []string{"START", "TOOL", "WHAT", "OUTCOME", "TOOK", "BY", "ID"}
	case l.Wide < 110:
		return []string{"TIME", "TOOL", "WHAT", "OUTCOME", "TOOK", "ID"}
	}
	return []string{"TIME", "TOOL", "WHAT", "OUTCOME", "TOOK", "BY", "ID"}
}

func (l Look) row(r toolcrib.Record) []string {
	row := []string{l.at(r.Start), text.ShowLine(Name(r)), What(r), text.ShowLine(Outcome(r)), took(r)}
	if l.Wide == 0 || l.Wide >= 110 {
		row = append(row, text.ShowLine(By(r.Caller)))
	}
	id := r.ID
	if l.ID != nil {
		id = l.ID(id)
	}
	return append(row, text.ShowLine(id))
}

// at is a moment, as short as it can be told from others.
func (l Look) at(t time.Time) string {
	t = t.In(l.Now.Location())
	if l.Wide == 0 {
		return t.Format("2006-01-02 15:04:05")
	}
	switch y, m, d := t.Date(); {
	case y == l.Now.Year() && m == l.Now.Month() && d == l.Now.Day():
		return t.Format("15:04:05")
	case y == l.Now.Year():
		return t.Format("02 Jan 15:04")
	}
	return t.Format("2006-01-02")
}

func took(r toolcrib.Record) string {
	if r.Outcome == "" {
		return ""
	}
	return Duration(r.Duration)
}

// Duration is a time in at most six characters or so.
func Duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return strings.TrimSuffix(d.Round(time.Second).String(), "0s")
}

// What a client does with its own tools is only judged here: its hook asks before, and
// tells afterwards what became of it in a record of its own.
const (
	viaHook     = "hook"
	hookOutcome = "outcome"
)

// Outcomes are the words for how a call ended, as the journal has them.
func Outcomes() []string {
	return append([]string{string(toolcrib.Done), string(toolcrib.Broke), string(toolcrib.Interrupted)}, refusal.Codes()...)
}

// Outcome says how a call ended, or that it has not.
func Outcome(r toolcrib.Record) string {
	if r.Outcome == "" {
		return "running"
	}
	if r.Replay != "" { // answered, or refused, from the record of that call
		return string(r.Outcome) + ", again " + r.Replay
	}
	if r.Caller.Frontend == viaHook && r.Outcome == toolcrib.Done && r.Tool != hookOutcome {
		if strings.HasPrefix(r.ApprovedBy, "whoever ") {
			return "client asks" // and what the person said there is not known here
		}
		return "left to client"
	}
	return string(r.Outcome)
}

// By names who called, and by which program, as that names itself.
func By(who toolcrib.Caller) string {
	by := who.Subject
	if who.Agent != "" {
		by += " as " + who.Agent
	}
	by += " via " + who.Frontend
	if who.Client != "" {
		by += ", " + who.Client
	}
	return by
}

// Table writes calls in columns, the newest first as they come.
func (l Look) Table(records []toolcrib.Record, head bool) string {
	var rows [][]string
	if head {
		rows = append(rows, l.header())
	}
	for _, r := range records {
		rows = append(rows, l.row(r))
	}
	return l.Columns(rows, 2)
}

// Columns lines up rows. If they are wider than the screen the column that gives way is
// cut first, then the longest of the others; the last one, which is to be copied, last.
func (l Look) Columns(rows [][]string, gives int) string {
	if len(rows) == 0 {
		return ""
	}
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			wide[i] = max(wide[i], text.Width(cell))
		}
	}
	if l.Kept != nil && len(*l.Kept) == len(wide) {
		for i, w := range *l.Kept {
			wide[i] = max(wide[i], w)
		}
	}
	if l.Wide > 0 {
		shrink(wide, gives, l.Wide-2*(len(wide)-1))
	}
	if l.Kept != nil {
		*l.Kept = wide
	}
	var b strings.Builder
	for _, row := range rows {
		var out strings.Builder
		for i, cell := range row {
			if i > 0 {
				out.WriteString("  ")
			}
			if i == len(row)-1 && (l.Wide == 0 || text.Width(cell) <= wide[i]) {
				out.WriteString(cell)
				continue
			}
			out.WriteString(text.Pad(text.ClipWidth(cell, wide[i]), wide[i]))
		}
		b.WriteString(strings.TrimRight(l.ascii(out.String()), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// shrink makes columns fit into a width. The one that gives way keeps a quarter.
func shrink(wide []int, gives, room int) {
	over := -room
	for _, w := range wide {
		over += w
	}
	if over <= 0 {
		return
	}
	take := func(i, least int) {
		if n := min(over, max(0, wide[i]-least)); n > 0 {
			wide[i] -= n
			over -= n
		}
	}
	if gives >= 0 && gives < len(wide) {
		take(gives, max(12, room/4))
	}
	for range wide { // the longest of the others, one after the other
		longest := -1
		for i := 1; i < len(wide)-1; i++ {
			if i != gives && (longest < 0 || wide[i] > wide[longest]) {
				longest = i
			}
		}
		if longest < 0 || over <= 0 {
			break
		}
		take(longest, 10)
	}
	for i := range wide {
		take(i, 4)
	}
}

// ascii does without the signs of ours that are none. What a call says stays as it is.
func (l Look) ascii(s string) string {
	if !l.Plain {
		return s
	}
	return strings.ReplaceAll(s, "…", "~")
}

// Bytes is a size as people say it.
func Bytes(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
