package named

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// values gives what a word may be.
func (f *scriptFollower) values(w *syntax.Word) []string {
	if w == nil {
		return nil
	}
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.Contains(lit.Value, "{") {
			w = &syntax.Word{Parts: slices.Clone(w.Parts)} // what was parsed is kept as it is
			syntax.SplitBraces(w)
			break
		}
	}
	return f.joined(w.Parts, false)
}

// first is the likeliest value, or an empty one.
func (f *scriptFollower) first(w *syntax.Word) string {
	if list := f.values(w); len(list) > 0 {
		return list[0]
	}
	return ""
}

func (f *scriptFollower) joined(parts []syntax.WordPart, quoted bool) []string {
	list := []string{""}
	for i, part := range parts {
		if f.left--; f.left < 0 {
			return nil
		}
		var next []string
		for _, end := range f.part(part, quoted, i == 0) {
			for _, begin := range list {
				if len(next) < maxValues && len(begin)+len(end) <= maxWord {
					next = append(next, begin+end)
				}
			}
		}
		list = next
	}
	return list
}

func (f *scriptFollower) part(part syntax.WordPart, quoted, begins bool) []string {
	switch p := part.(type) {
	case *syntax.Lit:
		if len(p.Value) > 2*maxWord { // it is no path
			return nil
		}
		value := unescape(p.Value, quoted)
		if rest, ok := strings.CutPrefix(value, "~/"); ok && begins && !quoted && f.home != "" {
			value = f.home + "/" + rest
		}
		return []string{value}
	case *syntax.SglQuoted:
		return []string{p.Value}
	case *syntax.DblQuoted:
		return f.joined(p.Parts, true)
	case *syntax.BraceExp:
		var list []string
		for _, w := range p.Elems {
			list = merge(list, f.values(w))
		}
		if !p.Sequence {
			return list
		}
	case *syntax.ParamExp:
		return f.variable(p)
	case *syntax.CmdSubst:
		if list, _ := f.prints(p.Stmts, f.dirs); len(list) > 0 {
			return list
		}
	}
	return []string{unknown}
}

// unescape takes away the backslashes that the shell does.
func unescape(text string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("\\\"$`\n", text[i+1]) >= 0) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// variable gives what a variable may be.
func (f *scriptFollower) variable(p *syntax.ParamExp) []string {
	if p.Param == nil || p.Length || p.Excl || p.Width || p.Repl != nil {
		return []string{unknown}
	}
	var list []string
	switch name := p.Param.Value; name {
	case "0", "BASH_SOURCE", "_":
		list = slices.Clone(f.own)
		if p.Slice != nil { // zsh: ${0:A:h}
			for _, own := range f.own {
				list = append(list, filepath.Dir(own))
			}
		}
	case "PWD", "OLDPWD":
		list = slices.Clone(f.dirs)
	case "HOME":
		if f.home != "" {
			list = []string{f.home}
		}
	default:
		list = slices.Clone(f.vars[name])
	}
	if p.Exp != nil {
		var word []string
		if p.Exp.Word != nil {
			word = f.values(p.Exp.Word)
		}
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			list = merge(list, word)
		case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
			for i := range list {
				for _, pattern := range word {
					if !f.step(1 + len(list[i])) {
						return nil
					}
					list[i] = removePattern(list[i], pattern, p.Exp.Op)
				}
			}
		}
	}
	if len(list) == 0 {
		return []string{unknown}
	}
	return list[:min(len(list), maxValues)]
}

// removePattern takes away what fits a pattern, as ${x%pattern} does.
func removePattern(value, pattern string, op syntax.ParExpOperator) string {
	if len(value) > maxWord || len(pattern) > maxValue {
		return value
	}
	for n := range len(value) + 1 {
		switch op {
		case syntax.RemSmallSuffix:
			if fitsPattern(pattern, value[len(value)-n:]) {
				return value[:len(value)-n]
			}
		case syntax.RemLargeSuffix:
			if fitsPattern(pattern, value[n:]) {
				return value[:n]
			}
		case syntax.RemSmallPrefix:
			if fitsPattern(pattern, value[:n]) {
				return value[n:]
			}
		case syntax.RemLargePrefix:
			if fitsPattern(pattern, value[:len(value)-n]) {
				return value[len(value)-n:]
			}
		}
	}
	return value
}

// fitsPattern knows patterns of one star, which are the usual ones.
func fitsPattern(pattern, text string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return text == pattern
	}
	return len(text) >= len(before)+len(after) && strings.HasPrefix(text, before) && strings.HasSuffix(text, after)
}

// prints gives what commands may print, and where they stand afterwards.
func (f *scriptFollower) prints(list []*syntax.Stmt, dirs []string) (printed, after []string) {
	for _, s := range list {
		if !f.step(1) {
			break
		}
		var some []string
		some, dirs = f.printsOne(s.Cmd, dirs)
		printed = merge(printed, some)
	}
	return printed, dirs
}

func (f *scriptFollower) printsOne(cmd syntax.Command, dirs []string) (printed, after []string) {
	if !f.step(1) {
		return nil, dirs
	}
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		printed, dirs = f.printsOne(c.X.Cmd, dirs)
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return nil, dirs
		}
		more, dirs := f.printsOne(c.Y.Cmd, dirs)
		return merge(printed, more), dirs
	case *syntax.Block:
		return f.prints(c.Stmts, dirs)
	case *syntax.Subshell:
		return f.prints(c.Stmts, dirs)
	case *syntax.CallExpr:
		before := f.dirs
		f.dirs = dirs
		defer func() { f.dirs = before }()
		return f.printsCall(c, dirs)
	}
	return nil, dirs
}

func (f *scriptFollower) printsCall(c *syntax.CallExpr, dirs []string) (printed, after []string) {
	if len(c.Args) == 0 {
		return nil, dirs
	}
	var words []string // that are no options
	var values []string
	for _, w := range c.Args[1:] {
		for i, v := range f.values(w) {
			if i == 0 {
				words = append(words, v)
			}
			if !strings.HasPrefix(v, "-") {
				values = append(values, v)
			}
		}
	}
	each := func(of func(string) string) (list []string) {
		for _, v := range values {
			list = append(list, of(v))
		}
		return list
	}
	switch programName(f.first(c.Args[0])) {
	case "cd", "pushd":
		var to []string
		for _, v := range values {
			to = merge(to, f.resolve(v))
		}
		if len(to) == 0 {
			return nil, dirs
		}
		return nil, to
	case "pwd":
		return dirs, dirs
	case "dirname":
		return each(filepath.Dir), dirs
	case "basename":
		return each(filepath.Base), dirs
	case "readlink", "realpath", "greadlink", "grealpath":
		list := slices.Clone(values)
		for _, v := range values {
			for _, path := range f.resolve(v) {
				if to, err := filepath.EvalSymlinks(path); err == nil {
					list = merge(list, []string{to})
				}
			}
		}
		return list, dirs
	case "echo", "printf", "ls", "expand_path", "cygpath":
		return values, dirs
	case "git":
		for _, w := range words {
			switch w {
			case "--show-toplevel", "--show-superproject-working-tree":
				return []string{f.top}, dirs
			case "--show-cdup":
				return []string{"", "./"}, dirs
			case "--git-dir", "--absolute-git-dir", "--git-common-dir":
				return []string{filepath.Join(f.top, ".git")}, dirs
			}
		}
	}
	return nil, dirs
}
