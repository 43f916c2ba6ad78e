package shellguard

import (
	"slices"
	"strings"
)

func (p *Program) floorGit() string {
	sub, rest := gitSubCommand(p.Args)
	q := Program{Args: rest, Dirs: p.Dirs, homes: p.homes}
	if (p.settings || settingsFile(p.Args)) && (sub == "push" || sub == "send-pack" || sub != "" && gitClass(p.Args) == Unknown) {
		return "settings in a file decide what git does"
	}
	if why := gitSettings(p.Args, sub, &q); why != "" {
		return why
	}
	switch sub {
	case "push", "send-pack", "http-push":
		if q.flag("fd", "force", "force-with-lease", "force-if-includes", "mirror", "delete", "prune") {
			return "it overwrites or deletes what others have in the remote repository"
		}
		for _, a := range rest {
			if strings.HasPrefix(a.Text, "+") || strings.HasPrefix(a.Text, ":") && len(a.Text) > 1 {
				return "it overwrites or deletes what others have in the remote repository"
			}
			if a.Glob && !a.safePattern() {
				return "a file with such a name would make " + Quote(a.Text) + " a forced push"
			}
		}
	case "subtree":
		if q.word("push") && (q.flag("f", "force") || slices.ContainsFunc(rest, func(a Arg) bool { return strings.Contains(":"+a.Text, ":+") })) {
			return "it overwrites or deletes what others have in the remote repository"
		}
	case "remote-http", "remote-https", "remote-ftp", "remote-ftps", "remote-ext", "remote-fd":
		return "it speaks to a remote repository by what only shows while it runs"
	case "clean":
		at := Program{Dirs: p.repoDirs, homes: p.homes}
		for i, a := range p.Args[:len(p.Args)-1] {
			if a.Text == "-C" && p.homes.isVital(p.Args[i+1].texts()[0], p.Dirs) {
				at.Dirs = append(slices.Clone(at.Dirs), "/")
			}
		}
		if tree := workTree(p.Args); tree != "" && p.homes.isVital(tree, p.Dirs) {
			at.Dirs = append(slices.Clone(at.Dirs), "/")
		}
		if q.flag("fxdX", "force") && (p.homeTree || at.vitalDir() || p.vitalDir() || q.vitalArg()) {
			return "it removes a directory of the system or a whole home"
		}
	case "reflog":
		if q.word("expire", "delete") {
			return "it removes the history of the repository"
		}
	case "filter-branch", "filter-repo":
		return "it rewrites the history of the repository"
	case "update-ref":
		if q.flag("d", "delete") {
			return "it removes the history of the repository"
		}
	}
	return ""
}

// settingsFile: git is told to read settings in a file of the line's choice.
func settingsFile(args []Arg) bool {
	return slices.ContainsFunc(args, func(a Arg) bool {
		low := strings.ToLower(strings.TrimPrefix(a.texts()[0], "-c"))
		return strings.HasPrefix(low, "include.path=") || strings.HasPrefix(low, "includeif.") && strings.Contains(low, ".path=")
	})
}

// settingsVariables are those by which git finds its settings.
const settingsVariables = "GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG HOME XDG_CONFIG_HOME"

// settingsVariable: a variable that makes git read settings from elsewhere.
func settingsVariable(name, value string) bool {
	return isOneOf(name, settingsVariables) && value != "" && value != "/dev/null"
}

// workTree is the tree that git is told to work on.
func workTree(args []Arg) string {
	for i, a := range args {
		t := a.texts()[0]
		if tree, ok := strings.CutPrefix(t, "--work-tree="); ok {
			return tree
		}
		if t == "--work-tree" && i+1 < len(args) {
			return args[i+1].texts()[0]
		}
	}
	return ""
}

// setsForce: git config or git remote make a later push of the line a forced one.
func (p *Program) setsForce() bool {
	sub, rest := gitSubCommand(p.Args)
	key := ""
	for _, a := range rest {
		t := strings.ToLower(a.texts()[0])
		switch {
		case sub == "remote" && strings.HasPrefix(t, "--mirror") && t != "--mirror=fetch":
			return true
		case sub != "config":
		case strings.HasPrefix(t, "remote.") && (strings.HasSuffix(t, ".push") || strings.HasSuffix(t, ".mirror")):
			key = t
		case strings.HasSuffix(key, ".mirror") && t != "false", strings.HasSuffix(key, ".push") && (strings.HasPrefix(t, "+") || strings.HasPrefix(t, ":")):
			return true
		}
	}
	return false
}

// gitSettings: what is said with -c decides what a push does, or what a word
// means.
func gitSettings(args []Arg, sub string, rest *Program) string {
	for i, a := range args {
		setting := a.texts()[0]
		switch {
		case i > 0 && (args[i-1].Text == "-c" || args[i-1].Text == "--config-env"):
		case strings.HasPrefix(setting, "--config-env="):
			setting = setting[len("--config-env="):]
		case strings.HasPrefix(setting, "-c"):
			setting = setting[2:]
		default:
			continue
		}
		key, value, _ := strings.Cut(strings.ToLower(setting), "=")
		fromVariable := strings.HasPrefix(a.Text, "--config-env") || i > 0 && args[i-1].Text == "--config-env"
		switch {
		case fromVariable && !strings.HasPrefix(key, "http.") && !strings.HasPrefix(key, "credential.") && !strings.HasPrefix(key, "user."):
			return "a setting of git that only shows while it runs decides what it does"
		case sub == "push" && strings.HasPrefix(key, "remote.") && (strings.HasSuffix(key, ".mirror") && value != "false" || strings.HasSuffix(key, ".push") && strings.HasPrefix(strings.TrimLeft(value, " "), "+") || strings.HasSuffix(key, ".push") && strings.HasPrefix(value, ":")):
			return "it overwrites or deletes what others have in the remote repository"
		case key == "help.autocorrect" && rest.flag("fd", "force", "force-with-lease", "mirror", "delete", "prune"):
			return "it overwrites or deletes what others have in the remote repository, if " + Quote(sub) + " is taken for push"
		}
	}
	return ""
}
