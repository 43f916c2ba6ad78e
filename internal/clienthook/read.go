package clienthook

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// reader puts the input of one tool into calls of ours.
type reader struct {
	near   Surroundings
	dir    string // of the client
	client string
	tool   string
	raw    json.RawMessage
	in     fields // nil: the input is no object

	use, transcript, project string // of the client; may be empty
}

// asObject is the input as it came, if that can be the input of a call.
func (r *reader) asObject() json.RawMessage {
	if r.in != nil {
		return r.raw
	}
	out, err := json.Marshal(map[string]json.RawMessage{"input": r.raw})
	if err != nil {
		return json.RawMessage("{}")
	}
	return out
}

// need is a text that the tool cannot do without.
func (r *reader) need(name string) (string, error) {
	if r.in == nil {
		return "", errors.New("its input is not understood")
	}
	s, err := r.in.text(name)
	if err == nil && s == "" {
		err = fmt.Errorf("%s is missing", name)
	}
	return s, err
}

// may is a text that may be missing.
func (r *reader) may(name string) (string, error) {
	if r.in == nil {
		return "", errors.New("its input is not understood")
	}
	return r.in.text(name)
}

// input writes the input of a call of ours: pairs of names and texts. Empty texts
// are left out, except for content.
func input(pairs ...string) json.RawMessage {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" || pairs[i] == "content" {
			m[pairs[i]] = pairs[i+1]
		}
	}
	out, _ := json.Marshal(m) // texts can always be written
	return out
}

// The tools of ours that theirs stand for. Effects and groups are those of the
// toolboxes; a test holds them against each other.
const (
	looks   = toolcrib.Reads
	changes = toolcrib.Reads | toolcrib.Writes
	removes = changes | toolcrib.Destroys
	fetches = toolcrib.Reads | toolcrib.Network
	runs    = removes | toolcrib.Runs | toolcrib.Network
)

func (r *reader) command(line, dir string) ([]Deed, error) {
	at, err := r.place(dir)
	if err != nil {
		return nil, err
	}
	return []Deed{{Box: "shell", Tool: "run_command", Group: "exec", Effects: runs, Path: at, Input: input("command", line, "working_dir", at)}}, nil
}

// file is a deed on one file. More are further arguments of the tool.
func (r *reader) file(tool string, effects toolcrib.Effects, path string, more ...string) (Deed, error) {
	at, err := r.place(path)
	if err != nil {
		return Deed{}, err
	}
	d := Deed{Box: "files", Tool: tool, Group: "fs", Effects: effects, Path: at, Write: effects&toolcrib.Writes != 0}
	switch tool {
	case "find_files", searchFiles, "list_files":
		d.Group = "search"
	}
	d.Input = input(append([]string{"path", at}, more...)...)
	return d, nil
}

func (r *reader) one(tool string, effects toolcrib.Effects, path string, more ...string) ([]Deed, error) {
	d, err := r.file(tool, effects, path, more...)
	return []Deed{d}, err
}

func fetch(url string) Deed {
	return Deed{Box: "web", Tool: "web_fetch", Group: "web", Effects: fetches, URL: url, Input: input("url", url)}
}

func webSearch(query string) []Deed {
	return []Deed{{Box: "web", Tool: "web_search", Group: "web", Effects: fetches, Input: input("query", query)}}
}

// harmless is a tool of the client that touches nothing but the client itself.
func (r *reader) harmless(effects toolcrib.Effects) []Deed {
	d := r.unknown()
	d.Effects = effects
	return []Deed{d}
}

// found is a search below a directory for a pattern of paths, which may itself
// begin with a directory, or with a way out of this one. It is a call of a tool of ours
// with the pattern as one of its arguments.
func (r *reader) found(tool, argument, dir, pattern string) ([]Deed, error) {
	fixed, rest := pattern, ""
	if at := magic(pattern); at >= 0 {
		fixed = pattern[:strings.LastIndexByte(pattern[:at], '/')+1]
		rest = pattern[len(fixed):]
	}
	if filepath.IsAbs(fixed) || strings.HasPrefix(fixed, "~") {
		dir = fixed
	} else {
		dir = join(dir, fixed)
	}
	if climbs(rest) {
		return nil, fmt.Errorf("the pattern %q leads out of its directory", pattern)
	}
	return r.one(tool, looks, dir, argument, pattern)
}

// magic is where a pattern of paths stops to be plain text, or -1.
func magic(pattern string) int {
	at := strings.IndexAny(pattern, "*?[{!")
	for _, form := range []string{"@(", "+("} {
		if i := strings.Index(pattern, form); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	return at
}

// climbs reports whether a pattern may go to a directory above, which braces can hide.
func climbs(pattern string) bool {
	ways, err := pathglob.Braces(pattern)
	if err != nil {
		return strings.Count(pattern, ".") > 1
	}
	return slices.ContainsFunc(append(ways, pattern), func(way string) bool { return strings.Contains(way, "..") })
}
