package shellguard

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/starter"
)

// unwrapped is what a wrapper starts, and what the wrapper itself adds.
type unwrapped struct {
	inner    [][]Arg // programs with their arguments
	isScript bool
	script   Arg // shell code, for sh -c and its like
	// dynamic: the inner program gets more arguments than stand here, or runs
	// somewhere else.
	dynamic bool
	// why the wrapper is not transparent, and its class then. A transparent one
	// changes nothing about what it starts that could do harm.
	why   string
	class Class
}

// unwrap finds what a wrapper starts; false if the program is none.
func unwrap(name string, args []Arg) (unwrapped, bool) {
	if starter.IsShell(name) {
		return unwrapShell(name, args)
	}
	switch name {
	case "env":
		return unwrapEnv(args)
	case "eval":
		return unwrapEval(args), true
	case "trap", "alias":
		return unwrapLater(name, args)
	case "command":
		return unwrapCommand(args)
	case "xargs", "parallel":
		return unwrapXargs(name, args), true
	case "find":
		return unwrapFind(args)
	case "su", "runuser":
		return unwrapSu(args), true
	case "watch", "script", "flock":
		return unwrapWatch(name, args), true
	case "busybox", "toybox":
		if len(args) == 0 || !args[0].Literal || strings.HasPrefix(args[0].Text, "-") {
			return unwrapped{}, false
		}
		return unwrapped{inner: [][]Arg{args}, class: Runs, why: "its applet may differ from the program of that name"}, true
	case "docker", "podman", "nerdctl", "kubectl":
		return unwrapContainer(args)
	case "ssh":
		return unwrapSSH(args), true
	}
	if w, ok := wrapperOf(name); ok {
		return w.unwrap(args), true
	}
	return unwrapped{}, false
}

// wrapper is a program whose operands end in a command.
type wrapper struct {
	safe     form   // options with which it is transparent
	opaque   string // why it never is; empty if it can be
	class    Class
	letters  string // letters that take a value, to step over in any case
	operands int    // how many operands stand before the command
	dynamic  bool
}

func wrapperOf(name string) (wrapper, bool) {
	s, _ := starter.Of(name)
	w := wrapper{letters: s.Letters, operands: s.Operands}
	switch name {
	case "timeout":
		w.safe = form{short: "v", shortArg: "ks", long: "foreground preserve-status verbose kill-after= signal="}
	case "nice":
		w.safe = form{shortArg: "n", number: true, long: "adjustment="}
	case "ionice":
		w.safe = form{short: "t", shortArg: "cn", long: "ignore class= classdata="}
	case "stdbuf":
		w.safe = form{shortArg: "ioe", long: "input= output= error="}
	case "time":
		w.safe = form{short: "pv", long: "portability verbose"}
	case "nohup":
		w.opaque, w.class = "leaves a program running, and may write nohup.out", Runs
	case "setsid", "disown", "daemonize", "start-stop-daemon":
		w.opaque, w.class = "starts a program out of reach of its deadline", Runs
	case "builtin":
		w.opaque, w.class = "only bash knows it", Unknown
	case "exec":
		w.opaque, w.class = "replaces the shell", Runs
	case "sudo", "doas", "pkexec", "run0":
		w.opaque, w.class = "runs a program as another user", Runs
	case "chroot":
		w.opaque, w.class, w.dynamic = "runs a program in another root directory", Runs, true
	case "unshare", "nsenter", "setpriv", "systemd-run", "bwrap", "firejail", "capsh", "cgexec":
		w.opaque, w.class, w.dynamic = "runs a program with other rights", Runs, true
	case "chrt", "taskset":
		w.opaque, w.class = "changes how the machine schedules a program", Runs
	case "prlimit", "numactl", "choom", "softlimit", "cpulimit", "catchsegv", "unbuffer", "rlwrap", "fakeroot", "faketime", "torsocks", "proxychains", "proxychains4", "dbus-run-session", "dbus-launch", "xvfb-run", "strace", "ltrace", "perf", "valgrind", "gdb", "lldb", "ld.so", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "setarch", "linux64", "linux32", "noglob", "nocorrect", "entr", "watchexec", "direnv", "chronic", "ts", "sem", "caffeinate", "arch", "reptyr", "dtach", "abduco":
		if name == "arch" {
			return wrapper{}, false // on Linux it prints a word and starts nothing
		}
		w.opaque, w.class, w.dynamic = "runs a program under its own conditions", Runs, true
	default:
		return wrapper{}, false
	}
	return w, true
}

func (w *wrapper) unwrap(args []Arg) unwrapped {
	u := unwrapped{why: w.opaque, class: w.class, dynamic: w.dynamic}
	var rest []Arg
	if w.opaque == "" {
		_, left, why := w.safe.read(args, true)
		if why == "" {
			rest = left
		}
		u.why, u.class = why, Runs
	}
	if rest == nil {
		rest = stepOver(args, w.letters)
	}
	for n := 0; n < w.operands && len(rest) > 0; n++ {
		if !rest[0].Literal && u.why == "" {
			u.why = "the argument " + clip(rest[0].Text) + " is not literal"
		}
		rest = rest[1:]
	}
	if len(rest) == 0 {
		if u.why == "" {
			u.why = "it starts nothing"
		}
		return u
	}
	u.inner = [][]Arg{rest}
	return u
}

// wrapperDir is the directory that env -C, sudo -D and their like start a program
// in.
func wrapperDir(name string, args []Arg) (string, bool) {
	letter, long := "", "--chdir"
	switch name {
	case "env":
		letter = "-C"
	case "sudo":
		if slices.ContainsFunc(args[:len(args)-len(stepOver(args, "CDghpRrtTUu"))], func(a Arg) bool { return a.Text == "-i" || a.Text == "--login" }) {
			return homeDir, true
		}
		letter = "-D"
	case "unshare", "nsenter":
		letter, long = "-w", "--wd"
	case "systemd-run":
		letter, long = "-w", "--working-directory"
	case "docker", "podman", "nerdctl":
		letter, long = "-w", "--workdir"
	case "parallel":
		letter, long = "-w", "--workdir"
	case "bwrap":
		letter = "-w"
	case "chroot":
		if rest := stepOver(args, ""); len(rest) > 0 {
			return rest[0].texts()[0], true
		}
		return "", false
	case "ssh":
		return homeDir, true // of the other machine
	case "su", "runuser":
		if slices.ContainsFunc(args, func(a Arg) bool { return a.Text == "-" || a.Text == "-l" || a.Text == "--login" }) {
			return homeDir, true
		}
		return "", false
	default:
		return "", false
	}
	for i, a := range args {
		t := a.texts()[0]
		switch {
		case abbreviated(t, long):
			if _, to, ok := strings.Cut(t, "="); ok {
				return to, true
			}
			if i+1 < len(args) {
				return args[i+1].texts()[0], true
			}
		case !strings.HasPrefix(t, "--") && strings.HasPrefix(t, "-") && strings.HasSuffix(t, letter[1:]) && i+1 < len(args):
			return args[i+1].texts()[0], true
		case strings.HasPrefix(t, letter) && len(t) > 2:
			return t[2:], true
		case !strings.HasPrefix(t, "-") && !isAssignment(t) && (i == 0 || !strings.HasPrefix(args[i-1].Text, "-")) && t != "run" && t != "exec":
			return "", false
		}
	}
	return "", false
}

// abbreviated: a long option, which programs take for any beginning of it.
func abbreviated(t, option string) bool {
	name, _, _ := strings.Cut(t, "=")
	return len(name) > 2 && strings.HasPrefix(option, name)
}

// stepOver skips options, known or not, and assignments: good enough to show a
// person what a wrapper starts that is not judged as harmless anyway.
func stepOver(args []Arg, letters string) []Arg {
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		switch {
		case t == "--":
			return args[i+1:]
		case strings.HasPrefix(t, "--"):
		case strings.HasPrefix(t, "-") && len(t) > 1:
			if len(t) == 2 && strings.Contains(letters, t[1:]) {
				i++
			}
		case isAssignment(t):
		default:
			return args[i:]
		}
	}
	return nil
}

func isAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// unwrapEnv: transparent with harmless assignments and nothing else. Without a
// program it prints the environment, where secrets may be.
func unwrapEnv(args []Arg) (unwrapped, bool) {
	u := unwrapped{class: Runs}
	rest := args
	for len(rest) > 0 && rest[0].Literal && isAssignment(rest[0].Text) {
		name, value, _ := strings.Cut(rest[0].Text, "=")
		if !harmlessVariable(name, value) {
			u.why = "sets " + Quote(rest[0].Text)
		}
		rest = rest[1:]
	}
	if len(rest) > 0 && (strings.HasPrefix(rest[0].Text, "-") || !rest[0].Literal) {
		u.why = "its options change what is run"
		for i := 0; i < len(rest) && strings.HasPrefix(rest[i].Text, "-") && rest[i].Text != "--"; i++ {
			if t := rest[i].Text; strings.HasPrefix(t, "-S") || isSplit(t) || strings.HasPrefix(t, "-vS") {
				u.isScript, u.script = true, splitString(rest[i:])
				return u, true
			} else if len(t) == 2 && strings.Contains("uCa", t[1:]) || t == "--unset" || t == "--chdir" || t == "--argv0" {
				i++
			}
		}
		rest = stepOver(rest, "uCa")
	}
	if len(rest) == 0 {
		return unwrapped{class: Unknown, why: "prints the environment, where secrets may be"}, true
	}
	u.inner = [][]Arg{rest}
	return u, true
}

// isSplit: --split-string, which env takes for any beginning of it.
func isSplit(t string) bool { return abbreviated(t, "--split-string") }

// splitString reads env -S "cmd args" as shell code, which it nearly is.
func splitString(args []Arg) Arg {
	t := args[0].Text
	if isSplit(t) {
		_, t, _ = strings.Cut(t, "=")
	}
	for _, prefix := range []string{"-vS", "-S"} {
		if cut, ok := strings.CutPrefix(t, prefix); ok {
			t = cut
			break
		}
	}
	return joined(append([]Arg{{Text: t, Literal: args[0].Literal}}, args[1:]...))
}

// unwrapCommand: "command -v x" asks and is a form of its own; "command x"
// runs x past functions.
func unwrapCommand(args []Arg) (unwrapped, bool) {
	if len(args) == 0 {
		return unwrapped{}, false
	}
	switch t := args[0].Text; {
	case t == "-v" || t == "-V":
		return unwrapped{}, false
	case strings.HasPrefix(t, "-") && t != "--":
		return unwrapped{inner: [][]Arg{stepOver(args, "")}, class: Runs, why: "the option " + Quote(t) + " changes which program is run"}, true
	}
	return unwrapped{inner: [][]Arg{stepOver(args, "")}}, true
}

// unwrapEval: its words are joined and read again.
func unwrapEval(args []Arg) unwrapped {
	return unwrapped{isScript: true, class: Runs, why: "reads its words as shell code", script: joined(args)}
}

// joined is several words as one, with spaces between.
func joined(args []Arg) Arg {
	out := Arg{Literal: true}
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a.Text
		out.Literal = out.Literal && a.Literal
	}
	out.Text = strings.Join(words, " ")
	return out
}
