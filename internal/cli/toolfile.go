package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

// fileReport is what a file of tools declares, in words that a person can judge.
type fileReport struct {
	File        string        `json:"file"`
	Kind        string        `json:"kind"`
	Name        string        `json:"name,omitempty"`
	Description string        `json:"description,omitempty"`
	Rows        []reportRow   `json:"declares,omitempty"`
	Faults      []faultReport `json:"faults,omitempty"`
}

type reportRow struct {
	What string `json:"what"`
	Is   string `json:"is"`
}

type faultReport struct {
	Line    int    `json:"line,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
	Warning bool   `json:"warning,omitempty"`
}

// broken reports whether it is none that can be used.
func (r fileReport) broken() bool {
	return r.Kind == toolfile.None.String() || slices.ContainsFunc(r.Faults, func(f faultReport) bool { return !f.Warning })
}

// reportFile says what a parsed file declares.
func reportFile(f toolfile.File, faults []toolfile.Fault) fileReport {
	r := fileReport{File: f.Path, Kind: f.Kind.String(), Name: f.Name, Description: f.Description}
	for _, fault := range faults {
		r.Faults = append(r.Faults, faultReport{fault.Line, fault.Key, fault.Message, fault.Warning})
	}
	row := func(what, is string) {
		if is != "" {
			r.Rows = append(r.Rows, reportRow{what, is})
		}
	}
	single := f.Kind == toolfile.Command || f.Kind == toolfile.Script
	if single {
		row("arguments", argumentsText(f.Args))
	}
	row("effects", effectsText(f))
	reach(f, row)
	if f.Timeout > 0 {
		row("time", "ended after "+f.Timeout.String())
	}
	switch {
	case single:
		row("runs as", commandText(f))
		row("its input", stdinText(f.Stdin))
		row("its result", resultText(f))
	case f.Kind == toolfile.Python:
		row("runs as", "a process of its own that stays, with "+cmp.Or(text.ShowLine(f.Python), "the Python that is found first"))
	case f.Kind == toolfile.Node:
		row("runs as", "a process of its own that stays, with Node")
	}
	row("sandbox", sandboxText(f))
	return r
}

func argumentsText(args []toolfile.Arg) string {
	if len(args) == 0 {
		return "none"
	}
	var list []string
	for _, a := range args {
		kind := cmp.Or(a.Type, "any")
		if a.Type == "array" && a.Items != "" {
			kind = a.Items + "[]"
		}
		if len(a.Enum) > 0 {
			kind = valuesText(a.Enum)
		}
		switch {
		case a.Default != nil:
			kind += " = " + string(a.Default)
		case !a.Required:
			kind += ", may be left out"
		}
		list = append(list, fmt.Sprintf("%s (%s)", a.Name, kind))
	}
	return strings.Join(list, ", ")
}

func effectsText(f toolfile.File) string {
	if len(f.ByFunction) == 0 {
		return effectsOf(f)
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(f.ByFunction)) {
		list = append(list, text.ShowLine(name)+": "+f.ByFunction[name].String())
	}
	return strings.Join(list, "; ") + "; all others: " + effectsOf(f)
}

// effectsOf are those of its tool, or of functions that it does not name.
func effectsOf(f toolfile.File) string {
	e := f.Effects
	switch {
	case f.Derived && e == toolcrib.Pure:
		return "none are declared, and it may touch nothing: it only computes"
	case f.Derived:
		return e.String() + ": none are declared, and this is what it may do with what it may touch"
	}
	switch e {
	case 0:
		return "undeclared: it counts as one that does everything, so people are asked"
	case toolcrib.Pure:
		return "pure: it only computes"
	}
	return e.String()
}

// reach is the grant in plain words: exactly what the program has besides the system's
// own directories.
func reach(f toolfile.File, row func(what, is string)) {
	if f.Sandbox == "host" {
		row("may touch", "everything that you can: sandbox: host holds it to nothing")
		return
	}
	places := func(dirs []string) string {
		var list []string
		for _, d := range dirs {
			if filepath.Clean(d) == "." {
				d = ". (the working directory)"
			}
			list = append(list, d)
		}
		return strings.Join(list, ", ")
	}
	read, write, hosts := places(f.Read), places(f.Write), strings.Join(f.Hosts, ", ")
	row("may read", cmp.Or(read, map[bool]string{true: "no directory of yours", false: "no other directory of yours"}[write == ""]))
	row("may write", cmp.Or(write, "nothing"))
	row("may reach", cmp.Or(hosts, "no other machine"))
	var secrets, env []string
	for _, s := range f.Secrets {
		secrets = append(secrets, s.Value+" as $"+s.Name)
	}
	for _, v := range f.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	row("secrets", strings.Join(secrets, ", "))
	row("variables", strings.Join(env, ", "))
}

// commandText is the list of arguments, each one as it will be: nothing splits them.
func commandText(f toolfile.File) string {
	words := []string{}
	if len(f.Command) == 0 {
		words = append(words, filepath.Base(f.Path))
		if !f.Stdin.JSON {
			for _, a := range f.Args {
				words = append(words, "{"+a.Name+"}")
			}
		}
	}
	for _, element := range f.Command {
		for _, word := range element {
			words = append(words, wordText(word))
		}
	}
	return argvText(words)
}

// argvText writes a list of arguments so that one can tell where each ends.
func argvText(words []string) string {
	text, err := json.Marshal(words)
	if err != nil {
		return fmt.Sprintf("%q", words)
	}
	return strings.NewReplacer(`","`, `", "`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}

func wordText(word toolfile.Word) string {
	var b strings.Builder
	for _, p := range word {
		switch {
		case p.When:
			b.WriteString("{" + p.Arg + ":" + p.Text + "}")
		case p.Arg != "":
			b.WriteString("{" + p.Arg + "}")
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func stdinText(s toolfile.Stdin) string {
	switch {
	case s.JSON:
		return "the arguments as one JSON object on standard input"
	case s.Text != nil:
		return "on standard input: " + wordText(s.Text)
	}
	return ""
}

func resultText(f toolfile.File) string {
	switch {
	case f.Output == toolfile.OutputJSON && f.Result != nil:
		return "the JSON on its standard output, held to the schema in result"
	case f.Output == toolfile.OutputJSON:
		return "the JSON on its standard output"
	}
	return "the text on its standard output"
}

func sandboxText(f toolfile.File) string {
	switch f.Sandbox {
	case "host":
		return "none"
	case "":
		return "one that holds it to this; where there is none, it is refused"
	}
	return f.Sandbox + "; where that cannot hold it to this, it is refused"
}

// printReport writes it. Whatever a file says comes out as text that steers no
// terminal.
func printReport(w io.Writer, r fileReport) {
	if r.Kind == toolfile.None.String() {
		fmt.Fprintf(w, "%s: no tool: it has neither an ending that means one nor a comment that begins with \"# toolcrib:\"\n", text.ShowLine(r.File))
		return
	}
	fmt.Fprintf(w, "%s: %s\n", text.ShowLine(r.File), map[string]string{
		toolfile.Command.String(): "the tool " + r.Name + ", a command",
		toolfile.Script.String():  "the tool " + r.Name + ", a script",
		toolfile.Python.String():  "the toolbox " + r.Name + ", a file of Python functions",
		toolfile.Node.String():    "the toolbox " + r.Name + ", a file of JavaScript functions",
	}[r.Kind])
	if r.Description != "" {
		fmt.Fprintf(w, "  %-11s %s\n", "description", text.ShowLine(r.Description))
	}
	for _, row := range r.Rows {
		fmt.Fprintf(w, "  %-11s %s\n", row.What, text.ShowLine(row.Is))
	}
}

// faultLine is one fault as editors can jump to it.
func faultLine(file string, f faultReport) string {
	var b strings.Builder
	b.WriteString(file)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
	}
	if f.Warning {
		b.WriteString(": warning")
	}
	if f.Key != "" {
		b.WriteString(": " + f.Key)
	}
	return text.ShowLine(b.String() + ": " + f.Message)
}

// valuesText are the values that an argument can have.
func valuesText(values []json.RawMessage) string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return strings.Join(list, " | ")
}
