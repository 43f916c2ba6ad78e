// Package lsp is the toolbox of language servers: where something is defined and
// used, what it is, what is wrong with it, and renaming it everywhere.
//
// It is for whoever wires up a crib; other toolboxes never import it. A server is
// started when it is first asked something, and runs in the sandbox with the
// directories that the caller was granted, to read. It stays until nobody has asked
// for a while. Its one invariant: what a server says is shown or written only as far
// as the files handle of the call would have let its caller read or write it, and a
// server is never shared by callers with different grants.
package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// Name is the name of the box, and Group what profiles select its tools by.
const (
	Name  = "lsp"
	Group = "code"
)

// toolTime is how long a question may take: the first one about a large project waits
// until its server has read all of it.
const toolTime = 3 * time.Minute

// Config sets up the box. The zero value of each field is its default.
type Config struct {
	Servers []Server      // the first that is for a file and installed is asked; none: [Defaults]
	Idle    time.Duration // how long a server is kept that nobody asks; default 10 min
	Start   time.Duration // how long one may take to start; default 30 s
	Quiet   time.Duration // how long no further diagnostics come before those that came are taken as whole; default 400 ms
	Patient time.Duration // how long diagnostics and an index are waited for; default 20 s
	Most    int           // servers at once; default 6
}

// Needs is what the box is handed besides.
type Needs struct {
	// Run runs a server in the sandbox until its context ends or it does. Nil: there are
	// no tools.
	Run func(ctx context.Context, p Program) (toolcrib.Exit, error)
	// Find finds a program by its name, as command lines do.
	Find func(name string) (string, error)
	// Scan lists the files below a directory whose names are wanted, without reading
	// them; more tells that there are too many for all of them.
	Scan func(ctx context.Context, dir string, want func(name string) bool) (list []Seen, more bool)
	// Shown gives a part of a text with marks in the place of what is hidden in it. Nil:
	// nothing is hidden.
	Shown func(text string, from, to int) (string, error)
	// Obeyed says under which name a file is obeyed by programs outside of the sandbox,
	// and by whom. Nil: none is.
	Obeyed func(path string) (name, by string, ok bool)
	Log    *slog.Logger
}

// Program is a server to be run.
type Program struct {
	Server         string // its name in the settings
	Path           string
	Args           []string
	Dir            string
	Dirs           []files.Dir // what it may see
	Denied         []string    // what of it stays out of reach
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Seen is a file as [Needs.Scan] saw it.
type Seen struct {
	Path string
	Mod  time.Time
	Size int64
}

// Box is the toolbox.
type Box struct {
	cfg      Config
	needs    Needs
	log      *slog.Logger
	pool     pool
	approved approvals
}

// Open makes the box. Nothing is started yet.
func Open(_ context.Context, cfg Config, needs Needs) (*Box, error) {
	if cfg.Idle < 0 || cfg.Start < 0 || cfg.Quiet < 0 || cfg.Patient < 0 || cfg.Most < 0 {
		return nil, errors.New("lsp: a bound is negative")
	}
	if needs.Find == nil || needs.Scan == nil {
		return nil, errors.New("lsp: no way was given to find programs and files")
	}
	if cfg.Servers == nil {
		cfg.Servers = Defaults()
	}
	for _, s := range cfg.Servers {
		if s.Name == "" || s.Command == "" || len(s.Languages) == 0 {
			return nil, fmt.Errorf("lsp: the server %q needs a command and the extensions of its files", s.Name)
		}
	}
	cfg.Idle, cfg.Start, cfg.Most = cmp.Or(cfg.Idle, 10*time.Minute), cmp.Or(cfg.Start, 30*time.Second), cmp.Or(cfg.Most, 6)
	cfg.Quiet, cfg.Patient = cmp.Or(cfg.Quiet, 400*time.Millisecond), cmp.Or(cfg.Patient, 20*time.Second)
	b := &Box{cfg: cfg, needs: needs, log: cmp.Or(needs.Log, slog.New(slog.DiscardHandler))}
	b.pool.open()
	return b, nil
}

// Name is the name of the box.
func (b *Box) Name() string { return Name }

// ToolNames are the names of the tools, be they there or not.
func ToolNames() []string {
	return []string{"lsp_goto_definition", "lsp_find_references", "lsp_hover", "lsp_diagnostics", "lsp_symbols", "lsp_rename"}
}

// Tools lists the tools, if there is anything to answer them.
func (b *Box) Tools(context.Context) ([]toolcrib.Tool, error) {
	if b.missing() != "" {
		return nil, nil
	}
	return []toolcrib.Tool{b.definition(), b.references(), b.hover(), b.diagnostics(), b.symbols(), b.rename()}, nil
}

// Absent tells who calls a tool that is not given out why that is so.
func (b *Box) Absent() (string, map[string]string) {
	missing := b.missing()
	if missing == "" {
		return Group, nil
	}
	why := map[string]string{}
	for _, tool := range ToolNames() {
		why[tool] = missing
	}
	return Group, why
}

// missing says what the box lacks; empty: nothing.
func (b *Box) missing() string {
	if b.needs.Run == nil {
		return "there is no sandbox here that language servers could run in"
	}
	var names []string
	for _, s := range b.cfg.Servers {
		if _, err := b.needs.Find(s.Command); err == nil {
			return ""
		}
		names = append(names, s.Command)
	}
	return "no language server is installed where commands find it; install one of " + strings.Join(names, ", ") + ", or name one under toolboxes.lsp.servers"
}

// Close ends every server.
func (b *Box) Close() error {
	b.pool.close()
	return nil
}

// serverFor finds the server for a file, and the language that it knows it by.
func (b *Box) serverFor(file string) (s Server, language, program string, err error) {
	ext := strings.ToLower(path.Ext(file))
	var missing []string
	for _, s := range b.cfg.Servers {
		language, ok := s.Languages[ext]
		if !ok {
			continue
		}
		program, err := b.needs.Find(s.Command)
		if err == nil {
			return s, language, program, nil
		}
		missing = append(missing, s.Command)
	}
	if len(missing) > 0 {
		return Server{}, "", "", fmt.Errorf("no language server for %s files is installed where commands find it; the person can install %s", ext, strings.Join(missing, " or "))
	}
	return Server{}, "", "", fmt.Errorf("there is no language server for %q files; the person can name one under toolboxes.lsp.servers", ext)
}
