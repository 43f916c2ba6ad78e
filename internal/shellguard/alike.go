package shellguard

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A rule that takes a command away means it under every name: pip3 is pip, and
// so is python3 -m pip; npm i is npm install; sh ./a/x.sh is a/x.sh. So a rule
// and a program are both read in the plainest way that is known, and it is enough
// if one reading of the rule means one reading of the program.

// wording is one way to read what a program is told.
type wording struct {
	name  string
	args  []Arg
	dirs  []string // for a script: where its name counts from
	given string   // for a script: as it stands in the line
}

// readings lists them; the first is what stands there.
func readings(name string, args []Arg, dirs []string) []wording {
	out := []wording{{name: programName(name), args: args}}
	if script, rest, ok := scriptOf(programName(name), args); ok {
		out = append(out, wording{name: programName(script), args: rest, dirs: dirs, given: script})
		if n := UsualName(programName(name)); (n == "node" || n == "bun" || n == "deno") && path.Ext(script) == "" {
			for _, end := range []string{".js", ".mjs", ".cjs", ".ts"} { // which they add
				out = append(out, wording{name: programName(script + end), args: rest, dirs: dirs, given: script + end})
				full := slices.Clone(args)
				full[len(args)-len(rest)-1].Text += end
				out = append(out, wording{name: n, args: full})
			}
		}
	}
	if n, a, ok := usualForm(programName(name), args); ok {
		out = append(out, wording{name: n, args: a})
	}
	if module, rest, ok := moduleOf(UsualName(programName(name)), args); ok { // python3 -m a.b runs a/b.py
		for _, end := range []string{".py", "/__main__.py"} {
			script := strings.ReplaceAll(module, ".", "/") + end
			out = append(out, wording{name: programName(script), args: rest, dirs: dirs, given: script})
		}
	}
	if sub, ok := strings.CutPrefix(programName(name), "git-"); ok && sub != "" {
		out = append(out, wording{name: "git", args: append([]Arg{{Text: sub, Literal: true}}, args...)})
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

var versioned = regexp.MustCompile(`^(python|pip|pypy|perl|ruby|php|lua|node)[0-9.]+$`)

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
	if i := operandAt(a, 0); n == "uv" && i >= 0 && a[i].Text == "pip" {
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
var tarLetters = regexp.MustCompile(`^[cxtruAd]?[A-Za-z]*[cxtruAd][A-Za-z]*$`)

// operandAt is where the n-th word that is no option stands; -1 if there is none.
func operandAt(args []Arg, n int) int {
	for i, a := range args {
		if strings.HasPrefix(a.Text, "-") || !a.Literal {
			continue
		}
		if n--; n < 0 {
			return i
		}
	}
	return -1
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

// means: the rule's program is this one. A script of an interpreter is meant by
// its path, whatever of it the rule says.
func (r *wording) means(c *Pattern) bool {
	if !wildWord(c.words[0], r.name) {
		return false
	}
	if r.given == "" || c.path == "" {
		return true
	}
	return slices.ContainsFunc(r.dirs, func(d string) bool {
		return strings.HasSuffix(strings.ToLower(Path{Dir: d, Text: r.given}.Full()), "/"+c.path) || strings.HasSuffix(strings.ToLower(path.Clean(Path{Dir: d, Text: r.given}.Full())), "/"+c.path)
	})
}

// plainWordsOf puts the words of a command under their usual names.
func plainWordsOf(name string, a []Arg) []Arg {
	word := func(text string) Arg { return Arg{Text: text, Literal: true} }
	sub, at := "", operandAt(a, 0)
	if at >= 0 {
		sub = a[at].Text
	}
	set := func(text string) { a[at].Text = text }
	drop := func() { a = slices.Delete(a, at, at+1) }
	has := func(letter, long string) bool {
		return slices.ContainsFunc(a, func(x Arg) bool { return letter != "" && hasLetter(x.Text, letter) || isLong(x.Text, long) })
	}
	next := func() string {
		if at+1 < len(a) {
			return a[at+1].Text
		}
		return ""
	}
	switch name {
	case "npm":
		if at > 0 && npmCommand(sub) == "" && !isNpmCommand(sub) && strings.HasPrefix(a[at-1].Text, "-") && operandAt(a[at+1:], 0) >= 0 {
			at += 1 + operandAt(a[at+1:], 0) // the word belongs to an option
			sub = a[at].Text
		}
		if is := npmCommand(sub); is != "" {
			set(is)
		}
		if at >= 0 && a[at].Text == "run" && slices.Contains([]string{"test", "start", "stop", "restart"}, next()) {
			drop()
		}
	case "yarn", "pnpm", "bun":
		if sub == "run" || sub == "run-script" {
			drop()
		}
	case "cargo":
		if strings.HasPrefix(sub, "+") {
			drop()
			return plainWordsOf(name, a)
		}
		if long, ok := map[string]string{"r": "run", "b": "build", "t": "test", "c": "check", "d": "doc"}[sub]; ok {
			set(long)
		}
	case "docker", "podman", "nerdctl":
		if (sub == "container" || sub == "image") && next() != "" && next() != "ls" && next() != "prune" && next() != "inspect" {
			if drop(); a[at].Text == "remove" {
				set("rm")
			}
			if sub == "image" && a[at].Text == "rm" {
				set("rmi")
			}
		}
	case "tar":
		if len(a) > 0 && a[0].Literal && tarLetters.MatchString(a[0].Text) { // tar xzf x
			a[0].Text = "-" + a[0].Text
		}
		for _, same := range [][2]string{{"extract", "-x"}, {"get", "-x"}, {"create", "-c"}, {"gzip", "-z"}, {"gunzip", "-z"}, {"file", "-f"}} {
			if slices.ContainsFunc(a, func(x Arg) bool { return isLong(x.Text, same[0]) && len(x.Text) > 3 }) {
				a = append([]Arg{word(same[1])}, a...)
			}
		}
	case "gcloud":
		if sub == "beta" || sub == "alpha" {
			drop()
		}
	case "helm":
		if sub == "del" || sub == "delete" || sub == "un" {
			set("uninstall")
		}
	case "kubectl", "oc":
		a = kindsOf(a)
	case "ssh":
		for i, x := range a {
			if x.Literal && !strings.HasPrefix(x.Text, "-") {
				t, address := strings.CutPrefix(strings.ToLower(x.Text), "ssh://") // a host has no case
				if t = t[strings.LastIndexByte(t, '@')+1:]; address {
					t, _, _ = strings.Cut(strings.TrimRight(t, "/"), ":")
				}
				a[i].Text = t
				if i == 0 || !strings.HasPrefix(a[i-1].Text, "-") {
					break
				}
			}
		}
	case "psql", "pg_dump", "pg_restore", "pg_dumpall", "mysql", "mysqldump", "redis-cli", "mongo", "mongosh":
		a = append(a, addressed(a)...)
	case "chmod":
		for i, x := range a {
			switch t := strings.TrimLeft(x.Text, "0"); {
			case t != "" && isNumber(t):
				a[i].Text = t
			case slices.Contains([]string{"a+rwx", "a=rwx", "ugo+rwx", "ugo=rwx", "+rwx", "=rwx"}, x.Text):
				a[i].Text = "777"
			}
		}
	case "terraform", "tofu":
		for i, x := range a {
			if strings.HasPrefix(x.Text, "--") && len(x.Text) > 2 {
				a[i].Text = x.Text[1:]
			}
		}
	case "gradle":
		for i, x := range a {
			a[i].Text = strings.TrimPrefix(x.Text, ":")
		}
	case "sed":
		if has("", "in-place") {
			a = append(a, word("-i"))
		}
	case "node":
		if has("p", "eval") || has("", "print") {
			a = append(a, word("-e"))
		}
	case "perl":
		if has("E", "-") {
			a = append(a, word("-e"))
		}
	case "git":
		switch {
		case sub == "add" && has("", "all"):
			a = append(a, word("-A"))
		case sub == "branch" && has("d", "delete") && has("f", "force"):
			a = append(a, word("-D"))
		case sub == "commit" && has("n", "no-verify"):
			a = append(a, word("--no-verify"), word("-n"))
		}
	}
	return a
}

// npmCommand is the command that a word means to npm, which takes aliases and
// the beginning of a name.
func npmCommand(word string) string {
	switch word {
	case "x":
		return "exec"
	case "it", "install-test":
		return "install"
	case "r":
		return "uninstall"
	case "":
		return ""
	case "i", "add", "in", "isnt", "isnta", "isntal", "isntall":
		return "install"
	case "run-script", "rum", "urn":
		return "run"
	case "t", "tst":
		return "test"
	case "un", "unlink", "remove", "rm":
		return "uninstall"
	case "up", "upgrade", "udpate":
		return "update"
	}
	if isNpmCommand(word) {
		return ""
	}
	for is := range strings.FieldsSeq("install publish uninstall unpublish update run test start stop restart exec version login logout link deprecate adduser access owner token") {
		if len(word) > 1 && strings.HasPrefix(is, word) {
			return is
		}
	}
	return ""
}

// isNpmCommand: such a word means itself.
func isNpmCommand(word string) bool {
	return slices.Contains([]string{"ls", "ll", "la", "ci", "set", "get", "run", "test", "start", "stop", "install", "publish"}, word)
}

// addressed writes the parts of an address of a database, postgres://ann@host:1/x
// or "host=x port=1", as the options that say the same.
func addressed(args []Arg) []Arg {
	var out []Arg
	add := func(option, value string) {
		if value != "" {
			out = append(out, Arg{Text: option, Literal: true}, Arg{Text: value, Literal: true})
		}
	}
	for _, x := range args {
		t := x.Text
		if scheme, rest, ok := strings.Cut(t, "://"); ok && x.Literal {
			if u, err := url.Parse(scheme[strings.LastIndexByte(scheme, '=')+1:] + "://" + rest); err == nil {
				add("-h", u.Hostname())
				add("-p", u.Port())
				add("-U", u.User.Username())
				add("-d", strings.TrimPrefix(u.Path, "/"))
			}
			continue
		}
		for word := range strings.FieldsSeq(t) {
			switch key, value, _ := strings.Cut(strings.TrimPrefix(word, "--dbname="), "="); key {
			case "host", "hostaddr":
				add("-h", value)
			case "port":
				add("-p", value)
			case "user":
				add("-U", value)
			case "dbname":
				add("-d", value)
			}
		}
	}
	return out
}

// kindsOf takes kind/name apart and puts kinds of Kubernetes under one name.
func kindsOf(args []Arg) []Arg {
	var out []Arg
	for _, a := range args {
		kind, name, cut := strings.Cut(a.Text, "/")
		if !a.Literal || strings.HasPrefix(a.Text, "-") {
			out = append(out, a)
			continue
		}
		short := map[string]string{"ns": "namespace", "po": "pod", "svc": "service", "no": "node", "cm": "configmap", "sts": "statefulset", "ds": "daemonset", "rs": "replicaset", "pv": "persistentvolume", "pvc": "persistentvolumeclaim", "ing": "ingress", "sa": "serviceaccount", "crd": "customresourcedefinition", "deploy": "deployment"}
		if is, ok := short[strings.ToLower(kind)]; ok {
			kind = is
		}
		a.Text = kind
		if plural := strings.TrimSuffix(kind, "s"); slices.Contains([]string{"namespace", "pod", "service", "node", "configmap", "secret", "deployment", "statefulset", "daemonset", "job", "cronjob"}, plural) {
			a.Text = plural
		}
		out = append(out, a)
		if cut {
			out = append(out, Arg{Text: name, Literal: true})
		}
	}
	return out
}
