package bundle

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// What names one thing and no other. Two numbers are a range to npm and to Go.
var (
	exactVersion = pattern.Of(`^v?[0-9]+\.[0-9]+(\.[0-9]+)*([-+.][0-9A-Za-z.+-]+)?$`)
	exactNPM     = pattern.Of(`^(@[A-Za-z0-9~][A-Za-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*@v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
	exactPip     = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9._,-]*\])? *(==|@) *v?[0-9]+\.[0-9]+(\.[0-9]+)*([-+.][0-9A-Za-z.+-]+)?$`)
	exactGit     = pattern.Of(`^git\+(https|ssh)://[^\s?#/]+/[^\s?#]+@[0-9a-f]{40}(#[^\s]*)?$`)
	exactGo      = pattern.Of(`^[A-Za-z0-9][^\s@]*@v[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$`)
	exactDeno    = pattern.Of(`^(npm|jsr):/?(@[A-Za-z0-9~][A-Za-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*@[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(/[A-Za-z0-9._/-]*)?$`)
	imageDigest  = pattern.Of(`^[A-Za-z0-9][^\s@]*@sha256:[0-9a-f]{64}$`)
	plainPython  = pattern.Of(`^((c?python|pypy)@?)?[0-9][0-9.]*$`)
)

// settled is what a command fetches, of which every part has to be exact.
func settled(launcher string, parts []string, exact func(string) bool) launch {
	for _, p := range parts {
		if !exact(p) {
			return launch{launcher, p, true}
		}
	}
	return launch{launcher, strings.Join(parts, " "), len(parts) == 0}
}

func npmCommand(name string, args []string) launch {
	for i, a := range args {
		switch {
		case slices.Contains([]string{"exec", "x", "dlx"}, a):
			l := npmWords(name, args[i+1:])
			if i > 0 && !l.floating { // what stood before is not understood
				l.fetches, l.floating = args[0], true
			}
			return l
		case !strings.HasPrefix(a, "-"):
			return launch{}
		}
	}
	return launch{}
}

// npmWords finds the packages of npx and its like: what stands behind each --package, or
// else the first word that is no option.
func npmWords(name string, args []string) launch {
	exact := func(spec string) bool { return exactNPM.MatchString(spec) }
	var packages []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		key, value, glued := strings.Cut(a, "=")
		switch {
		case glued && (key == "-p" || key == "--package"):
			packages = append(packages, value)
		case (a == "-p" || a == "--package") && i+1 < len(args):
			i++
			packages = append(packages, args[i])
		case slices.Contains([]string{"-y", "--yes", "-q", "--quiet", "--silent", "--bun", "--"}, a):
		case strings.HasPrefix(a, "-"):
			return launch{name, a, true} // an option that nobody knows may mean anything
		default:
			if packages == nil {
				packages = []string{a}
			}
			if l := settled(name, packages, exact); l.floating || name != "npm" {
				return l
			}
			for _, more := range args[i+1:] { // npm takes options behind the package for its own
				if more == "--" || slices.Contains(args[:i], "--") {
					break
				}
				if strings.HasPrefix(more, "-") {
					return launch{name, more, true}
				}
			}
			return settled(name, packages, exact)
		}
	}
	return settled(name, packages, exact)
}

func exactPython(spec string) bool { return exactPip.MatchString(spec) || exactGit.MatchString(spec) }

// pipWords finds the packages of uvx and its like.
func pipWords(name string, args []string) launch {
	var packages []string
	from := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		key, value, glued := strings.Cut(a, "=")
		if glued && !strings.HasPrefix(key, "-") {
			key, glued = a, false // NAME==1.2
		}
		if slices.Contains([]string{"--from", "--spec", "--with", "--python", "-p"}, key) {
			if !glued {
				if i++; i == len(args) {
					return launch{name, a, true}
				}
				value = args[i]
			}
			switch {
			case key != "--python" && key != "-p":
				packages, from = append(packages, value), from || key != "--with"
			case !plainPython.MatchString(value): // a program somewhere
				return launch{name, value, true}
			}
			continue
		}
		switch {
		case slices.Contains([]string{"-q", "--quiet", "-v", "--verbose", "--isolated", "--offline", "--no-progress", "--no-config", "-n", "--no-cache"}, a):
		case strings.HasPrefix(a, "-"):
			return launch{name, a, true}
		default:
			if !from {
				packages = append(packages, a)
			}
			return settled(name, packages, exactPython)
		}
	}
	return launch{name, strings.Join(packages, " "), true}
}

// uvWords reads the words of uv, which also runs the program of a folder.
func uvWords(args []string) launch {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "tool" && i+1 < len(args) && args[i+1] == "run":
			return pipWords("uv", args[i+2:])
		case a == "run":
			return uvRun(args[i+1:])
		case a == "--directory" || a == "--project":
			i++
		case strings.HasPrefix(a, "--directory=") || strings.HasPrefix(a, "--project="), slices.Contains([]string{"-q", "--quiet", "-v", "--verbose", "--offline", "--no-progress", "--no-config"}, a):
		case strings.HasPrefix(a, "-"):
			return launch{"uv", a, true}
		default:
			return launch{}
		}
	}
	return launch{}
}

// uvRun: what is added to the packages of the folder is fetched, and so is a script that is
// an address. Which words are values is not known, so that each is looked at.
func uvRun(args []string) launch {
	var packages []string
	program := false
	for i, a := range args {
		key, value, glued := strings.Cut(a, "=")
		switch {
		case key == "--with":
			if !glued && i+1 < len(args) {
				value = args[i+1]
			}
			packages = append(packages, value)
		case strings.HasPrefix(key, "--index"), slices.Contains([]string{"-i", "-f", "--default-index", "--extra-index-url", "--find-links", "--config-file", "--allow-insecure-host"}, key):
			return launch{"uv", a, true}
		case !strings.HasPrefix(a, "-") && !program:
			if program = true; strings.Contains(a, "://") {
				return launch{"uv", a, true}
			}
		}
	}
	if packages == nil {
		return launch{}
	}
	return settled("uv", packages, exactPython)
}

// imageWords finds the image of a container engine: the first word behind run that is
// neither an option nor the value of one.
func imageWords(name string, args []string) launch {
	if len(args) > 0 && args[0] == "container" {
		args = args[1:]
	}
	if len(args) == 0 || args[0] != "run" {
		return launch{name, strings.Join(args, " "), true}
	}
	for i := 1; i < len(args); i++ {
		switch a := args[i]; {
		case strings.HasPrefix(a, "--") && strings.Contains(a, "="), imageFlag.MatchString(a), imageGlued.MatchString(a):
		case imageValue.MatchString(a):
			i++
		case strings.HasPrefix(a, "-"):
			return launch{name, a, true}
		default:
			return launch{name, a, !imageDigest.MatchString(a)}
		}
	}
	return launch{name, "", true}
}

var (
	imageFlag  = pattern.Of(`^(-[ditqP]+|--(rm|interactive|tty|init|read-only|privileged|detach|quiet|no-healthcheck|publish-all|sig-proxy|oom-kill-disable))$`)
	imageValue = pattern.Of(`^(-[evpwumlhac]|-[it]+[evpwu]|--(env|env-file|volume|mount|network|net|name|publish|workdir|user|memory|cpus|platform|entrypoint|pull|add-host|label|security-opt|cap-add|cap-drop|device|tmpfs|shm-size|ulimit|hostname|gpus|restart|pids-limit|log-driver|log-opt|dns|ipc|pid|userns|group-add|runtime|stop-timeout|memory-swap|cpu-shares|volumes-from|link|expose|attach|cidfile|sysctl|annotation))$`)
	imageGlued = pattern.Of(`^-[evpwumlh].+$`)
)

func goWords(args []string) launch {
	unsure := false
	for _, a := range args {
		switch {
		case strings.HasPrefix(a, "-"):
			unsure = unsure || !strings.Contains(a, "=") && !slices.Contains([]string{"-race", "-v", "-x", "-a", "-work", "-trimpath"}, a)
		case strings.Contains(a, "@"):
			return launch{"go", a, unsure || !exactGo.MatchString(a)}
		case !unsure:
			return launch{}
		}
	}
	return launch{}
}

func denoWords(args []string) launch {
	for i, a := range args {
		far := strings.Contains(a, "://") || strings.Contains(a, "npm:") || strings.Contains(a, "jsr:")
		switch {
		case i == 0 && slices.Contains([]string{"run", "serve", "x", "install", "eval", "task"}, a):
		case strings.HasPrefix(a, "-") && far:
			return launch{"deno", a, true}
		case strings.HasPrefix(a, "-"):
		case far:
			return launch{"deno", a, !exactDeno.MatchString(a)}
		default:
			return launch{}
		}
	}
	return launch{}
}
