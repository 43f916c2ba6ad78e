package bundle

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// Launches notes what a command fetches before it runs, and whether that may be another
// thing tomorrow: the lock of a package does not hold what lies elsewhere. A word that is
// not understood may mean anything, so that what it stands in floats.
func Launches(s *Server) {
	s.Launcher, s.Fetches, s.Floating = "", "", false
	if s.Command == "" {
		return
	}
	l := launched(programName(s.Command), s.Args)
	if l.launcher != "" && !l.floating {
		for _, key := range slices.Sorted(maps.Keys(s.Env)) {
			if steersFetching(key) {
				l.fetches, l.floating = key+"="+s.Env[key], true
				break
			}
		}
	}
	s.Launcher, s.Fetches, s.Floating = l.launcher, l.fetches, l.floating
}

// launch is what a command fetches, and by what. The zero value: nothing that is known of.
type launch struct {
	launcher, fetches string
	floating          bool
}

// programName is how a program is called, whatever its folder, letter case and ending.
func programName(command string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	for _, end := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

func launched(name string, args []string) launch {
	sub := func(words ...string) bool { return len(args) > 0 && slices.Contains(words, args[0]) }
	switch name {
	case "npx", "bunx", "pnpx":
		return npmWords(name, args)
	case "npm", "pnpm", "yarn", "bun":
		return npmCommand(name, args)
	case "uvx":
		return pipWords(name, args)
	case "uv":
		return uvWords(args)
	case "pipx":
		if sub("run") {
			return pipWords(name, args[1:])
		}
	case "docker", "podman", "nerdctl":
		return imageWords(name, args)
	case "go":
		if sub("run") {
			return goWords(args[1:])
		}
	case "deno":
		return denoWords(args)
	case "nix", "nix-shell", "dnx":
		return launch{name, strings.Join(args, " "), true}
	case "sh", "bash", "zsh", "dash", "ksh", "fish", "pwsh", "powershell", "cmd":
		return shellWords(args)
	case "env", "nice", "nohup", "timeout", "sudo", "doas", "time", "stdbuf", "setsid", "xargs", "busybox", "corepack":
		return innerWords(args)
	case "python", "python3", "py":
		if i := slices.Index(args, "-m"); i >= 0 {
			return innerWords(args[i+1:])
		}
	}
	return launch{}
}

// innerWords finds the program that another one starts.
func innerWords(args []string) launch {
	for i, a := range args {
		if l := launched(programName(a), args[i+1:]); l.launcher != "" {
			return l
		}
		if strings.ContainsAny(a, " \t\n") { // env -S has a whole line in one word
			if l := shellWords([]string{a}); l.launcher != "" {
				return l
			}
		}
	}
	return launch{}
}

var (
	plainScript = pattern.Of(`^[A-Za-z0-9 _./@:=,+~-]*$`)
	shellSign   = pattern.Of("[\\s;|&()`\"'$<>{}]+")
)

// shellWords finds programs that a shell is told to start. A line that is more than words
// is not understood.
func shellWords(args []string) launch {
	if l := innerPlain(args); l.launcher != "" {
		return l
	}
	for _, script := range args {
		words := shellSign.Regexp().Split(script, -1)
		l := innerPlain(words)
		if l.launcher == "" {
			continue
		}
		if !plainScript.MatchString(script) && !l.floating {
			l.fetches, l.floating = script, true
		}
		return l
	}
	return launch{}
}

func innerPlain(words []string) launch {
	for i, w := range words {
		if l := launched(programName(w), words[i+1:]); l.launcher != "" {
			return l
		}
	}
	return launch{}
}

// steersFetching: a variable by which another thing is fetched than the words say, or from
// somewhere else.
func steersFetching(key string) bool {
	key = strings.ToLower(key)
	if slices.Contains([]string{"npm_config_yes", "npm_config_loglevel", "npm_config_update_notifier", "npm_config_fund", "npm_config_audit", "uv_no_progress", "uv_offline", "pip_no_input"}, key) {
		return false
	}
	for _, begin := range []string{"npm_config_", "uv_", "pip_", "pipx_", "bun_", "yarn_", "pnpm_", "corepack_", "deno_", "docker_", "container_", "goproxy", "goflags", "gonosum", "gosumdb", "goinsecure", "goprivate", "gonoproxy", "gotoolchain", "goenv"} {
		if strings.HasPrefix(key, begin) {
			return true
		}
	}
	return strings.HasSuffix(key, "_proxy") || slices.Contains([]string{"home", "xdg_config_home", "userprofile", "appdata", "node_extra_ca_certs", "node_tls_reject_unauthorized", "ssl_cert_file", "ssl_cert_dir"}, key)
}
