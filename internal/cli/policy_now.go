package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/bundles"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// policyNow is the settings as they are now, for a crib that is running. Nothing that
// becomes of a project's file keeps the rest of them from counting: a token that was
// taken away is gone.
func (c *command) policyNow() app.Settings {
	opt, paths, err := c.options()
	from := asItIs
	if c.project != "" {
		// A file that lies nearer, or none at all, would take away what held at the
		// start: whoever works in the project may have made it so.
		opt.Outer = slices.Concat([]string{opt.Project}, opt.Outer, c.outer)
		opt.Project = c.project
		slices.Sort(opt.Outer)
		opt.Outer = slices.DeleteFunc(slices.Compact(opt.Outer), func(file string) bool { return file == "" || file == c.project })
		opt.Trusted = func(content []byte) bool { return trustList(paths).Holds(c.project, content) }
		for _, file := range append([]string{c.project}, c.outer...) {
			if _, gone := os.Lstat(file); gone != nil {
				err = errors.Join(err, fmt.Errorf("it is gone: %w", gone))
			}
		}
	}
	if err != nil {
		from = asBefore
	}
	return app.Settings{
		Files: append([]string{opt.System, opt.User, opt.Explicit, opt.Project, trustList(paths).Path, bundles.RecordFile(paths.State)}, opt.Outer...),
		Load: func(use func(settings.Config, *settings.Layers) error) error {
			kept := map[string][]byte{}
			opt.Seen = func(file string, content []byte) { kept[file] = content }
			try, err := c.tryProject(opt, from, false, err, func(try projectAttempt) error {
				layers := c.bounded(try.loaded, try.broken)
				if try.broken != nil {
					layers.Fault = try.broken
				}
				return settings.Bad(use(try.loaded.Value, layers))
			})
			if err == nil && try.broken == nil {
				c.kept = kept
			}
			return err
		},
	}
}
