package text

import "strings"

// CountBlanks writes long runs of spaces out as [U+0020*3000]: they would push what stands
// behind them out of sight.
func CountBlanks(s string) string {
	const most = 8
	if !strings.Contains(s, strings.Repeat(" ", most+1)) {
		return s
	}
	out := make([]byte, 0, len(s))
	for at := 0; at < len(s); {
		run := len(s[at:]) - len(strings.TrimLeft(s[at:], " "))
		switch {
		case run > most:
			out, at = AppendCode(out, ' ', run), at+run
		default:
			out, at = append(out, s[at:at+max(run, 1)]...), at+max(run, 1)
		}
	}
	return string(out)
}
