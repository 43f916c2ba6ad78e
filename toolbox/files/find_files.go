package files

import (
	"context"
	_ "embed" // the description
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/glob"
)

//go:embed find_files.md
var findFilesText string

type findIn struct {
	Glob      string `json:"glob" minlen:"1" maxlen:"4096" doc:"The path of the files below the directory, with * ? [a-z] {a,b} and ** for any number of directories: *.go is about the directory itself, **/*.go about everything below it."`
	Path      string `json:"path" default:"." minlen:"1" maxlen:"4096" doc:"The directory: relative to the working directory, or absolute inside a granted one."`
	Gitignore bool   `json:"gitignore" default:"false" doc:"Leave out what .gitignore files exclude."`
}

type findOut struct {
	Files     []string `json:"files" doc:"Absolute paths of the files, always in the same order: those of a directory by name, then those in its directories."`
	Total     int      `json:"total" doc:"How many there are, also of those not listed."`
	Truncated bool     `json:"truncated" doc:"There are more than are listed."`
}

func (b *Box) findFiles() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "find_files", Title: "Find files by pattern", Description: findFilesText,
		Effects: toolcrib.Reads, Idempotent: true, Group: groupSearch,
	}, func(ctx context.Context, env *toolcrib.Env, in findIn) (findOut, error) {
		files, err := granted(env)
		if err != nil {
			return findOut{}, err
		}
		f := &finder{box: b, files: files, limit: b.cfg.MaxFound, room: b.cfg.MaxAnswer}
		if f.pattern, err = glob.Compile(in.Glob); err != nil {
			return findOut{}, err
		}
		if f.start, err = files.Real(in.Path); err != nil {
			return findOut{}, err
		}
		if in.Gitignore {
			f.ignore = newIgnorer(files, f.start)
		}
		if err := files.Walk(ctx, in.Path, f.visit, f.emit); err != nil {
			return findOut{}, err
		}
		return findOut{Files: f.found, Total: f.total, Truncated: f.total > len(f.found)}, nil
	})
}

// finder is one search for files by their paths. It counts on when it lists
// no more.
type finder struct {
	box     *Box
	files   *files.Handle
	start   string
	pattern *glob.Pattern
	ignore  *ignorer
	limit   int
	room    int // bytes of names that still fit

	found []string
	total int
}

func (f *finder) visit(d *files.Folder) error {
	v, err := f.ignore.begin(f.box, d)
	if err != nil {
		return err
	}
	for _, e := range d.Entries {
		if !e.Type.IsDir() && f.pattern.Match(v.shown.rel(d, e.Name)) && f.isFile(e, relative(d, e.Name)) {
			v.names = append(v.names, e.Name)
		}
	}
	slices.SortFunc(v.names, v.shown.compare)
	enter(d, v.shown, f.pattern.Below)
	return nil
}

// isFile takes links to files for files, if they lead to a granted one.
func (f *finder) isFile(e files.Entry, rel string) bool {
	if e.Type.IsRegular() {
		return true
	}
	info, err := f.files.Stat(filepath.Join(f.start, rel))
	return err == nil && info.Mode().IsRegular()
}

func (f *finder) emit(d *files.Folder) error {
	v, ok := d.Value.(*listed)
	if !ok {
		return nil
	}
	f.total += len(v.names)
	for _, name := range v.names {
		full := filepath.Join(f.start, d.Path, name)
		if f.room -= len(full) + 3; len(f.found) == f.limit || f.room < 0 {
			f.room = -1
			break
		}
		f.found = append(f.found, full)
	}
	v.names = nil
	return nil
}
