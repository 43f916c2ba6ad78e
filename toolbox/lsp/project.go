package lsp

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
)

// group is files of one project that one server is for.
type group struct {
	spec    Server
	program string
	root    string
	files   []string
}

// maxGroups is how many servers one question starts.
const maxGroups = 4

// project finds the files that servers are installed for: of each server and root at
// most so many, those that changed last.
func (b *Box) project(ctx context.Context, handle *files.Handle, most int) []group {
	var list []Seen
	dirs, _ := handle.Granted()
	for _, d := range files.Outermost(dirs) {
		seen, _ := b.needs.Scan(ctx, d.Path, b.knows)
		list = append(list, seen...)
	}
	slices.SortFunc(list, func(a, b Seen) int { return cmp.Or(b.Mod.Compare(a.Mod), strings.Compare(a.Path, b.Path)) })
	type chosen struct {
		spec    Server
		program string
		ok      bool
	}
	byExt, roots := map[string]chosen{}, map[string]string{}
	var out []group
	for _, f := range list {
		ext := strings.ToLower(path.Ext(f.Path))
		c, known := byExt[ext]
		if !known {
			spec, _, program, err := b.serverFor(f.Path)
			c = chosen{spec, program, err == nil}
			byExt[ext] = c
		}
		if !c.ok || handle.Check(f.Path, false, false) != nil {
			continue
		}
		at := c.spec.Name + "\x00" + path.Dir(f.Path)
		root, known := roots[at]
		if !known {
			root = rootOf(handle, f.Path, c.spec.Roots)
			roots[at] = root
		}
		i := slices.IndexFunc(out, func(g group) bool { return g.spec.Name == c.spec.Name && g.root == root })
		if i < 0 {
			if len(out) == maxGroups {
				continue
			}
			i, out = len(out), append(out, group{spec: c.spec, program: c.program, root: root})
		}
		if len(out[i].files) < most {
			out[i].files = append(out[i].files, f.Path)
		}
	}
	return out
}

// knows reports whether a server is for files of this name.
func (b *Box) knows(name string) bool {
	return slices.ContainsFunc(b.cfg.Servers, func(s Server) bool { return s.language(name) != "" })
}

// language is what the protocol calls the language of a file.
func (s *Server) language(file string) string { return s.Languages[strings.ToLower(path.Ext(file))] }
