package bundle

import (
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

var (
	exactVersion = pattern.Of(`^v?[0-9]+\.[0-9]+(\.[0-9]+)*([-+.][0-9A-Za-z.+-]+)?$`)
	fullCommit   = pattern.Of(`^[0-9a-f]{40}$`)
	imageDigest  = pattern.Of(`@sha256:[0-9a-f]{64}$`)
)

// launches notes what a command fetches before it runs, and whether that may be another
// thing tomorrow: the lock of a package does not hold what lies elsewhere.
func launches(s *Server) {
	if s.Command == "" {
		return
	}
	s.Launcher = strings.TrimSuffix(path.Base(s.Command), ".exe")
	s.Launcher = strings.TrimSuffix(s.Launcher, ".cmd")
	switch s.Launcher {
	case "npx", "bunx", "pnpx":
		s.npm(s.Args, []string{"-y", "--yes", "-q", "--quiet", "--silent"}, []string{"-p", "--package"})
	case "npm", "pnpm", "yarn":
		if len(s.Args) > 0 && slices.Contains([]string{"exec", "x", "dlx"}, s.Args[0]) {
			s.npm(s.Args[1:], []string{"-y", "--yes", "--"}, []string{"-p", "--package"})
			return
		}
		s.Launcher = ""
	case "uvx":
		s.pip(s.Args)
	case "uv":
		if len(s.Args) > 1 && s.Args[0] == "tool" && s.Args[1] == "run" {
			s.pip(s.Args[2:])
			return
		}
		s.Launcher = ""
	case "pipx":
		if len(s.Args) > 0 && s.Args[0] == "run" {
			s.pip(s.Args[1:])
			return
		}
		s.Launcher = ""
	case "docker", "podman", "nerdctl":
		s.image()
	case "go":
		if len(s.Args) > 1 && s.Args[0] == "run" && strings.Contains(s.Args[1], "@") {
			s.Fetches = s.Args[1]
			_, v, _ := strings.Cut(s.Args[1], "@")
			s.Floating = !exactVersion.MatchString(v)
			return
		}
		s.Launcher = ""
	default:
		s.Launcher = ""
	}
}

// npm finds the package of npx and its like: the first word that is no option, or what
// stands behind --package.
func (s *Server) npm(args, flags, takes []string) {
	s.Floating = true
	for i, a := range args {
		if key, value, glued := strings.Cut(a, "="); glued && slices.Contains(takes, key) {
			s.pinnedNPM(value)
			return
		}
		switch {
		case slices.Contains(takes, a) && i+1 < len(args):
			s.pinnedNPM(args[i+1])
			return
		case slices.Contains(flags, a):
		case strings.HasPrefix(a, "-"):
			s.Fetches = a // an option that nobody knows may mean anything
			return
		default:
			s.pinnedNPM(a)
			return
		}
	}
}

func (s *Server) pinnedNPM(spec string) {
	s.Fetches = spec
	name := strings.TrimPrefix(spec, "@")
	_, version, _ := strings.Cut(name, "@")
	s.Floating = !exactVersion.MatchString(version)
}

// pip finds the package of uvx and its like.
func (s *Server) pip(args []string) {
	s.Floating = true
	for i := 0; i < len(args); i++ {
		a := args[i]
		if value, glued := strings.CutPrefix(a, "--from="); glued {
			s.pinnedPip(value)
			return
		}
		switch {
		case (a == "--from" || a == "--spec") && i+1 < len(args):
			s.pinnedPip(args[i+1])
			return
		case (a == "--python" || a == "-p") && i+1 < len(args):
			i++
		case a == "--quiet" || a == "-q" || a == "--isolated":
		case strings.HasPrefix(a, "-"):
			s.Fetches = a
			return
		default:
			s.pinnedPip(a)
			return
		}
	}
}

func (s *Server) pinnedPip(spec string) {
	s.Fetches = spec
	if rest, git := strings.CutPrefix(spec, "git+"); git {
		at := strings.LastIndexByte(rest, '@')
		ref, _, _ := strings.Cut(rest[at+1:], "#")
		s.Floating = at < 0 || !fullCommit.MatchString(ref)
		return
	}
	_, version, exact := strings.Cut(spec, "==")
	if !exact {
		_, version, exact = strings.Cut(spec, "@") // uvx takes name@version too
	}
	s.Floating = !exact || !exactVersion.MatchString(strings.TrimSpace(version))
}

// image finds the image of a container engine. Which word it is depends on options that
// take a value, so every word is looked at: without a digest in one of them it floats.
func (s *Server) image() {
	s.Floating = true
	for _, a := range s.Args {
		if imageDigest.MatchString(a) {
			s.Fetches, s.Floating = a, false
			return
		}
	}
	for _, a := range slices.Backward(s.Args) {
		if !strings.HasPrefix(a, "-") {
			s.Fetches = a
			return
		}
	}
}
