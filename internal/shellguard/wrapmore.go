package shellguard

import (
	"slices"
	"strings"
)

// unwrapShell: "sh -c 'code'" is as harmless as the code. Any other option
// reads files of its own or changes how the code is read; a script or standard
// input is code that nobody here has seen.
func unwrapShell(name string, args []Arg) (unwrapped, bool) {
	code := slices.IndexFunc(args, func(a Arg) bool {
		return strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "--") && strings.Contains(a.Text, "c")
	})
	if code < 0 {
		return unwrapped{}, false
	}
	// The code is the first operand after the options.
	at := code + 1
	for at < len(args) && strings.HasPrefix(args[at].Text, "-") {
		at++
	}
	u := unwrapped{isScript: true, class: Runs}
	if at < len(args) {
		u.script = args[at]
	}
	switch {
	case name != "sh" && name != "bash" && name != "dash":
		u.why = "it is not the shell this line was read for"
	case code != 0 || args[0].Text != "-c":
		u.why = "its options change how the code is run"
	case at != 1 || len(args) != 2:
		u.why = "it is given more than code"
	case !u.script.Literal:
		u.why = "its code is not literal"
	}
	return u, true
}

// unwrapXargs: the program gets more arguments from standard input.
func unwrapXargs(name string, args []Arg) unwrapped {
	u := unwrapped{class: Runs, dynamic: true, why: "its program gets arguments that are not in the line"}
	rest := stepOver(args, "IiLnPsdEaeJR")
	if name == "parallel" {
		for i, a := range rest {
			if strings.HasPrefix(a.Text, ":::") {
				rest = rest[:i]
				break
			}
		}
		if len(rest) == 1 { // GNU parallel gives a single word to a shell
			u.isScript, u.script = true, rest[0]
			return u
		}
	}
	if len(rest) > 0 {
		u.inner = [][]Arg{rest}
	}
	return u
}

// unwrapFind: only with an action that starts programs; otherwise find has a
// form.
func unwrapFind(args []Arg) (unwrapped, bool) {
	u := unwrapped{class: Runs, dynamic: true}
	for i := 0; i < len(args); i++ {
		switch args[i].Text {
		case "-delete":
			u.class = Destroys
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].Text != ";" && args[end].Text != "+" {
				end++
			}
			u.inner = append(u.inner, args[i+1:end])
			u.why = "starts a program for the files it finds"
			i = end
		}
	}
	return u, len(u.inner) > 0
}

// unwrapSu: su [-] [user] -c code.
func unwrapSu(args []Arg) unwrapped {
	u := unwrapped{class: Runs, why: "runs a program as another user"}
	for i, a := range args {
		if code, ok := ownCode(args, i); ok {
			u.isScript, u.script = true, code
			return u
		}
		if a.Text == "--command" || strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "--") && strings.HasSuffix(a.Text, "c") {
			return u
		}
	}
	if rest := stepOver(args, "ugGs"); len(rest) > 0 && slices.ContainsFunc(args, func(a Arg) bool { return a.Text == "-u" }) {
		u.inner = [][]Arg{rest}
	}
	return u
}

// unwrapWatch: programs that hand their words, joined, to a shell.
func unwrapWatch(name string, args []Arg) unwrapped {
	u := unwrapped{class: Runs, why: "starts a program again and again"}
	letters := "nqsI"
	switch name {
	case "script":
		u.class, u.why, letters = Writes, "records what it starts in a file", "cIOBTtEmo"
	case "flock":
		u.why, letters = "makes a lock file for what it starts", "wEc"
	}
	operands := 0
	for i, a := range args {
		if !strings.HasPrefix(a.Text, "-") && (i == 0 || !strings.HasPrefix(args[i-1].Text, "-")) {
			if operands++; operands > 1 {
				break // the options of what it starts
			}
		}
		if code, ok := ownCode(args, i); ok && name != "watch" {
			u.isScript, u.script = true, code
			return u
		}
	}
	rest := stepOver(args, letters)
	if name == "flock" && len(rest) > 0 {
		rest = rest[1:]
	}
	if name == "watch" && len(rest) > 0 {
		u.isScript, u.script = true, joined(rest)
		return u
	}
	if len(rest) > 0 {
		u.inner = [][]Arg{rest}
	}
	return u
}

// ownCode is what -c or --command of su, script and flock is given, if that is
// what stands at i.
func ownCode(args []Arg, i int) (Arg, bool) {
	a := args[i]
	if code, ok := strings.CutPrefix(a.Text, "--command="); ok {
		return Arg{Text: code, Literal: a.Literal, open: a.open}, true
	}
	if a.Text == "--command" && i+1 < len(args) {
		return args[i+1], true
	}
	if !strings.HasPrefix(a.Text, "-") || strings.HasPrefix(a.Text, "--") {
		return Arg{}, false
	}
	switch at := strings.IndexByte(a.Text, 'c'); {
	case at < 0:
	case at == len(a.Text)-1 && i+1 < len(args):
		return args[i+1], true
	case at < len(a.Text)-1:
		return Arg{Text: a.Text[at+1:], Literal: a.Literal, open: a.open}, true
	}
	return Arg{}, false
}

// unwrapContainer: exec and run start a program where this machine's files may
// be mounted.
func unwrapContainer(args []Arg) (unwrapped, bool) {
	rest := stepOver(args, "cHln")
	if len(rest) > 1 && rest[0].Text == "compose" {
		rest = stepOver(rest[1:], "fp")
	}
	if len(rest) == 0 || rest[0].Text != "exec" && rest[0].Text != "run" {
		return unwrapped{}, false
	}
	u := unwrapped{class: Runs, dynamic: true, why: "runs a program in a container"}
	entry := []Arg{}
	rest = rest[1:]
	for {
		rest = stepOver(rest, "eupvwahclmn")
		before := args[:len(args)-len(rest)]
		if len(before) == 0 || len(rest) == 0 || !containerValue(before[len(before)-1].Text) {
			break
		}
		if before[len(before)-1].Text == "--entrypoint" {
			entry = rest[:1]
		}
		rest = rest[1:]
	}
	for _, a := range args {
		if program, ok := strings.CutPrefix(a.Text, "--entrypoint="); ok {
			entry = []Arg{{Text: program, Literal: a.Literal}}
		}
	}
	if len(rest) > 0 {
		rest = append(slices.Clip(rest[:1]), append(entry, rest[1:]...)...)
	}
	if len(rest) < 2 {
		return u, true
	}
	rest = rest[1:]
	if rest[0].Text == "--" {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		u.inner = [][]Arg{rest}
	}
	return u, true
}

// containerValue: long options of container engines that take the next word.
func containerValue(option string) bool {
	return isOneOf(option, "--volume --mount --name --env --env-file --workdir --user --network --net --publish --entrypoint --hostname --label --platform --cpus --memory --volumes-from "+
		"--add-host --device --gpus --ipc --pid --tmpfs --ulimit --shm-size --restart --security-opt --cap-add --cap-drop --log-driver --log-opt --dns --pull --userns --uts --cidfile --expose --group-add --annotation")
}

// unwrapSSH: the words after the host are code for a shell elsewhere.
func unwrapSSH(args []Arg) unwrapped {
	u := unwrapped{class: Network, dynamic: true, why: "runs a program on another machine"}
	rest := stepOver(args, "BbcDEeFIiJLlmOopQRSWw")
	if len(rest) > 1 {
		u.isScript, u.script = true, joined(rest[1:])
	}
	return u
}

// unwrapLater: what trap and alias are given is code that runs later, at the
// end of the shell or in the place of another word.
func unwrapLater(name string, args []Arg) (unwrapped, bool) {
	u := unwrapped{isScript: true, dynamic: true, class: Runs, why: "gives the shell code to run later"}
	if name == "trap" {
		rest := args
		for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") && rest[0].Text != "-" {
			rest = rest[1:]
		}
		if len(rest) < 2 || rest[0].Text == "" || rest[0].Text == "-" || isNumber(rest[0].Text) {
			return unwrapped{}, false
		}
		u.script = rest[0]
		return u, true
	}
	var code []Arg
	for _, a := range args {
		if _, text, ok := strings.Cut(a.Text, "="); ok {
			one := Arg{Text: text, Literal: a.Literal, open: a.open}
			for _, t := range a.values {
				_, t, _ = strings.Cut(t, "=")
				one.values = append(one.values, t)
			}
			code = append(code, one)
		}
	}
	if len(code) == 0 {
		return unwrapped{}, false
	}
	u.script = code[0]
	for _, c := range code[1:] {
		u.script.Text += "\n" + c.Text
		u.script.Literal = u.script.Literal && c.Literal
		u.script.values = append(u.script.values, c.texts()...)
	}
	return u, true
}
