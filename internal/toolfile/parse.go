package toolfile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/text"
)

// maxFile bounds a file; a script may be longer than a declaration is.
const maxFile = 4 << 20

// Parse reads a declaration. The faults are in the order of the file; where none of them is an error, the File can be used.
// A file of the kind None gives a File without a name and no fault.
func Parse(path string, content []byte) (File, []Fault) {
	p := &parser{file: File{Path: path, Content: content, Hash: HashOf(content), Kind: KindOf(path, content), Output: OutputText, Lines: map[string]int{}}}
	switch {
	case p.file.Kind == None:
		return p.file, nil
	case len(content) > maxFile:
		p.fail(0, "", "the file has %d bytes; at most %d are read", len(content), maxFile)
		return p.file, p.faults
	}
	if root, ok := p.declaration(content); ok {
		p.keys(root)
		p.check()
	} else {
		p.file.Name = stem(path)
	}
	slices.SortStableFunc(p.faults, func(a, b Fault) int { return a.Line - b.Line })
	return p.file, p.faults
}

type parser struct {
	file   File
	faults []Fault
	shift  int // lines before the declaration
	raw    map[string]config.Value
}

func (p *parser) fail(line int, key, format string, args ...any) {
	p.faults = append(p.faults, Fault{File: p.file.Path, Line: line, Key: key, Message: fmt.Sprintf(format, args...)})
}

func (p *parser) warn(line int, key, format string, args ...any) {
	p.fail(line, key, format, args...)
	p.faults[len(p.faults)-1].Warning = true
}

// declaration finds the YAML in a file.
func (p *parser) declaration(content []byte) (config.Value, bool) {
	yaml := content
	if p.file.Kind != Command {
		h, ok := findHeader(content)
		if !ok {
			return config.Value{Kind: config.Block}, true // a file of functions needs none
		}
		p.file.Header, p.shift, yaml = true, h.line-1, h.text
		if h.inline != "" {
			p.fail(h.line-1, "", "there is %q behind \"toolcrib:\"; write the keys in the comment lines below it", clip(h.inline))
			return config.Value{}, false
		}
	}
	root, problems := config.ReadValue(p.file.Path, yaml)
	for _, problem := range problems {
		message := problem.Message
		if p.file.Header && strings.Contains(message, "not valid YAML") {
			message += " (the header ends with the first line that is no comment: put an empty line between it and other comments)"
		}
		if strings.Contains(message, "',' or '}'") {
			message += "; between { and } a name with ? and a type with [] need quotes, so write them on lines of their own"
		}
		line := problem.Line
		if line > 0 {
			line += p.shift
		}
		p.fail(line, problem.Key, "%s", message)
	}
	if len(problems) > 0 {
		return root, false
	}
	if root.Kind == config.Nothing {
		root.Kind = config.Block
	}
	if root.Kind != config.Block {
		p.fail(p.line(root), "", "expected keys such as \"description: …\", got %s", root.Kind)
		return root, false
	}
	return root, true
}

func (p *parser) line(v config.Value) int {
	if v.Line == 0 {
		return 0
	}
	return v.Line + p.shift
}

// known are the keys of a file of a kind.
func known(k Kind) []string {
	keys := []string{"effects", "read", "write", "hosts", "secrets", "env", "timeout", "group", "sandbox"}
	switch k {
	case Python:
		return append(keys, "python")
	case Node:
		return keys
	}
	return append(keys, "name", "title", "description", "args", "schema", "command", "stdin", "output", "result")
}

// keys reads every key of the declaration.
func (p *parser) keys(root config.Value) {
	names := known(p.file.Kind)
	p.raw = map[string]config.Value{}
	for _, m := range root.Members {
		line := m.Line + p.shift
		if !slices.Contains(names, m.Name) {
			p.unknown(line, m.Name, names)
			continue
		}
		p.file.Lines[m.Name] = line
		if m.Value.Kind == config.Nothing {
			p.fail(line, m.Name, "it has no value: give it one or remove the key")
			continue
		}
		p.raw[m.Name] = m.Value
		p.key(m.Name, m.Value)
	}
	// Arguments come first for what names them, wherever they stand.
	p.arguments()
	p.templates()
}

func (p *parser) unknown(line int, name string, names []string) {
	functions := p.file.Kind == Python || p.file.Kind == Node
	switch {
	case functions && fromFunctions(name) != "":
		p.fail(line, name, "this key has no meaning in a file of functions: %s", fromFunctions(name))
	case slices.Contains(known(Command), name) || slices.Contains(known(Python), name):
		p.fail(line, name, "this key has no meaning in a file of the kind %s", p.file.Kind)
	case text.Nearest(name, names) != "":
		p.fail(line, clip(name), "unknown key; did you mean %s?", text.Nearest(name, names))
	default:
		p.fail(line, clip(name), "unknown key; known are %s", strings.Join(names, ", "))
	}
}

// key reads one key that needs no other.
func (p *parser) key(name string, v config.Value) {
	f := &p.file
	switch name {
	case "name":
		f.Name = p.text(name, v)
	case "title":
		f.Title = p.text(name, v)
	case "description":
		f.Description = strings.TrimSpace(p.text(name, v))
	case "group":
		f.Group = p.text(name, v)
	case "python":
		f.Python = p.text(name, v)
	case "sandbox":
		f.Sandbox = p.word(name, v, "host", "linux", "container", "microvm")
	case "output":
		f.Output = Output(p.word(name, v, string(OutputText), string(OutputJSON)))
	case "result":
		f.Result = p.schemaOf(name, v)
		if _, ok := p.raw["output"]; !ok {
			f.Output = OutputJSON // said once is enough; an output: text behind it is told by check
		}
	case "effects":
		p.effects(v)
	case "read":
		f.Read = p.texts(name, v)
	case "write":
		f.Write = p.texts(name, v)
	case "hosts":
		f.Hosts = p.texts(name, v)
	case "secrets":
		f.Secrets = p.variables(name, v)
	case "env":
		f.Env = p.variables(name, v)
	case "timeout":
		p.timeout(v)
	}
}

func (p *parser) text(key string, v config.Value) string {
	if v.Kind != config.Text {
		hint := ""
		if v.Kind == config.Number || v.Kind == config.Truth {
			hint = "; put it in quotes"
		}
		p.fail(p.line(v), key, "expected a text, got %s%s", v.Kind, hint)
		return ""
	}
	if strings.ContainsRune(v.Text, 0) || !utf8.ValidString(v.Text) {
		p.fail(p.line(v), key, "the text holds a NUL byte or is not UTF-8")
		return ""
	}
	return v.Text
}

// word reads one of a few words.
func (p *parser) word(key string, v config.Value, words ...string) string {
	s := p.text(key, v)
	if s == "" || slices.Contains(words, s) {
		return s
	}
	p.fail(p.line(v), key, "%q is not one of %s", clip(s), strings.Join(words, ", "))
	return ""
}

// texts reads a list of texts, or one alone.
func (p *parser) texts(key string, v config.Value) []string {
	items := v.Items
	if v.Kind != config.List {
		items = []config.Value{v}
	}
	var list []string
	for _, item := range items {
		switch s := p.text(key, item); {
		case s != "":
			list = append(list, s)
		case item.Kind == config.Text:
			p.fail(p.line(item), key, "there is an empty text in the list")
		}
	}
	return list
}

func (p *parser) variables(key string, v config.Value) []Variable {
	if v.Kind != config.Block {
		p.fail(p.line(v), key, "expected lines such as \"VARIABLE: %s\", got %s", map[bool]string{true: "name of the secret", false: "value"}[key == "secrets"], v.Kind)
		return nil
	}
	var list []Variable
	for _, m := range v.Members {
		if !argName(m.Name) || strings.Contains(m.Name, "-") {
			p.fail(m.Line+p.shift, key, "%q is no name of a variable", clip(m.Name))
			continue
		}
		value := m.Value
		if key == "env" && (value.Kind == config.Number || value.Kind == config.Truth) {
			value.Kind = config.Text // a variable is a text whatever is in it
		}
		s := p.text(key+"."+m.Name, value)
		if s == "" && key == "secrets" && value.Kind == config.Text {
			p.fail(m.Line+p.shift, key, "%s needs the name of a secret", m.Name)
		}
		list = append(list, Variable{Name: m.Name, Value: s})
	}
	return list
}

func (p *parser) timeout(v config.Value) {
	d, err := time.ParseDuration(strings.ReplaceAll(v.Text, " ", ""))
	switch {
	case v.Kind == config.Number:
		p.fail(p.line(v), "timeout", "add a unit: %ss", v.Text)
	case v.Kind != config.Text || err != nil:
		p.fail(p.line(v), "timeout", "expected a duration such as 30s, 5m or 1h30m")
	case d <= 0:
		p.fail(p.line(v), "timeout", "it must be more than nothing")
	default:
		p.file.Timeout = d
	}
}

// stem is the name of a file without its ending.
func stem(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// clip bounds what a message repeats of a file.
func clip(s string) string { return text.ShowLine(text.ClipRunes(s, 60)) }
