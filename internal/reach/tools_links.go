package reach

import (
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

// place is where a directory lies that a file declares. A link of the person's is followed. One that lies where tools can write
// may be theirs: data, with a link in its place, would be whatever they like. So it may only lead to where they could write
// without it.
func (t *Tools) place(f *toolfile.File, text string) (string, error) {
	dir, err := t.Start.Directory(text)
	if err != nil {
		return "", err
	}
	at, rest, links, err := linked.Trace(dir)
	switch {
	case err != nil:
		return "", err
	case len(rest) > 0:
		return "", fmt.Errorf("%s is being moved or removed right now", dir)
	case len(links) == 0 || t.Outside.Writes(at):
		return at, nil
	}
	var written []string
	for _, text := range slices.Concat(f.Write, t.declaredWrites()) {
		if dir, err := t.Start.Directory(text); err == nil {
			written = append(written, dir, realDir(dir))
		}
	}
	for _, link := range links {
		if t.Outside.Writable != nil && t.Outside.Writable(link) || slices.ContainsFunc(written, func(dir string) bool { return linked.Within(link, dir) && link != dir }) {
			return "", fmt.Errorf("%s is a link that tools can change, and it leads to %s: declare that directory itself", link, at)
		}
	}
	return at, nil
}

// declaredWrites are the directories that tools of the same folder may write. It is asked for only where there are links.
func (t *Tools) declaredWrites() (dirs []string) {
	if t.files == nil {
		return nil
	}
	list, err := t.files.Read()
	if err != nil {
		return nil
	}
	for _, s := range list {
		if f, faults := toolfile.Parse(s.Path, s.Content); f.Kind != toolfile.None && !toolfile.Broken(faults) {
			dirs = append(dirs, f.Write...)
		}
	}
	return dirs
}
