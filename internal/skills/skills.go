// Package skills opens the skills of the settings: where they are looked for on this
// machine, and what of it their gates are told. It is a joint; what a skill is, and what
// is read of it, is toolbox/skill's. The wiring and the command line import it.
package skills

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// Needs is what the box takes besides its settings.
type Needs struct {
	Dir       string // where the project begins; empty: there is none
	Home      string
	Path      string                   // where programs are found; empty: the variable of this process
	Getenv    func(name string) string // nil: the variables of this process
	Protected *files.Protection
	Screens   string // [skill.Config]'s
	// Writes reports whether tools may write a path, or what it leads to. Nil: they may.
	Writes func(path string) bool
	// These are [skill.Needs]'s.
	More    func() []skill.Place
	Shown   func(text string, from, to int) (string, error)
	Model   func(ctx context.Context, caller toolcrib.Caller, parent string) (model.Model, error)
	Ready   func() bool
	Scratch func(c toolcrib.Caller, skill string) (string, error)
	Ended   func(c toolcrib.Caller, skill string)
	Log     *slog.Logger
}

// Open opens the box of skills.
func Open(ctx context.Context, cfg settings.Config, needs Needs) (*skill.Box, error) {
	of := cfg.Toolboxes.Skill
	where := skill.Where{Paths: of.Paths, Project: of.Project, User: of.User, Dir: needs.Dir, Home: needs.Home, Above: above(needs.Dir, needs.Home)}
	return skill.Open(ctx, skill.Config{Places: skill.Places(where), Hide: of.Hide, Screens: needs.Screens}, skill.Needs{
		Open: needs.open, More: needs.More, YAML: config.Decode, Shown: needs.Shown, Machine: needs.machine(cfg), Model: needs.Model, Ready: needs.Ready, Log: needs.Log,
		Scratch: needs.Scratch, Ended: needs.Ended, Shows: needs.shows, Foreign: needs.foreign,
	})
}

// open gives a handle to read below a place of skills. What is protected stays so, and a
// project cannot have a link stand for its place.
func (n Needs) open(p skill.Place) (*files.Handle, error) {
	dir := p.Path
	if p.File {
		dir = filepath.Dir(dir)
	}
	opt := files.Options{Base: dir, Protected: n.Protected}
	if p.Root != "" {
		opt.Within = []string{p.Root}
	}
	return files.New([]files.Dir{{Path: dir}}, opt)
}

// machine answers the gates of skills.
func (n Needs) machine(cfg settings.Config) skill.Machine {
	getenv := n.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	path := n.Path
	if path == "" {
		path = getenv("PATH")
	}
	return skill.Machine{
		Program: func(name string) bool { return onPath(path, name) },
		Env:     func(name string) bool { return getenv(name) != "" },
		Setting: func(key string) bool { return settings.Made(cfg, key) },
	}
}

// onPath tells whether a program can be started by a name.
func onPath(path, name string) bool {
	if name == "" || strings.ContainsAny(name, `/\`) {
		return false
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // it means another directory wherever a program starts
		}
		if _, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// above are the directories above one, up to the root of the repository that it is in.
// There are none without a repository, and none from the home directory on.
func above(dir, home string) []string {
	if dir == "" {
		return nil
	}
	var list []string
	for at := filepath.Clean(dir); at != home; {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return list
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		at = up
		list = append(list, at)
	}
	return nil
}
