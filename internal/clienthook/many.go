package clienthook

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// manyReadable says why a client must not open the files that a pattern of its tool for
// many files means. To that tool every path is a pattern in which letter case counts for
// nothing, and it can be told to open ignored files, so that those count always. A pattern
// begins in the directory at; text is the whole of it, or empty where it is no more than at.
func manyReadable(ctx context.Context, env *toolcrib.Env, e *Event, at, text string, checks Checks) error {
	rest := ""
	if i := magic(text); i >= 0 {
		rest = text[strings.LastIndexByte(text[:i], '/')+1:]
	}
	ats := []string{at}
	// The directory it works in may be meant in other letters as well.
	dir := filepath.Clean(e.Dir)
	if n := len(dir); len(at) > n && at[n] == filepath.Separator && at[:n] != dir && strings.EqualFold(at[:n], dir) {
		ats = append(ats, dir+at[n:])
	}
	for _, at := range ats {
		top := topOf(env.Files, dir, at)
		globs := []string{"**"}
		if below, inside := pathglob.Rel(top, at); inside && (below != "." || rest != "") {
			globs[0] = "./" + filepath.ToSlash(below) + "/" + rest
		}
		if err := searchable(ctx, env, e, top, files.Search{Globs: globs, Whole: true}, checks); err != nil {
			return err
		}
	}
	return nil
}

// topOf is the directory to search from for what lies at a path: the one that the client
// works in, or else the highest above the path that is within reach. Directories below it
// may be meant in other letters.
func topOf(handle *files.Handle, dir, path string) string {
	for path != dir {
		up := filepath.Dir(path)
		if up == path || handle.Check(up, false, false) != nil {
			break
		}
		path = up
	}
	return path
}
