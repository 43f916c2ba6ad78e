package dialect

import (
	"context"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// OWLBound is the guard that holds OWL's own rule for calls in its dialect:
// files are written and deleted in the home directory or /tmp. It leaves no
// more than that of what is granted, so that no link leads past it, and it
// allows nothing.
type OWLBound struct {
	Dirs []files.Dir // the home directory and /tmp
}

// NewOWLBound is the bound for a home directory; empty: only /tmp is left.
func NewOWLBound(home string) OWLBound { return newOWLBound(Options{Home: home}) }

func newOWLBound(opt Options) OWLBound {
	var b OWLBound
	for _, dir := range opt.owlBounds() {
		if at, err := filepath.EvalSymlinks(dir); err == nil {
			dir = at // what is granted is named after links
		}
		b.Dirs = append(b.Dirs, files.Dir{Path: dir, Write: true})
	}
	return b
}

// Judge implements [toolcrib.Guard].
func (b OWLBound) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	writes := r.Spec.Native == "write_file" || r.Spec.Native == "delete_file"
	if r.Call.Caller.Dialect != OWL || r.Spec.Box != "files" || !writes {
		return nil, nil
	}
	return &toolcrib.Verdict{
		Guard: "owl", Rule: "home", Decision: toolcrib.Allow, Note: true,
		Reason: "in the dialect owl, files are written and deleted in the home directory or /tmp only",
		Grant:  &toolcrib.Grant{Dirs: b.Dirs},
	}, nil
}
