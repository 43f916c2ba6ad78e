package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// blanks are those of git. Others, of which Unicode has some, belong to a value.
const blanks = " \t\r\n"

// harmfulConfig reads settings more strictly than git does: it takes only what
// git itself writes for a new repository or a clone.
func (j *judging) harmfulConfig(root *os.Root, path, name string) string {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxGitConfig || namesOf(info) > 1 {
		return "its " + name + " is not a plain file with one name"
	}
	text, err := readPlain(root, name, maxGitConfig)
	if err != nil {
		return "its " + name + " cannot be read"
	}
	if strings.ContainsFunc(string(text), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' }) {
		return "there are control characters in its " + name
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.Trim(line, blanks)
		key, value, _ := strings.Cut(line, "=")
		key = section + "." + strings.ToLower(strings.Trim(key, blanks))
		switch {
		case line == "", line[0] == '#', line[0] == ';':
		case line[0] == '[':
			var ok bool
			if section, ok = plainSection(line); !ok {
				return fmt.Sprintf("the line %.60q of its %s is not understood", line, name)
			}
		case key == "core.worktree" && j.worktree(path, strings.Trim(value, blanks)):
		case fetchesUnasked(key) && j.before.alone() && !j.passed(path):
			return fmt.Sprintf("its %s sets %s, by which git would send to a host unasked what the program itself could not", name, shorten(key))
		case strings.HasSuffix(line, `\`), !plainSetting(key, strings.Trim(value, blanks)):
			return fmt.Sprintf("its %s sets %s", name, shorten(key))
		}
	}
	return ""
}

// plainSection reads [name] and [name "sub"], with nothing behind it.
func plainSection(line string) (string, bool) {
	inner, ok := strings.CutSuffix(line[1:], "]")
	name, sub, has := strings.Cut(inner, ` "`)
	if has {
		sub, ok = strings.CutSuffix(sub, `"`)
	}
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return "", false
		}
	}
	if !ok || name == "" || strings.ContainsAny(sub, `"\]`) {
		return "", false
	}
	if has {
		name += ".*"
	}
	return strings.ToLower(name), true
}

// fetchesUnasked names the settings of a repository that is not there as a whole:
// git asks its remote for the rest whenever it needs some of it.
func fetchesUnasked(key string) bool {
	switch key {
	case "extensions.partialclone", "remote.*.promisor", "remote.*.partialclonefilter":
		return true
	}
	return false
}

// plainSetting lists what git and its usual helpers write about a repository.
func plainSetting(key, value string) bool {
	if strings.HasPrefix(key, "advice.") { // hints that are shown or not; build tools switch one off in each clone
		return true
	}
	if strings.HasPrefix(key, "core.") && strings.ContainsAny(value, `/\:~`) { // a number, a word or yes and no; no path
		return false
	}
	switch key {
	case "core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase", "core.precomposeunicode", "core.symlinks",
		"core.sparsecheckout", "core.sparsecheckoutcone", "core.autocrlf", "core.eol", "core.longpaths",
		"extensions.worktreeconfig", "extensions.partialclone",
		"remote.*.fetch", "remote.*.mirror", "remote.*.tagopt", "remote.*.promisor", "remote.*.partialclonefilter", "remote.*.prune",
		"branch.*.merge", "branch.*.rebase", "submodule.active", "submodule.*.active",
		"branch.*.description", "branch.*.vscode-merge-base", "branch.*.gh-merge-base", "branch.*.github-pr-owner-number", "branch.*.github-pr-base-branch",
		"remote.*.gh-resolved", "lfs.repositoryformatversion", "push.default", "push.autosetupremote", "push.followtags", "pull.ff", "fetch.prune", "fetch.prunetags",
		"color.ui", "maintenance.auto", "maintenance.strategy", "merge.conflictstyle", "rebase.autostash", "rerere.enabled", "core.quotepath", "core.safecrlf", "core.untrackedcache", "index.version", "feature.manyfiles",
		"index.sparse", "index.skiphash", "core.checkstat", "core.trustctime", "core.splitindex", "core.commitgraph", "core.multipackindex", "core.preloadindex", "core.compression",
		"gc.autodetach", "fetch.parallel", "submodule.fetchjobs", "submodule.recurse", "status.showuntrackedfiles", "diff.renames", "diff.algorithm", "pack.threads", "http.postbuffer",
		"user.name", "user.email", "init.defaultbranch", "gc.auto", "pull.rebase", "commit.gpgsign", "tag.gpgsign":
		return true
	case "remote.*.url", "remote.*.pushurl", "branch.*.remote", "branch.*.pushremote", "submodule.*.url": // what has :: in it another program speaks for
		return !strings.Contains(value, "::") && !strings.ContainsAny(value, `"\`) && speaksItself(value)
	case "extensions.refstorage": // an address may follow, of a place for them
		return value == "files" || value == "reftable"
	case "extensions.objectformat":
		return value == "sha1" || value == "sha256"
	case "core.fsmonitor":
		return value == "false"
	}
	return false
}

// speaksItself: git runs git-remote-NAME of the PATH for addresses of all other
// schemes.
func speaksItself(address string) bool {
	scheme, _, is := strings.Cut(address, "://")
	return !is || slices.Contains([]string{"https", "http", "ssh", "git", "file", "git+ssh", "ssh+git", "ftp", "ftps"}, scheme)
}
