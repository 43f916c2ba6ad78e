package dialect

import (
	"cmp"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// The search tools of OpenVoiceOS find nothing where a directory is missing
// or outside; only a pattern of two of them can make a call fail.
//
// What differs from the original, besides what [pattern] says: list_directory
// gives 100,000 entries at most, find_files 2,000 and search_in_files 10,000,
// each no more than one native answer holds; where there is more, the answer
// has a further field, "truncated", and total of find_files counts all of it.
// Nothing inside .git and nothing protected is found. Long lines of
// search_in_files come cut around the match. Regular expressions
// are those of the native tool: \w and \d are about ASCII, and what only
// Python knows, such as back references, makes the call fail with its reason
// where the original would have gone on.

// ovosSearch lists the tools that look at many files.
func ovosSearch(opt Options) []ovosTool {
	return []ovosTool{
		{
			box: "files", native: "list_files", name: "list_directory",
			doc: "List entries in a directory, optionally filtered by a glob pattern.",
			args: []field{
				{name: "path", typ: "string", doc: "Directory path to list."},
				{name: "pattern", typ: "string", doc: "Shell glob pattern to filter entries.", def: `"*"`},
			},
			out: []field{
				{name: "entries", typ: "[]string", doc: "Matching filesystem entries."},
				{name: "path", typ: "string", doc: "Directory that was listed."},
			},
			in:      translated(ovosListIn),
			answer:  answered(opt.ovosListOut),
			refused: worded(opt.ovosListRefused),
		},
		{
			box: "files", native: "search_files", name: "search_in_files",
			doc: "Search for a regex pattern across files under a directory.",
			args: []field{
				{name: "pattern", typ: "string", doc: "Regular expression to search for."},
				{name: "path", typ: "string", doc: "Root directory to search within.", def: `"."`},
				{name: "glob", typ: "string", doc: "Glob pattern to select files.", def: `"**/*"`},
			},
			out: []field{
				{name: "matches", typ: "[]strings", doc: "List of matches, each with keys: file, line_number, line."},
				{name: "total", typ: "integer", doc: "Total number of matching lines found."},
			},
			in:     translated(ovosGrepIn),
			answer: answered(ovosGrepOut),
			refused: worded(func(_ ovosGrep, e *toolcrib.Error) *toolcrib.Result {
				return ifNowhere(e, ovosGrepAnswer{Matches: []ovosMatch{}})
			}),
		},
		{
			box: "files", native: "find_files", name: "find_files",
			doc: "Find files matching a glob pattern under a directory.",
			args: []field{
				{name: "glob", typ: "string", doc: "Glob pattern (e.g. '**/*.py')."},
				{name: "path", typ: "string", doc: "Root directory to search from.", def: `"."`},
			},
			out: []field{
				{name: "files", typ: "[]string", doc: "Matched file paths as strings."},
				{name: "total", typ: "integer", doc: "Number of files found."},
			},
			in:     translated(ovosFindIn),
			answer: answered(ovosFindOut),
			refused: worded(func(_ ovosFind, e *toolcrib.Error) *toolcrib.Result {
				return ifNowhere(e, ovosFindAnswer{Files: []string{}})
			}),
		},
	}
}

// ifNowhere answers with nothing found where the path was refused.
func ifNowhere(e *toolcrib.Error, empty any) *toolcrib.Result {
	if errors.Is(e, files.ErrOutside) || errors.Is(e, files.ErrProtected) || errors.Is(e, errTooLong) {
		return value(empty)
	}
	return nil
}

// badPattern is the failure of a call whose pattern Python would not take. The
// native tool was asked first, since what is wrong with the path counts more.
func badPattern(tool string, p pattern) error {
	return &toolcrib.Error{Code: toolcrib.CodeDenied, Tool: tool, Message: p.bad, Err: errBadPattern}
}

type ovosList struct {
	Path    string `json:"path"`
	Pattern string `json:"pattern"`
}

type ovosListAnswer struct {
	Entries   []string `json:"entries"`
	Path      string   `json:"path"`
	Truncated bool     `json:"truncated,omitempty"`
}

type nativeList struct {
	Path      string `json:"path"`
	Pattern   string `json:"pattern,omitempty"`
	Recursive bool   `json:"recursive"`
	Limit     int    `json:"limit"`
}

func ovosListIn(in ovosList) (any, error) {
	path, err := nativePath("list_directory", in.Path)
	p := readPattern(in.Pattern)
	return nativeList{path, p.native, p.deep, 100_000}, err
}

type nativeListOut struct {
	Path      string   `json:"path"`
	Files     []string `json:"files"`
	Truncated bool     `json:"truncated"`
}

func (opt Options) ovosListOut(in ovosList, out *nativeListOut, _ string) (*toolcrib.Result, error) {
	if out == nil { // no such directory
		return value(ovosListAnswer{Entries: []string{}, Path: opt.absolute(in.Path)}), nil
	}
	p := readPattern(in.Pattern)
	answer := ovosListAnswer{Entries: []string{}, Path: out.Path, Truncated: out.Truncated}
	if p.top {
		answer.Entries = append(answer.Entries, out.Path)
	}
	for _, name := range out.Files {
		entry, dir := strings.CutSuffix(name, "/")
		if dir || !p.dirs {
			answer.Entries = append(answer.Entries, joined(out.Path, entry))
		}
	}
	slices.SortFunc(answer.Entries, byElements)
	return value(answer), nil
}

func (opt Options) ovosListRefused(in ovosList, e *toolcrib.Error) *toolcrib.Result {
	path := in.Path
	if errors.Is(e, errTooLong) {
		path = opt.absolute(path)
	}
	return ifNowhere(e, ovosListAnswer{Entries: []string{}, Path: path})
}

// joined is a path below a directory, with the separators of this system.
func joined(dir, below string) string { return filepath.Join(dir, filepath.FromSlash(below)) }

// byElements orders paths as Python does: element by element.
func byElements(a, b string) int {
	for {
		headA, restA, moreA := strings.Cut(a, string(filepath.Separator))
		headB, restB, moreB := strings.Cut(b, string(filepath.Separator))
		if c := strings.Compare(headA, headB); c != 0 || !moreA || !moreB {
			return cmp.Or(c, len(a)-len(b))
		}
		a, b = restA, restB
	}
}

type ovosGrep struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Glob    string `json:"glob"`
}

type ovosMatch struct {
	File       string `json:"file"`
	LineNumber string `json:"line_number"`
	Line       string `json:"line"`
}

type ovosGrepAnswer struct {
	Matches   []ovosMatch `json:"matches"`
	Total     int         `json:"total"`
	Truncated bool        `json:"truncated,omitempty"`
}

type nativeGrep struct {
	Pattern     string `json:"pattern"`
	Path        string `json:"path"`
	FilePattern string `json:"file_pattern"`
	Regex       bool   `json:"regex"`
	Binary      bool   `json:"binary"`
	LineEnds    string `json:"line_ends"`
	Limit       int    `json:"limit"`
}

// ovosGrepIn adds "/." to the path, so that the name of a match is "." where
// the path is no directory but a file.
func ovosGrepIn(in ovosGrep) (any, error) {
	path, err := nativePath("search_in_files", in.Path)
	return nativeGrep{
		Pattern: nativeRegex(in.Pattern), Path: path + "/.", FilePattern: readPattern(in.Glob).files(),
		Regex: true, Binary: true, LineEnds: "unicode", Limit: 10_000,
	}, err
}

// nativeRegex writes a regular expression of Python as the native tool reads
// it, where they write the same thing differently.
func nativeRegex(re string) string {
	if re == "" {
		return "(?:)" // which every line has
	}
	var b strings.Builder
	for i := 0; i < len(re); i++ {
		b.WriteByte(re[i])
		if re[i] != '\\' || i+1 == len(re) {
			continue
		}
		if i++; re[i] == 'Z' {
			b.WriteByte('z')
		} else {
			b.WriteByte(re[i])
		}
	}
	return b.String()
}

type nativeGrepOut struct {
	Path    string `json:"path"`
	Matches []struct {
		File    string `json:"file"`
		Line    int    `json:"line"`
		Content string `json:"content"`
	} `json:"matches"`
	Truncated bool `json:"truncated"`
}

func ovosGrepOut(in ovosGrep, out *nativeGrepOut, failed string) (*toolcrib.Result, error) {
	answer := ovosGrepAnswer{Matches: []ovosMatch{}}
	if out == nil {
		if err := unsupported(in.Pattern, failed); err != nil {
			return nil, err
		}
		return value(answer), nil
	}
	if p := readPattern(in.Glob); p.bad != "" {
		return nil, badPattern("search_in_files", p)
	}
	for _, m := range out.Matches {
		if m.File == "." {
			continue // a file was searched: to the original it is a directory without any
		}
		answer.Matches = append(answer.Matches, ovosMatch{joined(out.Path, m.File), strconv.Itoa(m.Line), m.Content})
	}
	answer.Total, answer.Truncated = len(answer.Matches), out.Truncated
	return value(answer), nil
}

// unsupported tells a regular expression that only Python understands from one
// that nobody does: for that one nothing was found.
func unsupported(re, failed string) error {
	for _, only := range []string{`\1`, `\2`, `\3`, `(?P=`, `(?=`, `(?!`, `(?<`, `(?>`, `(?(`, `(?#`, `++`, `*+`, `?+`} {
		if strings.Contains(failed, "regular expression") && strings.Contains(re, only) {
			return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: "search_in_files", Message: failed, Err: errBadPattern}
		}
	}
	return nil
}

type ovosFind struct {
	Glob string `json:"glob"`
	Path string `json:"path"`
}

type ovosFindAnswer struct {
	Files     []string `json:"files"`
	Total     int      `json:"total"`
	Truncated bool     `json:"truncated,omitempty"`
}

func ovosFindIn(in ovosFind) (any, error) {
	path, err := nativePath("find_files", in.Path)
	p := readPattern(in.Glob)
	if p.dirs {
		p.native = nothing
	}
	return ovosFind{p.native, path}, err
}

func ovosFindOut(in ovosFind, out *ovosFindAnswer, _ string) (*toolcrib.Result, error) {
	if p := readPattern(in.Glob); p.bad != "" {
		return nil, badPattern("find_files", p)
	}
	if out == nil { // no such directory
		return value(ovosFindAnswer{Files: []string{}}), nil
	}
	for i, f := range out.Files {
		out.Files[i] = filepath.FromSlash(path.Clean(filepath.ToSlash(f)))
	}
	slices.SortFunc(out.Files, byElements)
	return value(out), nil
}
