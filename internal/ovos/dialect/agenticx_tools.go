package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// The tools of AgenticX answer with one text: the payload, or a line that
// begins with OK, ERROR or CANCELLED. These adapters keep that and nothing of
// what it does beside: no line of a content is dropped, no line end changed,
// and of several equal places none is picked without being told which.

// agenticxTool is a tool of AgenticX: its contract and the native tool.
type agenticxTool struct {
	box, native string
	name, doc   string
	args        []parameter
	in          func(input json.RawMessage) (json.RawMessage, error)
	answer      func(input json.RawMessage, native *toolcrib.Result) (*toolcrib.Result, error)
	// refused words a refusal before all others do; nil, or giving nil: they do.
	refused func(input json.RawMessage, e *toolcrib.Error) *toolcrib.Result
}

// parameter is one parameter of a function declaration.
type parameter struct {
	name, typ, doc string
	required       bool
	def            string // JSON; empty: none
	least, most    int    // zero: no bound
	items          string // JSON: the schema of the items of an array
}

func agenticxTools(opt Options) []agenticxTool {
	const pathDoc = "The file: relative to the workspace, or absolute inside it."
	path := parameter{name: "path", typ: "string", doc: pathDoc, required: true}
	return append([]agenticxTool{
		{
			box: "shell", native: "run_command", name: "bash_exec",
			doc: "Run a command line and wait for it to end. The answer has its exit code and what it printed.",
			args: []parameter{
				{name: "command", typ: "string", doc: "The command line.", required: true},
				{name: "cwd", typ: "string", doc: "The directory to run it in, inside the workspace. Left out: the workspace."},
				{name: "timeout_sec", typ: "integer", doc: "Seconds after which it is ended, with everything it started: 1 to 3600.", def: "30"},
			},
			in: translated(opt.bashExecIn), answer: answered(opt.bashExecOut),
		},
		{
			box: "files", native: "read_file", name: "file_read",
			doc: "Read a text file. With a range of lines, each line comes as N|text.",
			args: []parameter{
				path,
				{name: "start_line", typ: "integer", doc: "First line to read, counted from 1."},
				{name: "end_line", typ: "integer", doc: "Last line to read."},
			},
			in: translated(fileReadIn), answer: fileReadOut,
		},
		{
			box: "files", native: "write_file", name: "file_write",
			doc:  "Write a file: it holds exactly the content afterwards. Missing directories are made.",
			args: []parameter{path, {name: "content", typ: "string", doc: "What the file is to hold.", required: true}},
			in:   translated(fileWriteIn), answer: answered(fileWriteOut),
		},
		{
			box: "files", native: "edit_file", name: "file_edit",
			doc: "Replace a text in a file. The text must be in it exactly as given, and only once unless occurrence says which one is meant.",
			args: []parameter{
				path,
				{name: "old_text", typ: "string", doc: "The text to replace, exactly as it is in the file.", required: true},
				{name: "new_text", typ: "string", doc: "The text to put in its place.", required: true},
				{name: "occurrence", typ: "integer", doc: "Which of several equal places, counted from 1. Left out: there must be exactly one.", least: 1},
			},
			in: translated(fileEditIn), answer: answered(fileEditOut),
		},
		{
			box: "files", native: "list_files", name: "list_files",
			doc: "List a directory, or with recursive everything below it. Directories end in a slash.",
			args: []parameter{
				{name: "path", typ: "string", doc: "The directory: relative to the workspace, or absolute inside it.", def: `"."`},
				{name: "recursive", typ: "boolean", doc: "List what lies in directories below too.", def: "false"},
				{name: "limit", typ: "integer", doc: "The most entries to list.", def: "200", least: 1, most: 2000},
			},
			in: translated(listFilesIn), answer: answered(listFilesOut),
		},
	}, append(slices.Concat(agenticxSessionTools(), agenticxLSPTools()), agenticxCodegen())...)
}

func agenticxAdapters(opt Options) []toolcrib.Adapter {
	var list []toolcrib.Adapter
	for _, t := range agenticxTools(opt) {
		list = append(list, toolcrib.Adapter{
			Dialect: AgenticX, Box: t.box, Native: t.native,
			Spec: toolcrib.Spec{Name: t.name, Description: t.doc, Input: parameters(t.args)},
			In:   t.in, Out: t.answer, Refused: t.refusal,
		})
	}
	return list
}

func (t agenticxTool) refusal(input json.RawMessage, e *toolcrib.Error) *toolcrib.Result {
	if t.refused != nil {
		if result := t.refused(input, e); result != nil {
			return result
		}
	}
	return worded(agenticxRefused)(input, e)
}

// parameters writes the schema of a function's parameters.
func parameters(args []parameter) json.RawMessage {
	required := []string{}
	var props ordered
	for _, a := range args {
		p := ordered{{"type", a.typ}, {"description", a.doc}}
		if a.def != "" {
			p = append(p, pair{"default", json.RawMessage(a.def)})
		}
		if a.least != 0 {
			p = append(p, pair{"minimum", a.least})
		}
		if a.most != 0 {
			p = append(p, pair{"maximum", a.most})
		}
		if a.items != "" {
			p = append(p, pair{"items", json.RawMessage(a.items)})
		}
		props = append(props, pair{a.name, p})
		if a.required {
			required = append(required, a.name)
		}
	}
	return mustJSON(ordered{{"type", "object"}, {"properties", props}, {"required", required}, {"additionalProperties", false}})
}

// agenticxFailed is the answer of a tool that could not do it.
func agenticxFailed(why string) *toolcrib.Result { return toolcrib.Failed("ERROR: " + why) }

// agenticxRefused words refusals that AgenticX has words for. That nobody
// answered, or nobody is there, stays apart from a person's no.
func agenticxRefused(in struct {
	Path string `json:"path"`
	Cwd  string `json:"cwd"`
}, e *toolcrib.Error) *toolcrib.Result {
	path := in.Path + in.Cwd // no tool has both
	switch {
	case errors.Is(e, errTold):
		return agenticxFailed(e.Message)
	case errors.Is(e, files.ErrOutside):
		return agenticxFailed("path escapes workspace: " + path)
	case errors.Is(e, files.ErrReadOnly):
		return agenticxFailed("path is read-only (mounted as reference): " + path)
	case errors.Is(e, files.ErrProtected):
		return agenticxFailed("path is protected: " + path)
	case e.Code == toolcrib.CodeDenied && strings.HasPrefix(e.Message, "a person said no"):
		return toolcrib.Failed("CANCELLED: user denied " + e.Tool + strings.TrimPrefix(e.Message, "a person said no"))
	}
	return nil
}

type bashExec struct {
	Command string      `json:"command"`
	Cwd     string      `json:"cwd"`
	Timeout json.Number `json:"timeout_sec"`
}

// seconds is the time a command gets; one that is out of range gets the
// nearest, as in AgenticX.
func (in bashExec) seconds(opt Options) int {
	return int(math.Ceil(max(1, min(opt.seconds(in.Timeout), 3600))))
}

func (opt Options) bashExecIn(in bashExec) (any, error) {
	if strings.TrimSpace(in.Command) == "" {
		return nil, told(toolcrib.CodeInvalid, "bash_exec", "command is empty")
	}
	return nativeRun{in.Command, in.Cwd, in.seconds(opt)}, nil
}

func (opt Options) bashExecOut(in bashExec, out *nativeRunOut, failed string) (*toolcrib.Result, error) {
	if out == nil {
		return agenticxFailed(failed), nil
	}
	printed := "stdout:\n" + orEmpty(out.Stdout) + "\nstderr:\n" + orEmpty(out.Stderr)
	if out.Cancelled {
		return agenticxFailed(cancelled + "\n" + printed), nil
	}
	if out.TimedOut { // what it printed until then is worth having
		return agenticxFailed(fmt.Sprintf("command timeout after %ds\n%s", in.seconds(opt), printed)), nil
	}
	return toolcrib.Text(fmt.Sprintf("exit_code=%d\n%s", out.code(), printed)), nil
}

func orEmpty(text string) string {
	if text == "" {
		return "(empty)"
	}
	return strings.TrimSuffix(text, "\n")
}

type fileRead struct {
	Path      string `json:"path"`
	StartLine *int   `json:"start_line,omitempty"`
	EndLine   *int   `json:"end_line,omitempty"`
}

func fileReadIn(in fileRead) (any, error) {
	path, err := nativePath("file_read", in.Path)
	native := fileRead{Path: path, EndLine: in.EndLine}
	if in.StartLine != nil {
		native.StartLine = new(max(1, *in.StartLine))
	}
	return native, err
}

type nativePage struct {
	Content   string `json:"content"`
	Truncated bool   `json:"truncated"`
	Encoding  string `json:"encoding"`
	Note      string `json:"note"`
}

// fileReadOut keeps what the native answer shows beside its value: an image.
func fileReadOut(input json.RawMessage, native *toolcrib.Result) (*toolcrib.Result, error) {
	result, err := answered(fileText)(input, native)
	if err == nil && !native.Failed {
		for _, c := range native.Content {
			if c.Type != "text" {
				result.Content = append(result.Content, c)
			}
		}
	}
	return result, err
}

func fileText(in fileRead, out *nativePage, failed string) (*toolcrib.Result, error) {
	switch {
	case out == nil:
		return agenticxFailed(failed), nil
	case out.Encoding == "binary":
		return toolcrib.Text("(" + out.Note + ")"), nil
	}
	text := out.Content
	if in.StartLine != nil || in.EndLine != nil {
		text = numbered(text, in.StartLine)
	}
	if out.Truncated {
		text = strings.TrimSuffix(text, "\n") + "\n... (truncated, " + out.Note + ")"
	}
	return toolcrib.Text(text), nil
}

// numbered puts the number of its line before each.
func numbered(text string, start *int) string {
	n := 1
	if start != nil {
		n = max(1, *start)
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "%d|%s", n, line)
		n++
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func fileWriteIn(in ovosWrite) (any, error) {
	path, err := nativePath("file_write", in.Path)
	return ovosWrite{path, in.Content}, err
}

func fileWriteOut(_ ovosWrite, out *nativeWriteOut, failed string) (*toolcrib.Result, error) {
	if out == nil {
		return agenticxFailed(failed), nil
	}
	return toolcrib.Text("OK: wrote " + out.Path), nil
}

type fileEdit struct {
	Path       string `json:"path"`
	OldText    string `json:"old_text"`
	NewText    string `json:"new_text"`
	Occurrence *int   `json:"occurrence,omitempty"`
}

func fileEditIn(in fileEdit) (any, error) {
	if in.OldText == "" {
		return nil, told(toolcrib.CodeInvalid, "file_edit", "old_text cannot be empty")
	}
	path, err := nativePath("file_edit", in.Path)
	in.Path = path
	return in, err
}

type nativeEditOut struct {
	Path             string `json:"path"`
	ReplacementsMade int    `json:"replacements_made"`
}

func fileEditOut(_ fileEdit, out *nativeEditOut, failed string) (*toolcrib.Result, error) {
	if out == nil {
		if rest, missing := strings.CutPrefix(failed, "old_text is not in the file"); missing {
			failed = "old_text not found in file" + rest
		}
		return agenticxFailed(failed), nil
	}
	return toolcrib.Text("OK: edited " + out.Path), nil
}

type listFiles struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive"`
	Limit     int    `json:"limit"`
}

func listFilesIn(in listFiles) (any, error) {
	path, err := nativePath("list_files", in.Path)
	return nativeList{Path: path, Recursive: in.Recursive, Limit: in.Limit}, err
}

func listFilesOut(_ listFiles, out *nativeListOut, failed string) (*toolcrib.Result, error) {
	if out == nil {
		return agenticxFailed(failed), nil
	}
	slices.Sort(out.Files)
	lines := append([]string{"root: " + out.Path}, out.Files...)
	if len(out.Files) == 0 {
		lines = append(lines, "(empty directory)")
	}
	if out.Truncated {
		lines = append(lines, fmt.Sprintf("... (truncated, more than %d entries)", len(out.Files)))
	}
	return toolcrib.Text(strings.Join(lines, "\n")), nil
}
