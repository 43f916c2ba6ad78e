package account

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Link is a call that another one was made for.
type Link struct {
	ID    string `json:"id"`
	Tool  string `json:"tool,omitempty"`
	Agent string `json:"agent,omitempty"`
}

// page is a page in the making.
type page struct {
	Look
	b strings.Builder
}

// Page tells a person everything of one call. Chain is the calls that it was made for,
// the nearest first; steps is what happened during it; undo is how it can be taken back,
// empty if it cannot.
func (l Look) Page(r toolcrib.Record, chain []Link, steps []Step, undo string) string {
	p := &page{Look: l}
	what := What(r)
	p.line("%s  %s", text.ShowLine(Name(r)), what)
	p.b.WriteByte('\n')
	p.fact("Outcome", text.ShowLine(Outcome(r)))
	if r.Message != "" {
		p.fact("", text.ShowLine(r.Message))
	}
	p.fact("Call", text.ShowLine(r.ID)+fmt.Sprintf("  (number %d)", r.Seq))
	p.when(r)
	p.fact("By", text.ShowLine(By(r.Caller)))
	p.fact("Session", text.ShowLine(r.Caller.Session))
	p.fact("Token", text.ShowLine(r.Caller.Token))
	p.fact("Organisation", text.ShowLine(r.Caller.Organisation))
	if r.Box != "" {
		p.fact("Tool", text.ShowLine(r.Box+"/"+r.Native))
	}
	for i, c := range chain {
		name := ""
		if i == 0 {
			name = "Made for"
		}
		said := text.ShowLine(c.Tool + "  " + c.ID)
		if c.Agent != "" {
			said += text.ShowLine(" by " + c.Agent)
		}
		p.fact(name, said)
	}
	p.fields("Arguments", r.Input)
	if len(r.Edited) > 0 {
		p.fields("Changed by a person to", r.Edited)
	}
	p.verdicts(r)
	p.steps(steps)
	diff := p.result(r)
	if diff != "" {
		p.block("The difference made", diff, 200)
	}
	if undo != "" {
		p.b.WriteByte('\n')
		p.line("%s", undo)
	}
	return p.b.String()
}

func (p *page) line(format string, args ...any) {
	row := fmt.Sprintf(format, args...)
	if p.Wide > 0 {
		row = text.ClipWidth(row, p.Wide)
	}
	p.b.WriteString(p.ascii(row))
	p.b.WriteByte('\n')
}

// fact is one row with a name; nothing is said of what is empty.
func (p *page) fact(name, said string) {
	if said == "" {
		return
	}
	const column = 13
	room := 0
	if p.Wide > 0 {
		room = max(20, p.Wide-column)
	}
	for i, row := range wrap(said, room) {
		if i > 0 {
			name = ""
		}
		p.b.WriteString(p.ascii(strings.TrimRight(text.Pad(name, column)+row, " ")))
		p.b.WriteByte('\n')
	}
}

func (p *page) when(r toolcrib.Record) {
	start := r.Start.In(p.Now.Location())
	said := start.Format("2006-01-02 15:04:05.000 MST")
	if r.Outcome == "" {
		p.fact("When", said+", still running")
		return
	}
	said += " to " + start.Add(r.Duration).Format("15:04:05.000") + ", took " + Duration(r.Duration)
	if r.Attempts > 1 {
		said += fmt.Sprintf(" in %d attempts", r.Attempts)
	}
	p.fact("When", said)
}

// fields writes the arguments, one to a row, long ones shortened.
func (p *page) fields(title string, input json.RawMessage) {
	if len(input) == 0 || string(input) == "{}" {
		return
	}
	p.b.WriteByte('\n')
	p.line("%s", title)
	fields := fieldsOf(input)
	if fields == nil {
		p.text(rawText(input), 12)
		return
	}
	for _, f := range fields {
		said := rawText(f.value)
		if !strings.Contains(said, "\n") && text.Width(said) <= 100 {
			p.line("  %s: %s", text.ShowLine(f.name), text.ShowLine(said))
			continue
		}
		p.line("  %s: (%d lines, %d bytes)", text.ShowLine(f.name), strings.Count(strings.TrimSuffix(said, "\n"), "\n")+1, len(said))
		p.text(said, 12)
	}
}

// verdicts tells who judged how, and who approved.
func (p *page) verdicts(r toolcrib.Record) {
	if len(r.Verdicts) == 0 && r.ApprovedBy == "" {
		return
	}
	p.b.WriteByte('\n')
	p.line("Judged: %s", Strictest(r.Verdicts))
	var rows [][]string
	for _, v := range r.Verdicts {
		word := v.Decision.String()
		if v.Note {
			word = "note"
		}
		reason := v.Reason
		if v.Rule != "" {
			reason = strings.TrimPrefix(reason+" [rule "+v.Rule+"]", " ")
		}
		for i, row := range strings.Split(reason, "\n") {
			if i > 0 {
				word, v.Guard = "", ""
			}
			rows = append(rows, []string{"  " + word, text.ShowLine(v.Guard), text.ShowLine(row)})
		}
	}
	p.b.WriteString(p.Columns(rows, 2))
	if r.ApprovedBy != "" {
		// In records a remembered answer is called by its old name.
		who, remembered := strings.CutPrefix(r.ApprovedBy, "grant ")
		if remembered {
			who = "the remembered answer " + who
		}
		p.line("  approved by %s", text.ShowLine(who))
	}
}

// result writes what came out, without the difference, which it gives back.
func (p *page) result(r toolcrib.Record) (diff string) {
	if len(r.Result) == 0 {
		return ""
	}
	var said struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(r.Result, &said) != nil {
		p.block("Result", string(r.Result), 20)
		return ""
	}
	title := "Result"
	if r.Cut {
		title += " (the journal keeps only a part of it)"
	}
	if fields := fieldsOf(said.Value); len(fields) > 0 {
		var kept []field
		for _, f := range fields {
			if f.name == "diff" {
				diff = rawText(f.value)
				continue
			}
			kept = append(kept, f)
		}
		p.valueFields(title, kept)
		return diff
	}
	if len(said.Value) > 0 {
		p.block(title, rawText(said.Value), 20)
		return ""
	}
	var texts []string
	for _, c := range said.Content {
		if c.Text == "" {
			c.Text = "(" + c.Type + ")"
		}
		texts = append(texts, c.Text)
	}
	if len(texts) > 0 {
		p.block(title, strings.Join(texts, "\n"), 20)
	}
	return ""
}

func (p *page) valueFields(title string, fields []field) {
	if len(fields) == 0 {
		return
	}
	p.b.WriteByte('\n')
	p.line("%s", title)
	for _, f := range fields {
		said := rawText(f.value)
		if !strings.Contains(said, "\n") {
			p.line("  %s: %s", text.ShowLine(f.name), text.ShowLine(said))
			continue
		}
		p.line("  %s:", text.ShowLine(f.name))
		p.text(said, 20)
	}
}

func (p *page) block(title, said string, rows int) {
	p.b.WriteByte('\n')
	p.line("%s", title)
	p.text(said, rows)
}

// text writes at most so many rows of a text, indented.
func (p *page) text(said string, rows int) {
	lines := strings.Split(strings.TrimSuffix(said, "\n"), "\n")
	for i, l := range lines {
		if i == rows && len(lines) > rows+1 {
			p.line("    (%d more lines; -o json has all that is kept)", len(lines)-rows)
			return
		}
		p.line("    %s", text.Show(strings.ReplaceAll(l, "\t", "    ")))
	}
}

// wrap parts a text into rows at spaces; room 0: it stays whole.
func wrap(said string, room int) (rows []string) {
	for room > 0 && text.Width(said) > room {
		cut, used, space := 0, 0, 0
		for i, r := range said {
			if used += text.RuneWidth(r); used > room {
				break
			}
			if cut = i + len(string(r)); r == ' ' {
				space = i + 1
			}
		}
		if space > 0 {
			cut = space
		}
		if cut == 0 {
			break
		}
		rows, said = append(rows, said[:cut]), said[cut:]
	}
	return append(rows, said)
}

// Ago says how long something is past, roughly.
func (l Look) Ago(t time.Time) string {
	switch d := l.Now.Sub(t); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
}
