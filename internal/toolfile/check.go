package toolfile

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/config"
)

// templates reads command and stdin, and holds them against the arguments.
func (p *parser) templates() {
	if v, ok := p.raw["command"]; ok {
		p.command(v)
	}
	if v, ok := p.raw["stdin"]; ok {
		p.stdin(v)
	}
}

func (p *parser) command(v config.Value) {
	if v.Kind != config.List {
		p.fail(p.line(v), "command", "expected a list such as [wc, -l, \"{path}\"], got %s: no shell takes a line apart", v.Kind)
		return
	}
	for i, item := range v.Items {
		words := item.Items
		if item.Kind != config.List {
			words = []config.Value{item}
		}
		var element Element
		for _, w := range words {
			if word, ok := p.template("command", w); ok {
				element = append(element, word)
			}
		}
		if len(element) != len(words) || len(words) == 0 {
			if len(words) == 0 {
				p.fail(p.line(item), "command", "there is an empty list in it")
			}
			continue
		}
		if i == 0 && (len(element) > 1 || len(element[0].Args()) > 0 && !element[0].IsSelf()) {
			p.fail(p.line(item), "command", "the first element is the program; it cannot come from an argument or be left out")
		}
		p.file.Command = append(p.file.Command, element)
	}
	if len(v.Items) == 0 {
		p.fail(p.line(v), "command", "the list is empty: its first element is the program")
	}
}

// template reads one word and checks what its placeholders name.
func (p *parser) template(key string, v config.Value) (Word, bool) {
	switch {
	case v.Kind == config.Number || v.Kind == config.Truth:
		v.Kind = config.Text // an argument of a program is a text whatever is in it
	case v.Kind == config.Block && len(v.Members) == 1 && v.Members[0].Value.Kind == config.Nothing:
		p.fail(p.line(v), key, "put the placeholder in quotes: \"{%s}\"", clip(v.Members[0].Name))
		return nil, false
	}
	s := p.text(key, v)
	if v.Kind != config.Text || s == "" && v.Text != "" {
		return nil, false
	}
	word, err := parseWord(s)
	if err != nil {
		p.fail(p.line(v), key, "%s", err)
		return nil, false
	}
	arrays := 0
	for _, piece := range word {
		if piece.Arg == "" || p.file.Kind == Script && piece.Arg == Self && !piece.When && key == "command" {
			continue
		}
		arg, ok := p.file.Arg(piece.Arg)
		switch {
		case !ok && len(p.file.Args) == 0:
			p.fail(p.line(v), key, "{%s} has no argument: declare it under args", piece.Arg)
		case !ok:
			p.fail(p.line(v), key, "{%s} has no argument; declared are %s", piece.Arg, strings.Join(p.argNames(), ", "))
		case piece.When && arg.Type != "boolean":
			p.fail(p.line(v), key, "{%s:%s} needs a boolean, and %s is %s", piece.Arg, clip(piece.Text), piece.Arg, orUnknown(arg.Type))
		case arg.Type == "array":
			arrays++
		}
		if !ok {
			return nil, false
		}
	}
	if arrays > 1 || arrays == 1 && key == "stdin" && len(word) > 1 {
		p.fail(p.line(v), key, "an array cannot stand beside others here")
		return nil, false
	}
	return word, true
}

func (p *parser) stdin(v config.Value) {
	switch v.Text {
	case "none":
	case "json":
		p.file.Stdin.JSON = true
	default:
		if word, ok := p.template("stdin", v); ok {
			p.file.Stdin.Text = word
		}
	}
}

func (p *parser) argNames() []string {
	var names []string
	for _, a := range p.file.Args {
		names = append(names, a.Name)
	}
	return names
}

// check holds the keys against each other.
func (p *parser) check() {
	f := &p.file
	if _, named := f.Lines["name"]; !named {
		f.Name = stem(f.Path)
	}
	if !toolName(f.Name) {
		p.fail(f.Lines["name"], "name", "%q is no name of a tool: 1 to 64 letters, digits, _ or -; set it with the key name", clip(f.Name))
	}
	if toolName(f.Name) && strings.Contains(f.Name, "__") {
		p.fail(f.Lines["name"], "name", "%q is no name of a tool, because two _ stand between a toolbox and its tool, and it could pass for another one: take another name, or set it with the key name", clip(f.Name))
	}
	if f.Kind == Command || f.Kind == Script {
		p.checkTool()
	}
	p.checkReach()
	if f.Result != nil && f.Output == OutputText {
		p.fail(f.Lines["result"], "result", "it says what the JSON on standard output looks like, so it needs output: json")
	}
	if f.Kind != Python && f.Python != "" {
		p.fail(f.Lines["python"], "python", "it is for .py files")
	}
}

// checkTool: what a single tool must have.
func (p *parser) checkTool() {
	f := &p.file
	if _, said := f.Lines["description"]; !said {
		p.warn(0, "description", "there is none: models choose a tool by what it says of itself")
	}
	_, said := f.Lines["command"]
	if f.Kind == Command && !said && !slices.ContainsFunc(p.faults, func(f Fault) bool { return strings.HasSuffix(f.Message, "did you mean command?") }) {
		p.fail(0, "command", "it is missing: a list of the program and its arguments, such as command: [wc, -l, \"{path}\"]")
	}
	if f.Kind == Script && !strings.HasPrefix(string(f.Content), "#!") && !said && !f.Compiled() {
		p.fail(1, "", "the script does not say what runs it: begin it with a line such as #!/bin/sh")
	}
	if first, _, _ := strings.Cut(string(f.Content[:min(len(f.Content), 256)]), "\n"); f.Kind == Script && strings.HasSuffix(first, "\r") && strings.HasPrefix(first, "#!") {
		p.fail(1, "", "the lines end as on Windows, so that the system looks for a program whose name ends with a carriage return: save the file with plain line ends")
	}
	if len(f.Command) > 0 {
		p.checkProgram(f.Command[0])
	}
	if _, taken := f.Arg(Self); f.Kind == Script && taken {
		p.fail(f.Lines["args"], "args", "%s cannot be the name of an argument here: {%s} is the script itself", Self, Self)
	}
	if f.Kind == Script && len(f.Command) > 0 && !p.anyBroken("command") && !slices.ContainsFunc(f.Command, func(e Element) bool { return slices.ContainsFunc(e, Word.IsSelf) }) {
		p.fail(f.Lines["command"], "command", "it does not run the script: put \"{%s}\" where it belongs, or remove the key", Self)
	}
	p.checkUse(said)
	p.checkCode()
}

func (p *parser) checkProgram(first Element) {
	if len(first) != 1 || len(first[0]) != 1 || first[0][0].Arg != "" {
		return // told already
	}
	program := first[0][0].Text
	relative := !filepath.IsAbs(program) && !strings.HasPrefix(program, "~/") && strings.ContainsAny(program, `/\`)
	switch {
	case program == "":
		p.fail(p.file.Lines["command"], "command", "the first element is the program, and it is empty")
	case relative:
		p.fail(p.file.Lines["command"], "command", "write the program as a name, as a whole path or from ~/ on: %q would depend on where Toolcrib runs", clip(program))
	}
}

// checkUse finds arguments that reach nobody.
func (p *parser) checkUse(command bool) {
	f := &p.file
	if f.Stdin.JSON || f.Kind == Script && !command {
		return
	}
	used := f.Stdin.Text.Args()
	for _, element := range f.Command {
		for _, word := range element {
			used = append(used, word.Args()...)
		}
	}
	for _, arg := range f.Args {
		if !slices.Contains(used, arg.Name) && !p.anyBroken("command", "stdin") {
			p.fail(arg.Line, "args", "%s is not used: put {%s} into the command, or say stdin: json", arg.Name, arg.Name)
		}
	}
}

// anyBroken reports whether one of the keys has a fault already, which explains others.
func (p *parser) anyBroken(keys ...string) bool {
	return slices.ContainsFunc(p.faults, func(f Fault) bool { return !f.Warning && slices.Contains(keys, f.Key) })
}

// checkReach holds effects, directories and hosts against each other.
func (p *parser) checkReach() {
	f := &p.file
	for key, list := range map[string][]string{"read": f.Read, "write": f.Write} {
		for _, dir := range list {
			if strings.ContainsAny(dir, "{}*?") {
				p.fail(f.Lines[key], key, "%q: a directory is written as it is, without placeholders and patterns", clip(dir))
			}
			if clean := filepath.Clean(dir); filepath.IsAbs(clean) && clean == filepath.Dir(clean) {
				p.fail(f.Lines[key], key, "%s is the whole machine, which nobody can look through for what is protected: name the directories that it needs", clean)
			}
		}
	}
	if err := httpclient.CheckHosts(f.Hosts); err != nil {
		p.fail(f.Lines["hosts"], "hosts", "%s", err)
	}
	if f.Effects == 0 { // whatever is declared fits
		if f.Sandbox != "host" {
			f.Effects = Held(len(f.Read) > 0, len(f.Write) > 0, len(f.Hosts)+len(f.Secrets) > 0)
		}
		f.Derived = f.Effects != 0
		return
	}
	effects := f.together()
	p.contradiction(len(f.Write) > 0 && effects&(toolcrib.Writes|toolcrib.Destroys) == 0, "write", "writes (or destroys)")
	p.contradiction(len(f.Read) > 0 && effects&(toolcrib.Reads|toolcrib.Writes|toolcrib.Destroys) == 0, "read", "reads")
	p.contradiction(len(f.Hosts) > 0 && effects&toolcrib.Network == 0, "hosts", "network")
	p.contradiction(len(f.Secrets) > 0 && effects&toolcrib.UsesSecrets == 0, "secrets", "secrets")
	if f.Sandbox == "host" {
		return // nothing is kept from it there
	}
	if effects&(toolcrib.Writes|toolcrib.Destroys) != 0 && len(f.Write) == 0 {
		p.warn(f.Lines["effects"], "effects", "it says that it writes, and there is no directory that it may write: name one under write")
	}
	if effects&toolcrib.Network != 0 && len(f.Hosts) == 0 {
		p.warn(f.Lines["effects"], "effects", "it says that it uses the network, and there is no host that it may reach: name one under hosts")
	}
}

// Held is what a program can do for which nobody declared effects, in a sandbox that
// shows it no more than these directories: to ask a person about more would only
// teach people to say yes. What it does elsewhere no sandbox holds, so with hosts or secrets it
// stays undeclared, which counts as everything.
func Held(reads, writes, away bool) toolcrib.Effects {
	switch {
	case away:
		return 0
	case writes:
		return toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys
	case reads:
		return toolcrib.Reads
	}
	return toolcrib.Pure
}

func (p *parser) contradiction(is bool, key, effect string) {
	if is {
		p.fail(p.file.Lines[key], key, "the effects do not have it: add %s to effects, or remove %s", effect, key)
	}
}

func orUnknown(kind string) string {
	if kind == "" {
		return "of no one type"
	}
	return "a " + kind
}

func toolName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
