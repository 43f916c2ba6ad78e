package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
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
		switch hosts := a.Crib.Grant.Hosts; {
		case len(hosts) == 0:
			b.WriteString(" They have no network.")
		case !slices.Contains(hosts, "*"):
			fmt.Fprintf(&b, " They reach these hosts and no others, over http and https by the proxy that HTTPS_PROXY names: %s.", text.Clip(strings.ReplaceAll(strings.Join(hosts, ", "), "private:", ""), 500))
		}
	}
	b.WriteString(" Some calls have to be approved by a person. If nobody answers in time, the refusal names the question: tell the person how to answer it, and repeat the same call afterwards.")
	return b.String()
}

// Instructions of servers cost room in every conversation.
const (
	instructionsOne = 1500 // characters of one server
	instructionsAll = 6000
)

// serverInstructions are what MCP servers whose tools a caller has tell models, as
// it was approved. Each stands under its server's name, and further in than words
// of ours, so that none is taken for another's.
func (a *App) serverInstructions(caller toolcrib.Caller) string {
	if a.Hub == nil {
		return ""
	}
	seen := map[string]bool{}
	for spec := range a.Crib.Tools(caller) {
		seen[spec.Box] = true
	}
	var b strings.Builder
	left := instructionsAll
	for _, box := range a.Hub.Boxes() {
		if !seen[box.Name()] {
			continue
		}
		said, held := box.Instructions()
		if held {
			fmt.Fprintf(&b, "\n\nThe MCP server %s has new instructions. They are not shown before a person has approved them: toolcrib hub approve %s", box.Name(), box.Name())
		}
		if said == "" {
			continue
		}
		if left == 0 {
			fmt.Fprintf(&b, "\n\nThe MCP server %s has instructions too, for which there is no room: toolcrib hub show %s", box.Name(), box.Name())
			continue
		}
		shown := text.ClipSentence(said, min(left, instructionsOne))
		left = max(0, left-len([]rune(shown)))
		fmt.Fprintf(&b, "\n\nThe MCP server %s says about its tools:\n  %s", box.Name(), strings.ReplaceAll(shown, "\n", "\n  "))
	}
	return b.String()
}
