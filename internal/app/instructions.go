package app

import (
	"fmt"
	"strings"
)

// Instructions tells a model what it has here, so that it need not find out by
// being refused.
func (a *App) Instructions() string {
	var b strings.Builder
	switch dirs := a.Crib.Grant.Dirs; len(dirs) {
	case 0:
		b.WriteString("No directory is granted, so the file tools have nothing to work on.")
	default:
		fmt.Fprintf(&b, "Relative paths begin in %s. Granted directories:", a.Crib.Files.Base)
		for _, d := range dirs {
			how := "to read"
			if d.Write {
				how = "to read and change"
			}
			fmt.Fprintf(&b, " %s (%s);", d.Path, how)
		}
		b.WriteString(" nothing else can be reached, and files with secrets are out of reach.")
	}
	if a.shell != nil {
		b.WriteString(" Commands run in a sandbox with these directories, a private /tmp and a small environment.")
		if len(a.Crib.Grant.Hosts) == 0 {
			b.WriteString(" They have no network.")
		}
	}
	b.WriteString(" Some calls have to be approved by a person. If nobody answers in time, the refusal names the question: tell the person how to answer it, and repeat the same call afterwards.")
	return b.String()
}
