package shellguard

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// Even "git status" starts programs if the repository's own settings say so
// (core.fsmonitor, filters, external diffs, a hook on the index), and a
// repository may come from anyone. So where git would run unasked, the settings
// in the repository are read first; the person's own ones are theirs.

// repository says what in the settings of the repository at dir may start a
// program; nil if nothing does, or if there is no repository. Every directory
// on the way up is looked at: which of them git takes for a repository depends
// on more than is read here.
func (s *Guard) repository(dir string, opt *Options) error {
	if s.ReadFile == nil {
		return errors.New("the settings of the repository cannot be read")
	}
	d, err := realPath(opt, dir)
	if err != nil {
		return fmt.Errorf("%s cannot be resolved", Quote(dir))
	}
	for {
		at, err := s.gitDirs(d)
		if err != nil {
			return err
		}
		if err := s.checkGitDirs(at); err != nil {
			return err
		}
		if d == "/" || d == path.Dir(d) {
			return nil
		}
		d = path.Dir(d)
	}
}

// gitDirs finds the directories in which git keeps settings for the work tree
// at d: .git, what a .git file points to, and d itself if it may be a bare one.
func (s *Guard) gitDirs(d string) ([]string, error) {
	var out []string
	at := path.Join(d, ".git")
	text, err := s.plainFile(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil: // a directory
		if out, err = s.withCommon(at); err != nil {
			return nil, err
		}
	default:
		to, ok := strings.CutPrefix(string(text), "gitdir: ")
		if to, ok = plainPath(to, ok, d); !ok {
			return nil, fmt.Errorf("%s is not understood", Quote(at))
		}
		if out, err = s.withCommon(to); err != nil {
			return nil, err
		}
	}
	// A directory that looks like the inside of .git is a repository too.
	_, objects := s.plainFile(path.Join(d, "objects"))
	_, common := s.plainFile(path.Join(d, "commondir"))
	if errors.Is(objects, errLink) || errors.Is(common, errLink) {
		return nil, fmt.Errorf("%s may be a repository that is put together by links", Quote(d))
	}
	if !errors.Is(objects, fs.ErrNotExist) || !errors.Is(common, fs.ErrNotExist) {
		bare, err := s.withCommon(d)
		if err != nil {
			return nil, err
		}
		out = append(out, bare...)
	}
	return out, nil
}

// withCommon adds the directory a linked work tree shares its settings with.
func (s *Guard) withCommon(at string) ([]string, error) {
	if _, err := s.plainFile(at); errors.Is(err, errLink) {
		return nil, fmt.Errorf("%s: %w", Quote(at), err)
	}
	out := []string{at}
	file := path.Join(at, "commondir")
	text, err := s.plainFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	to, ok := plainPath(string(text), err == nil, at)
	if !ok {
		return nil, fmt.Errorf("%s is not understood", Quote(file))
	}
	return append(out, to), nil
}

// plainPath reads a path as git has it in a file: all of a line. Where the two
// of us might read another place out of it, it is not read: blanks at an end,
// and a ".." behind something that may be a link.
func plainPath(text string, ok bool, dir string) (string, bool) {
	text = strings.TrimRight(text, "\r\n")
	if !ok || text == "" || text != strings.TrimSpace(text) || strings.ContainsAny(text, "\n\r\x00") {
		return "", false
	}
	rest := text
	for strings.HasPrefix(rest, "../") { // up from a directory whose links are resolved
		rest = rest[3:]
	}
	if rest != ".." && strings.Contains("/"+rest+"/", "/../") {
		return "", false
	}
	if path.IsAbs(text) {
		return text, true
	}
	return path.Join(dir, text), true
}

func (s *Guard) checkGitDirs(dirs []string) error {
	for _, d := range dirs {
		for _, name := range []string{"config", "config.worktree"} {
			file := path.Join(d, name)
			text, err := s.plainFile(file)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue
			case err != nil:
				return fmt.Errorf("%s cannot be read", Quote(file))
			}
			if err := checkGitConfig(string(text)); err != nil {
				return fmt.Errorf("%s: %w", Quote(file), err)
			}
		}
		if err := s.checkIndex(path.Join(d, "index")); err != nil {
			return err
		}
		hook := path.Join(d, "hooks", "post-index-change")
		if _, err := s.plainFile(hook); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s would be run", Quote(hook))
		}
	}
	return nil
}

// errLink is a link on the way to a file of a repository: where it leads may
// depend on who asks (/proc/self).
var errLink = errors.New("there is a link on the way")

// plainFile reads a file that no link leads to.
func (s *Guard) plainFile(file string) ([]byte, error) {
	for at := file; at != "/" && at != "."; at = path.Dir(at) {
		link, err := s.Options.isLink(at)
		if err == nil && link || pathglob.Within(at, []string{"/proc", "/sys", "/dev"}) {
			return nil, errLink
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return s.ReadFile(file)
}

// checkGitConfig reads git's settings strictly and refuses those that are not
// known to start nothing when git only reads.
func checkGitConfig(text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' }) {
		return errors.New("there are control characters in it")
	}
	section := ""
	text = strings.TrimPrefix(text, "\ufeff")
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, rest, ok := gitSection(line)
			if !ok {
				return fmt.Errorf("the section %s is not understood", Quote(line))
			}
			section, line = name, strings.TrimSpace(rest)
			if strings.HasPrefix(line, "[") { // git takes another section on the same line
				return fmt.Errorf("the section %s is not understood", Quote(line))
			}
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if strings.HasSuffix(line, "\\") {
			return fmt.Errorf("the line %s goes on, which is not followed", Quote(line))
		}
		key, value, _ := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if !gitKey(key) {
			return fmt.Errorf("the line %s is not understood", Quote(line))
		}
		value = strings.ToLower(strings.Trim(strings.TrimSpace(value), `"`))
		if !harmlessSetting(section, key, value) {
			return fmt.Errorf("its setting %s may make git start a program", Quote(section+"."+key))
		}
	}
	return nil
}

// gitKey reports whether a word can be the name of a setting.
func gitKey(key string) bool {
	for i := range len(key) {
		if c := key[i]; (c < 'a' || c > 'z') && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return key != ""
}

// gitSection reads [name] and [name "sub"]; the subsection is dropped, but for
// a mark that there is one.
func gitSection(line string) (name, rest string, ok bool) {
	i := 1
	for i < len(line) && (isNameByte(line[i]) || line[i] == '-' || line[i] == '.') {
		i++
	}
	name = strings.ToLower(line[1:i])
	if cut, _, dotted := strings.Cut(name, "."); dotted {
		name = cut + " *"
	}
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	if i < len(line) && line[i] == '"' {
		name += " *"
		for i++; i < len(line) && line[i] != '"'; i++ {
			if line[i] == '\\' {
				i++
			}
		}
		i++
	}
	if i >= len(line) || line[i] != ']' {
		return "", "", false
	}
	return name, line[i+1:], true
}

// harmlessSetting lists what a repository may say about itself. Sections that
// only matter to commands that write or use the network are let be: those
// commands are asked about.
func harmlessSetting(section, key, value string) bool {
	switch section {
	case "user", "author", "committer", "branch", "branch *", "pull", "push", "fetch", "rebase", "gc", "init", "commit", "rerere", "rerere *", "color", "color *", "column", "advice",
		"index", "pack", "receive", "transfer", "tag", "merge", "merge *", "mergetool", "mergetool *", "http", "http *", "credential", "credential *", "gitflow *", "gui", "svn-remote *", "feature", "checkout", "clean", "apply", "am", "lfs", "lfs *", "maintenance", "stash", "safe":
		return true
	case "core":
		return harmlessCore(key, value)
	case "status": // submoduleSummary starts git in submodules
		return key == "short" || key == "branch" || key == "showuntrackedfiles" || key == "relativepaths" || key == "renames"
	case "remote *":
		return key == "url" || key == "fetch" || key == "pushurl" || key == "push" || key == "tagopt" || key == "prune" || key == "mirror" || key == "gh-resolved" || key == "skipfetchall"
	case "submodule", "submodule *":
		return key == "url" || key == "active" || key == "branch" || key == "ignore"
	case "extensions":
		return key == "worktreeconfig" || key == "objectformat" && value == "sha1" || key == "noop" || key == "refstorage"
	case "diff":
		switch key {
		case "renames", "renamelimit", "algorithm", "colormoved", "mnemonicprefix", "noprefix", "context", "interhunkcontext", "wordregex", "tool", "guitool", "ignoresubmodules", "statgraphwidth", "indentheuristic":
			return true
		}
	case "diff *":
		return key == "xfuncname" || key == "funcname" || key == "binary" || key == "wordregex"
	case "log":
		if key == "diffmerges" { // remerge merges again, with the programs that merge.*.driver names
			return slices.Contains([]string{"off", "none", "on", "m", "first-parent", "1", "separate", "combined", "c", "dense-combined", "cc"}, value)
		}
		return key != "showsignature" || value == "false"
	case "format":
		return key == "pretty" && (value == "oneline" || value == "short" || value == "medium" || value == "full" || value == "fuller")
	}
	return false
}

func harmlessCore(key, value string) bool {
	switch key {
	case "repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks", "autocrlf", "eol", "safecrlf", "quotepath", "abbrev",
		"longpaths", "sparsecheckout", "sparsecheckoutcone", "untrackedcache", "preloadindex", "fscache", "protecthfs", "protectntfs", "compression", "bigfilethreshold",
		"trustctime", "checkstat", "sharedrepository", "commentchar", "whitespace", "hidedotfiles", "packedgitlimit", "packedgitwindowsize", "deltabasecachelimit", "multipackindex", "commitgraph":
		return true
	case "fsmonitor":
		return value == "false"
	case "worktree":
		return !path.IsAbs(value)
	}
	return false
}
