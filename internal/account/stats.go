package account

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Charts draws what was counted, as wide as the screen.
func (l Look) Charts(t *Tally) string {
	var parts []string
	add := func(part string) {
		if part != "" {
			parts = append(parts, part)
		}
	}
	head := fmt.Sprintf("%s calls", thousands(t.Calls))
	if t.Calls == 1 {
		head = "1 call"
	}
	if !t.Since.IsZero() {
		head += " since " + t.Since.In(l.Now.Location()).Format("2006-01-02 15:04")
	}
	if t.Open > 0 {
		head += fmt.Sprintf(", %d still running", t.Open)
	}
	if t.Partial {
		head += "; only the newest are counted, there were more"
	}
	add(head + "\n" + l.overTime(t))
	if t.Calls == 0 {
		return strings.Join(parts, "\n")
	}
	add(l.Bars("Outcomes", t.Outcomes, 8))
	add(l.Bars("Tools", t.Tools, 10))
	add(l.Bars("Agents", t.Agents, 6))
	add(l.Bars("Clients", t.Clients, 6))
	if a := t.Approvals; a.Asked > 0 {
		add(fmt.Sprintf("Approvals\n  %d asked: %d approved, %d refused, %d without an answer\n", a.Asked, a.Approved, a.Refused, a.Unanswered))
	}
	add(l.slowest(t))
	add(l.models(t))
	return strings.Join(parts, "\n")
}

// overTime is the line of small columns. If there is no room for all, the newest stay.
func (l Look) overTime(t *Tally) string {
	if len(t.Over) < 2 {
		return ""
	}
	room := 60
	if l.Wide > 0 {
		room = max(10, l.Wide-4)
	}
	shown := t.Over[max(0, len(t.Over)-room):]
	numbers, most := make([]int, len(shown)), 0
	for i, c := range shown {
		numbers[i] = c.N
		most = max(most, c.N)
	}
	first, last := shown[0].Name, shown[len(shown)-1].Name
	if wide := max(1, room/len(shown)); wide > 1 { // few columns are drawn wider
		wide = min(wide, 3)
		var spread []int
		for _, n := range numbers {
			for range wide {
				spread = append(spread, n)
			}
		}
		numbers = spread
	}
	return fmt.Sprintf("  %s\n  %s to %s by %s, at most %s\n", l.Spark(numbers), first, last, t.Span, thousands(most))
}

func (l Look) slowest(t *Tally) string {
	if len(t.Slowest) == 0 {
		return ""
	}
	var rows [][]string
	for _, s := range t.Slowest {
		id := s.ID
		if l.ID != nil {
			id = l.ID(id)
		}
		rows = append(rows, []string{"  " + Duration(s.Took), text.ShowLine(s.Tool), s.What, text.ShowLine(id)})
	}
	return "Slowest\n" + l.Columns(rows, 2)
}

func (l Look) models(t *Tally) string {
	if len(t.Models) == 0 {
		return ""
	}
	rows := [][]string{{"  MODEL", "REQUESTS", "TOKENS READ", "WRITTEN", "COST"}}
	guessed := false
	for _, m := range t.Models {
		cost := ""
		if m.Cost > 0 {
			cost = fmt.Sprintf("%.4f", m.Cost)
		}
		mark := ""
		if m.Estimated {
			mark, guessed = " *", true
		}
		rows = append(rows, []string{"  " + text.ShowLine(m.Model) + mark, thousands(m.Calls), thousands(m.Input), thousands(m.Output), cost})
	}
	out := "Models\n" + l.Columns(rows, 0)
	if guessed {
		out += "  * partly estimated: a service did not say how many tokens it counted\n"
	}
	return out
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
