package dialect

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// What differs from OWL's own functions, besides what [pattern] says: the
// order is always the same; nothing inside .git and nothing protected is found;
// where there are more entries or matches than one native answer holds, a
// further key, truncated, says so, and count is of those that were found until
// then. search_files looks into no file with a NUL in it, shows bytes that are
// no UTF-8 where OWL passes over the whole file, counts lines by line feeds, and
// cuts long ones around the match.

// owlShownMatches is how many matches OWL gives; it counts all of them.
const owlShownMatches = 50

func (opt Options) owlSearch() []owlTool {
	path := parameter{name: "path", typ: "string", doc: "The directory", required: true}
	return []owlTool{
		{
			box: "files", native: "list_files", name: "list_files", doc: "List what is in a directory.",
			args: []parameter{
				path,
				{name: "pattern", typ: "string", doc: "Which entries to list, such as *.py", def: `"*"`},
				{name: "recursive", typ: "boolean", doc: "List what lies in directories below too", def: "false"},
			},
			in: translated(owlListIn), answer: answered(owlListOut),
		},
		{
			box: "files", native: "search_files", name: "search_files",
			doc: "Search for a text in the files below a directory. At most 50 matches are given; count says how many there are.",
			args: []parameter{
				path,
				{name: "pattern", typ: "string", doc: "The text to look for, in single lines", required: true},
				{name: "file_pattern", typ: "string", doc: "Which files to search", def: `"*.py"`},
			},
			in: translated(owlGrepIn), answer: answered(owlGrepOut),
		},
	}
}

type owlList struct {
	Path      string `json:"path"`
	Pattern   string `json:"pattern"`
	Recursive bool   `json:"recursive"`
}

// below reads a pattern as Python's rglob does: anywhere below the directory.
func below(text string) pattern {
	if strings.HasPrefix(text, "/") {
		return readPattern(text)
	}
	if strings.Trim(text, "./") == "" && !strings.Contains(text, "..") {
		return readPattern("**")
	}
	return readPattern("**/" + text)
}

func (in owlList) pattern() pattern {
	if in.Recursive {
		return below(in.Pattern)
	}
	return readPattern(in.Pattern)
}

func owlListIn(in owlList) (any, error) {
	path, err := nativePath("list_files", in.Path)
	p := in.pattern()
	return nativeList{path, p.native, p.deep, 100_000}, err
}

type owlListAnswer struct {
	Path      string   `json:"path"`
	Files     []string `json:"files"`
	Count     int      `json:"count"`
	Truncated bool     `json:"truncated,omitempty"`
}

func owlListOut(in owlList, out *nativeListOut, failed string) (*toolcrib.Result, error) {
	answer := owlListAnswer{Path: owlShown(in.Path), Files: []string{}}
	p := in.pattern()
	switch file := errno(failed) == errno("not a directory"); {
	case out == nil && owlMissing(failed) && !file, file && strings.HasPrefix(failed, "not a directory"):
		return owlFailed("Path not found: " + in.Path), nil
	case out == nil && !file:
		return owlFailed(failed), nil
	case p.bad != "":
		return owlFailed(p.bad), nil
	case out == nil:
		return value(answer), nil // a file has no entries
	}
	if p.top {
		answer.Files = append(answer.Files, ".")
	}
	for _, name := range out.Files {
		if entry, dir := strings.CutSuffix(name, "/"); dir || !p.dirs {
			answer.Files = append(answer.Files, filepath.FromSlash(entry))
		}
	}
	slices.SortFunc(answer.Files, byElements)
	answer.Count, answer.Truncated = len(answer.Files), out.Truncated
	return value(answer), nil
}

type owlGrep struct {
	Path        string `json:"path"`
	Pattern     string `json:"pattern"`
	FilePattern string `json:"file_pattern"`
}

// owlGrepIn has a text that stands in no single line, or in each of them, looked
// for as an expression: the native tool takes neither for a text. As in
// ovosGrepIn, "/." makes a file that is no directory known.
func owlGrepIn(in owlGrep) (any, error) {
	path, err := nativePath("search_files", in.Path)
	native := nativeGrep{Pattern: in.Pattern, Path: path + "/.", FilePattern: below(in.FilePattern).files(), LineEnds: "lf", Limit: 10_000}
	switch {
	case in.Pattern == "":
		native.Pattern, native.Regex = "(?:)", true
	case strings.ContainsFunc(in.Pattern, isLineEnd):
		native.Pattern, native.Regex = `[^\x00-\x{10FFFF}]`, true
	}
	return native, err
}

type owlMatch struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Content string `json:"content"`
}

type owlGrepAnswer struct {
	Path      string     `json:"path"`
	Pattern   string     `json:"pattern"`
	Matches   []owlMatch `json:"matches"`
	Count     int        `json:"count"`
	Truncated bool       `json:"truncated,omitempty"`
}

func owlGrepOut(in owlGrep, out *nativeGrepOut, failed string) (*toolcrib.Result, error) {
	answer := owlGrepAnswer{Path: owlShown(in.Path), Pattern: in.Pattern, Matches: []owlMatch{}}
	if out == nil && owlMissing(failed) {
		return owlFailed("Path not found: " + in.Path), nil
	}
	if p := below(in.FilePattern); p.bad != "" {
		return owlFailed(p.bad), nil
	}
	if out == nil {
		return owlFailed(failed), nil
	}
	for _, m := range out.Matches {
		if m.File == "." {
			continue // a file was searched, and none lies below it
		}
		if answer.Count++; answer.Count <= owlShownMatches {
			answer.Matches = append(answer.Matches, owlMatch{filepath.FromSlash(m.File), m.Line, strings.TrimFunc(m.Content, isSpace)})
		}
	}
	answer.Truncated = out.Truncated
	return value(answer), nil
}
