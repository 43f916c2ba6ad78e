// Package script makes tools of files: a command in NAME.yaml, or a script that declares itself in a comment. Each tool has
// the schema that its file declares, and it is enforced. What the program may touch is what the file declares, and whoever
// gives Needs.Run holds it to that.
//
// The invariant: a value of an argument is never taken apart and never interpreted. It becomes one word of the program, or a
// part of one, or the call is refused.
package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/internal/watch"
)

// Config sets up one box.
type Config struct {
	Name string // of the box
	// Output is the most that is kept of what a program prints. Zero: 1 MiB.
	Output int
	// Every is how often it is looked for other files. Zero: 300 ms.
	Every time.Duration
	// Foreign: the files are not the person's own, but trusted one by one. They run in a sandbox whatever they say.
	Foreign bool
}

// Needs is what the box is given.
type Needs struct {
	// Files gives what the folder has now, and Marks a text that differs when that is another.
	Files func() ([]toolfile.Source, error)
	Marks func() string
	// Trusted says whether a file counts, by its path and its content. Nil: all do.
	Trusted func(path string, content []byte) bool
	// Run runs a program and holds it to what its file declares. Nil: the tools are listed and cannot be called.
	Run func(ctx context.Context, p Program) (toolcrib.Exit, error)
	// Ready says why the program of a file could not run now, so that nobody is asked
	// about it. Nil: that shows when it runs.
	Ready func(ctx context.Context, f *toolfile.File) error
	// HasSecret says why Secret would not give one, and asks nobody. Nil: that shows
	// when the program runs.
	HasSecret func(ctx context.Context, call toolcrib.Call, tool, name string) error
	// Secret gives a secret that a file names for its own tool. Nil: none is given.
	Secret func(ctx context.Context, env *toolcrib.Env, tool, name string) (string, error)
}

// Program is one call of a tool, ready to be run.
type Program struct {
	File           *toolfile.File
	Tool           string              // as the box calls it
	Words          []string            // the program and its arguments
	Self           int                 // the index in Words of the script itself, -1 for none
	Secrets        []toolfile.Variable // variables and values
	Stdin          io.Reader           // nil: closed
	Stdout, Stderr io.Writer
	Call           toolcrib.Call
}

// Box is one folder of tools.
type Box struct {
	cfg   Config
	needs Needs

	mu     sync.Mutex
	marks  string // of what the tools are made of
	read   bool
	tools  []toolcrib.Tool
	files  map[string]*toolfile.File // that they are made of, by their names
	faults []toolcrib.LoadError

	watchers watch.List[func()]
	once     sync.Once
	stop     chan struct{}
	closing  sync.Once
	polling  sync.WaitGroup
}

// Open makes a box. It reads nothing yet.
func Open(_ context.Context, cfg Config, needs Needs) (*Box, error) {
	if needs.Files == nil || needs.Marks == nil {
		return nil, errors.New("script: there is no folder")
	}
	cfg.Output, cfg.Every = cmp.Or(cfg.Output, 1<<20), cmp.Or(cfg.Every, 300*time.Millisecond)
	return &Box{cfg: cfg, needs: needs, stop: make(chan struct{})}, nil
}

// Name is the name of the box.
func (b *Box) Name() string { return b.cfg.Name }

// Tools gives the tools of the files as they are now.
func (b *Box) Tools(context.Context) ([]toolcrib.Tool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	marks := b.needs.Marks() // first, so that what changes meanwhile is noticed
	sources, err := b.needs.Files()
	if err != nil {
		return nil, err
	}
	b.marks, b.read, b.tools, b.faults = marks, true, nil, nil
	b.files = map[string]*toolfile.File{}
	from := map[string]string{}
	for _, s := range sources {
		file, ok := b.declared(s)
		if !ok {
			continue
		}
		if other, twice := from[file.Name]; twice {
			b.fault(s.Path, file.Name, fmt.Errorf("%s: the tool %s is already declared in %s: rename one of them", s.Path, file.Name, filepath.Base(other)))
			continue
		}
		tool, err := b.tool(file)
		if err != nil {
			b.fault(s.Path, file.Name, fmt.Errorf("%s: %w", s.Path, err))
			continue
		}
		from[file.Name], b.files[file.Name] = s.Path, file
		b.tools = append(b.tools, tool)
	}
	return slices.Clone(b.tools), nil
}

// declared reads one file, and tells what is wrong with it.
func (b *Box) declared(s toolfile.Source) (*toolfile.File, bool) {
	kind := toolfile.KindOf(s.Path, s.Content)
	if s.Err != nil && (kind == toolfile.Command || kind == toolfile.None && s.Executable) { // what cannot be read may well be a script
		b.fault(s.Path, "", s.Err)
		return nil, false
	}
	if kind != toolfile.Command && kind != toolfile.Script {
		return nil, false
	}
	if b.needs.Trusted != nil && !b.needs.Trusted(s.Path, s.Content) {
		b.fault(s.Path, "", fmt.Errorf("%s: %w", s.Path, toolfile.ErrUntrusted))
		return nil, false
	}
	file, faults := toolfile.Parse(s.Path, s.Content)
	if kind == toolfile.Script && !s.Executable {
		faults = append(faults, toolfile.Fault{File: s.Path, Message: "it declares a tool and is not executable: chmod +x makes it so"})
	}
	if b.cfg.Foreign {
		faults = append(faults, toolfile.Foreign(file)...)
	}
	for _, f := range faults {
		if !f.Warning {
			b.fault(s.Path, file.Name, f)
		}
	}
	return &file, !toolfile.Broken(faults)
}

// File is what a tool is made of, as of the last time that Tools was called: a file, and a fingerprint of what it holds.
func (b *Box) File(tool string) (path, sum string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, ok := b.files[tool]
	if !ok {
		return "", "", false
	}
	return f.Path, toolfile.HashOf(f.Content), true
}

func (b *Box) fault(path, tool string, err error) {
	b.faults = append(b.faults, toolcrib.LoadError{Box: b.cfg.Name, Tool: cmp.Or(tool, filepath.Base(path)), Err: err})
}

// Faults tells what is wrong with files, as of the last time that Tools was called.
func (b *Box) Faults() []toolcrib.LoadError {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.faults)
}

// Notify has changed called after the files have become others.
func (b *Box) Notify(changed func()) (stop func()) {
	stop = b.watchers.Add(changed)
	b.once.Do(func() {
		b.polling.Add(1)
		go b.poll()
	})
	return stop
}

// Close ends the looking for changes.
func (b *Box) Close() error {
	b.closing.Do(func() { close(b.stop) })
	b.once.Do(func() {}) // nothing begins after it
	b.polling.Wait()
	return nil
}

// poll looks for other files. Whoever is told calls Tools, which remembers what it read.
func (b *Box) poll() {
	defer b.polling.Done()
	tick := time.NewTicker(b.cfg.Every)
	defer tick.Stop()
	told := ""
	for {
		select {
		case <-b.stop:
			return
		case <-tick.C:
		}
		now := b.needs.Marks()
		b.mu.Lock()
		same := b.read && now == b.marks
		b.mu.Unlock()
		if same || now == told {
			continue
		}
		told = now
		b.watchers.Each(func(do func()) { do() })
	}
}

// Secrets are those that the files name, with a file that does, as of the last time
// that Tools was called.
func (b *Box) Secrets() map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string]string{}
	for _, f := range b.files {
		for _, s := range f.Secrets {
			out[s.Value] = f.Path
		}
	}
	return out
}
