package shellguard

import (
	"strconv"
	"strings"
)

// systemForm: programs that tell something about the machine, and the words of
// the shell that are harmless.
func systemForm(name string) (form, bool) {
	f := form{class: ReadOnly, names: true}
	switch name {
	case "date":
		f.short, f.shortArg, f.shortOpt, f.most, f.check = "uR", "d", "I", 1, checkDate
		f.long = "utc universal rfc-2822 rfc-email rfc-3339= iso-8601? date="
	case "whoami", "logname", "arch", "users":
	case "id", "groups":
		f.short, f.long, f.most = "agGnruz", "user group groups name real zero", -1
	case "uname":
		f.short = "asnrvmpio"
		f.long = "all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system"
	case "hostname":
		f.short, f.long = "s", "short" // an operand would set it; -f asks the network
	case "nproc":
		f.long = "all ignore="
	case "uptime":
		f.short, f.long = "ps", "pretty since"
	case "free":
		f.short, f.long = "bkmghtlwv", "human total wide si bytes kilo mega giga"
	case "tty":
		f.short = "s"
	case "ps":
		f.short, f.shortArg, f.most, f.check = "AaefFlHTxwcjy", "opuUGgtCs", 1, checkPS
		f.long = "pid= ppid= user= format= sort= no-headers forest"
	case "which":
		f.short, f.need, f.most = "as", 1, -1
	case "type":
		f.short, f.need, f.most = "aftpP", 1, -1
	case "command": // only with -v or -V: everything else was unwrapped
		f.short, f.need, f.most, f.check = "vV", 1, -1, func(u *usage) string {
			if !u.has("v", "V") {
				return "it runs a program"
			}
			return ""
		}
	case "sleep":
		f.need, f.most, f.check = 1, 1, checkSleep
	case "exit":
		f.most, f.check = 1, onlyNumbers
	case "set":
		f.short, f.shortArg, f.check = "eux", "o", func(u *usage) string {
			for _, o := range u.opts {
				if o.name == "o" && o.value != "pipefail" && o.value != "errexit" && o.value != "nounset" {
					return "it sets the option " + Quote(o.value)
				}
			}
			if len(u.opts) == 0 {
				return "it prints every variable" // where secrets may be
			}
			return ""
		}
	default:
		return form{}, false
	}
	return f, true
}

// asksVersion: the one argument that makes well-known programs print their
// version and nothing else. Not yarn, pnpm, cargo and their like, which first
// start the copy that the project names, nor those that look for updates.
func asksVersion(name, arg string) bool {
	switch name {
	case "node", "npm", "python", "python3", "ruby", "gcc", "g++", "clang", "make", "cmake", "docker", "podman", "bash", "git", "curl", "wget", "jq", "rg", "pip", "pip3", "gopls", "ninja",
		"ls", "cat", "grep", "sed", "find", "sort", "tar", "gzip", "awk", "gawk", "diff", "perl", "sqlite3", "psql":
		return arg == "--version" || arg == "-V" && (name == "python" || name == "python3" || name == "rg") || arg == "-v" && (name == "node" || name == "npm")
	case "java", "javac":
		return arg == "-version" || arg == "--version"
	}
	return false
}

// checkDate: an operand that is not a format sets the clock.
func checkDate(u *usage) string {
	if len(u.operands) == 1 && !strings.HasPrefix(u.operands[0].Text, "+") {
		return "it would set the clock"
	}
	return ""
}

// checkPS: the letters without a dash mean other things, and e among them
// prints every program's environment.
func checkPS(u *usage) string {
	if len(u.operands) == 1 && strings.Trim(u.operands[0].Text, "auxfwlj") != "" {
		return "the options " + Quote(u.operands[0].Text) + " are not known to be harmless"
	}
	for _, o := range u.opts {
		if strings.Contains(strings.ToLower(o.value), "env") {
			return "it prints the environment of other programs"
		}
	}
	return ""
}

// checkSleep bounds the time; a line that only waits is still a waste.
func checkSleep(u *usage) string {
	s := strings.TrimSuffix(u.operands[0].Text, "s")
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || n > 60 || strings.ContainsAny(s, "xXpPiIn") {
		return "it waits for longer than a minute"
	}
	return ""
}

func onlyNumbers(u *usage) string {
	for _, a := range u.operands {
		if !isNumber(a.Text) {
			return "the operand " + Quote(a.Text) + " is not a number"
		}
	}
	return ""
}

// checkPrintf: in bash %n sets a variable and %(…)T is its own.
func checkPrintf(u *usage) string {
	if u.operands[0].Glob {
		return "its format is not literal"
	}
	s := u.operands[0].Text
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		for i++; i < len(s) && strings.IndexByte("-+ #0123456789.*'", s[i]) >= 0; i++ {
		}
		if i < len(s) && strings.IndexByte("diouxXeEfFgGaAcsbq%", s[i]) < 0 {
			return "its format uses %" + Quote(s[i:i+1])
		}
	}
	return ""
}

// checkTest reads the words of test and [. Not -v and -R: bash evaluates what
// stands in the subscript of the name they are given.
func checkTest(name string, args []Arg) string {
	if why := allPlain(args); why != "" {
		return why
	}
	if name == "[" && (len(args) == 0 || args[len(args)-1].Text != "]") {
		return "it has no closing ]"
	}
	for _, a := range args {
		if a.Glob {
			return "nobody knows what " + Quote(a.Text) + " becomes"
		}
		if !strings.HasPrefix(a.Text, "-") || isNumber(a.Text[1:]) {
			continue
		}
		switch a.Text {
		case "-", "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-n", "-o", "-p", "-r", "-s", "-S", "-t", "-u", "-w", "-x", "-z", "-O", "-G", "-N",
			"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef":
		default:
			return "the operator " + Quote(a.Text) + " is not known to be harmless"
		}
	}
	return ""
}

// testFiles are the words a test may look at as files: it only learns whether
// they exist and how old they are, yet that is something.
func testFiles(args []Arg) []Arg {
	var out []Arg
	for i, a := range args {
		if i > 0 && len(args[i-1].Text) == 2 && args[i-1].Text[0] == '-' && strings.Contains("bcdefghkLprsSuwxOGN", args[i-1].Text[1:]) && a.Text != "]" && !strings.HasPrefix(a.Text, "-") {
			out = append(out, a)
		}
	}
	return out
}
