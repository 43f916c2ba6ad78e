package codemode

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

// What a person who is asked is shown of a script. It is little: the call is what they
// decide on, and a script that is long for the purpose must not push that out of sight.
const (
	shownLines  = 40
	shownLetter = 160 // of a line
	firstLines  = 14  // of one that is longer
	lastLines   = 6
)

// During tells a person who is asked about a call of this tool which script makes it
// and what that has done so far. Empty: none does.
func During(ctx context.Context, tool string) string {
	d := outer(ctx)
	if d == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("A script makes this call. ")
	if d.program.Name != "" {
		b.WriteString("It is the saved script " + d.program.Name + ". ")
	}
	if d.above != nil {
		b.WriteString("Another script called it. ")
	}
	if line := d.line(); line != "" {
		b.WriteString("So far it has called: " + line + ".\n")
	} else {
		b.WriteString("It has called nothing before.\n")
	}
	b.WriteString("If you refuse, the script is told so and goes on. The script:\n")
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(d.program.Code, "\r\n", "\n"), "\n"), "\n")
	show, left := chosen(lines, tool), 0
	gap := func() {
		if left > 0 {
			fmt.Fprintf(&b, "    | … %s not shown here\n", counted(left))
		}
		left = 0
	}
	for i, line := range lines {
		if !show[i] {
			left++
			continue
		}
		gap()
		fmt.Fprintf(&b, "%3d | %s\n", i+1, short(line, tool))
	}
	gap()
	return strings.TrimRight(b.String(), "\n")
}

// chosen are the lines that are shown: all, or the first, the last, and those that
// name the tool with their neighbours.
func chosen(lines []string, tool string) map[int]bool {
	show := map[int]bool{}
	add := func(i int) {
		if i >= 0 && i < len(lines) && len(show) < shownLines {
			show[i] = true
		}
	}
	if len(lines) <= shownLines {
		for i := range lines {
			add(i)
		}
		return show
	}
	for i := range lastLines {
		add(len(lines) - 1 - i)
	}
	for i := range firstLines {
		add(i)
	}
	for i, line := range lines {
		if tool != "" && strings.Contains(line, tool) {
			add(i)
			add(i - 1)
			add(i + 1)
		}
	}
	return show
}

func counted(lines int) string {
	if lines == 1 {
		return "1 line is"
	}
	return fmt.Sprintf("%d lines are", lines)
}

// short is a line that fits on a screen, and stays one: a script may end its lines
// with other signs than we do. Of a long one it is the beginning, and where the tool is
// named.
func short(line, tool string) string {
	line = strings.ReplaceAll(line, "\t", "  ")
	letters := []rune(line)
	if len(letters) <= shownLetter {
		return text.ShowLine(line)
	}
	const half = shownLetter / 2
	head, from := half, half
	if at := strings.Index(line, tool); tool != "" && at >= 0 {
		from = max(head, utf8.RuneCountInString(line[:at])-half/4)
	}
	end := min(len(letters), from+half)
	out := text.ShowLine(string(letters[:head]))
	if from > head {
		out += fmt.Sprintf(" … %d characters … ", from-head)
	}
	out += text.ShowLine(string(letters[from:end]))
	if end < len(letters) {
		out += fmt.Sprintf(" … and %d characters more", len(letters)-end)
	}
	return out
}
