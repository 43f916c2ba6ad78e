package shellguard

import (
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// Wiping a home takes no rm: a program that empties each file that is found does
// it as well. What is found is put in for a mark ({}), behind the last word, or by
// the variable of a loop.

const spoilsFound = "it removes what is found in a directory of the system or a home"

// spoils: the program removes or overwrites the files that found tells of; if
// appended is set, they also stand behind its last word.
func spoils(name string, args []Arg, found func(Arg) bool, appended bool) bool {
	if name == "" || len(args) == 0 && !appended {
		return false
	}
	given := appended || slices.ContainsFunc(args, found)
	if !given {
		return false
	}
	p := Program{Args: args}
	switch name {
	case "rm", "shred", "unlink", "rmdir", "truncate", "srm", "mv", "chmod", "chown", "chgrp", "trash", "trash-put", "rimraf":
		return true
	case "cp", "install", "ln", "rsync":
		if p.flag("t", "target-directory") {
			return false
		}
		return appended || found(args[len(args)-1])
	case "tee", "sponge":
		return true
	case "dd":
		return slices.ContainsFunc(args, func(a Arg) bool { return strings.HasPrefix(a.Text, "of=") && found(a) })
	case "sed", "gsed", "perl", "ruby":
		if slices.ContainsFunc(args, func(a Arg) bool { return inPlace.MatchString(a.Text) }) {
			return true
		}
	}
	if readsCode(name) {
		return slices.ContainsFunc(args, func(a Arg) bool {
			t := a.texts()[0]
			return isShell(name) && shellSpoils.MatchString(t) || !isShell(name) && (codeRemoves.MatchString(t) || codeEmpties.MatchString(t))
		})
	}
	return false
}

var (
	inPlace     = pattern.Of(`^(-[a-zA-Z0-9]*i|--in-place)`)
	shellSpoils = pattern.Of(`(^|[^>&0-9])>>?\|?\s*["']?(\$|\{\}|%)|(^|[\s;&|(])(rm|unlink|shred|truncate|mv|tee|dd|chmod|chown|cp\s+/dev/\w+)\s`)
	codeEmpties = pattern.Of(`(?i)truncate|open\s*\([^()]*,\s*["'][wa+>]|writefile|write_text|write_bytes|\.write\(|file\.write|open.{0,12}['"]>`)
)

// spoilsWords: a command that is run for what is found, wrappers before it
// included.
func spoilsWords(words []Arg, found func(Arg) bool) bool {
	appended := !slices.ContainsFunc(words, found)
	for i, a := range words {
		if i > maxPrograms {
			return false
		}
		if spoils(path.Base(a.Text), words[i+1:], found, appended) {
			return true
		}
	}
	return false
}

// runsSpoiler: find -exec cp /dev/null {} and its like.
func (p *Program) runsSpoiler(name string) bool {
	mark := func(a Arg) bool { return strings.Contains(a.Text, "{") && strings.Contains(a.Text, "}") }
	if name == "find" {
		u, _ := unwrapFind(p.Args)
		return slices.ContainsFunc(u.inner, func(words []Arg) bool { return slices.ContainsFunc(words, mark) && spoilsWords(words, mark) })
	}
	at := slices.IndexFunc(p.Args, func(a Arg) bool {
		return a.Text == "-x" || a.Text == "-X" || strings.HasPrefix(a.Text, "--exec")
	})
	return at >= 0 && spoilsWords(p.Args[at+1:], mark)
}

// feedsSpoiler: xargs or parallel is told to empty or remove what it reads.
func (p *Program) feedsSpoiler(name string) bool {
	u := unwrapXargs(name, p.Args)
	marks := fillMarks(name, p.Args)
	mark := func(a Arg) bool {
		return slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(a.Text, m) })
	}
	for _, words := range u.inner {
		if spoilsWords(words, mark) {
			return true
		}
	}
	return u.isScript && spoilsWords(asArgs(strings.Fields(u.script.Text)), mark)
}

// listsVital: the program names the files in a home or in the system to another one.
func (p *Program) listsVital(name string) bool {
	return isOneOf(name, "find fd fdfind ls du tree locate plocate printf echo rg git") && (p.pipes || slices.Contains(p.Via, "a substitution")) && (p.vitalArg() || name == "find" && len(findRoots(p.Args)) == 0 && p.vitalDir())
}

// floorListed is about loops over the files in a home or in the system.
func (l *Line) floorListed(add func(string)) {
	listed := slices.ContainsFunc(l.Programs, func(p Program) bool { return p.listsVital(programKey(p.Name)) })
	if !listed {
		return
	}
	read := func(a Arg) bool { return a.open >= computed && !startsPlain(a.Text) }
	for i := range l.Programs {
		p := &l.Programs[i]
		switch name := programKey(p.Name); {
		case name == "xargs" || name == "parallel":
			if p.feedsSpoiler(name) {
				add(spoilsFound)
			}
		case spoils(name, p.Args, read, false):
			add(spoilsFound)
		}
	}
	for i := range l.Redirects {
		if r := &l.Redirects[i]; strings.Contains(r.Op, ">") && read(r.target) {
			add(spoilsFound)
		}
	}
}

// overwritesAll: every file in such a directory is a target.
func (p *Program) overwritesAll(name string) bool {
	for i, a := range p.Args {
		if t := a.Text; strings.ContainsAny(t, "*?[") && t[0] != '-' && (name == "tee" || i == len(p.Args)-1) && p.homes.isVital(t, p.Dirs) {
			return true
		}
	}
	return false
}

// personalArg: what people keep in their home, the whole of a kind of it.
func (p *Program) personalArg() bool {
	for _, a := range p.Args {
		t := strings.TrimRight(a.Text, "/")
		if at := strings.LastIndexByte(t, '/'); at >= 0 && (anyName(t[at+1:]) || t[at+1:] == ".") {
			t = strings.TrimRight(t[:at], "/")
		}
		for _, home := range []string{"~", "$HOME"} {
			if rest, ok := strings.CutPrefix(t, home+"/"); ok {
				t = homeDir + "/" + rest
			}
		}
		for _, d := range p.Dirs {
			full := path.Clean(t)
			if !path.IsAbs(t) {
				full = path.Join(d, t)
			}
			if anyName(path.Base(full)) {
				full = path.Dir(full)
			}
			if dir, base := path.Split(full); isPersonal(base) && p.homes.isVitalDir(path.Clean(dir)) {
				return true
			}
		}
	}
	return false
}

func isPersonal(name string) bool {
	return isOneOf(name, "Documents Desktop Downloads Pictures Music Movies Videos Library Dropbox OneDrive Nextcloud Mail Maildir "+
		".ssh .gnupg .config .local .aws .kube .password-store .thunderbird .mozilla .claude .codex")
}
