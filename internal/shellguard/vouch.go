package shellguard

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// Programs that lie in the project (./gradlew, .venv/bin/pytest, what npm puts into
// node_modules/.bin) can be written by agents, so their names say nothing. A person
// can look at one and trust its content (Options.Project). All that is believed
// then is that a rule about this name means this file: such a program runs code of
// the project, whatever it is called, so it is never one that only reads.

// vouch looks a program that is not trusted up among those that the person has
// looked at. It gives back what speaks against it.
func (o *Options) vouch(p *Program, name string, against error) error {
	if o.Project == nil {
		return against
	}
	var places []string
	switch {
	case path.IsAbs(name):
		places = []string{path.Clean(name)}
	case strings.Contains(name, "/"):
		for _, d := range p.Dirs {
			places = append(places, path.Join(d, name))
		}
	case o.Look != nil:
		if found, err := o.Look(name); err == nil {
			places = []string{found}
		}
	}
	if len(places) == 0 {
		return against
	}
	for _, place := range places {
		if !path.IsAbs(place) || !pathglob.Within(place, o.Writable) {
			return against // it is not trusted for another reason
		}
		if err := o.Project(place); err != nil {
			return fmt.Errorf("%s is a program of the project: %w", Quote(name), err)
		}
	}
	p.Path, p.vouched = places[0], true
	return nil
}

// TrustedFile reports whether a file, links resolved, lies where the programs of
// the system and of the person's tool chains lie, out of reach of agents.
func (o *Options) TrustedFile(resolved string) bool {
	trusted := o.Trusted
	if trusted == nil {
		trusted = SystemDirs()
	}
	return (pathglob.Within(resolved, trusted) || pathglob.Within(resolved, systemTrees()) || pathglob.Within(resolved, o.Trees)) && o.unwritable(resolved, resolved) == nil
}

// unvouchChanged takes back what was vouched for in a line that may change it first:
// its content was looked at before the line runs.
func (l *Line) unvouchChanged() {
	changes := slices.ContainsFunc(l.Redirects, func(r Redirect) bool {
		return strings.Contains(r.Op, ">") && r.Target != "/dev/null" && (!strings.HasSuffix(r.Op, "&") || strings.Trim(r.Target, "0123456789-") != "")
	})
	for i := range l.Programs {
		p := &l.Programs[i]
		changes = changes || p.Class != ReadOnly && !p.vouched
	}
	if !changes {
		return
	}
	for i := range l.Programs {
		if p := &l.Programs[i]; p.vouched {
			p.vouched, p.fits = false, false
			p.Why = append(p.Why, "it is a program of the project, and something else in the line may change it before it runs")
		}
	}
}

// startsToolchain: a link that leads to a program which starts another by the
// name that it was called by: those of rustup and of Volta.
func startsToolchain(name, resolved string) bool {
	switch resolved {
	case "rustup":
		return isOneOf(name, "cargo rustc rustdoc rustfmt rust-analyzer cargo-clippy cargo-fmt cargo-miri clippy-driver rust-gdb rust-gdbgui rust-lldb rls")
	case "volta-shim":
		return isOneOf(name, "node npm npx yarn pnpm")
	}
	return false
}
