package sandbox

import (
	"fmt"
	"strings"
)

// Octal writes bytes as escapes for printf %b, in letters that survive every
// file and every protocol. In a shell, x=$(printf '%b.' …); x=${x%.} gives them
// back; the dot keeps newlines at the end.
func Octal(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\0%03o`, s[i])
	}
	return b.String()
}
