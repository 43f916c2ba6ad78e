package policy

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// Tools of others call their arguments as they like. So every text of an input
// is looked at whose name says that it is a path, wherever it stands, and of the
// rest what has the form of one.

// inputPath is a text of an input that may be a path.
type inputPath struct {
	text  string
	named bool // its name says so
}

const (
	// pathsMost is how many paths of one input are looked at.
	pathsMost = 1024
	// pathLongest is the longest path that systems take.
	pathLongest = 4096
	// inputDeepest is how deep arguments are looked into; contracts go less far.
	inputDeepest = 64
)

// textRole is how the texts of a value are read.
type textRole uint8

const (
	rolePlain textRole = iota // as paths if they have the form of one
	rolePaths                 // as paths
	roleWords                 // as what is written somewhere
)

// inputPaths lists what may be a path in an input; false: there is more than is
// looked at.
func inputPaths(input json.RawMessage) (found []inputPath, all bool) {
	return pathsIn(withoutWords(input))
}

func pathsIn(input []byte) (found []inputPath, all bool) {
	w := pathWalk{dec: json.NewDecoder(bytes.NewReader(input))}
	w.dec.UseNumber()
	w.value(rolePlain, 0)
	return w.found, !w.tooMuch
}

type pathWalk struct {
	dec     *json.Decoder
	found   []inputPath
	tooMuch bool
}

// value reads one value. It goes by tokens, so that the first of two members of
// one name is seen as well.
func (w *pathWalk) value(as textRole, depth int) bool {
	token, err := w.dec.Token()
	if err != nil {
		return false // the contract refuses it
	}
	if depth > inputDeepest {
		w.tooMuch = true
		return false
	}
	switch t := token.(type) {
	case string:
		w.text(t, as)
	case json.Delim:
		for w.dec.More() {
			inner := as
			if t == '{' {
				key, err := w.dec.Token()
				name, ok := key.(string)
				if err != nil || !ok {
					return false
				}
				inner = w.member(name, as)
			}
			if !w.value(inner, depth+1) {
				return false
			}
		}
		_, err = w.dec.Token() // the end of it
	}
	return err == nil && !w.tooMuch
}

// member says how the value of a member is read. A name may be a path itself:
// {"src/main.go": "package main"}.
func (w *pathWalk) member(name string, around textRole) textRole {
	if strings.Contains(name, "/") || strings.HasPrefix(name, ".") {
		w.text(name, rolePaths)
		return rolePlain
	}
	switch {
	case namesWords(name):
		return roleWords
	case namesPath(name):
		return rolePaths
	case around == rolePaths: // files: [{"name": "x"}]
		return rolePaths
	}
	return rolePlain
}

func (w *pathWalk) text(text string, as textRole) {
	named := as == rolePaths
	if as == roleWords || text == "" || len(text) > pathLongest || !named && !pathForm(text) {
		return
	}
	for _, p := range pathSpellings(text) {
		if len(w.found) == pathsMost {
			w.tooMuch = true
			return
		}
		w.found = append(w.found, inputPath{p, named})
	}
}

// pathForm: the text is an absolute path or the address of a file, whatever its
// name says.
func pathForm(text string) bool {
	return !strings.ContainsAny(text, "\n\r") && (strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~/") || isFileURI(text) || windowsPathPattern.MatchString(text))
}

var (
	windowsPathPattern = regexp.MustCompile(`^[A-Za-z]:[\\/]`)
	schemePattern      = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+://`)
)

func isFileURI(text string) bool { return len(text) > 5 && strings.EqualFold(text[:5], "file:") }

// pathSpellings are the paths that a tool may take a text for. An address of
// something else than a file is none.
func pathSpellings(text string) []string {
	if !isFileURI(text) {
		if schemePattern.MatchString(text) && !strings.Contains(text, "..") {
			return nil
		}
		return withUnescaped(text)
	}
	rest := text[len("file:"):]
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		if at := strings.IndexByte(after, '/'); at >= 0 { // behind the name of a machine
			after = after[at:]
		}
		rest = after
	}
	if windowsPathPattern.MatchString(strings.TrimPrefix(rest, "/")) {
		rest = strings.TrimPrefix(rest, "/")
	}
	all := withUnescaped(rest)
	if at := strings.IndexAny(rest, "?#"); at >= 0 {
		all = append(all, withUnescaped(rest[:at])...)
	}
	return all
}

// withUnescaped is a path as it is, and with what is written as %2e.
func withUnescaped(text string) []string {
	if strings.Contains(text, "%") {
		if plain, err := url.PathUnescape(text); err == nil && plain != text {
			return []string{text, plain}
		}
	}
	return []string{text}
}

// namesPath reports whether the name of an argument says that it is a path:
// path, filePath, target_file, output-dir.
func namesPath(key string) bool {
	key = plainKey(key)
	switch key {
	case "workdir", "workingdir", "workingdirectory", "currentdir", "currentdirectory": // where a command runs is not what it writes
		return false
	}
	if slices.ContainsFunc([]string{"path", "file", "folder", "director", "uri", "location", "destination", "notebook"}, func(s string) bool { return strings.Contains(key, s) }) {
		return true
	}
	return slices.ContainsFunc([]string{"dir", "dirs", "dest", "dst", "target", "targets", "source", "sources", "src", "from", "to", "output", "out", "url", "document", "doc"}, func(s string) bool { return strings.HasSuffix(key, s) })
}

// namesWords reports whether the name of an argument says that it is what is
// written somewhere, or looked for: content, newText, file_text.
func namesWords(key string) bool {
	key = plainKey(key)
	return slices.ContainsFunc([]string{
		"content", "contents", "text", "texts", "string", "body", "data", "message", "command", "code", "script", "pattern", "query", "regex", "description", "observations", "title", "thought", "prompt",
	}, func(s string) bool { return strings.HasSuffix(key, s) })
}

// plainKey is a name in small letters without what joins its words.
func plainKey(key string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '_', '-', '.', ' ':
			return -1
		}
		return r
	}, strings.ToLower(key))
}

// find gives the obeyed places that a call names, the most dangerous first, so that
// no other can hide it. It gives false if there are more paths than are looked at.
func (o *Obeyed) find(r *toolcrib.Review, c *newContent) (list []*obeyedPlace, all bool) {
	if o == nil || !writesFiles(r.Spec.Effects) {
		return nil, true
	}
	var paths []inputPath
	if all = true; r.Change != nil {
		paths = []inputPath{{r.Change.Path, true}} // as it is, since no tool reads it
	} else {
		paths, all = inputPaths(r.Input)
	}
	seen, named := map[string]bool{}, map[string]bool{}
	for _, p := range paths {
		if seen[p.text] {
			continue
		}
		seen[p.text] = true
		at := places{base: o.Base, home: o.Home, resolve: o.Resolve, review: r}
		if !p.named { // the tool may mean something else by it
			at.review = nil
		}
		forms := formsOf(p.text, &at)
		found := o.atForms(forms, &at)
		if found == nil || named[found.full] {
			found = o.around(forms, r)
		}
		if found == nil || named[found.full] {
			found = o.byName(forms, c)
		}
		if found != nil && !named[found.full] {
			named[found.full] = true
			list = append(list, found)
		}
	}
	slices.SortStableFunc(list, func(a, b *obeyedPlace) int { return int(b.danger) - int(a.danger) })
	return list, all
}
