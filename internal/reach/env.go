package reach

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/named"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// A person's variables can put into a project what else lies in her home
// directory: settings that her programs obey, and keys. They are read once, from
// the environment that this program was started with.

// movedDirs says which directory of the home directory a variable stands for.
func movedDirs() map[string]string {
	return map[string]string{
		"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "CARGO_HOME": ".cargo", "GRADLE_USER_HOME": ".gradle", "IPYTHONDIR": ".ipython", "DIRENV_CONFIG": ".config/direnv",
		"CLAUDE_CONFIG_DIR": ".claude", "CODEX_HOME": ".codex", "OPENCODE_CONFIG_DIR": ".config/opencode",
		"GNUPGHOME": ".gnupg", "DOCKER_CONFIG": ".docker", "AZURE_CONFIG_DIR": ".azure", "CLOUDSDK_CONFIG": ".config/gcloud", "GH_CONFIG_DIR": ".config/gh", "PASSWORD_STORE_DIR": ".password-store",
	}
}

// keyVariables name files with passwords and keys.
func keyVariables() []string {
	return []string{"KUBECONFIG", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "NETRC", "PGPASSFILE", "NPM_CONFIG_USERCONFIG", "npm_config_userconfig", "REGISTRY_AUTH_FILE", "SOPS_AGE_KEY_FILE", "RCLONE_CONFIG"}
}

// loadedFirst is what an interpreter loads by itself, or for nearly every program,
// from the directories that a variable lists. Other modules there are the project's.
func loadedFirst() map[string][]string {
	return map[string][]string{
		"PYTHONPATH": {"sitecustomize.py", "usercustomize.py", "sitecustomize", "usercustomize"},
		"PERL5LIB":   {"strict.pm", "warnings.pm", "Exporter.pm", "Carp.pm", "Config.pm", "Git.pm", "vars.pm", "utf8.pm"},
		"RUBYLIB":    {"rubygems.rb", "did_you_mean.rb", "error_highlight.rb", "syntax_suggest"},
	}
}

// fromVariables gives what the person's variables make of places in the granted
// directories: what stays out of reach, and what others obey.
func (r Reach) fromVariables(needs Start) (protected, obeyed []string) {
	env := needs.Variable()
	inside := func(path string) bool { // and nothing that was granted is inside of it
		return path != "" && slices.ContainsFunc(r.Dirs, func(d files.Dir) bool {
			return linked.Within(path, d.Path) || linked.Within(realDir(path), realDir(d.Path))
		}) &&
			!slices.ContainsFunc(r.Dirs, func(d files.Dir) bool {
				return linked.Within(d.Path, path) || linked.Within(realDir(d.Path), realDir(path))
			}) &&
			!r.Obeyed.Granted(strings.Split(strings.Trim(filepath.ToSlash(path), "/"), "/"))
	}
	add := func(list *[]string, path string) {
		if inside(path) && !slices.Contains(*list, path) {
			*list = append(*list, path)
		}
	}
	for name, stands := range movedDirs() {
		dir := needs.absolutePath(env(name))
		if dir == "" || dir == filepath.Join(needs.Home, filepath.FromSlash(stands)) {
			continue
		}
		in := func(place string) string {
			place = strings.TrimPrefix(place, "~/")
			if rest, ok := strings.CutPrefix(place, stands); ok && (rest == "" || rest[0] == '/') && !strings.Contains(rest, "*") && rest != "/bin" { // programs are built there
				return filepath.Join(dir, filepath.FromSlash(rest))
			}
			return ""
		}
		for _, place := range files.DefaultProtected() {
			add(&protected, in(place))
		}
		for _, place := range sensitive.ObeyedAtHome() {
			add(&obeyed, in(place))
		}
		for _, place := range sensitive.Obeyed() {
			add(&obeyed, in(place.Pattern))
		}
	}
	for _, name := range keyVariables() {
		for _, file := range filepath.SplitList(env(name)) {
			add(&protected, needs.absolutePath(file))
		}
	}
	for _, name := range named.Variables() {
		value := env(name)
		words := strings.FieldsFunc(value, func(c rune) bool {
			return c == os.PathListSeparator || strings.ContainsRune(" \t\n=,;|&()\"'", c)
		})
		for _, word := range append(words, value) {
			if !filepath.IsAbs(word) && !strings.HasPrefix(word, "~/") && !relative(word) {
				continue
			}
			path := needs.absolutePath(word)
			if kind, _ := kindOf(path); kind != aDir {
				add(&obeyed, path)
			}
		}
	}
	for name, files := range loadedFirst() {
		for _, dir := range filepath.SplitList(env(name)) {
			if dir = needs.absolutePath(dir); dir == "" {
				continue
			}
			for _, file := range files {
				add(&obeyed, filepath.Join(dir, file))
			}
		}
	}
	slices.Sort(protected)
	slices.Sort(obeyed)
	return protected, obeyed
}

// stopsGit: a file of git's settings is missing. Commands are kept from making
// something by a directory in its place, and git does nothing at all where that is
// one of its settings.
func (o *ownFiles) stopsGit(file string) bool {
	if !slices.Contains(o.git, file) {
		return false
	}
	_, err := os.Lstat(file)
	return err != nil
}

// absolutePath is a path of a variable, from where this program was started. Empty:
// there is none.
func (n Start) absolutePath(path string) string {
	rest, tilde := strings.CutPrefix(path, "~/")
	base := n.Dir
	if tilde {
		path, base = rest, n.Home
	}
	switch {
	case path == "" || strings.ContainsRune(path, 0):
		return ""
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	case base == "":
		return ""
	}
	return filepath.Join(base, path)
}

// Variable reads the environment that this program was started with.
func (n Start) Variable() func(name string) string {
	if n.Getenv != nil {
		return n.Getenv
	}
	return os.Getenv
}
