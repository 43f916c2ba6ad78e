package shellguard

import (
	"path"
	"slices"
	"strings"
)

// vitalArg: one of the arguments is the root, a directory of the system, a
// home, or everything in one of them.
func (p *Program) vitalArg() bool {
	return slices.ContainsFunc(p.Args, func(a Arg) bool {
		return a.Text != "" && a.Text[0] != '-' && p.homes.isVital(a.Text, p.Dirs)
	})
}

func (p *Program) vitalDir() bool {
	return slices.ContainsFunc(p.Dirs, p.homes.isVitalDir)
}

// isVital reads a target the way a shell would, variables included.
func (h homes) isVital(text string, dirs []string) bool {
	t := strings.TrimRight(text, "/")
	for _, all := range []string{"/*", "/.*", "/.", "/{*,.*}", "/.[!.]*", "/?*", "/**"} {
		t = strings.TrimRight(strings.TrimSuffix(t, all), "/")
	}
	if at := strings.LastIndexByte(t, '/'); at >= 0 && anyName(t[at+1:]) {
		t = strings.TrimRight(t[:at], "/")
	}
	switch {
	case t == "" && strings.HasPrefix(text, "/"):
		return true
	case strings.HasPrefix(t, "~"):
		return !strings.Contains(t, "/") || strings.Contains(t, "/..")
	case strings.HasPrefix(t, "$"):
		name := strings.TrimLeft(t, "$")
		if name == "HOME" || strings.HasPrefix(name, "HOME:-") || name == "PWD" && slices.ContainsFunc(dirs, h.isVitalDir) || strings.HasPrefix(name, "HOME/..") {
			return true
		}
		if at := strings.LastIndex(t, "/../"); at >= 0 && h.isVitalDir(path.Clean(t[at+3:])) {
			return true
		}
		// An unset variable would leave "/" or "/*".
		return !strings.Contains(t, "/") && (t != text)
	case strings.HasPrefix(t, "/"):
		return h.isVitalDir(path.Clean(t)) || strings.ContainsAny(t, "*?[…") && vitalPattern(path.Clean(t))
	}
	rel := strings.TrimSuffix(t, "*")
	for _, d := range dirs {
		if rel == "" || rel == "." || strings.HasPrefix(rel, "..") || strings.HasPrefix(rel, "./") {
			if h.isVitalDir(path.Join(d, rel)) {
				return true
			}
		} else if h.isVitalDir(path.Join(d, t)) || h.isVitalDir(d) && d != unknownDir && strings.ContainsAny(t, "*?[") && vitalPattern(path.Join(d, t)) {
			return true
		}
	}
	return false
}

// anyName: an element that is nothing but wildcards, so that it means everything
// or nearly so: [a-z]*, .[!.]*, ??*.
func anyName(elem string) bool {
	wild := false
	for i := 0; i < len(elem); i++ {
		switch elem[i] {
		case '*', '?':
			wild = true
		case '[':
			end := strings.IndexByte(elem[i+1:], ']')
			if end < 0 {
				return false
			}
			wild = true
			i += end + 1
		case '.':
			if i > 0 {
				return false
			}
		default:
			return false
		}
	}
	return wild
}

// vitalPattern: the pattern may mean such a directory.
func vitalPattern(pattern string) bool {
	pattern = strings.ReplaceAll(pattern, "…", "*")
	for _, d := range []string{"/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/opt", "/root", "/sbin", "/srv", "/usr", "/var", "/usr/bin", "/usr/lib", "/usr/share", "/usr/local", "/usr/sbin", "/var/lib", "/var/log", "/Users", "/System", "/Library"} {
		if ok, err := path.Match(pattern, d); ok || err != nil {
			return true
		}
	}
	dir, _ := path.Split(pattern)
	dir = strings.TrimSuffix(dir, "/")
	for _, d := range []string{"/home", "/Users"} {
		if ok, err := path.Match(dir, d); ok || err != nil {
			return true
		}
	}
	return false
}

// isVitalDir: a machine or a person does not survive the loss of this one.
func (h homes) isVitalDir(d string) bool {
	if rest, ok := strings.CutPrefix(d, "/proc/"); ok {
		_, rest, _ = strings.Cut(rest, "/")
		if strings.HasPrefix(rest, "root") || strings.HasPrefix(rest, "cwd") {
			return true // the same directories by another name
		}
	}
	switch d {
	case unknownDir, "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/mnt", "/media", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys",
		"/usr", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/local", "/usr/sbin", "/usr/share", "/var", "/var/lib", "/var/log",
		"/Users", "/System", "/Library", "/Applications", "/Volumes", "/private", "/private/etc", "/private/var":
		return true
	}
	dir, base := path.Split(d)
	switch dir {
	case "/home/", "/Users/", "/Volumes/", "/var/home/", "/usr/home/", "/export/home/", "/mnt/c/Users/":
		return base != ""
	}
	return slices.Contains(h, d)
}

func isAccountFile(t string) bool {
	return isOneOf(t, "/etc/passwd /etc/shadow /etc/sudoers /etc/group /etc/fstab")
}

// flag reports whether one of the letters stands in a cluster, or one of the
// words as an option with one dash or two.
func (p *Program) flag(letters string, words ...string) bool {
	for _, a := range p.Args {
		t := a.Text
		if len(t) < 2 || t[0] != '-' {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimLeft(t, "-"), "=")
		for _, w := range words {
			if w != "" && (name == w || strings.HasPrefix(t, "--") && name != "" && strings.HasPrefix(w, name)) {
				return true
			}
		}
		if !strings.HasPrefix(t, "--") && letters != "" && strings.ContainsAny(t[1:], letters) {
			return true
		}
	}
	return false
}

func (p *Program) word(words ...string) bool {
	return slices.ContainsFunc(p.Args, func(a Arg) bool { return slices.Contains(words, a.Text) })
}

// runsRemover: find -exec rm and its like.
func (p *Program) runsRemover() bool {
	return slices.ContainsFunc(p.Args, func(a Arg) bool {
		switch path.Base(a.Text) {
		case "rm", "shred", "unlink", "rmdir", "truncate", "mv", "chmod", "chown", "chgrp":
			return true
		}
		return false
	})
}

// readsCode: shells and interpreters take code from standard input; eval and
// source from what they are given.
func readsCode(name string) bool {
	if name != "." {
		name = strings.TrimRight(name, "0123456789.") // python3.12, ksh93
	}
	switch name {
	case "eval", "source", ".", "python", "pypy", "perl", "ruby", "irb", "node", "nodejs", "php", "lua", "luajit", "pwsh", "osascript", "at", "batch", "crontab",
		"tclsh", "wish", "expect", "Rscript", "julia", "guile", "ghci":
		return true
	}
	return isShell(name)
}

// hasScript: the interpreter is told which file or code to run, so that its
// standard input is data.
func (p *Program) hasScript() bool {
	name := programKey(p.Name)
	if name == "eval" || name == "source" || name == "." {
		return !p.readsDescriptor()
	}
	for i, a := range p.Args {
		switch {
		case a.Text == "-s" || isInput(a.Text, p.Dirs):
			return false
		case isShell(name) && strings.HasPrefix(a.Text, "-"):
			if !strings.HasPrefix(a.Text, "--") && strings.Contains(a.Text, "c") || a.Text == "--version" {
				return true
			}
		case a.Text == "-c" || a.Text == "-e" || a.Text == "-m" || a.Text == "-n" || a.Text == "-p" && (name == "node" || name == "perl") || a.Text == "-ne" || a.Text == "-pe" || a.Text == "-lc" || a.Text == "--version":
			return true
		case !strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "+") && (i == 0 || !takesValue(p.Args[i-1].Text) && !(isShell(name) && takesName(p.Args[i-1].Text))):
			return true
		}
	}
	return false
}

// takesName: a shell's letters with o take the name of an option, as in -euo.
func takesName(flag string) bool {
	return len(flag) > 1 && (flag[0] == '-' || flag[0] == '+') && flag[1] != '-' && strings.ContainsAny(flag[1:], "oO")
}

// makesCode: what fetches or unwraps text that nobody has seen.
func makesCode(name string) bool {
	switch name {
	case "curl", "wget", "nc", "ncat", "fetch", "http", "https", "aria2c", "lynx", "base64", "base32", "xxd", "openssl", "gpg", "ssh", "socat", "dig", "ftp":
		return true
	}
	return false
}
