package policy

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// liveMost is how much is read of a file that is there already.
const liveMost = 8 << 20

// writeInput is the input of our tools that write files.
type writeInput struct {
	Content    string `json:"content"`
	Append     bool   `json:"append"`
	OldText    string `json:"old_text"`
	NewText    string `json:"new_text"`
	Occurrence *int   `json:"occurrence"`
}

// newContent is what is known of what a call writes.
type newContent struct {
	review *toolcrib.Review
	unread bool // the input does not say it
}

// ours tells whether a call is one of our tools for files.
func (c *newContent) ours(native string) bool {
	return c != nil && c.review.Spec.Box == "files" && c.review.Spec.Native == native
}

// isLink: a program made a symbolic link.
func (c *newContent) isLink() bool { return c != nil && c.review.Change.Link() }

// gone: nothing is left of it.
func (c *newContent) gone() bool { return c.ours("delete_file") }

// target is where a link would lead; false: nobody knows, since it goes by what may be made
// with it.
func (c *newContent) target(link string) (string, bool) {
	var in writeInput
	if json.Unmarshal(c.review.Input, &in) != nil {
		return "", false
	}
	to := filepath.ToSlash(in.Content)
	if !path.IsAbs(to) && !filepath.IsAbs(in.Content) {
		dir, err := linked.Target(local(path.Dir(link)))
		if err != nil {
			return "", false
		}
		at := filepath.ToSlash(dir)
		for ; to == ".." || strings.HasPrefix(to, "../"); to = strings.TrimLeft(to[2:], "/") {
			at = path.Dir(at)
		}
		to = at + "/" + to
	}
	if slices.Contains(strings.Split(to, "/"), "..") {
		return "", false
	}
	there, err := linked.Target(local(to))
	return filepath.ToSlash(there), err == nil
}

// text is what a file holds afterwards; false: nobody knows.
func (c *newContent) text(file string, live []byte) (text []byte, known bool) {
	var in writeInput
	if c.isLink() || c == nil || c.unread || json.Unmarshal(c.review.Input, &in) != nil {
		return nil, false
	}
	switch {
	case c.ours("write_file") && in.Append:
		return append(live, in.Content...), true
	case c.ours("write_file"):
		return []byte(in.Content), true
	case c.ours("edit_file") && in.OldText != "":
		return edited(string(live), &in)
	}
	return nil, false
}

// edited is a text with one place replaced, or all. Where the tool would find the old text
// in another form than it was given, nobody knows.
func edited(text string, in *writeInput) ([]byte, bool) {
	which := 1
	if in.Occurrence != nil {
		which = *in.Occurrence
	}
	if !strings.Contains(text, in.OldText) {
		return nil, false
	}
	if which == 0 {
		return []byte(strings.ReplaceAll(text, in.OldText, in.NewText)), true
	}
	from := 0
	for ; which > 1; which-- {
		at := strings.Index(text[from:], in.OldText)
		if at < 0 {
			return nil, false
		}
		from += at + len(in.OldText)
	}
	return []byte(text[:from] + strings.Replace(text[from:], in.OldText, in.NewText, 1)), true
}

// live is what a file holds now; empty if that cannot be told.
func live(file string) []byte {
	text, err := plainfile.Read(local(file), liveMost)
	if err != nil {
		return nil
	}
	return text
}
