package account

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Spark draws numbers as one line of small columns. Without Unicode it is drawn with
// signs that grow darker.
func (l Look) Spark(numbers []int) string {
	steps := []rune("▁▂▃▄▅▆▇█")
	if l.Plain {
		steps = []rune(".:-=+*#@")
	}
	most := 0
	for _, n := range numbers {
		most = max(most, n)
	}
	var b strings.Builder
	for _, n := range numbers {
		switch {
		case n <= 0 || most == 0:
			b.WriteByte(' ')
		default:
			b.WriteRune(steps[min(len(steps)-1, (n*len(steps)-1)/most)])
		}
	}
	return b.String()
}

// bar draws a share of a width. What is more than nothing is never drawn as nothing.
func (l Look) bar(n, most, wide int) string {
	if n <= 0 || most <= 0 || wide <= 0 {
		return ""
	}
	if l.Plain {
		return strings.Repeat("#", max(1, n*wide/most))
	}
	eighths := max(1, n*wide*8/most)
	out := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		out += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return out
}

// Count is how often something occurred.
type Count struct {
	Name string `json:"name"`
	N    int    `json:"calls"`
}

// Bars draws counts, one to a line: name, number, share and bar.
func (l Look) Bars(title string, counts []Count, most int) string {
	if len(counts) == 0 {
		return ""
	}
	wide := l.Wide
	if wide == 0 {
		wide = 80
	}
	total, highest, name := 0, 0, 0
	for _, c := range counts {
		total += c.N
		highest = max(highest, c.N)
	}
	shown := counts
	if most > 0 && len(shown) > most {
		shown = shown[:most]
	}
	for _, c := range shown {
		name = max(name, text.Width(text.ShowLine(c.Name)))
	}
	name = min(name, max(12, wide*2/5))
	room := min(40, wide-name-2-2-8-6-2)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", title)
	for _, c := range shown {
		share := fmt.Sprintf("%3.0f %%", 100*float64(c.N)/float64(max(1, total)))
		row := "  " + text.Pad(text.ClipWidth(text.ShowLine(c.Name), name), name) + fmt.Sprintf("  %7d  %s  ", c.N, share)
		b.WriteString(l.ascii(strings.TrimRight(row, " ")))
		if bar := l.bar(c.N, highest, room); bar != "" {
			b.WriteString("  " + bar)
		}
		b.WriteByte('\n')
	}
	if left := len(counts) - len(shown); left > 0 {
		fmt.Fprintf(&b, "  and %d more\n", left)
	}
	return b.String()
}
