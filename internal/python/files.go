package python

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/interpreter"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Folder is where people keep files of tools.
type Folder struct {
	Files interface {
		Read() ([]toolfile.Source, error)
		Marks() string
	}
	// Trusted tells whether a file counts, by its path and content. Nil: all do, since
	// it is the folder of the person.
	Trusted func(path string, content []byte) bool
}

// folders finds the files of functions in the folders. Commands are for others.
func (f *finder) folders() {
	for _, folder := range f.h.needs.Folders {
		sources, err := folder.Files.Read()
		if err != nil {
			f.fault("tools", err)
		}
		for _, s := range sources {
			if kind := toolfile.KindOf(s.Path, s.Content); kind == toolfile.Python || kind == toolfile.Node {
				f.found(folder, s)
			}
		}
	}
}

// found takes one file of a folder up.
func (f *finder) found(folder Folder, source toolfile.Source) {
	path, content, name := source.Path, source.Content, boxOfFile(source.Path)
	if source.Err != nil {
		f.fault(name, fmt.Errorf("%s: %w", path, source.Err))
		return
	}
	person := folder.Trusted == nil
	if !person && !folder.Trusted(path, content) {
		return // who looks after the folder tells of it
	}
	file, faults := toolfile.Parse(path, content)
	if !person {
		faults = append(faults, toolfile.Foreign(file)...)
	}
	for _, fault := range faults {
		f.out.Faults = append(f.out.Faults, toolcrib.LoadError{Box: name, Err: fault})
	}
	if toolfile.Broken(faults) {
		return
	}
	in, host, err := f.h.hostOf(file)
	if err != nil {
		f.fault(name, fmt.Errorf("%s: %w", path, err))
		return
	}
	d, err := f.h.ofHeader(path, file)
	switch {
	case err != nil:
	case !person && len(file.Secrets) > 0:
		err = fmt.Errorf("%s: secrets: a file of a project gets none of your secrets: copy it into your own folder of tools if it is to have them", path)
	case !person && file.Sandbox == sandboxHost:
		err = fmt.Errorf("%s: sandbox: host counts in your own folder of tools only: a file of a project runs in a sandbox", path)
	}
	if err != nil {
		f.fault(name, err)
		return
	}
	d.theirs = !person
	f.serve(name, path, file, in, host, d)
}

// hostOf finds what runs a file.
func (h *Hosts) hostOf(file toolfile.File) (in interpreter.Interpreter, host string, err error) {
	if file.Kind == toolfile.Node {
		if in, err = h.finder().Node(""); err == nil {
			host, err = h.nodeHost()
		}
		return in, host, err
	}
	if in, err = h.finder().Python(file.Python); err == nil {
		host, err = h.pythonHost()
	}
	return in, host, err
}

// ofHeader is the declaration of a file in its own header.
func (h *Hosts) ofHeader(path string, file toolfile.File) (declaration, error) {
	d := declaration{sandbox: file.Sandbox, hosts: file.Hosts, env: map[string]string{}}
	if d.sandbox != "" && d.sandbox != sandboxHost && d.sandbox != sandboxLinux {
		return d, fmt.Errorf("%s: sandbox: %s is not for files of functions: leave it out, or write linux or host", path, d.sandbox)
	}
	var err error
	if d.dirs, err = h.directories(path, file.Read, file.Write); err != nil {
		return d, err
	}
	d.effects = effectsIn(file)
	for _, v := range file.Env {
		// A header names secrets in one place only, where they are seen.
		if d.env[v.Name], err = plain(v.Value); err != nil {
			return d, fmt.Errorf("%s: env: %w", path, err)
		}
	}
	for _, v := range file.Secrets {
		d.env[v.Name] = "${secret:" + v.Value + "}"
	}
	// Who edits a file wants to call what it says now.
	d.base = mcphub.Server{Timeout: file.Timeout, Bare: true, Unpinned: true, Group: file.Group}
	return d, nil
}

// effectsIn are those that a header declares. Nil: none are.
func effectsIn(file toolfile.File) map[string]toolcrib.Effects {
	all := maps.Clone(file.ByFunction)
	if file.Effects == 0 {
		return all
	}
	if all == nil {
		all = map[string]toolcrib.Effects{}
	}
	all["*"] = file.Effects
	return all
}

// joined are the effects of a header under those of the entry: what the entry says of
// single tools counts, and what follows from its grant gives way.
func joined(header, entry map[string]toolcrib.Effects) map[string]toolcrib.Effects {
	if header == nil {
		return entry
	}
	for tool, e := range entry {
		if _, said := header[tool]; !said || tool != "*" {
			header[tool] = e
		}
	}
	return header
}

const (
	sandboxHost  = "host"
	sandboxLinux = "linux"
)

// serve puts up the server of a file.
func (f *finder) serve(name, path string, file toolfile.File, in interpreter.Interpreter, host string, d declaration) {
	copied, err := f.h.keep(filepath.Base(path), file.Content)
	if err != nil {
		f.fault(name, err)
		return
	}
	s := d.server(in, host, []string{"serve", "--file", copied}, filepath.Dir(copied))
	s.Shown = path
	if file.Kind == toolfile.Node {
		s = wireApart(s)
	}
	if f.add(name, s) {
		f.out.Sums[name] = fmt.Sprintf("%x %+v %s", sha256.Sum256(file.Content), *s.Grant, s.Sandbox)
	}
}

// wireApart has a shell give the protocol of a host another number than the standard output, which programs inherit that a
// tool starts. Node cannot do so itself in a sandbox, where the pipe belongs to another user.
func wireApart(s mcphub.Server) mcphub.Server {
	if runtime.GOOS != "linux" || s.Sandbox == sandboxHost {
		return s
	}
	words := slices.Concat([]string{"-c", `exec "$@" 3>&1 1>&2`, "sh", s.Command}, s.Args, []string{"--out", "3"})
	s.Command, s.Args = "/bin/sh", words
	return s
}

// file takes up a file that the settings name. Its header narrows and adds nothing:
// the settings are the declaration, as for all that the interpreter runs.
func (f *finder) file(key, text string, in interpreter.Interpreter, d declaration) {
	path := f.h.path(text)
	name := boxOfFile(path)
	bad := func(err error) { f.fault(name, fmt.Errorf("%s.files: %s: %w", key, text, err)) }
	if !filepath.IsAbs(path) || filepath.Ext(path) != ".py" {
		bad(errors.New("write the whole path of a .py file, or ~/…"))
		return
	}
	content, err := plainfile.Read(path, mostCopied)
	if err != nil {
		bad(err)
		return
	}
	file, faults := toolfile.Parse(path, content)
	for _, fault := range faults {
		f.out.Faults = append(f.out.Faults, toolcrib.LoadError{Box: name, Err: fault})
	}
	if toolfile.Broken(faults) {
		return
	}
	if !d.everything {
		if file.Derived { // what the entry grants is not in the header
			file.Effects = 0
		}
		d.effects = joined(effectsIn(file), d.effects)
	}
	host, err := f.h.pythonHost()
	if err != nil {
		bad(err)
		return
	}
	f.serve(name, path, file, in, host, d)
}

// Marks tells whether a file in the folders or in the settings, or what is installed,
// is another than before. No content is read and nothing is run.
func (h *Hosts) Marks(cfg settings.Config) string {
	var b strings.Builder
	for _, folder := range h.needs.Folders {
		b.WriteString(folder.Files.Marks())
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Python)) {
		p := cfg.Python[name]
		if p.Disabled {
			continue
		}
		for _, file := range p.Files {
			b.WriteString(plainfile.Marks(h.path(file)))
		}
		if p.OPM {
			b.WriteString(h.installedMarks(name, p.Python))
		}
	}
	return b.String()
}

// installedEvery is how often it is looked whether a package came or went: there may be
// hundreds.
const installedEvery = 3 * time.Second

// seenPackages are the marks of an interpreter, and when they were taken.
type seenPackages struct {
	marks string
	at    time.Time
}

func (h *Hosts) installedMarks(name, python string) string {
	h.mu.Lock()
	seen := h.packages[name+"\x00"+python]
	h.mu.Unlock()
	if time.Since(seen.at) < installedEvery {
		return seen.marks
	}
	if in, err := h.finder().Python(python); err == nil {
		seen.marks = in.Marks()
	}
	seen.at = time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.packages[name+"\x00"+python] = seen
	return seen.marks
}

// path reads the path of a file as people write it.
func (h *Hosts) path(text string) string {
	if rest, tilde := strings.CutPrefix(text, "~/"); tilde && h.needs.Home != "" {
		return filepath.Join(h.needs.Home, rest)
	}
	return text
}
