package dialect

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// The tools of OWL answer with one object each. What went wrong is an object
// too, with the key error and nothing else; here it is also a failed result.
// Where its functions raise, the text of what they raise is the error.
//
// Its checks are held on top of ours: a file is written and deleted in the home
// directory or /tmp, by whole names and after links (see [OWLBound]), where OWL
// compares the beginning of a text. Nothing is given that we do not grant.

// owlTool is a tool of OWL: its contract and the native tool.
type owlTool struct {
	box, native string
	name, doc   string
	args        []parameter
	in          func(input json.RawMessage) (json.RawMessage, error)
	answer      func(input json.RawMessage, native *toolcrib.Result) (*toolcrib.Result, error)
}

func owlTools(opt Options) []owlTool {
	return slices.Concat(opt.owlFiles(), opt.owlSearch(), opt.owlShell())
}

func owlAdapters(opt Options) []toolcrib.Adapter {
	var list []toolcrib.Adapter
	for _, t := range owlTools(opt) {
		list = append(list, toolcrib.Adapter{
			Dialect: OWL, Box: t.box, Native: t.native,
			Spec: toolcrib.Spec{Name: t.name, Description: t.doc, Input: parameters(t.args)},
			In:   t.in, Out: t.answer, Refused: worded(opt.owlRefused(t.name)),
		})
	}
	return list
}

// owlFailed is the answer of a tool that could not do it.
func owlFailed(why string) *toolcrib.Result {
	r := value(ordered{{"error", why}})
	r.Failed = true
	return r
}

// owlError words a refusal. OWL has one text, for tools that do not exist for
// the caller.
func owlError(e *toolcrib.Error) string {
	if e.Code != toolcrib.CodeNotFound {
		return e.Message
	}
	text := "Tool not available: " + e.Tool
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// owlRefused puts the refusal of a path where OWL's callers look for it. That a
// person said no, or that nobody is there to ask, stays a refusal.
func (opt Options) owlRefused(tool string) func(owlPath, *toolcrib.Error) *toolcrib.Result {
	verb := map[string]string{"write_file": "write to", "delete_file": "delete in"}[tool]
	return func(in owlPath, e *toolcrib.Error) *toolcrib.Result {
		const bound = " home directory or /tmp"
		switch out := errors.Is(e, files.ErrOutside); {
		case errors.Is(e, errTold):
			return owlFailed(e.Message)
		case verb != "" && opt.owlOutside(in.Path) && (out || strings.Contains(e.Message, "no directory was granted")):
			return owlFailed("Can only " + verb + bound)
		case verb != "" && out: // by a link, or in a part of it that is not granted
			return owlFailed("Can only " + verb + bound + ": " + e.Message)
		case out, errors.Is(e, files.ErrProtected), errors.Is(e, files.ErrReadOnly), errors.Is(e, errTooLong):
			return owlFailed(e.Message)
		}
		return nil
	}
}

// owlPath is what most tools have.
type owlPath struct {
	Path string `json:"path"`
}

// owlBounds are the directories that OWL writes and deletes in.
func (opt Options) owlBounds() []string {
	list := []string{"/tmp"}
	if opt.tmp != "" {
		list[0] = opt.tmp
	}
	if opt.Home != "" {
		list = append(list, opt.Home)
	}
	return list
}

// owlOutside reports whether a path leads out of them by its words, before any
// link is followed.
func (opt Options) owlOutside(path string) bool {
	full := opt.absolute(path)
	return !slices.ContainsFunc(opt.owlBounds(), func(dir string) bool {
		return pathglob.Holds(dir, full)
	})
}

// owlShown is a path as Python writes it: without what changes nothing, but
// with each "..", which may lead elsewhere after a link.
func owlShown(path string) string {
	slash := filepath.ToSlash(path)
	elems := slices.DeleteFunc(strings.Split(slash, "/"), func(e string) bool { return e == "" || e == "." })
	shown := strings.Join(elems, "/")
	if strings.HasPrefix(slash, "/") {
		shown = "/" + shown
	}
	if shown == "" {
		shown = "."
	}
	return filepath.FromSlash(shown)
}

// owlMissing reports whether the native tool found nothing at a path.
func owlMissing(failed string) bool {
	return strings.HasPrefix(failed, "no such file") || strings.HasPrefix(failed, "not a directory")
}
