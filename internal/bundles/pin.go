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
	for i := range c.Package.Servers {
		s := &c.Package.Servers[i]
		if !s.Floating {
			continue
		}
		if !look {
			c.Left[s.Name] = fmt.Sprintf("what it fetches (%s) may be another thing tomorrow: --pin looks the version of now up and keeps it", text.ShowLine(s.Fetches))
			continue
		}
		for try := 0; s.Floating && c.Left[s.Name] == ""; try++ { // it may fetch several
			exact, err := c.of.exact(ctx, *s)
			if err != nil {
				c.Left[s.Name] = "no version can be kept for it: " + text.ShowLine(err.Error())
				break
			}
			pinned, ok := withVersion(*s, exact)
			if !ok && (pinned.Fetches == s.Fetches || try == 10) {
				c.Left[s.Name] = "no version can be kept for it: it is not to be seen in its words"
				break
			}
			*s = pinned
		}
	}
	return ctx.Err()
}

var packagePart = pattern.Of(`^(@[^@/]+/)?[A-Za-z0-9._~-]*`)

// withVersion is a server with an exact version in place of what it fetches. Not ok: it is
// another package, or the server still floats.
func withVersion(s bundle.Server, exact string) (bundle.Server, bool) {
	of := func(spec string) string { return packagePart.Regexp().FindString(spec) }
	if !s.Floating || exact == "" || of(exact) == "" || of(exact) != of(s.Fetches) {
		return s, false
	}
	for i, a := range s.Args {
		if a == s.Fetches || strings.HasSuffix(a, "="+s.Fetches) {
			s.Args = slices.Clone(s.Args)
			s.Args[i] = strings.TrimSuffix(a, s.Fetches) + exact
			bundle.Launches(&s)
			return s, !s.Floating
		}
	}
	return s, false
}

// withVersions is a server with the exact versions that its command has elsewhere. Only what
// it fetches is replaced; if something of it still floats, nothing is.
func withVersions(s bundle.Server, argv []string) bundle.Server {
	if len(argv) != len(s.Args)+1 {
		return s
	}
	for pinned := s; pinned.Floating; {
		i := slices.IndexFunc(pinned.Args, func(a string) bool { return a == pinned.Fetches || strings.HasSuffix(a, "="+pinned.Fetches) })
		if i < 0 || !strings.HasPrefix(argv[i+1], strings.TrimSuffix(pinned.Args[i], pinned.Fetches)) {
			return s
		}
		next, ok := withVersion(pinned, strings.TrimPrefix(argv[i+1], strings.TrimSuffix(pinned.Args[i], pinned.Fetches)))
		if ok {
			return next
		}
		if next.Fetches == pinned.Fetches {
			return s
		}
		pinned = next
	}
	return s
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
		return name + "@" + said.Version, nil // what is no exact version still floats
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
