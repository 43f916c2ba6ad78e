package dialect

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// What differs from OWL's own functions, besides the bounds that are ours:
// bytes that are no UTF-8 are shown as U+FFFD where it raises; a mark of the
// byte order is left out; lines of a range are counted by line feeds, as
// search_files counts them, also where Python sees further line ends. A file
// of up to 1 MB that is longer than one native answer comes cut, with further
// keys truncated and note. An edit keeps the line ends and the bytes that are
// no text, and takes no occurrence below 0. Of a link, delete_file removes the
// link, not what it leads to. A file that has changed since this caller read it
// is not written over.

// owlMost is the largest file that OWL reads.
const owlMost = 1_000_000

func (opt Options) owlFiles() []owlTool {
	path := func(doc string) parameter {
		return parameter{name: "path", typ: "string", doc: doc, required: true}
	}
	return []owlTool{
		{
			box: "files", native: "read_file", name: "read_file", doc: "Read the contents of a file",
			args: []parameter{
				path("File path to read"),
				{name: "start_line", typ: "integer", doc: "Start line (1-indexed)"},
				{name: "end_line", typ: "integer", doc: "End line"},
			},
			in: translated(owlReadIn), answer: answered(owlReadOut),
		},
		{
			box: "files", native: "write_file", name: "write_file",
			doc:  "Write a file in the home directory or /tmp. It holds exactly the content afterwards, and missing directories are made.",
			args: []parameter{path("The file to write"), {name: "content", typ: "string", doc: "What the file is to hold", required: true}},
			in:   translated(owlWriteIn), answer: answered(opt.owlWriteOut),
		},
		{
			box: "files", native: "edit_file", name: "edit_file", doc: "Replace a text in a file.",
			args: []parameter{
				path("The file to edit"),
				{name: "old_text", typ: "string", doc: "The text to replace, exactly as it is in the file", required: true},
				{name: "new_text", typ: "string", doc: "The text to put in its place", required: true},
				{name: "occurrence", typ: "integer", doc: "Which of several equal places: 1 is the first, 0 means all of them", def: "1"},
			},
			in: translated(owlEditIn), answer: answered(owlEditOut),
		},
		{
			box: "files", native: "delete_file", name: "delete_file",
			doc:  "Delete a file or an empty directory in the home directory or /tmp.",
			args: []parameter{path("The file or directory to delete")},
			in:   translated(opt.owlDeleteIn), answer: answered(opt.owlDeleteOut),
		},
	}
}

type owlRead struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line,omitempty"`
	EndLine   int    `json:"end_line,omitempty"`
	Encoding  string `json:"encoding,omitempty"`
}

// whole: a line is counted from the end, so that all of the file is needed.
func (in owlRead) whole() bool { return in.StartLine < 0 || in.EndLine < 0 }

func owlReadIn(in owlRead) (any, error) {
	path, err := nativePath("read_file", in.Path)
	native := owlRead{Path: path, Encoding: "utf-8"}
	if !in.whole() {
		native.StartLine, native.EndLine = in.StartLine, in.EndLine
		if in.EndLine != 0 { // no lines are asked for if it lies before; the file is looked at all the same
			native.EndLine = max(in.EndLine, in.StartLine)
		}
	}
	return native, err
}

type owlPage struct {
	Content   string `json:"content"`
	SizeBytes int64  `json:"size_bytes"`
	Truncated bool   `json:"truncated"`
	Note      string `json:"note"`
}

type owlReadAnswer struct {
	Path      string `json:"path"`
	Content   string `json:"content"`
	Lines     int    `json:"lines"`
	Truncated bool   `json:"truncated,omitempty"`
	Note      string `json:"note,omitempty"`
}

func owlReadOut(in owlRead, out *owlPage, failed string) (*toolcrib.Result, error) {
	switch {
	case out == nil && owlMissing(failed):
		return owlFailed("File not found: " + in.Path), nil
	case out == nil && errno(failed) != "":
		return owlFailed(errno(failed) + ": " + repr(owlShown(in.Path))), nil
	case out == nil:
		return owlFailed(failed), nil
	case out.SizeBytes > owlMost:
		return owlFailed("File too large (>1MB)"), nil
	case out.Truncated && in.whole():
		return owlFailed("lines cannot be counted from the end of a file that is longer than one answer; count from its beginning"), nil
	}
	answer := owlReadAnswer{Path: owlShown(in.Path), Content: newlines(out.Content)}
	lines := splitLines(answer.Content)
	if in.StartLine != 0 || in.EndLine != 0 {
		if !in.whole() {
			lines = feeds(out.Content)
		}
		lines = in.cut(lines)
		answer.Content = strings.Join(lines, "\n")
	}
	if answer.Lines = len(lines); out.Truncated {
		answer.Truncated, answer.Note = true, out.Note
	}
	return value(answer), nil
}

// feeds are the lines of a text as the native tool counts them.
func feeds(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	return lines
}

// cut is the range of lines, as a slice of Python takes it: what lies outside is
// left out, and a number below 0 counts from the end.
func (in owlRead) cut(lines []string) []string {
	if !in.whole() {
		if in.EndLine != 0 && in.EndLine < in.StartLine {
			return nil
		}
		return lines // the native tool has cut them
	}
	bound := func(n int) int {
		if n < 0 {
			n += len(lines)
		}
		return max(0, min(n, len(lines)))
	}
	start, end := in.StartLine, in.EndLine
	if start == 0 {
		start = 1
	}
	if end == 0 {
		end = len(lines)
	}
	from, to := bound(start-1), bound(end)
	return lines[from:max(from, to)]
}

func owlWriteIn(in ovosWrite) (any, error) {
	path, err := nativePath("write_file", in.Path)
	return ovosWrite{path, in.Content}, err
}

func (opt Options) owlWriteOut(in ovosWrite, out *nativeWriteOut, failed string) (*toolcrib.Result, error) {
	if out == nil {
		return owlFailed(opt.writing(failed, in.Path)), nil
	}
	return value(ordered{{"path", out.Path}, {"lines", len(splitLines(in.Content))}, {"success", true}}), nil
}

type owlEdit struct {
	Path       string `json:"path"`
	OldText    string `json:"old_text"`
	NewText    string `json:"new_text"`
	Occurrence int    `json:"occurrence"`
}

func owlEditIn(in owlEdit) (any, error) {
	switch {
	case in.OldText == "":
		return nil, told(toolcrib.CodeInvalid, "edit_file", "empty separator")
	case in.Occurrence < 0:
		return nil, told(toolcrib.CodeInvalid, "edit_file", fmt.Sprintf("Occurrence %d not found", in.Occurrence))
	}
	path, err := nativePath("edit_file", in.Path)
	in.Path = path
	return in, err
}

func owlEditOut(in owlEdit, out *nativeEditOut, failed string) (*toolcrib.Result, error) {
	switch {
	case out != nil:
		return value(ordered{{"path", owlShown(in.Path)}, {"replacements_made", out.ReplacementsMade}, {"success", true}}), nil
	case owlMissing(failed):
		return owlFailed("File not found: " + in.Path), nil
	case strings.HasPrefix(failed, "old_text is not in the file"):
		return owlFailed("Text not found in file"), nil
	case strings.HasPrefix(failed, "occurrence "):
		return owlFailed(fmt.Sprintf("Occurrence %d not found", in.Occurrence)), nil
	case errno(failed) != "":
		return owlFailed(errno(failed) + ": " + repr(owlShown(in.Path))), nil
	}
	return owlFailed(failed), nil
}

// owlDeleteIn refuses the three places that OWL never deletes. They come after
// its bound, and all that lies in them is ours to protect.
func (opt Options) owlDeleteIn(in owlPath) (any, error) {
	critical := []string{opt.Home, filepath.Join(opt.Home, ".ssh"), filepath.Join(opt.Home, ".config")}
	if opt.Home != "" && slices.Contains(critical, opt.absolute(in.Path)) {
		return nil, told(toolcrib.CodeDenied, "delete_file", "Cannot delete critical path")
	}
	path, err := nativePath("delete_file", in.Path)
	return owlPath{path}, err
}

type nativeDeleteOut struct {
	Path string `json:"path"`
	Type string `json:"type"`
}

func (opt Options) owlDeleteOut(in owlPath, out *nativeDeleteOut, failed string) (*toolcrib.Result, error) {
	switch {
	case out != nil:
		return value(ordered{{"path", out.Path}, {"deleted", true}, {"type", out.Type}}), nil
	case owlMissing(failed):
		return owlFailed("Path not found: " + in.Path), nil
	case strings.HasPrefix(failed, "the directory is not empty"):
		return owlFailed("Directory not empty"), nil
	}
	return owlFailed(opt.osError(failed, in.Path)), nil
}
