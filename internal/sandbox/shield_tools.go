package sandbox

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// A person's PATH often has directories of the project before those of the
// machine: .venv/bin, node_modules/.bin, bin. Commands fill them with the
// project's own programs. One that is called git or ls is no such program: it
// would stand before the one that the person and her tools mean, outside of
// every sandbox. So those names are looked at before and after each program.
// node_modules/.bin stands before all of PATH for what npm runs and for the hooks
// of husky, whatever PATH the person has.

// tools are the names, those of programs that people, prompts, editors and agents run by
// themselves. Left out is what packages of languages bring along: python, pip,
// node, npm, which, cmake.
func tools() []string {
	return []string{
		"git", "git-lfs", "gh", "glab", "ssh", "ssh-add", "ssh-agent", "ssh-keygen", "scp", "sftp", "rsync", "gpg", "gpg2", "gpgsm", "pass",
		"sudo", "su", "doas", "pkexec", "sh", "bash", "dash", "zsh", "fish", "ksh", "tmux", "screen", "env",
		"ls", "cat", "cp", "mv", "rm", "mkdir", "rmdir", "ln", "chmod", "chown", "touch", "pwd", "head", "tail", "less", "more", "man", "clear",
		"grep", "egrep", "fgrep", "rg", "sed", "awk", "gawk", "find", "xargs", "sort", "uniq", "wc", "cut", "tr", "tee", "diff", "basename", "dirname", "readlink", "realpath",
		"date", "id", "whoami", "hostname", "uname", "locale", "tty", "stty", "tput", "dircolors", "lesspipe", "getconf", "ps", "kill", "pkill", "pgrep", "top", "htop", "df", "du", "mount", "sleep",
		"vim", "vi", "nvim", "nano", "emacs", "code", "cursor", "xdg-open", "open", "curl", "wget", "tar", "gzip", "unzip", "make", "perl",
		"docker", "podman", "kubectl", "systemctl", "journalctl", "apt", "apt-get", "dnf", "yum", "pacman", "brew", "crontab", "ping", "ip", "ss", "lsof",
		"pager", "editor", "sensible-pager", "sensible-editor", "sensible-browser", "view", "vimdiff", "x-www-browser", "www-browser", "batcat", "bat", "delta", "fzf", "jq",
		"gpg-agent", "pinentry", "ssh-askpass", "direnv", "starship", "toolcrib", "claude", "codex", "gemini", "opencode",
	}
}

// tools gives those names, with the ones of a directory that git makes of
// addresses and settings.
func (d toolDir) tools() []string {
	dir := d.real
	if d.npm { // what packages bring along under such names
		return slices.DeleteFunc(tools(), func(name string) bool {
			return slices.Contains([]string{"open", "code", "cursor", "jq", "fzf", "bat", "delta", "rg", "make", "clear", "claude", "codex", "gemini", "opencode", "toolcrib", "starship", "direnv"}, name)
		})
	}
	return append(tools(), slices.DeleteFunc(namesIn(dir), func(name string) bool {
		return !strings.HasPrefix(name, "git-remote-") && !strings.HasPrefix(name, "git-credential-")
	})...)
}

// toolState is a program of such a name as it was before. It is written down,
// hence the exported fields.
type toolState struct {
	ID            FileID
	Changed, Size int64
	// Sum is of what it holds, if it could be run and is not too large: chmod and
	// ln change a file as little as a copy by links does, and no other time than
	// that of the last change is one that programs cannot set.
	Name string
	Sum  [sha256.Size]byte
	// Led is what a link leads to, if programs can write that.
	Led        FileID
	LedChanged int64
}

// maxTool bounds the programs of which a sum is made.
const maxTool = 4 << 20

// toolDir is a directory of PATH that programs can write.
type toolDir struct {
	real string
	at   int // in PATH; -1: before all of it, for some
	npm  bool
}

// forWhom says who would run what lies there instead of the machine's.
func (d toolDir) forWhom() string {
	switch {
	case d.npm:
		return "for hooks and for whatever npm runs"
	case d.at < 0:
		return "where a script of the project, such as .envrc or a hook, puts its directory into PATH"
	}
	return "in your PATH"
}

// toolDirs gives those that programs can write, as they lead now.
func (s *Shield) toolDirs(dirs []files.Dir, tops []string) (list []toolDir) {
	for _, top := range tops {
		bin := filepath.Join(top, "node_modules", ".bin")
		if there, err := filepath.EvalSymlinks(bin); err == nil && writable(there, dirs) && !slices.Contains(s.Path, bin) {
			list = append(list, toolDir{real: there, at: -1, npm: true})
		}
	}
	if s.First != nil {
		for _, named := range s.First() {
			there, err := filepath.EvalSymlinks(named)
			if err == nil && writable(there, dirs) && !slices.Contains(s.Path, named) && !slices.ContainsFunc(list, func(d toolDir) bool { return d.real == there }) {
				list = append(list, toolDir{real: there, at: -1})
			}
		}
	}
	for i, named := range s.Path {
		if there, err := filepath.EvalSymlinks(named); err == nil && writable(there, dirs) {
			list = append(list, toolDir{real: there, at: i})
		}
	}
	return list
}

// toolsNow notes which of those programs there are. They are known by what they
// are: whoever moves their directory does not change them.
func (s *Shield) toolsNow(dirs []files.Dir, tops []string) (found []toolState) {
	if s.Obeyed == nil {
		return nil
	}
	for _, dir := range s.toolDirs(dirs, tops) {
		for _, name := range dir.tools() {
			path := filepath.Join(dir.real, name)
			if facts, err := factsOf(path); err == nil {
				found = append(found, s.stateOfTool(path, facts, dirs))
			}
		}
	}
	return found
}

func (s *Shield) stateOfTool(path string, facts fileFacts, dirs []files.Dir) toolState {
	state := toolState{ID: facts.id, Changed: facts.changed, Size: facts.size, Name: filepath.Base(path)}
	led, to := ledTo(path, facts, dirs)
	state.Led, state.LedChanged = to.id, to.changed
	key, before := state, now()
	s.others.mu.Lock()
	defer s.others.mu.Unlock()
	sum, known := s.others.sums[key]
	if !known {
		sum = sumOfTool(path, facts, led)
	}
	if !known && moment(max(facts.changed, to.changed)) < before && facts.id != (FileID{}) { // or it may change once more at this very time
		if s.others.sums == nil || len(s.others.sums) >= maxSums {
			s.others.sums = map[toolState][sha256.Size]byte{}
		}
		s.others.sums[key] = sum
	}
	state.Sum = sum
	return state
}

// ledTo gives where a link leads in the end, if that is a place that programs can
// write; empty if it is not one.
func ledTo(path string, facts fileFacts, dirs []files.Dir) (string, fileFacts) {
	if !facts.link {
		return "", fileFacts{}
	}
	to, _, err := follow(path)
	if err != nil || !writable(to, dirs) {
		return "", fileFacts{}
	}
	led, err := factsOf(to)
	if err != nil {
		return "", fileFacts{}
	}
	return to, led
}

// sumOfTool is zero for what cannot be run, and for what is too large. A link
// counts with the program that it leads to, if led names that.
func sumOfTool(path string, facts fileFacts, led string) (sum [sha256.Size]byte) {
	if facts.link {
		to, err := os.Readlink(path)
		if err != nil {
			return sum
		}
		to = "link " + to
		if info, err := os.Lstat(led); led != "" && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			text, err := plainfile.Read(led, maxTool)
			if err != nil {
				return sum
			}
			to += "\x00" + string(text)
		}
		return sha256.Sum256([]byte(to))
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return sum
	}
	if text, err := plainfile.Read(path, maxTool); err == nil {
		sum = sha256.Sum256(text)
	}
	return sum
}

// knewTool tells whether a program was there before, and holds what it held.
func (c *Covering) knewTool(path string, facts fileFacts) bool {
	led, to := ledTo(path, facts, c.dirs)
	return slices.ContainsFunc(c.tools, func(t toolState) bool {
		if t.ID != facts.id {
			return false
		}
		if t.Changed == facts.changed && t.Size == facts.size && t.Led == to.id && t.LedChanged == to.changed {
			return true
		}
		return t.Name == filepath.Base(path) && t.Sum != [sha256.Size]byte{} && t.Sum == sumOfTool(path, facts, led)
	})
}

// gitWrote tells whether git has a program as it is, and what it leads to.
func (c *Covering) gitWrote(path string, facts fileFacts) bool {
	wrote := func(path string) bool {
		return slices.ContainsFunc(c.tops, func(top string) bool { return within(path, top) && c.fromGit(top, path) })
	}
	led, _ := ledTo(path, facts, c.dirs)
	return wrote(path) && (led == "" || wrote(led))
}

// sweepTools sets aside what stands before the programs of the machine by now.
func (c *Covering) sweepTools() []string {
	if c.shield.Obeyed == nil {
		return nil
	}
	var found []madeNote
	for _, dir := range c.shield.toolDirs(c.dirs, c.tops) {
		for _, name := range dir.tools() {
			path := filepath.Join(dir.real, name)
			facts, err := factsOf(path)
			if err != nil || !facts.link && !facts.regular || facts.id == (FileID{}) || c.knewTool(path, facts) || c.hid(path) || c.shield.granted(path) {
				continue
			}
			if info, err := os.Lstat(path); err != nil || !facts.link && info.Mode()&0o111 == 0 {
				continue
			}
			meant := c.shield.meant(name, dir.at+1, c.dirs)
			if meant == "" || c.gitWrote(path, facts) {
				continue
			}
			where := dir.forWhom()
			to, err := renameIn(dir.real, name, name, facts.id)
			switch {
			case errors.Is(err, fs.ErrNotExist): // it is gone
			case err != nil:
				found = append(found, madeNote{stays: true, text: fmt.Sprintf("%s was made or changed while the program ran, and stands before %s %s. It could not be set aside (%v): remove it before you type %s", shorten(path), meant, where, err, name)})
			default:
				c.shield.record(Aside{Path: path, At: filepath.Join(dir.real, to), Why: "it stood before " + meant + " " + where, Undo: "rename " + to + " back"})
				found = append(found, madeNote{text: fmt.Sprintf("%s was made or changed while the program ran, and stood before %s %s, so that it would have been run instead. It was set aside: look at it, and rename %s back if you trust it", shorten(path), meant, where, shorten(to))})
			}
		}
	}
	return listNotes(found, "programs that stood before others in your PATH were set aside, or could not be")
}

// meant is the program of a name that a later directory of PATH has, where
// programs in the sandbox cannot write; empty if there is none.
func (s *Shield) meant(name string, from int, dirs []files.Dir) string {
	for _, dir := range s.Path[from:] {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		if there, err := filepath.EvalSymlinks(dir); err == nil && !writable(there, dirs) {
			return path
		}
	}
	return ""
}
