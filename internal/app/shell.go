package app

import (
	"errors"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/chains"
	"github.com/toolcrib/toolcrib/internal/hooked"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// shellGuard understands command lines; its rules are those of the policy.
func (a *App) shellGuard(cfg settings.ShellBox) (*shellguard.Guard, error) {
	if _, ok := cfg.Env["PATH"]; ok {
		return nil, errors.New("toolboxes.shell.env: PATH cannot be set, since commands are judged by the programs of the system")
	}
	opt := shellguard.SystemOptions(a.reach.Base)
	opt.Writable = chains.Writable(a.reach.Dirs)
	a.chains.KnownTo(&opt, a.bounded)
	opt.Homes = shellguard.Homes(a.policy.home, a.reach.Base)
	readable := a.reach.Readable
	if a.early != nil { // a client runs its lines outside the sandbox, in the shell of its user
		readable = a.reach.ReadableOutside()
		opt.CDPath = a.reach.Env("CDPATH") != ""
		opt.UserShell, opt.Zsh = true, a.client == "" || hooked.MayBeZsh(a.client, a.reach.Env)
	}
	return &shellguard.Guard{
		Layer:      a.layerGrant,
		AllowShell: true, Bounded: a.bounded, Literal: a.early != nil, Options: opt,
		Reach:    readable,
		Glob:     filepath.Glob,
		ReadFile: plainfile.Settings,
		Obeyed:   a.obeyedGuard().At,
		Job: func(call toolcrib.Call, id string) (shellguard.Job, bool) {
			if a.shell == nil {
				return shellguard.Job{}, false
			}
			line, dir, typed, ok := a.shell.Typed(call, id)
			return shellguard.Job{Command: line, WorkingDir: dir, Typed: typed}, ok
		},
	}, nil
}

// layerGrant is what a command may touch that runs on a layer without a rule; nil
// where there are no layers.
func (a *App) layerGrant() *toolcrib.Grant {
	if a.layers == nil || !a.layers() {
		return nil
	}
	g := a.Crib.Grant
	g.Hosts, g.Secrets = nil, nil
	return &g
}

// obeyedGuard finds calls that would write what other programs obey.
func (a *App) obeyedGuard() *policy.Obeyed {
	o := &policy.Obeyed{Set: a.reach.Obeyed, Own: a.reach.Own.Asked, Base: a.reach.Base, Home: a.policy.home, Resolve: policy.RealPath, List: linked.Read, Git: reach.GitSettings(a.policy.home, a.reach.Env), Names: a.reach.Names}
	for _, d := range a.reach.Dirs {
		o.Roots = append(o.Roots, d.Path)
	}
	return o
}

// outOfReach is what the rules for everybody deny to programs as well.
func (a *App) outOfReach() policy.Taken { return a.policy.live.Policy().OutOfReach() }

// ProgramGrant is what a program may touch that no tool starts.
func (a *App) ProgramGrant() toolcrib.Grant { return a.outOfReach().From(a.Crib.Grant) }
