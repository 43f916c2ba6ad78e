package code

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
)

// brought is a file that a call brings in.
type brought struct {
	name string
	data []byte
}

// maxBrought bounds what one call brings in.
const maxBrought = 64 << 20

// bring reads files of the project through the handle of the call. What callers are not shown of a text, code is not shown either:
// it could print it in a form that nobody recognises.
func (b *Box) bring(env *toolcrib.Env, paths []string) (list []brought, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	if env.Files == nil {
		return nil, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "no directory was granted, so there are no files to bring in; grant one in the configuration (grant.read)"}
	}
	total := 0
	for _, path := range paths {
		data, _, err := env.Files.ReadFile(path, b.cfg.File)
		if err != nil {
			return nil, err
		}
		if total += len(data); total > maxBrought {
			return nil, fmt.Errorf("the files have more than %d MiB together: bring them in one after the other", maxBrought>>20)
		}
		if b.needs.Shown != nil && utf8.Valid(data) {
			text, err := b.needs.Shown(string(data), 0, len(data))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			data = []byte(text)
		}
		name := inside(path)
		if !cleanName(name) {
			return nil, fmt.Errorf("%q cannot be brought in: its name has characters that cannot be seen, or is too long", path)
		}
		if slices.ContainsFunc(list, func(f brought) bool { return f.name == name }) {
			return nil, fmt.Errorf("two of the files would be called %s in the session: bring them in one after the other, and rename the first", name)
		}
		list = append(list, brought{name, data})
	}
	return list, nil
}

// inside is the name that a file of the project has in a session.
func inside(path string) string {
	name := filepath.ToSlash(filepath.Clean(path))
	if filepath.IsAbs(path) || name == ".." || strings.HasPrefix(name, "../") || strings.HasPrefix(name, "~") || filepath.VolumeName(path) != "" {
		return filepath.Base(path)
	}
	return name
}

// cleanName: a name in a session that can be shown and leads nowhere else.
func cleanName(name string) bool {
	if name == "" || len(name) > 255 || !utf8.ValidString(name) || strings.HasPrefix(name, "/") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return strings.IndexFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }) < 0
}

// save copies files of the session into the project, each by a call of its own: it is judged, asked about and recorded.
func (b *Box) save(ctx context.Context, env *toolcrib.Env, in runIn, k key, lost bool, out *runOut) {
	for _, name := range slices.Sorted(maps.Keys(in.Save)) {
		done := savedFile{Name: name, Path: in.Save[name]}
		if err := b.saveOne(ctx, env, in, k, lost, name); err != nil {
			done.Error = err.Error()
		}
		out.Saved = append(out.Saved, done)
	}
}

func (b *Box) saveOne(ctx context.Context, env *toolcrib.Env, in runIn, k key, lost bool, name string) error {
	switch {
	case lost:
		return fmt.Errorf("the session is lost, and its files with it")
	case env.Use == nil:
		return fmt.Errorf("nothing can be saved here")
	}
	data, err := b.fetch(ctx, k, name)
	if err != nil {
		return err
	}
	var r *toolcrib.Result
	if isText(data) {
		r, err = env.Use(ctx, "write_file", map[string]any{"path": in.Save[name], "content": string(data)})
	} else {
		r, err = env.Use(ctx, SaveOutput, saveIn{Language: in.Language, Session: in.Session, Name: name, Path: in.Save[name]})
	}
	if err != nil {
		return err
	}
	if r.Failed {
		return fmt.Errorf("%s", cut(r.String(), 500))
	}
	return nil
}

// isText: a difference of it can be shown.
func isText(data []byte) bool {
	return utf8.Valid(data) && !strings.ContainsRune(string(data), 0) && len(data) <= 1<<20
}

// fetch reads a file of a session.
func (b *Box) fetch(ctx context.Context, k key, name string) ([]byte, error) {
	if !cleanName(name) {
		return nil, fmt.Errorf("%q is no name of a file in a session: give it relative to the working directory of the code", name)
	}
	s, err := b.there(ctx, k)
	if err != nil {
		return nil, err
	}
	defer b.done(k, s)
	return s.get(ctx, name, b.cfg.File)
}
