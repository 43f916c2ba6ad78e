//go:build amd64 || arm64

package linux

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/internal/difference"
	"github.com/toolcrib/toolcrib/internal/gitchange"
	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// hides tells whether a change is shown by what it means.
func (m *gitMeaning) hides(path string) bool { return m.found[path].Answer == gitchange.Ordinary }

// The bounds on the differences of what only commits or the index hold.
const (
	maxCarried     = 1 << 20 // bytes of a file
	maxCarriedText = 96 << 10
)

// show tells a person what is done to repositories. The differences of some files are shown
// elsewhere.
func (m *gitMeaning) show(elsewhere func(path string) bool) string {
	var out strings.Builder
	for _, r := range m.repos {
		out.WriteString("In the repository " + difference.Path(r.work) + ":\n")
		for _, line := range r.result.Shown {
			out.WriteString("  " + line + "\n")
		}
		diffs, left := 0, 0
		for _, f := range r.result.Files {
			inWork := r.inWork(f)
			if inWork && (f.New.Mode == 0 || elsewhere(filepath.Join(r.work, filepath.FromSlash(f.Path)))) {
				continue
			}
			if diffs > maxCarriedText {
				left++
				continue
			}
			text := r.difference(f, inWork)
			diffs += len(text)
			out.WriteString(text)
		}
		if left > 0 {
			fmt.Fprintf(&out, "(the differences of %d more files in commits are not shown)\n", left)
		}
	}
	return out.String()
}

// inWork tells whether the work tree has the file as the commit or the index has it.
func (r *repoMeaning) inWork(f gitchange.File) bool {
	switch f.New.Mode {
	case 0, gitobject.ModeFile, gitobject.ModeShared, gitobject.ModeRuns:
	default:
		return false
	}
	file, info, err := r.after.Open(f.Path)
	if f.New.Mode == 0 {
		if err == nil {
			_ = file.Close() // it was only read
		}
		return errors.Is(err, fs.ErrNotExist)
	}
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // it was only read
	if info.Size() > maxCarried {
		return false
	}
	data := make([]byte, info.Size())
	if n, _ := file.ReadAt(data, 0); n < len(data) {
		return false
	}
	return gitobject.Hash(gitobject.Object{Kind: gitobject.Blob, Data: data}) == f.New.ID
}

// difference shows what a commit or the index has of a file.
func (r *repoMeaning) difference(f gitchange.File, inWork bool) string {
	title := f.Path + " (not in your files: " + f.By + ")"
	if inWork {
		title = f.Path + " (" + f.By + ")"
	}
	before, err := r.result.Content(f.Old, maxCarried)
	after, errAfter := r.result.Content(f.New, maxCarried)
	if err != nil || errAfter != nil || int64(max(len(before), len(after))) == maxCarried {
		return difference.Header(title) + "(the difference is not shown: it cannot be read, or is too large)\n"
	}
	return difference.Unified(title, before, after)
}
