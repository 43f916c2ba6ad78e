package cli

import (
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

// A project's file that has mistakes, and that nobody trusted, does not count: what
// strangers wrote must not keep a person from their tools. But it may have been there
// to tighten, so that less runs unasked as long as it is broken.

// loadPast loads the settings, if need be without a project's file that has mistakes.
func (c *command) loadPast(opt config.Options) (*config.Loaded[settings.Config], error) {
	loaded, err := config.Load(settings.Defaults(), opt)
	if err == nil || opt.Project == "" {
		return loaded, err
	}
	return c.withoutProject(opt, err)
}

// withoutProject loads the settings without the project's file, if that is what why
// is about; else why is the error. One that the person trusted is their own.
func (c *command) withoutProject(opt config.Options, why error) (*config.Loaded[settings.Config], error) {
	if content, err := config.ReadProject(opt.Project); err == nil && opt.Trusted != nil && opt.Trusted(content) {
		return nil, why
	}
	file := opt.Project
	opt.Project = ""
	loaded, err := config.Load(settings.Defaults(), opt)
	if err != nil {
		return nil, why // not the project's file alone is to blame
	}
	c.broken = &brokenProject{file, why}
	return loaded, nil
}

// brokenProject is a project's file that does not count.
type brokenProject struct {
	file string
	err  error
}

func (b *brokenProject) Error() string {
	return fmt.Sprintf("%s does not count, because it has mistakes; until they are mended, only what looks and what your own rules allow runs unasked here: %s", text.ShowLine(b.file), text.ShowLine(b.err.Error()))
}

func (b *brokenProject) Unwrap() error { return b.err }

// projectIsBad has the settings loaded anew if a mistake in them that shows only when
// all is put together may be one of the project's file. False: it is not.
func (c *command) projectIsBad(err error) bool {
	bad, ok := errors.AsType[settings.BadConfig](err)
	if !ok || c.broken != nil || c.project == "" || c.loaded.Trusted {
		return false
	}
	opt, _, err := c.options()
	if err != nil || opt.Project == "" {
		return false
	}
	loaded, err := c.withoutProject(opt, app.Located(bad.Unwrap(), c.whereIs))
	if err != nil {
		return false
	}
	c.loaded = loaded
	return true
}

// whereIs finds the line of a setting by its text; empty: it stands in no file.
func (c *command) whereIs(text string) string {
	paths, _, err := c.paths()
	if err != nil || text == "" {
		return ""
	}
	return config.FindText(text, c.settings(paths), c.project, paths.SystemFile)
}
