package shellguard

import (
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// A rule that takes a command away means it under every name: pip3 is pip, and
// so is python3 -m pip; npm i is npm install; sh ./a/x.sh is a/x.sh. So a rule
// and a program are both read in the plainest way that is known, and it is enough
// if one reading of the rule means one reading of the program.

// commandReading is one way to read what a program is told.
type commandReading struct {
	name   string
	args   []Arg
	dirs   []string // for a script: where its name counts from
	script string   // for a script: as it stands in the line
}

// readings lists them; the first is what stands there.
func readings(name string, args []Arg, dirs []string) []commandReading {
	out := []commandReading{{name: programName(name), args: args}}
	if script, rest, ok := scriptOf(programName(name), args); ok {
		out = append(out, commandReading{name: programName(script), args: rest, dirs: dirs, script: script})
		if n := UsualName(programName(name)); (n == "node" || n == "bun" || n == "deno") && path.Ext(script) == "" {
			for _, end := range []string{".js", ".mjs", ".cjs", ".ts"} { // which they add
				out = append(out, commandReading{name: programName(script + end), args: rest, dirs: dirs, script: script + end})
				full := slices.Clone(args)
				full[len(args)-len(rest)-1].Text += end
				out = append(out, commandReading{name: n, args: full})
			}
		}
	}
	if n, a, ok := usualForm(programName(name), args); ok {
		out = append(out, commandReading{name: n, args: a})
	}
	if module, rest, ok := moduleOf(UsualName(programName(name)), args); ok { // python3 -m a.b runs a/b.py
		for _, end := range []string{".py", "/__main__.py"} {
			script := strings.ReplaceAll(module, ".", "/") + end
			out = append(out, commandReading{name: programName(script), args: rest, dirs: dirs, script: script})
		}
	}
	if sub, ok := strings.CutPrefix(programName(name), "git-"); ok && sub != "" {
		out = append(out, commandReading{name: "git", args: append([]Arg{{Text: sub, Literal: true}}, args...)})
	}
	return out
}

// UsualName is the one name of programs that are the same.
func UsualName(name string) string {
	switch name {
	case "gmake", "bmake":
		return "make"
	case "mvnw":
		return "mvn"
	case "gradlew":
		return "gradle"
	case "nodejs":
		return "node"
	case ".":
		return "source"
	case "bsdtar", "gtar":
		return "tar"
	case "gsed":
		return "sed"
	case "apt-get", "aptitude":
		return "apt"
	case "docker-compose":
		return "docker"
	}
	if versioned.MatchString(name) {
		return strings.TrimRight(name, "0123456789.")
	}
	return name
}

var versioned = pattern.Of(`^(python|pip|pypy|perl|ruby|php|lua|node)[0-9.]+$`)

// usualForm reads a command in the plainest way; false if that is what stands
// there.
func usualForm(name string, args []Arg) (string, []Arg, bool) {
	n := UsualName(name)
	a := slices.Clone(args)
	if name == "docker-compose" {
		a = append([]Arg{{Text: "compose", Literal: true}}, a...)
	}
	if module, rest, ok := moduleOf(n, a); ok {
		n, a = UsualName(module), slices.Clone(rest)
	}
	if i := operandAt(a); n == "uv" && i >= 0 && a[i].Text == "pip" {
		n, a = "pip", slices.Delete(a, i, i+1)
	}
	a = plainWordsOf(n, a)
	for i := range a {
		if t := a[i].Text; a[i].Literal && strings.Contains(t, "/") && !strings.Contains(t, "://") && !strings.HasPrefix(t, "-") {
			a[i].Text = path.Clean(t)
		}
	}
	same := n == name && slices.EqualFunc(a, args, func(x, y Arg) bool { return x.Text == y.Text })
	return n, a, !same
}

// tarLetters: what tar is to do, without a dash.
var tarLetters = pattern.Of(`^[cxtruAd]?[A-Za-z]*[cxtruAd][A-Za-z]*$`)

// operandAt is where the first word that is no option stands; -1 if there is none.
func operandAt(args []Arg) int {
	return slices.IndexFunc(args, func(a Arg) bool { return a.Literal && !strings.HasPrefix(a.Text, "-") })
}

// moduleOf is the module that python runs: -m x, -mx, -Im x.
func moduleOf(name string, args []Arg) (module string, rest []Arg, ok bool) {
	if name != "python" && name != "pypy" {
		return "", nil, false
	}
	for i, a := range args {
		t := a.Text
		if !strings.HasPrefix(t, "-") || strings.HasPrefix(t, "--") || len(t) < 2 {
			if i > 0 && (args[i-1].Text == "-W" || args[i-1].Text == "-X") {
				continue
			}
			return "", nil, false
		}
		at := strings.IndexByte(t, 'm')
		switch {
		case strings.ContainsAny(t[:max(at, 0)], "cWX") || at < 0 && strings.Contains(t, "c"):
			return "", nil, false
		case at < 0:
		case at < len(t)-1:
			return t[at+1:], args[i+1:], true
		case i+1 < len(args):
			return args[i+1].Text, args[i+2:], true
		}
	}
	return "", nil, false
}

// scriptOf is the script that an interpreter runs, and what it is told.
func scriptOf(name string, args []Arg) (script string, rest []Arg, ok bool) {
	if !isShell(name) && name != "." && name != "source" && !readsCode(UsualName(name)) {
		return "", nil, false
	}
	for i, a := range args {
		switch t := a.Text; {
		case !a.Literal:
			return "", nil, false
		case t == "-c" || t == "-e" || t == "-m" || t == "--eval" || strings.HasPrefix(t, "-m") && !isShell(name):
			return "", nil, false
		case t == "" || strings.HasPrefix(t, "-") || strings.HasPrefix(t, "+") || i > 0 && takesValue(args[i-1].Text):
		default:
			return t, args[i+1:], path.Base(t) != "/" && path.Base(t) != "."
		}
	}
	return "", nil, false
}

// linksTo is where the links on the way to a program or to its script lead.
func (p *Program) linksTo(name string, opt *Options) []string {
	file, _, ok := scriptOf(name, p.Args)
	if strings.Contains(p.Name, "/") && p.name.Literal {
		file, ok = p.Name, true
	}
	if !ok || opt.EvalSymlinks == nil {
		return nil
	}
	var out []string
	for _, d := range p.Dirs {
		full := path.Clean(Path{Dir: d, Text: file}.Full())
		if to, err := opt.EvalSymlinks(full); err == nil && to != full && !isSystemDir(path.Dir(full)) {
			out = append(out, to)
		}
	}
	return out
}

// matches: the rule's program is this one. A script of an interpreter is meant by
// its path, whatever of it the rule says.
func (r *commandReading) matches(c *Pattern) bool {
	if !wildWord(c.words[0], r.name) {
		return false
	}
	if r.script == "" || c.path == "" {
		return true
	}
	return slices.ContainsFunc(r.dirs, func(d string) bool {
		return strings.HasSuffix(strings.ToLower(Path{Dir: d, Text: r.script}.Full()), "/"+c.path) || strings.HasSuffix(strings.ToLower(path.Clean(Path{Dir: d, Text: r.script}.Full())), "/"+c.path)
	})
}
