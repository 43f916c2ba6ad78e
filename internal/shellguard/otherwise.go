package shellguard

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// parseAsShells parses a text, with the comments ended where every shell ends
// them: the parser takes a backslash at the end of a comment for one that joins
// the next line to it, and that line would be hidden. It gives the text that was
// parsed, in which nothing has moved.
func parseAsShells(text string) (*syntax.File, string, error) {
	for range maxPrograms {
		f, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
		if err != nil || !strings.Contains(text, "\\\n") {
			return f, text, err
		}
		at := -1
		syntax.Walk(f, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.Comment); ok && at < 0 {
				if i := strings.Index(c.Text, "\\\n"); i >= 0 {
					at = int(c.Pos().Offset()) + 1 + i
				}
			}
			return at < 0
		})
		if at < 0 || at >= len(text) || text[at] != '\\' {
			return f, text, nil
		}
		text = text[:at] + " " + text[at+1:]
	}
	f, err := parse(text)
	return f, text, err
}

// readOtherwise finds what the parser is known to read otherwise than shells do;
// empty if there is nothing of the kind.
func readOtherwise(text string, f *syntax.File) string {
	why, documents := "", 0
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DblQuoted:
			for _, part := range n.Parts {
				if hidesInQuotes(part, "$`}\"\\") {
					why = "shells read the quotes in it otherwise"
				}
			}
		case *syntax.ArithmExp:
			if hasQuotes(n, "$`") || n.Bracket && strings.ContainsAny(text[min(int(n.Pos().Offset()), len(text)):min(int(n.End().Offset()), len(text))], ";\"'`&|<>\n\\") {
				why = "shells read the quotes in it otherwise" // only bash knows $[…]
			}
		case *syntax.ArithmCmd:
			if hasQuotes(n, "$`") {
				why = "shells read the quotes in it otherwise"
			}
		case *syntax.SglQuoted:
			if n.Dollar && strings.Contains(n.Value, `\'`) {
				why = "only bash knows $'…', and other shells end it elsewhere"
			}
		case *syntax.Comment:
			// A # begins a comment only where a word could begin.
			if at := int(n.Pos().Offset()); at > 0 && at <= len(text) && strings.IndexByte(" \t\n;&|()<>`", text[at-1]) < 0 {
				why = "shells take a comment of it for a word"
			}
		case *syntax.Redirect:
			if n.Hdoc == nil {
				break
			}
			for _, part := range n.Hdoc.Parts {
				if hidesInQuotes(part, "$`}\"\\") {
					why = "shells read the quotes in it otherwise"
				}
			}
			if end := n.Word.Lit(); end != "" && strings.Contains(text, "\\\n") &&
				(tooMany(&documents) || endsJoined(text, end) || ends(text, end) != ends(strings.ReplaceAll(text, "\\\n", ""), end)) {
				why = "shells differ in where a here-document of it ends"
			}
		}
		return why == ""
	})
	return why
}

// tooMany bounds the here-documents whose end is looked for in a whole line.
func tooMany(documents *int) bool {
	*documents++
	return *documents > 64
}

// ends counts the lines that could end a here-document. Some shells join lines
// before they look for it, and others do not.
func ends(text, mark string) (n int) {
	mark = strings.ReplaceAll(mark, `\`, "")
	for line := range strings.Lines(text) {
		if strings.Trim(line, "\t\n") == mark {
			n++
		}
	}
	return n
}

// endsJoined: a line that could end one is joined to the line before.
func endsJoined(text, mark string) bool {
	mark = strings.ReplaceAll(mark, `\`, "")
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "\\\n")
		if !found {
			return false
		}
		if line, _, _ := strings.Cut(strings.TrimLeft(after, "\t"), "\n"); line == mark {
			return true
		}
		rest = after
	}
}

// hidesInQuotes: within double quotes, the single ones in ${x:-'…'} are letters
// to a shell, so that what stands in them is expanded, and ends there.
func hidesInQuotes(part syntax.WordPart, signs string) bool {
	p, ok := part.(*syntax.ParamExp)
	return ok && hasQuotes(p, signs)
}

func hasQuotes(n syntax.Node, signs string) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			found = found || strings.ContainsAny(n.Value, signs)
		case *syntax.CmdSubst:
			return false // there they are quotes again
		}
		return !found
	})
	return found
}
