// Package skill is the toolbox of skills: folders with a SKILL.md that tells a
// model how to go about something. A model sees what there is (list_skills),
// gets the instructions of one (use_skill) and reads its further files one by
// one (read_skill_file), so that only what is needed fills its window.
//
// It is for whoever wires up a crib; other toolboxes never import it. Its one
// invariant: nothing that a skill says of itself, such as the tools it wants
// allowed, widens what any call may do; it is instructions only if a person of
// this machine wrote or installed it; and nothing is read but below the places
// that the settings name.
package skill

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/watch"
	"github.com/toolcrib/toolcrib/model"
)

// Place is where skills are looked for.
type Place struct {
	// Path is the absolute path of a directory: a skill itself, or one with
	// skills in it. With File it is that of one file, and nothing beside that
	// file is ever read.
	Path string
	File bool
	// Scope says whose the place is, such as project or user. Callers are told.
	Scope string
	// Origin says who answers for the texts, and Consent what a person said yes to where
	// they were installed.
	Origin  Origin
	Consent Consent
	// Root is the directory that links on the way to a place of a project must not
	// leave. Empty: there is none.
	Root string
}

// Config sets up the box. The zero value of each bound is its default.
type Config struct {
	// Places are looked through in this order; of two skills of one name, the
	// first one counts.
	Places []Place
	// Hide are names of skills that do not exist for anyone.
	Hide []string

	MaxDepth  int   // how deep below a place skills are looked for; default 5
	MaxDirs   int   // how many directories of a place are looked at; default 30,000
	MaxSkills int   // how many skills there are at most; default 20,000
	MaxText   int64 // bytes of a SKILL.md, and of a page of another file; default 256 KiB and 48 KiB
	MaxFiles  int   // names in the list of a skill's files; default 50

	// Every is how often it is looked for other skills, if somebody wants to know; default 2 s.
	Every time.Duration
	// Screens is the group of the tool that gives skills as prompts, for screens and not for
	// models. Empty: there is no such tool.
	Screens string
}

// Needs is what the box is handed besides.
type Needs struct {
	// Open gives a handle to read below a place; the box closes it.
	Open func(Place) (*files.Handle, error)
	// More gives places that may change, which come after all others: those of
	// packages. It is asked at every look. Nil: there are none.
	More func() []Place
	// YAML decodes a front matter. Nil: only the simple forms are read that
	// nearly all skills have.
	YAML func(text []byte, into any) error
	// Shown gives text[from:to] as callers may see it, judged with what stands
	// around it. Nil: as it is.
	Shown func(text string, from, to int) (string, error)
	// Machine answers what the gates of skills ask.
	Machine Machine
	// Model gives the model that carries out tasks, for a caller and a call of
	// theirs: what it uses counts as theirs. Nil: there is none, and callers follow
	// the instructions themselves.
	Model func(ctx context.Context, caller toolcrib.Caller, parent string) (model.Model, error)
	// Ready reports whether there is a model now. Nil: there always is.
	Ready func() bool
	// Scratch gives the directory that commands of a session may write for a skill that it uses,
	// and Ended hears that it no longer uses it. Nil: commands see nothing of skills.
	Scratch func(c toolcrib.Caller, skill string) (string, error)
	Ended   func(c toolcrib.Caller, skill string)
	// Foreign says why a file in a folder of the person may be somebody else's; nil: it
	// cannot. Info is of the file that was read; nil: of the one that is there now.
	// Without Foreign no such file is trusted.
	Foreign func(path string, info fs.FileInfo) error
	// Shows says why a directory is not shown to commands. Nil: each is.
	Shows func(dir string) error
	Log   *slog.Logger // nil: slog.Default
}

// Skill is one skill, as its front matter tells it.
type Skill struct {
	Name        string
	Description string
	Scope       string
	Path        string // of its SKILL.md, absolute

	// Claims of its author. They are shown and grant nothing.
	License, Compatibility string
	AllowedTools           []string
	// Gate is what it needs. A skill that needs what is not there does not exist.
	Gate Gate

	place Place
	dir   string // of the skill, below the place, with slashes
	file  string // the name of its SKILL.md there
	sum   [sha256.Size]byte
}

// Skipped is something that looks like a skill and is none, and why.
type Skipped struct {
	Path   string `json:"path" doc:"Where it is."`
	Reason string `json:"reason" doc:"Why it is left out."`
}

// Box is the toolbox.
type Box struct {
	cfg    Config
	needs  Needs
	active active

	mu   sync.Mutex
	last *foundSkills // as it was found last
	// known is what files said, by their content, so that the next look only
	// reads what has changed.
	known map[contentKey]described
	told  *[sha256.Size]byte // of the skills that watchers know; nil: of none

	watchers watch.List[func()]
	once     sync.Once
	polling  sync.WaitGroup
	ctx      context.Context // of the looking for changes
	stop     context.CancelFunc
}

// foundSkills is what one look at all places found.
type foundSkills struct {
	skills  []Skill
	skipped []Skipped
	gated   []Skipped // left out by their gates: the machine has not what they need
	odd     []Skipped // there all the same: this is for who looks after them
}

// Open makes the box. Places that are not there are no mistake: they may come.
func Open(_ context.Context, cfg Config, needs Needs) (*Box, error) {
	switch {
	case needs.Open == nil:
		return nil, errors.New("opening toolbox skill: there is nothing to read files with")
	case cfg.MaxDepth < 0 || cfg.MaxDirs < 0 || cfg.MaxSkills < 0 || cfg.MaxText < 0 || cfg.MaxFiles < 0:
		return nil, errors.New("opening toolbox skill: a bound is negative")
	}
	for _, p := range cfg.Places {
		if !filepath.IsAbs(p.Path) {
			return nil, fmt.Errorf("opening toolbox skill: the place %q is not an absolute path", p.Path)
		}
	}
	cfg.MaxDepth = cmp.Or(cfg.MaxDepth, 5)
	cfg.MaxDirs = cmp.Or(cfg.MaxDirs, 30_000)
	cfg.MaxSkills = cmp.Or(cfg.MaxSkills, 20_000)
	cfg.MaxText = cmp.Or(cfg.MaxText, 256<<10)
	cfg.MaxFiles = cmp.Or(cfg.MaxFiles, 50)
	cfg.Places, cfg.Hide = slices.Clone(cfg.Places), slices.Clone(cfg.Hide)
	if needs.Log == nil {
		needs.Log = slog.Default()
	}
	cfg.Every = cmp.Or(cfg.Every, 2*time.Second)
	b := &Box{cfg: cfg, needs: needs, active: active{ended: needs.Ended}}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b, nil
}

// Name is the name of the box.
func (b *Box) Name() string { return "skill" }

// Tools looks for skills and lists the tools. Where there is no skill there is
// no tool either.
func (b *Box) Tools(ctx context.Context) ([]toolcrib.Tool, error) {
	found, err := b.scanPlaces(ctx)
	if err != nil {
		return nil, err
	}
	b.begun(found)
	if len(found.skills) == 0 {
		return nil, nil
	}
	use, err := b.useSkill(found.skills)
	if err != nil {
		return nil, err
	}
	tools := []toolcrib.Tool{b.listSkills(), use, b.readSkillFile()}
	if b.Runs() {
		tools = append(tools, b.runSkill())
	}
	if b.cfg.Screens != "" {
		tools = append(tools, b.skillPrompt())
	}
	return tools, nil
}

// Skills looks for skills. Each name is there once.
func (b *Box) Skills(ctx context.Context) ([]Skill, error) {
	found, err := b.scanPlaces(ctx)
	if err != nil {
		return nil, err
	}
	return found.skills, nil
}

// Runs reports whether there is a model to carry skills out.
func (b *Box) Runs() bool {
	return b.needs.Model != nil && (b.needs.Ready == nil || b.needs.Ready())
}

// named finds a skill. One that was not there before may be there now.
func (b *Box) named(ctx context.Context, name string) (Skill, error) {
	b.mu.Lock()
	found := b.last
	b.mu.Unlock()
	if s, ok := found.get(name); ok {
		return s, nil
	}
	found, err := b.scanPlaces(ctx)
	if err != nil {
		return Skill{}, err
	}
	if s, ok := found.get(name); ok {
		return s, nil
	}
	return Skill{}, fmt.Errorf("there is no skill %q; list_skills tells which there are", name)
}

func (f *foundSkills) get(name string) (Skill, bool) {
	if f == nil {
		return Skill{}, false
	}
	i := slices.IndexFunc(f.skills, func(s Skill) bool { return s.Name == name })
	if i < 0 {
		return Skill{}, false
	}
	return f.skills[i], true
}
