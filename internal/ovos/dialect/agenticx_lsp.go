package dialect

import (
	"errors"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// The tools of language servers as AgenticX has them: their answers are JSON texts with
// ok, and places count from 0 as in the protocol. What differs: a column counts
// characters in both directions, where AgenticX passes on whatever the server counts
// in; what git ignores is listed; and diagnostics are waited for.

const lspBox = "lsp"

func agenticxLSPTools() []agenticxTool {
	place := []parameter{
		{name: "file", typ: "string", doc: "The file: relative to the workspace, or absolute inside it.", required: true},
		{name: "line", typ: "integer", doc: "The line, counted from 1.", required: true},
		{name: "column", typ: "integer", doc: "The column, counted from 1.", required: true},
	}
	return []agenticxTool{
		{
			box: lspBox, native: "lsp_goto_definition", name: "lsp_goto_definition",
			doc:  "Find where the name at a place in a file is defined.",
			args: place, in: translated(lspPlaceIn), answer: answered(lspDefinitionsOut), refused: worded(lspRefused),
		},
		{
			box: lspBox, native: "lsp_find_references", name: "lsp_find_references",
			doc:  "Find all places where the name at a place in a file is used.",
			args: place, in: translated(lspPlaceIn), answer: answered(lspReferencesOut), refused: worded(lspRefused),
		},
		{
			box: lspBox, native: "lsp_hover", name: "lsp_hover",
			doc:  "Get the type and the documentation of the name at a place in a file.",
			args: place, in: translated(lspPlaceIn), answer: answered(lspHoverOut), refused: worded(lspRefused),
		},
		{
			box: lspBox, native: "lsp_diagnostics", name: "lsp_diagnostics",
			doc:  "Get the errors and warnings of a file, or of those that changed last. Use it after a change; the first call may take some seconds.",
			args: []parameter{{name: "file", typ: "string", doc: "The file. Left out: the files that changed last."}},
			in:   translated(func(in lspFile) (any, error) { return in, nil }), answer: answered(lspDiagnosticsOut), refused: worded(lspRefused),
		},
	}
}

type lspPlace struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

type lspFile struct {
	File string `json:"file,omitempty"`
}

// lspPlaceIn: what is before the first line or column is the first, as in AgenticX.
func lspPlaceIn(in lspPlace) (any, error) {
	in.Line, in.Column = max(1, in.Line), max(1, in.Column)
	return in, nil
}

// lspSpan is a part of a file in native answers.
type lspSpan struct {
	Path      string `json:"path"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
}

type lspPosition struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

func (s lspSpan) start() lspPosition { return lspPosition{s.Line - 1, s.Column - 1} }
func (s lspSpan) end() lspPosition   { return lspPosition{s.EndLine - 1, s.EndColumn - 1} }

func lspFailed(why string) *toolcrib.Result {
	return toolcrib.Failed(string(mustJSON(ordered{{"ok", false}, {"error", why}})))
}

func lspAnswer(fields ...pair) (*toolcrib.Result, error) {
	return toolcrib.Text(string(mustJSON(append(ordered{{"ok", true}}, fields...)))), nil
}

// lspRows are places as AgenticX lists them.
func lspRows(list []lspSpan) []ordered {
	rows := []ordered{}
	for _, s := range list {
		rows = append(rows, ordered{{"path", s.Path}, {"start", s.start()}, {"end", s.end()}})
	}
	return rows
}

func lspDefinitionsOut(_ lspPlace, out *struct {
	Definitions []lspSpan `json:"definitions"`
}, failed string) (*toolcrib.Result, error) {
	if out == nil {
		return lspFailed(failed), nil
	}
	return lspAnswer(pair{"count", len(out.Definitions)}, pair{"definitions", lspRows(out.Definitions)})
}

func lspReferencesOut(_ lspPlace, out *struct {
	References []lspSpan `json:"references"`
}, failed string) (*toolcrib.Result, error) {
	if out == nil {
		return lspFailed(failed), nil
	}
	return lspAnswer(pair{"count", len(out.References)}, pair{"references", lspRows(out.References)})
}

func lspHoverOut(_ lspPlace, out *struct {
	Hover string `json:"hover"`
}, failed string) (*toolcrib.Result, error) {
	if out == nil {
		return lspFailed(failed), nil
	}
	return lspAnswer(pair{"hover", out.Hover})
}

type lspDiagnostics struct {
	Checked     []string `json:"checked"`
	Diagnostics []struct {
		lspSpan
		Severity string `json:"severity"`
		Message  string `json:"message"`
		Code     string `json:"code"`
		Source   string `json:"source"`
	} `json:"diagnostics"`
}

func lspDiagnosticsOut(in lspFile, out *lspDiagnostics, failed string) (*toolcrib.Result, error) {
	if out == nil {
		return lspFailed(failed), nil
	}
	numbers := map[string]int{"error": 1, "warning": 2, "information": 3, "hint": 4}
	var files []ordered
	for _, file := range out.Checked {
		list := []ordered{}
		for _, d := range out.Diagnostics {
			if d.Path != file {
				continue
			}
			row := ordered{{"range", ordered{{"start", d.start()}, {"end", d.end()}}}, {"severity", numbers[d.Severity]}}
			if d.Code != "" {
				row = append(row, pair{"code", d.Code})
			}
			if d.Source != "" {
				row = append(row, pair{"source", d.Source})
			}
			list = append(list, append(row, pair{"message", d.Message}))
		}
		files = append(files, ordered{{"file", file}, {"count", len(list)}, {"diagnostics", list}})
	}
	if in.File != "" && len(files) == 1 {
		return lspAnswer(files[0]...)
	}
	if files == nil {
		files = []ordered{}
	}
	return lspAnswer(pair{"files", files}, pair{"count", len(files)})
}

// lspRefused words what AgenticX has words for.
func lspRefused(in lspFile, e *toolcrib.Error) *toolcrib.Result {
	switch {
	case errors.Is(e, files.ErrOutside):
		return lspFailed("path escapes workspace: " + in.File)
	case errors.Is(e, files.ErrProtected):
		return lspFailed("path is protected: " + in.File)
	}
	return nil
}
