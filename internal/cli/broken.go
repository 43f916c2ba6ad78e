package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

// A project's file that has mistakes, and that nobody trusted, stops nothing: what
// strangers wrote must not keep a person from their tools. What is understood of it
// counts, and since it may have been there to tighten further, less runs unasked.

// care is how much counts of such a file. What follows is taken where what stands before
// cannot be used.
type care int

const (
	asItIs     care = iota // all of it
	asBefore               // all that it held when it was last without mistakes
	soundParts             // what is sound of it, part by part
	rulesAlone             // of that, its mode and its rules
	nothing
)

// brokenProject is what is wrong with a project's file.
type brokenProject struct {
	file   string
	edit   string // the one to begin with; empty: it is not known
	before bool   // what it held before the mistakes counts
	err    error
}

func (b *brokenProject) Error() string {
	said := "what is not understood of it does not count, and protects nothing. Until they are mended and Toolcrib is restarted, only what looks and what your own rules allow runs unasked here"
	if b.before {
		said = "what it said before goes on to count, and it allows nothing"
	}
	return fmt.Sprintf("%s has mistakes; %s: %s", text.ShowLine(b.file), said, text.ShowLine(b.err.Error()))
}

func (b *brokenProject) Unwrap() error { return b.err }

// projectAttempt is one reading of the settings, and what is wrong with the project's file in it.
type projectAttempt struct {
	loaded *config.Loaded[settings.Config]
	broken *brokenProject // nil: nothing
	care   care
}

// tryProject reads the settings and has use put them up, with as much of the project's file
// as goes. Why is what went wrong with as much of it as stands before from. If it is not
// that file, or if it is one that the person trusted, the first error is told; files of
// projects around a trusted one are still passed over. Trusted: it is known to be one.
func (c *command) tryProject(opt config.Options, from care, trusted bool, why error, use func(projectAttempt) error) (projectAttempt, error) {
	trust := opt.Trusted
	if trust != nil {
		opt.Trusted = func(content []byte) bool {
			trusted = trust(content)
			return trusted
		}
	}
	first := why
	var wrong error // with parts of the file
	for how := from; how <= nothing; how++ {
		if how == asBefore && trusted {
			continue
		}
		try, err := c.readWith(opt, how, trusted)
		switch {
		case err != nil && how > asBefore:
			return try, cmp.Or(first, err) // other settings are to blame
		case err == nil && how == soundParts:
			if wrong = try.loaded.Broken; wrong == nil {
				continue // nothing was left out that is not sound
			}
			try.broken.err = wrong
		case err == nil && how > soundParts:
			try.broken.err = errors.Join(wrong, why)
		case err == nil && how == asBefore:
			try.broken.err = why
		}
		if err == nil && try.loaded != nil {
			if err = use(try); err == nil {
				return try, nil
			}
		}
		if err == nil {
			continue // there is nothing from before
		}
		why = err
		if first == nil {
			first = err
		}
		if _, bad := errors.AsType[settings.BadConfig](err); opt.Project == "" || !bad {
			return try, first
		}
	}
	return projectAttempt{}, first
}

// readWith reads the settings with so much of the project's file. Its errors are settings.BadConfig.
func (c *command) readWith(opt config.Options, how care, trusted bool) (try projectAttempt, err error) {
	try.care = how
	read := func(opt config.Options) *config.Loaded[settings.Config] {
		if err != nil {
			return nil
		}
		var loaded *config.Loaded[settings.Config]
		if loaded, err = config.Load(settings.Defaults(), opt); err != nil {
			err = settings.Bad(err)
			return nil
		}
		loaded.Value.ExpandHome(c.home())
		return loaded
	}
	if how == asItIs {
		try.loaded = read(opt)
		return try, err
	}
	files := slices.DeleteFunc(append([]string{opt.Project}, opt.Outer...), func(file string) bool { return file == "" })
	try.broken = &brokenProject{file: cmp.Or(strings.Join(files, " or "), "the project's toolcrib.yaml"), before: how == asBefore}
	if len(files) > 0 {
		try.broken.edit = files[0]
	}
	if how == asBefore {
		if len(c.kept) > 0 {
			opt.Contents, opt.Trusted = c.kept, nil // it was trusted as it stood there
			try.loaded = read(opt)
		}
		return try, err
	}
	bare := opt
	if bare.Outer = nil; !trusted {
		bare.Project = ""
	}
	without := read(bare)
	if try.loaded = without; err != nil || how == nothing {
		return try, err
	}
	opt.PastProject = true
	opt.Check = app.ProjectCheck(without.Value, c.dir, c.home())
	sound := read(opt)
	if err != nil || how == soundParts {
		try.loaded = sound
		return try, err
	}
	rules := func(of settings.Config) settings.Config {
		return settings.Config{Mode: of.Mode, Permissions: of.Permissions, Agents: of.Agents}
	}
	try.loaded.Project = rules(sound.Project)
	for _, outer := range sound.Outer {
		try.loaded.Outer = append(try.loaded.Outer, rules(outer))
	}
	return try, nil
}

// whereIs finds the line of a setting by its text; empty: it stands in no file. Setting
// says where it belongs, as it is told to people, or nothing.
func (c *command) whereIs(setting, text string) string {
	paths, _, err := c.paths()
	if err != nil || text == "" {
		return ""
	}
	key, _, _ := strings.Cut(setting, ": ")
	if at := c.loaded.Origins[key+"."+text]; at.File != "" && at.Line > 0 {
		return at.String()
	}
	if c.lines == nil {
		c.lines = []map[string]string{config.FindTexts(c.settings(paths), false), config.FindTexts(paths.SystemFile, false)}
		for _, file := range append([]string{c.project}, c.outer...) {
			c.lines = append(c.lines, config.FindTexts(file, true))
		}
	}
	find := slices.All[[]map[string]string]
	if strings.Contains(key, "of the project") || strings.Contains(key, "of a project") { // they stand last
		find = slices.Backward[[]map[string]string]
	}
	for _, file := range find(c.lines) {
		if at := file[text]; at != "" {
			return at
		}
	}
	return ""
}
