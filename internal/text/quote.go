package text

import (
	"path/filepath"
	"strings"
)

// ShellQuote writes a text so that a POSIX shell reads it back as one word.
func ShellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// ShellWord writes a word for any shell: as it is where that is plain, with slashes
// where a path of Windows has others.
func ShellWord(s string) string {
	if s = filepath.ToSlash(s); s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-./:=,+@%", r)
	}) {
		return s
	}
	return ShellQuote(s)
}
