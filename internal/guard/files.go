package guard

import (
	"context"

	"github.com/toolcrib/toolcrib"
)

// Files is the guard of the box files. It has no opinion on tools that only
// read, nor on other boxes; whether a path may be touched at all is no
// question here, since a tool has no handle on what was not granted.
type Files struct {
	// Unasked lets files be changed without a question.
	Unasked bool
}

// Judge implements [toolcrib.Guard].
func (f *Files) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	if r.Spec.Box != "files" || r.Spec.Effects.Within(toolcrib.Pure|toolcrib.Reads) {
		return nil, nil
	}
	if f.Unasked {
		return &toolcrib.Verdict{Decision: toolcrib.Allow, Guard: "files", Rule: "ask", Reason: "the configuration lets files be changed unasked"}, nil
	}
	return &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "files", Rule: "ask", Reason: "it changes files (toolboxes.files.ask: false allows that unasked)"}, nil
}
