package cli

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/remedy"
	"github.com/toolcrib/toolcrib/internal/text"
)

// grantFinding says which directories tools have.
func grantFinding(a *app.App, paths config.Paths) finding {
	var parts []string
	for _, d := range a.Crib.Grant.Dirs {
		if d.Write {
			parts = append(parts, d.Path)
		} else {
			parts = append(parts, d.Path+" (to read)")
		}
	}
	if parts == nil {
		return finding{"grant", "warning", "tools have no directory here: the working directory is your home directory or holds it. Start in a project, or name directories in grant.write and grant.read", "mkdir -p project && cd project"}
	}
	return finding{"grant", "ok", "tools have " + strings.Join(parts, ", ") + "; what they delete goes to " + filepath.Join(paths.State, "trash"), ""}
}

// caches are where programs keep what they will run later, by the home directory.
func caches() []string {
	return []string{".cache", ".cache/go-build", ".cache/pip", ".cache/uv", ".cache/bazel", ".cache/ccache", ".ccache", ".cache/sccache", ".cache/yarn", ".npm", ".yarn", ".bun", ".local/share/pnpm",
		".cargo", ".rustup", ".m2", ".gradle", ".ivy2", ".sbt", "go", "go/pkg", "go/pkg/mod", "go/bin", ".local", ".local/bin", ".local/share", ".nuget"}
}

// cacheFindings warns of a cache of the person that commands can write: they
// would decide what the person's own builds run.
func (c *command) cacheFindings(a *app.App, home string) []finding {
	var out []finding
	for _, d := range a.Crib.Grant.Dirs {
		rel, ok := pathglob.Rel(home, d.Path)
		if home == "" || !ok || !d.Write || !slices.Contains(caches(), filepath.ToSlash(rel)) {
			continue
		}
		out = append(out, finding{"grant", "warning", "commands can write to " + d.Path + ", and your own builds run what is in it. Take it out of grant.write: commands have build caches of their own", c.editSettings()})
	}
	return out
}

// placeFindings says of MCP servers in sandboxes what they see there, and of
// all of them whether they could be started.
func placeFindings(ctx context.Context, a *app.App) (out []finding) {
	for _, b := range a.Hub.Boxes() {
		if err := a.TryServerPlace(ctx, b); err != nil {
			if b.FailedBy(err) {
				continue // it is down, and the cause was told
			}
			out = append(out, finding{"servers", "problem", "the MCP server " + b.Name() + " cannot be started, and is never run elsewhere instead: " + err.Error(), cmp.Or(remedy.Of(err), "toolcrib hub test "+text.ShellWord(b.Name()))})
			continue
		}
		place := a.ServerPlace(b)
		if place == "" {
			continue
		}
		what := "the MCP server "
		if b.Server().Shown != "" { // a file of functions, or what is installed for Python
			what = "the toolbox "
		}
		out = append(out, finding{"servers", "ok", what + b.Name() + " runs " + place, ""})
	}
	return out
}
