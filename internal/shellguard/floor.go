package shellguard

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// Floor says why a person must be asked about a line whatever mode or rule
// allows it; empty if nothing does. See [Line.Floor].
func Floor(text string, opt Options) []string { return Analyze(text, opt).Floor() }

// Floor lists what no mode removes: wiping the system, a home directory or a
// disk, forced pushes and rewritten history, fork bombs, code from the network
// given to a shell, switching the machine off. It reads more into a line than
// the rest of the guard, expansions included, since here too much only asks.
func (l *Line) Floor() []string {
	out := slices.Clone(l.floor)
	add := func(why string) {
		if why != "" && !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	if len(l.Programs) == 0 && len(l.Unknown) > 0 && len(l.assigned) == 0 {
		add("it cannot be read, so nobody knows what it would do")
	}
	vital := slices.ContainsFunc(l.Programs, func(p Program) bool { return p.vitalArg() })
	fetched := slices.ContainsFunc(l.Programs, func(p Program) bool {
		return slices.Contains(p.Via, "a substitution") && (makesCode(path.Base(p.Name)) || p.prints)
	})
	tame := l.tame()
	for i := range l.Programs {
		p := &l.Programs[i]
		name := programKey(p.Name)
		add(p.floor(name))
		add(p.floorName())
		add(l.floorOpen(p, name, tame(i)))
		add(l.floorNet(p, name, fetched))
		if p.fromAddress(name) {
			add(Quote(p.Name) + " runs code that it gets from elsewhere")
		}
		if readsCode(name) && (p.piped && !p.hasScript() || fetched) {
			add(Quote(name) + " is given code that is not in the line")
		}
		if p.piped && isShell(name) && slices.Contains(p.Via, "xargs") && p.takesCode() {
			add(Quote(name) + " is given code that is not in the line")
		}
		if p.piped && p.takesCommands(name) && slices.ContainsFunc(l.Programs, func(q Program) bool { return makesCode(path.Base(q.Name)) && path.Base(q.Name) != "ssh" }) {
			add(Quote(name) + " is given code that is not in the line")
		}
		if p.fetched {
			add(Quote(p.Name) + " runs what the line gets from elsewhere")
		}
		if name == "git" && p.setsForce() && slices.ContainsFunc(l.Programs, func(q Program) bool { return path.Base(q.Name) == "git" && q.word("push") }) {
			add("it overwrites or deletes what others have in the remote repository")
		}
		if slices.Contains([]string{"rm", "shred", "unlink", "truncate", "rmdir", "srm"}, name) && vital && fills(p.Via) {
			add(spoilsFound)
		}
	}
	l.floorListed(add)
	for _, r := range l.Redirects {
		add(r.floor())
	}
	if l.possible != nil {
		for _, why := range l.possible.floorPossible(l) {
			add(why)
		}
	}
	return out
}

// floorPossible is the floor of what a line may do beside what it says.
func (l *Line) floorPossible(said *Line) []string {
	out := slices.Clone(l.floor)
	tame := said.tame()(-1)
	for i := range l.Programs {
		p := &l.Programs[i]
		name := programKey(p.Name)
		out = append(out, p.floor(name), said.floorOpen(p, name, tame))
		if !p.name.Literal {
			out = append(out, p.floorName())
		}
		if isShell(name) && p.piped && !p.hasScript() && !fills(p.Via) {
			out = append(out, Quote(name)+" is given code that is not in the line")
		}
		if p.fetched {
			out = append(out, Quote(p.Name)+" runs what the line gets from elsewhere")
		}
	}
	for _, r := range l.Redirects {
		out = append(out, r.floor())
	}
	return out
}

func (r *Redirect) floor() string {
	if !strings.Contains(r.Op, ">") {
		return ""
	}
	for _, to := range slices.Concat([]string{r.Target}, r.target.values, r.devices) {
		switch t := path.Clean(to); {
		case isDevice(t):
			return "it writes to the device " + Quote(to)
		case t == "/proc/sysrq-trigger":
			return "it commands the kernel"
		case isAccountFile(t):
			return "it overwrites " + Quote(t)
		}
	}
	return ""
}

// floor is about one program.
func (p *Program) floor(name string) string {
	if p.flag("", "no-preserve-root") {
		return "it removes the protection of /"
	}
	if why := p.floorDisk(name) + p.floorMachine(name); why != "" {
		return why
	}
	switch name {
	case "rm", "rmdir", "unlink", "shred", "srm", "truncate", "trash", "trash-put", "trash-cli", "rimraf", "del-cli", "premove":
		return p.floorRemove(name)
	case "chmod", "chown", "chgrp", "setfacl", "chattr":
		for _, a := range p.Args {
			switch t := path.Clean(a.Text); {
			case isAccountFile(t):
				return "it changes who may use " + Quote(t)
			case name == "chmod" && isSystemDir(path.Dir(t)+"/") && slices.ContainsFunc(p.Args, func(a Arg) bool { return setsOwner.MatchString(a.Text) }):
				return "it lets everybody run " + Quote(t) + " as its owner"
			}
		}
		if p.flag("R", "recursive") && (p.vitalArg() || p.vital) {
			return "it changes who may use a directory of the system or a whole home"
		}
	case "mv", "cp", "tee", "install", "ln", "rsync", "dd", "mkswap", "wipefs", "blkdiscard", "fdisk", "sfdisk", "gdisk", "sgdisk", "parted", "hdparm", "cryptsetup":
		return p.floorOverwrite(name)
	case "find", "fd", "fdfind":
		nowhere := name == "find" && len(findRoots(p.Args)) == 0 && p.vitalDir()
		if (p.flag("", "delete") || p.runsRemover() || p.runsSpoiler(name)) && (p.vitalArg() || p.vital || nowhere) {
			return spoilsFound
		}
	case "git", "hub":
		return p.floorGit()
	case "tar", "bsdtar", "gtar", "zip":
		if (p.flag("", "remove-files", "move") || name == "zip" && p.flag("m")) && p.vitalArg() {
			return "it removes what it packs: a directory of the system or a whole home"
		}
	case "shutdown", "reboot", "halt", "poweroff", "init", "telinit", "killall5":
		return "it switches the machine off or into another state"
	case "systemctl":
		if p.word("poweroff", "reboot", "halt", "kexec", "suspend", "hibernate", "isolate", "rescue", "emergency") {
			return "it switches the machine off or into another state"
		}
	case "kill", "pkill", "killall":
		return p.floorKill(name)
	case "history", "fc":
		if p.flag("cdw", "") {
			return "it changes the record of what was typed"
		}
	case "unset", "export", "declare":
		if p.word("HISTFILE", "HISTSIZE", "HISTFILE=", "HISTSIZE=0", "HISTFILESIZE=0", "HISTFILE=/dev/null") {
			return "it changes the record of what was typed"
		}
	case "gh", "glab":
		if p.word("sync") && p.flag("", "force") || p.deletesRepository() {
			return "it overwrites or deletes what others have in the remote repository"
		}
	case "crontab":
		if p.flag("r", "") {
			return "it removes every planned job"
		}
	}
	switch {
	case strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs"):
		return "it makes a new file system on a disk"
	case readsCode(name) || runsAnything(name):
		return p.floorCode(name)
	}
	if low := strings.ToLower(name); low != name && floorProgram(low) {
		return p.floor(low) // some file systems know no capital letters
	}
	return p.floorLike()
}

// deletesRepository: a whole repository on another machine, or a branch of it.
func (p *Program) deletesRepository() bool {
	switch {
	case p.word("repo", "project") && p.word("delete"):
		return true
	case !p.word("api"):
		return false
	}
	text := strings.Join(argTexts(p.Args), " ")
	return apiDeletes.MatchString(text) && apiRepository.MatchString(text)
}

var (
	apiDeletes    = pattern.Of(`(?i)(^| )(-X|--method)[ =]?"?DELETE`)
	apiRepository = pattern.Of(`(^| |https://[^/ ]+)/?(repos/[^/ ]+/[^/ ]+|projects/[^/ ]+)(/git/refs/\S*|/repository/branches/\S*)?/?( |$)`)
)

// setsOwner: modes of chmod by which a program runs as its owner.
var setsOwner = pattern.Of(`^([ugoa]*[+=][rwxX]*s|0?[2467][0-7]{3}$)`)

// floorLike: a program of the project may be a copy of one that the floor is
// about; what it is told gives it away.
func (p *Program) floorLike() string {
	if dir, _ := path.Split(p.Name); dir == "" && (p.trusted || p.Builtin) || isSystemDir(dir) {
		return ""
	}
	if p.flag("rR", "recursive") && p.flag("f", "force") && p.vitalArg() {
		return "it removes a directory of the system or a whole home, if " + Quote(p.Name) + " is rm"
	}
	if sub, _ := gitSubCommand(p.Args); sub == "push" || sub == "send-pack" {
		if why := p.floorGit(); why != "" {
			return why + ", if " + Quote(p.Name) + " is git"
		}
	}
	if slices.ContainsFunc(p.Args, func(a Arg) bool { return strings.HasPrefix(a.Text, "of=") && isDevice(a.Text[3:]) }) {
		return "it overwrites a device"
	}
	return ""
}

func (p *Program) floorRemove(name string) string {
	for _, a := range p.Args {
		switch {
		case isDevice(a.Text):
			return "it overwrites the device " + Quote(a.Text)
		case isAccountFile(path.Clean(a.Text)):
			return "it removes " + Quote(a.Text)
		case strings.HasSuffix(a.Text, "_history") && strings.Contains(a.Text, "/."):
			return "it removes the record of what was typed"
		}
	}
	if p.vital {
		return "it goes through a link to a directory of the system or a whole home"
	}
	if !p.vitalArg() && !p.personalArg() {
		return ""
	}
	if (name == "rm" || name == "unlink") && !p.flag("rRf", "recursive") && !slices.ContainsFunc(p.Args, func(a Arg) bool { return strings.Contains(a.Text, "*") }) {
		return "" // rm / alone refuses
	}
	return "it removes a directory of the system or a whole home"
}

func (p *Program) floorOverwrite(name string) string {
	for i, a := range p.Args {
		t := a.Text
		if name == "dd" {
			var ok bool
			if t, ok = strings.CutPrefix(t, "of="); !ok {
				continue
			}
		}
		for _, d := range p.Dirs {
			if device, ok := deviceIn(d, t); ok && name == "dd" {
				return "it overwrites the device " + Quote(device)
			}
		}
		if isDevice(t) {
			return "it overwrites the device " + Quote(t)
		}
		if isAccountFile(path.Clean(t)) && (name != "cp" || i == len(p.Args)-1) {
			return "it overwrites " + Quote(t)
		}
	}
	switch name {
	case "cp", "tee", "install", "ln":
		if p.overwritesAll(name) {
			return "it overwrites the files of a directory of the system or of a home"
		}
	}
	if name == "mv" && p.vitalArg() {
		return "it moves a directory of the system or a whole home away"
	}
	if name == "rsync" && p.flag("", "delete", "del", "delete-after", "delete-before", "delete-during", "delete-delay", "delete-excluded", "delete-missing-args", "remove-source-files") && (p.vitalArg() || p.vital) {
		return "it removes files from a directory of the system or a home"
	}
	return ""
}

func (p *Program) floorKill(name string) string {
	for i, a := range p.Args {
		switch {
		case name == "kill" && (a.Text == "1" && i > 0 || a.Text == "1" && len(p.Args) == 1 || a.Text == "-1" && i > 0):
			return "it ends every program"
		case name != "kill" && (strings.Trim(a.Text, ".*^$") == "" || a.Text == "-u"):
			return "it ends every program of a user"
		}
	}
	return ""
}

// floorCode looks into code given to an interpreter for the few words that
// wipe or fork; it is a net with wide meshes.
func (p *Program) floorCode(name string) string {
	for _, a := range p.Args {
		for _, word := range []string{"rmtree(", "remove_dir_all", "fork while", "fork()", "/dev/sd", "/dev/nvme", "mkfs", "rmSync('/", "rmSync(\"/", "FileUtils.rm_r"} {
			if strings.Contains(a.Text, word) {
				return "the code given to " + Quote(name) + " has " + Quote(word)
			}
		}
		if found := codeWipes.Regexp().FindString(a.Text); found != "" {
			return "the code given to " + Quote(name) + " has " + Quote(found)
		}
	}
	return ""
}

// codeWipes is rm of a whole tree in a text: not rm -rf /tmp/x.
var codeWipes = pattern.Of(`\brm -(rf|fr) ["']?(/|~)["']?(\*|$|[\s;&|)"'\\])`)

// bomb reports whether a function's body starts the function again in a pipe
// or in the background.
func bomb(body *syntax.Stmt, name string) bool {
	calls, splits := false, false
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			splits = splits || n.Background
		case *syntax.BinaryCmd:
			splits = splits || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		case *syntax.CallExpr:
			calls = calls || len(n.Args) > 0 && n.Args[0].Lit() == name
		}
		return true
	})
	return calls && splits
}

// endless notes a loop without an end that starts jobs.
func (w *walker) endless(do []*syntax.Stmt) {
	if slices.ContainsFunc(do, func(s *syntax.Stmt) bool { return s.Background }) {
		w.line.floor = append(w.line.floor, "a loop starts jobs in the background: a fork bomb")
	}
}
