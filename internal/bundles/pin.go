package bundles

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/internal/text"
)

var plainPackage = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// pin goes over the servers whose program is fetched when they start, and may be another
// one tomorrow. They are left out, or the version of now is looked up and written into
// their words, so that the person says yes to that one.
func (c *Candidate) pin(ctx context.Context, look bool) error {
	c.Package.Servers = slices.Clone(c.Package.Servers)
	for i := range c.Package.Servers {
		s := &c.Package.Servers[i]
		if !s.Floating {
			continue
		}
		if !look {
			c.Left[s.Name] = fmt.Sprintf("what it fetches (%s) may be another thing tomorrow: --pin looks the version of now up and keeps it", text.ShowLine(s.Fetches))
			continue
		}
		exact, err := c.of.exact(ctx, *s)
		if err != nil {
			c.Left[s.Name] = "no version can be kept for it: " + text.ShowLine(err.Error())
			continue
		}
		replaced := false
		for j, a := range s.Args {
			if !replaced && (a == s.Fetches || strings.HasSuffix(a, "="+s.Fetches)) {
				s.Args = slices.Clone(s.Args)
				s.Args[j], replaced = strings.TrimSuffix(a, s.Fetches)+exact, true
			}
		}
		if !replaced {
			c.Left[s.Name] = "no version can be kept for it: it is not to be seen in its words"
			continue
		}
		s.Fetches, s.Floating = exact, false
	}
	return ctx.Err()
}

// exact is what a server fetches, with the version of now.
func (b *Bundles) exact(ctx context.Context, s bundle.Server) (string, error) {
	switch s.Launcher {
	case "npx", "bunx", "pnpx", "npm", "pnpm", "yarn":
		name, version := s.Fetches, "latest"
		if at := strings.LastIndexByte(name, '@'); at > 0 {
			name, version = name[:at], name[at+1:]
		}
		if !npmName.MatchString(name) || !npmVersion.MatchString(version) {
			return "", fmt.Errorf("%s is no package of npm with a version or a tag", s.Fetches)
		}
		said, err := b.npmVersion(ctx, "", name, version)
		if err != nil {
			return "", err
		}
		return name + "@" + said.Version, nil
	case "uvx", "uv", "pipx":
		name := strings.TrimSuffix(s.Fetches, "@latest")
		if !plainPackage.MatchString(name) {
			return "", fmt.Errorf("%s is no plain package of PyPI", s.Fetches)
		}
		version, err := b.pypiVersion(ctx, name)
		if err != nil {
			return "", err
		}
		return name + "==" + version, nil
	}
	return "", fmt.Errorf("nothing looks up versions for %s; name an exact one, or the digest of an image", s.Launcher)
}
