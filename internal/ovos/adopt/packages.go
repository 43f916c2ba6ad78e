package adopt

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// Box is a toolbox that an installed package brings.
type Box struct {
	ID      string // the name of its entry point
	Package string // with its version
}

// Environment is a Python environment, and what of a voice assistant is in it.
type Environment struct {
	Dir    string   // the virtual environment, as python.NAME.python takes it
	Found  string   // how it was found
	Boxes  []Box    // by id
	Plugin string   // the package that has the PHAL plugin for tools; empty: none
	Others []string // directories elsewhere that packages are in, such as those of editable ones
}

// The groups of entry points that matter here.
const (
	toolboxGroup = "opm.agents.toolbox"
	phalGroup    = "opm.phal"
	oldPHALGroup = "ovos.plugin.phal"
)

// maxPackages is how many packages of a directory are looked at, maxPlaces in how
// many directories.
const (
	maxPackages = 5000
	maxPlaces   = 50
)

// environmentAt reads what is installed below a directory, or below that of an
// interpreter in its bin. No program is started.
func environmentAt(path string) (Environment, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return Environment{}, false
	}
	dir := path
	if !info.IsDir() {
		dir = filepath.Dir(filepath.Dir(path)) // of bin/python
	}
	env := Environment{Dir: dir}
	seen := map[string]bool{}
	for _, pattern := range []string{"lib/python3*/site-packages", "lib/python3*/dist-packages", "lib64/python3*/site-packages", "Lib/site-packages"} {
		sites, _ := filepath.Glob(filepath.Join(globbed(dir), filepath.FromSlash(pattern))) // the pattern is well formed
		for _, site := range sites {
			env.read(site, seen)
		}
	}
	slices.SortFunc(env.Boxes, func(a, b Box) int { return strings.Compare(a.ID, b.ID) })
	env.Boxes = slices.CompactFunc(env.Boxes, func(a, b Box) bool { return a.ID == b.ID })
	return env, len(seen) > 0
}

// globbed is a directory as a part of a pattern.
func globbed(dir string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(dir)
}

// read reads the entry points of the packages in a directory, and in those that its
// .pth files name.
func (e *Environment) read(site string, seen map[string]bool) {
	at, err := filepath.EvalSymlinks(site)
	if err != nil || seen[at] || len(seen) > maxPlaces { // lib64 is most often lib
		return
	}
	seen[at] = true
	entries, err := os.ReadDir(at)
	if err != nil {
		return
	}
	for i, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".pth") {
			text, err := plainfile.Begin(filepath.Join(at, entry.Name()), 1<<16)
			for line := range strings.Lines(string(text)) {
				if line = strings.TrimSpace(line); err == nil && filepath.IsAbs(line) && isDir(line) {
					if !pathglob.Holds(e.Dir, line) && !slices.Contains(e.Others, line) {
						e.Others = append(e.Others, line)
					}
					e.read(line, seen)
				}
			}
			continue
		}
		name, is := strings.CutSuffix(entry.Name(), ".dist-info")
		if !is || i > maxPackages {
			continue
		}
		text, err := plainfile.Begin(filepath.Join(at, entry.Name(), "entry_points.txt"), 1<<20)
		if err != nil {
			continue // most packages have none
		}
		pkg := strings.ReplaceAll(strings.Replace(name, "-", " ", 1), "_", "-") // ovos_agentic_loop-0.2.5
		for group, ids := range entryPoints(text) {
			for _, id := range ids {
				switch {
				case group == toolboxGroup:
					e.Boxes = append(e.Boxes, Box{ID: id, Package: pkg})
				case (group == phalGroup || group == oldPHALGroup) && id == toolsPlugin:
					e.Plugin = pkg
				}
			}
		}
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// entryPoints reads the names in an entry_points.txt, by group.
func entryPoints(text []byte) map[string][]string {
	groups := map[string][]string{}
	group := ""
	for line := range bytes.Lines(text) {
		said := strings.TrimSpace(string(line))
		switch {
		case said == "" || said[0] == '#' || said[0] == ';':
		case said[0] == '[' && strings.HasSuffix(said, "]"):
			group = strings.TrimSpace(said[1 : len(said)-1])
		case group != "":
			if name, _, ok := strings.Cut(said, "="); ok && strings.TrimSpace(name) != "" {
				groups[group] = append(groups[group], strings.TrimSpace(name))
			}
		}
	}
	return groups
}

// Finding is where a Python environment is looked for.
type Finding struct {
	Getenv  func(string) string
	Home    string
	Look    func(program string) (string, error) // in PATH
	Running func() []string                      // programs of this person that run now
}

// Environment finds the Python environment of the voice assistant: the one that is
// named, or the first that has toolboxes or the plugin, of those that are active,
// that run, that commands in PATH belong to, and the usual places.
func (f Finding) Environment(named string) (Environment, bool) {
	if named != "" {
		if rest, is := strings.CutPrefix(named, "~/"); is {
			named = filepath.Join(f.Home, rest)
		}
		if abs, err := filepath.Abs(named); err == nil {
			named = abs
		}
		env, ok := environmentAt(named)
		env.Found = "--python"
		return env, ok
	}
	try := func(path, how string) (Environment, bool) {
		if path == "" || !filepath.IsAbs(path) {
			return Environment{}, false
		}
		env, ok := environmentAt(path)
		env.Found = how
		return env, ok && (len(env.Boxes) > 0 || env.Plugin != "")
	}
	if env, ok := try(f.Getenv("VIRTUAL_ENV"), "it is active in this terminal"); ok {
		return env, true
	}
	for _, program := range f.Running() {
		if strings.HasPrefix(filepath.Base(program), "python") {
			if env, ok := try(program, "a program runs from it"); ok {
				return env, true
			}
		}
	}
	for _, name := range []string{"ovos-PHAL", "ovos_PHAL", "ovos-core", "ovos-messagebus"} {
		if path, err := f.Look(name); err == nil {
			if env, ok := try(interpreterOf(path), name+" in PATH belongs to it"); ok {
				return env, true
			}
		}
	}
	for _, dir := range []string{".venvs/ovos", ".venv/ovos", "venvs/ovos", ".local/share/ovos/venv", "ovos-venv", "ovos/venv", "ovos/.venv", ".local"} {
		if env, ok := try(filepath.Join(f.Home, filepath.FromSlash(dir)), "it is in a usual place"); ok {
			return env, true
		}
	}
	return Environment{}, false
}

// interpreterOf is the interpreter that the first line of a script names.
func interpreterOf(script string) string {
	text, err := plainfile.Begin(script, 4096)
	if err != nil || !bytes.HasPrefix(text, []byte("#!")) {
		return ""
	}
	line, _, _ := strings.Cut(string(text[2:]), "\n")
	path, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	return path
}
