package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// runExamples holds a rule against the examples that were written beside it.
// They are about the rule's words, not about this machine: every program is
// there, and no path is a link.
func (p *permission) runExamples(c Condition, opt *RuleOptions) error {
	var errs []error
	for i, text := range slices.Concat(c.Match, c.NotMatch) {
		switch got, err := p.example(text, opt); {
		case err != nil:
			errs = append(errs, fmt.Errorf("the rule %s: reading the example %s: %w", p, shellguard.Quote(text), err))
		case i < len(c.Match) && got != shellguard.Yes:
			errs = append(errs, fmt.Errorf("the rule %s does not match its example %s", p, shellguard.Quote(text)))
		case i >= len(c.Match) && got != shellguard.No:
			errs = append(errs, fmt.Errorf("the rule %s matches %s, which it must not", p, shellguard.Quote(text)))
		}
	}
	return errors.Join(errs...)
}

// example says whether the rule means an example, whatever tool it is of.
func (p *permission) example(text string, opt *RuleOptions) (shellguard.Certainty, error) {
	r, err := p.exampleReview(text)
	if err != nil {
		return shellguard.No, err
	}
	made := *opt
	made.Resolve = func(full string) (string, error) { return path.Clean(full), nil }
	made.Shell = exampleShell(opt.Base)
	s := newSubject(&r, &made)
	if !p.gives() {
		c := p.specTakes(s)
		if c == shellguard.No || p.when == nil {
			return c, nil
		}
		ok, err := p.when.holds(s)
		if err != nil {
			return shellguard.No, err // while the rule is written, a mistake in it is better told
		}
		if !ok {
			return shellguard.No, nil
		}
		return c, nil
	}
	return p.exampleAllowed(s)
}

func (p *permission) exampleAllowed(s *subject) (shellguard.Certainty, error) {
	met := true
	switch p.kind {
	case specCommand:
		l := s.commandLine()
		met = p.command.Any || l != nil && len(l.Unknown) == 0 && len(l.Programs) > 0
		for i := 0; met && !p.command.Any && i < len(l.Programs); i++ {
			met = p.command.Rule.Match(&l.Programs[i])
		}
	case specPath:
		met = p.path.matches(s.paths())
	case specDomain:
		met = p.domain.matches(s.address())
	case specParam:
		met = p.param(s)
	case specNone:
	}
	if met && p.when != nil {
		ok, err := p.when.holds(s)
		if err != nil {
			return shellguard.No, err
		}
		met = ok
	}
	if met {
		return shellguard.Yes, nil
	}
	return shellguard.No, nil
}

// exampleReview makes a call of an example: arguments as JSON; {"args": …,
// "caller": …, "effects": …} in full; or the one text that the rule is about.
func (p *permission) exampleReview(text string) (toolcrib.Review, error) {
	r := toolcrib.Review{Spec: toolcrib.Entry{Spec: toolcrib.Spec{Effects: toolcrib.Pure}}}
	switch p.kind {
	case specCommand:
		r.Spec.Box, r.Spec.Native = "shell", "run_command"
	case specPath:
		r.Spec.Box, r.Spec.Native = "files", "read_file"
	}
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		key := map[specKind]string{specCommand: "command", specPath: "path", specDomain: "url", specParam: p.key}[p.kind]
		if key == "" {
			return r, errors.New("want the arguments as a JSON object")
		}
		input, err := json.Marshal(map[string]string{key: text})
		r.Input = input
		return r, err
	}
	var full struct {
		Args    json.RawMessage  `json:"args"`
		Caller  toolcrib.Caller  `json:"caller"`
		Effects toolcrib.Effects `json:"effects"`
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if dec.Decode(&full) == nil && strings.HasPrefix(strings.TrimSpace(string(full.Args)), "{") {
		r.Input, r.Call.Caller, r.Spec.Effects = full.Args, full.Caller, full.Effects
	} else {
		r.Input = json.RawMessage(text)
	}
	if _, err := decodeArgs(r.Input); err != nil {
		return r, err
	}
	return r, nil
}

// exampleShell reads lines on a machine that has every program.
func exampleShell(base string) *shellguard.Guard {
	return &shellguard.Guard{AllowShell: true, Options: shellguard.Options{
		Dir:          base,
		Look:         func(name string) (string, error) { return "/usr/bin/" + name, nil },
		EvalSymlinks: func(p string) (string, error) { return path.Clean(p), nil },
		Stat:         func(p string) (fs.FileInfo, error) { return exampleFile{path.Base(p)}, nil },
		Writable:     []string{"/nonexistent"},
	}}
}

// exampleFile is a program that only root can change.
type exampleFile struct{ name string }

func (f exampleFile) Name() string     { return f.name }
func (exampleFile) Size() int64        { return 1 }
func (exampleFile) Mode() fs.FileMode  { return 0o755 }
func (exampleFile) ModTime() time.Time { return time.Time{} }
func (exampleFile) IsDir() bool        { return false }
func (exampleFile) Sys() any           { return nil }
