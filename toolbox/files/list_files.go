package files

import (
	"context"
	_ "embed" // the description
	"io/fs"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/glob"
)

//go:embed list_files.md
var listFilesText string

type listIn struct {
	Path      string `json:"path" default:"." minlen:"1" maxlen:"4096" doc:"The directory: relative to the working directory, or absolute inside a granted one."`
	Pattern   string `json:"pattern" default:"*" minlen:"1" maxlen:"4096" doc:"Which entries to list, such as *.go, {a,b}*, src/**/*.ts. Without a slash it is about names at any depth, with one about paths below the directory."`
	Recursive bool   `json:"recursive" default:"false" doc:"List what lies in directories below too."`
	Limit     int    `json:"limit" default:"1000" min:"1" max:"100000" doc:"The most entries to list."`
	Gitignore bool   `json:"gitignore" default:"false" doc:"Leave out what .gitignore files exclude."`
}

type listOut struct {
	Path      string   `json:"path" doc:"Absolute path of the directory, after links."`
	Files     []string `json:"files" doc:"Paths below the directory, a slash at the end of directories. Always in the same order: a directory's entries by name, then what lies in its directories."`
	Count     int      `json:"count" doc:"How many are listed."`
	Truncated bool     `json:"truncated" doc:"There are more."`
}

func (b *Box) listFiles() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "list_files", Title: "List files", Description: listFilesText,
		Effects: toolcrib.Reads, Idempotent: true, Group: groupSearch,
	}, func(ctx context.Context, env *toolcrib.Env, in listIn) (listOut, error) {
		files, err := granted(env)
		if err != nil {
			return listOut{}, err
		}
		l := &lister{box: b, limit: in.Limit, room: b.cfg.MaxAnswer, deep: in.Recursive}
		if l.pattern, err = glob.Compile(in.Pattern); err != nil {
			return listOut{}, err
		}
		start, err := files.Real(in.Path)
		if err != nil {
			return listOut{}, err
		}
		if in.Gitignore {
			l.ignore = newIgnorer(files, start)
		}
		if err := files.Walk(ctx, in.Path, l.visit, l.emit); err != nil {
			return listOut{}, err
		}
		return listOut{Path: start, Files: l.found, Count: len(l.found), Truncated: l.more}, nil
	})
}

// lister is one listing under way.
type lister struct {
	box     *Box
	pattern *glob.Pattern
	ignore  *ignorer
	deep    bool
	limit   int
	room    int // bytes of names that still fit

	found []string
	more  bool
}

// listed is what the visit of a folder leaves for emit and for those below.
type listed struct {
	shown *naming
	rules *glob.Ignore
	names []string
}

// begin starts the visit of a folder.
func (ig *ignorer) begin(b *Box, d *files.Folder) (*listed, error) {
	if d.Err != nil && d.Parent == nil {
		return nil, d.Err
	}
	v, above := &listed{}, (*naming)(nil)
	if d.Parent != nil {
		if up, ok := d.Parent.Value.(*listed); ok {
			v.rules, above = up.rules, up.shown
		}
	}
	var err error
	if v.shown, err = b.naming(d, above); err != nil {
		return nil, err
	}
	v.rules = ig.apply(d, v.rules, v.shown)
	d.Value = v
	return v, nil
}

func (l *lister) visit(d *files.Folder) error {
	v, err := l.ignore.begin(l.box, d)
	if err != nil {
		return err
	}
	slices.SortFunc(d.Entries, func(a, b files.Entry) int { return v.shown.compare(a.Name, b.Name) })
	v.names = make([]string, 0, len(d.Entries))
	for _, e := range d.Entries {
		if rel := relative(d, e.Name); l.pattern.MatchName(v.shown.rel(d, e.Name), v.shown.name(e.Name)) {
			if e.Type.IsDir() {
				rel += "/"
			}
			v.names = append(v.names, rel)
		}
	}
	if l.deep {
		enter(d, v.shown, everyFolder)
	} else {
		enter(d, v.shown, noFolder)
	}
	return nil
}

func (l *lister) emit(d *files.Folder) error {
	v, ok := d.Value.(*listed)
	if !ok {
		return nil
	}
	for _, name := range v.names {
		if l.room -= len(name) + 3; len(l.found) == l.limit || l.room < 0 {
			l.more = true
			return fs.SkipAll
		}
		l.found = append(l.found, name)
	}
	v.names = nil
	return nil
}
