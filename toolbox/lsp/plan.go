package lsp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/difference"
	"github.com/toolcrib/toolcrib/toolbox/lsp/internal/position"
)

// The bounds of a rename.
const (
	maxEdited  = 1000    // files
	maxEdits   = 100_000 // places
	maxPreview = 256 << 10
)

// plan is what a rename would do to files.
type plan struct {
	files []planned // in the order of their paths
	edits int
}

type planned struct {
	path          string
	before, after string // whole, with a byte order mark if there is one
	was           files.Stamp
}

// plan makes of what a server proposes what would become of the files. Each has to be one
// that the caller may write, or there is no plan: a part of a rename breaks the rest.
func (q *question) plan(edit workspaceEdit) (plan, error) {
	byFile := map[string][]textEdit{}
	add := func(uri string, edits []textEdit) error {
		file, err := pathOf(uri)
		if err != nil {
			return fmt.Errorf("the language server wants to change %q, which is no file; nothing was renamed", clip(uri))
		}
		if len(edits) > 0 {
			byFile[file] = append(byFile[file], edits...)
		}
		return nil
	}
	for _, d := range edit.Documents {
		if d.Kind != "" {
			return plan{}, fmt.Errorf("the language server wants to %s files for that, which is not done here; nothing was renamed", clip(d.Kind))
		}
		if err := add(d.Document.URI, d.Edits); err != nil {
			return plan{}, err
		}
	}
	if len(edit.Documents) == 0 {
		for uri, edits := range edit.Changes {
			if err := add(uri, edits); err != nil {
				return plan{}, err
			}
		}
	}
	if len(byFile) == 0 {
		return plan{}, errors.New("there is nothing to rename at that place")
	}
	if len(byFile) > maxEdited {
		return plan{}, fmt.Errorf("it would change %d files, more than %d; nothing was renamed", len(byFile), maxEdited)
	}
	var p plan
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		one, err := q.edited(file, byFile[file])
		if err != nil {
			return plan{}, err
		}
		if p.edits += len(byFile[file]); p.edits > maxEdits {
			return plan{}, fmt.Errorf("it would change more than %d places; nothing was renamed", maxEdits)
		}
		if one.before != one.after {
			p.files = append(p.files, one)
		}
	}
	if len(p.files) == 0 {
		return plan{}, errors.New("nothing would change: it has that name already")
	}
	return p, nil
}

// edited is a file with its edits made.
func (q *question) edited(file string, edits []textEdit) (planned, error) {
	if err := q.handle.Check(file, false, false); err != nil {
		return planned{}, refusedEdit(file, err)
	}
	full, err := q.handle.Real(file)
	if err != nil {
		return planned{}, refusedEdit(file, err)
	}
	if err := q.box.obeyed(full); err != nil {
		return planned{}, err
	}
	body, mark, was, err := content(q.handle, full)
	if err != nil {
		return planned{}, refusedEdit(file, err)
	}
	text := position.New(body)
	type span struct {
		from, to int
		text     string
	}
	var spans []span
	for _, e := range edits {
		s := span{text.Offset(e.Range.Start, q.caps.Encoding), text.Offset(e.Range.End, q.caps.Encoding), e.Text}
		if s.to < s.from || len(e.Text) > maxText {
			return planned{}, fmt.Errorf("the language server proposes an edit of %s that makes no sense; nothing was renamed", file)
		}
		spans = append(spans, s)
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.from - b.from })
	var out strings.Builder
	at := 0
	for i, s := range spans {
		if i > 0 && s == spans[i-1] && s.from != s.to {
			continue // told twice
		}
		if s.from < at {
			return planned{}, fmt.Errorf("the language server proposes edits of %s that overlap; nothing was renamed", file)
		}
		out.WriteString(body[at:s.from])
		out.WriteString(s.text)
		if at = s.to; out.Len() > 2*maxText {
			return planned{}, fmt.Errorf("%s would become too large; nothing was renamed", file)
		}
	}
	out.WriteString(body[at:])
	p := planned{path: full, before: body, after: out.String(), was: was}
	if mark {
		p.before, p.after = bom+p.before, bom+p.after
	}
	return p, nil
}

// obeyed refuses what a person is asked about in every mode. Guards look for it in the
// arguments of a call, and those of a rename do not name the files that a server picks.
func (b *Box) obeyed(file string) error {
	if b.needs.Obeyed == nil {
		return nil
	}
	name, by, ok := b.needs.Obeyed(file)
	if !ok {
		return nil
	}
	return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: fmt.Sprintf(
		"the rename would change %s, and of %s it is known that %s later, outside of the sandbox; nothing was renamed. Change such files one by one with edit_file, which is asked about", file, name, by)}
}

// refusedEdit says that a file is out of reach, so that nothing is renamed at all.
func refusedEdit(file string, err error) error {
	if e, ok := toolcrib.AsError(err); ok {
		told := *e
		told.Message = "the rename would change " + file + ": " + e.Message + "; nothing was renamed"
		return &told
	}
	return fmt.Errorf("the rename would change %s: %w; nothing was renamed", file, err)
}

// mark tells one plan from another: the same files from the same content to the same.
func (p plan) mark() string {
	h := sha256.New()
	for _, f := range p.files {
		for _, part := range []string{f.path, f.before, f.after} {
			sum := sha256.Sum256([]byte(part))
			h.Write(sum[:])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// diff shows what would change, without what is hidden.
func (p plan) diff(shown func(text string, from, to int) (string, error)) string {
	var out strings.Builder
	for i, f := range p.files {
		before, after := f.before, f.after
		if shown != nil {
			var err, err2 error
			before, err = shown(f.before, 0, len(f.before))
			after, err2 = shown(f.after, 0, len(f.after))
			if err != nil || err2 != nil {
				out.WriteString(difference.Header(f.path) + "(the difference is not shown: it could not be looked through for secrets)\n" + p.sum())
				continue
			}
		}
		one := difference.Unified(f.path, []byte(before), []byte(after))
		if before == after {
			one = difference.Header(f.path) + "(it changes in what is hidden, so that the difference is not shown)\n" + p.sum()
		}
		if out.Len()+len(one) > maxPreview {
			fmt.Fprintf(&out, "(the differences of %d more files are not shown)\n%s", len(p.files)-i, p.sum())
			break
		}
		out.WriteString(one)
	}
	return out.String()
}

// sum stands for what a preview does not show: an answer is about the preview, and another
// plan must not look the same.
func (p plan) sum() string { return "(SHA-256 of all changes: " + p.mark() + ")\n" }

func clip(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
