package text

import "strings"

// ShellQuote writes a text so that a POSIX shell reads it back as one word.
func ShellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
