package shellguard

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The shell of a client may be zsh (Options.Zsh). It reads most lines as bash does.
// This file knows where it does not; such a line is not understood.

// readInZsh says which part of a piece of shell code zsh interprets differently from sh
// and bash; empty if there is none.
func readInZsh(f *syntax.File) (why string) {
	differs := func(is bool, reason string) {
		if is && why == "" {
			why = reason
		}
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			differs(n.Cmd == nil && len(n.Redirs) > 0, "zsh starts a program for a redirection without a command")
		case *syntax.Redirect:
			if n.Word != nil {
				target := n.Word.Lit()
				differs(strings.HasPrefix(target, "!") || n.Op == syntax.RdrIn && strings.Trim(target, "0123456789") == "-", "zsh interprets its redirection differently")
			}
			if n.Hdoc != nil && !quotesDocument(n) {
				differs(zshParts(n.Hdoc.Parts), "zsh expands a variable in it differently")
			}
		case *syntax.Assign:
			differs(n.Name != nil && zshVariable(n.Name.Value), "it sets a variable that is special in zsh")
			differs(n.Value != nil && strings.Contains(n.Value.Lit(), ":="), "zsh takes = in it for the path of a program")
		case *syntax.WordIter:
			differs(zshVariable(n.Name.Value), "it sets a variable that is special in zsh")
		case *syntax.ParamExp:
			differs(n.Param != nil && zshVariable(n.Param.Value), "it uses a variable that is special in zsh")
		case *syntax.CallExpr:
			if len(n.Args) > 1 && isOneOf(n.Args[0].Lit(), "read getopts unset local typeset export readonly") {
				for _, a := range n.Args[1:] {
					differs(zshVariable(a.Lit()), "it sets a variable that is special in zsh")
				}
			}
		case *syntax.Word:
			differs(zshWord(n), "zsh interprets one of its words differently")
			differs(zshLater(n), "zsh may take ~ or = behind something empty for a home directory or a program")
			differs(zshParts(n.Parts), "zsh expands a variable in it differently")
		case *syntax.DblQuoted:
			differs(zshParts(n.Parts), "zsh expands a variable in it differently")
		}
		return why == ""
	})
	return why
}

// zshWord: zsh takes the beginning of the word for the name of a program or for a
// pattern, or makes another number of words of its braces.
func zshWord(w *syntax.Word) bool {
	if len(w.Parts) == 0 {
		return false
	}
	if len(w.Parts) > 1 && hasBraces(w) {
		return true // of a variable in braces that is empty it makes a word
	}
	first, ok := w.Parts[0].(*syntax.Lit)
	if !ok {
		return false
	}
	text := first.Value
	switch text[0] {
	case '=':
		return len(w.Parts) > 1 || text != "=" && text != "==" && text != "=~"
	case '^':
		return true
	case '-':
		if strings.ContainsAny(text, "^~#") {
			return true
		}
	}
	return strings.Contains(text, "{") && (strings.Contains(text, "{,") || strings.Contains(text, ",,") || strings.Contains(text, ",}"))
}

// zshParts: zsh takes the text after a variable for a part of its expansion, as
// in $x[1], $x:t and $#x, or a $ that is a letter elsewhere for an expansion, as in $=x.
func zshParts(parts []syntax.WordPart) bool {
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strayDollar(p.Value, i+1 < len(parts)) {
				return true
			}
		case *syntax.ParamExp:
			if !p.Short || p.Param == nil || i+1 == len(parts) {
				continue
			}
			name := p.Param.Value
			next, ok := parts[i+1].(*syntax.Lit)
			switch {
			case name == "#": // the length of what follows
				return true
			case !ok || next.Value == "":
			case next.Value[0] == '[', next.Value[0] == ':' && modifies(next.Value[1:], i+2 < len(parts)):
				return true
			case !isNameByte(name[0]) || name[0] >= '0' && name[0] <= '9':
				if isNameByte(next.Value[0]) {
					return true
				}
			}
		}
	}
	return false
}

// modifies: the text after a colon may be a modifier, which is a letter.
func modifies(text string, more bool) bool {
	if text == "" {
		return more
	}
	return isNameByte(text[0]) || text[0] == '&' || text[0] == '\\'
}

// strayDollar: there is a $ in literal text with something behind it.
func strayDollar(text string, more bool) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '$':
			if i+1 < len(text) || more {
				return true
			}
		}
	}
	return false
}

// zshVariable knows the variables in small letters that mean something to zsh. Those
// in capitals are no variables that a line may set in any shell.
func zshVariable(name string) bool {
	return isOneOf(name, "aliases argv builtins cdpath commands dirstack epochtime errnos fignore fpath funcfiletrace funcsourcetrace funcstack functions functrace galiases histchars history historywords jobdirs jobstates jobtexts keymaps langinfo mailpath manpath mapfile match mbegin mend modules nameddirs options parameters patchars path pipestatus prompt psvar reply reswords saliases signals status sysparams termcap terminfo userdirs usergroups watch widgets words") ||
		strings.HasPrefix(name, "dis_") || strings.HasPrefix(name, "zle_") || strings.HasPrefix(name, "zsh_") || isOneOf(name, "functions_source module_path")
}

// distrustInZsh marks the builtins that zsh would have evaluate their words as
// arithmetic, in which a subscript can run commands.
func (l *Line) distrustInZsh() {
	for i := range l.Programs {
		p := &l.Programs[i]
		if p.Class == ReadOnly && evaluatesInZsh(p.Name, p.Args) {
			p.Class, p.fits = Unknown, false
			p.Why = append(p.Why, "zsh evaluates its words as arithmetic, which can run commands")
		}
	}
}

// evaluatesInZsh: a word that is not known to be a number stands where the builtin of zsh
// wants one.
func evaluatesInZsh(name string, args []Arg) bool {
	numbers := func(list []Arg) bool {
		return !slices.ContainsFunc(list, func(a Arg) bool {
			return a.Text != "" && !isNumber(strings.TrimPrefix(a.Text, "-")) || !a.Literal
		})
	}
	switch name {
	case "printf":
		if len(args) > 0 && args[0].Text == "--" {
			args = args[1:]
		}
		return len(args) > 0 && (!args[0].Literal || wantsNumbers(args[0].Text)) && !numbers(args[1:])
	case "test", "[":
		operator := func(a Arg) bool {
			return a.Literal && slices.Contains([]string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-t"}, a.Text)
		}
		if !slices.ContainsFunc(args, operator) {
			return false
		}
		return !numbers(slices.DeleteFunc(slices.Clone(args), func(a Arg) bool { return operator(a) || a.Literal && (a.Text == "]" || a.Text == "!") }))
	case "read":
		for i, a := range args {
			if strings.HasPrefix(a.Text, "-") && a.Text != "-r" && !(isOneOf(a.Text, "-d -rd") && i+1 < len(args) && args[i+1].Text == "") {
				return true
			}
		}
	case "exit", "return", "break", "continue", "shift", "ulimit", "umask":
		return !numbers(slices.DeleteFunc(slices.Clone(args), func(a Arg) bool {
			return name != "exit" && a.Literal && isWord(strings.TrimLeft(a.Text, "-")) && strings.HasPrefix(a.Text, "-")
		}))
	}
	return false
}

// wantsNumbers: a format of printf has a conversion of numbers, or a width that is one.
// Zsh reads the escapes \u0025 and \U00000025 before it looks for directives, so that
// either may be the % of one; \x25 and \045 it reads later.
func wantsNumbers(format string) bool {
	if strings.Contains(format, `\u`) || strings.Contains(format, `\U`) {
		return true
	}
	for {
		_, rest, found := strings.Cut(format, "%")
		if !found {
			return false
		}
		spec := strings.TrimLeft(rest, "-+ #0123456789.'")
		if spec == "" || strings.IndexByte("sbcq%", spec[0]) < 0 {
			return true
		}
		format = spec[1:]
	}
}
