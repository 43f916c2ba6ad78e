package shellguard

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// A line that gets a file from elsewhere can run it under many names: a copy, a
// pattern, a module, a name on PATH, a pipe that is opened before it is filled.
// So the files that a line saves are kept, and so is what each of its programs
// may run; the two are held against each other when the whole line was read,
// since jobs and loops have an order of their own.

// savedState is what a line gets from elsewhere, and what its programs may run.
type savedState struct {
	files map[string]bool
	runs  []run
}

// run is a program, and the files that it may run: names, patterns of names, or
// whatever its code mentions.
type run struct {
	by    string
	files []string
	code  string
}

// anything stands for a file whose name only shows while the line runs.
const anything = "*"

// printed is a key of saved.files that no file has: a substitution prints what a
// saved file holds.
const printed = "\x00printed"

// noteSaved notes a file that holds what the line gets from elsewhere.
func (w *walker) noteSaved(file string) {
	key := fileKey(file)
	if w.saved == nil || key == "" || strings.HasPrefix(file, "/dev/") && !strings.HasPrefix(file, "/dev/shm/") {
		return
	}
	if len(w.saved.files) >= maxNames {
		w.tooMuch()
		return
	}
	w.saved.files[key], w.fetched[key] = true, true
	if startsWithShell(file) {
		w.line.floor = append(w.line.floor, "it puts what it gets from elsewhere into "+clip(Quote(file))+", which is run or obeyed later")
	}
}

// startsWithShell: files that every new shell runs, that let others log in, or
// that the system runs at its own time.
func startsWithShell(file string) bool {
	return isOneOf(fileKey(file), ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .envrc authorized_keys crontab ld.so.preload") || regexpStarted.MatchString(path.Clean(file))
}

var regexpStarted = pattern.Of(`^/etc/(profile|cron|init|rc|systemd|sudoers|bash|zsh)|(^|/)\.(git/hooks|config/(fish|autostart|systemd))/|^/var/spool/cron/`)

// noteSavedBy notes the files that a program makes of what comes from elsewhere, and
// those that it makes of them.
func (w *walker) noteSavedBy(p *Program, name string) {
	if w.saved == nil || w.quiet {
		return
	}
	for _, f := range p.savedFiles(name) {
		w.noteSaved(f)
	}
	if name == "gh" && p.word("download") || name == "svn" && p.word("export", "checkout", "co") {
		w.fetched[anyUnpacked] = true // it names them by itself
	}
	if slices.Contains(p.Via, "a substitution") && slices.ContainsFunc(p.Args, w.isSaved) {
		w.saved.files[printed] = true
	}
	if unpacks(p, name) && slices.ContainsFunc(p.Args, w.isSaved) {
		w.fetched[anyUnpacked] = true
		return
	}
	if p.Class == ReadOnly || readsCode(name) || runsAnything(name) || p.Class == Runs || p.Class == Unknown && !isFilter(name) || isFetcher(name) || !slices.ContainsFunc(p.Args, w.isSaved) {
		return
	}
	for _, a := range p.Args {
		for _, t := range a.texts() {
			for _, f := range pathsIn(t) {
				if !strings.HasPrefix(f, "-") && !strings.ContainsAny(f, " \t\n*?[") {
					w.noteSaved(f)
				}
			}
		}
	}
}

// codeWrites: code of sed or awk that writes files.
var codeWrites = pattern.Of(`>\s*["(]|(?:^|[\s;/}])w\s+\S`)

// unpacks: programs that make files whose names do not stand in the line, or not
// where files stand.
func unpacks(p *Program, name string) bool {
	if strings.HasSuffix(name, "awk") || strings.HasSuffix(name, "sed") {
		return slices.ContainsFunc(p.Args, func(a Arg) bool { return codeWrites.MatchString(a.Text) })
	}
	switch name {
	case "split", "csplit", "bunzip2", "unzstd", "unlzma", "uudecode", "ar", "rpm2cpio", "shar", "patch", "gcc", "cc", "g++", "c++", "clang", "clang++", "tcc", "rustc", "javac", "ghc", "ocamlc":
		return true
	case "gzip", "bzip2", "xz", "lz4", "brotli", "lzma":
		return p.flag("d", "decompress", "uncompress")
	}
	return false
}

// isFilter: programs that nobody has a class for, and that write what they read.
func isFilter(name string) bool {
	return isOneOf(name, "sponge gunzip unxz bunzip2 unzstd zstd xz lz4 brotli iconv dos2unix unix2dos uudecode gpg gpg2 age objcopy ar cpio tr patch ed m4 recode csplit install ln cp mv dd tee link rename shar uncompress")
}

// savedFiles are the files that a program puts what it gets from elsewhere
// into; for fetchedFiles, every address is one too.
func (p *Program) savedFiles(name string) []string {
	names := p.fetchedFiles(name)
	switch name {
	case "curl":
		if p.flag("O", "remote-name", "remote-name-all") {
			return names
		}
	case "wget":
		if !p.flag("O", "output-document") {
			return names
		}
	case "aria2c", "axel":
		for i, a := range p.Args {
			if i > 0 && (p.Args[i-1].Text == "-o" || p.Args[i-1].Text == "--out" || p.Args[i-1].Text == "--output") {
				names = append(names, a.Text)
			}
		}
		return append(names, argTexts(p.Args)...)
	case "scp", "rsync", "sftp", "lftp", "tftp":
		return names
	case "fetch", "http", "https", "ftp":
	default:
		if isStore(name) {
			return names
		}
		return nil
	}
	return slices.DeleteFunc(names, func(f string) bool {
		return f == "index.html" || strings.Contains(f, "://") || slices.ContainsFunc(p.Args, func(a Arg) bool { return notFile(a.Text) && strings.HasPrefix(a.Text, f) })
	})
}

// notFile: an address without a protocol, which has a slash too.
func notFile(word string) bool {
	host, _, ok := strings.Cut(word, "/")
	return ok && (strings.HasPrefix(host, "localhost") || strings.Contains(host, ":") || strings.Count(host, ".") > 1)
}

func argTexts(args []Arg) []string {
	var out []string
	for _, a := range args {
		out = append(out, a.Text)
	}
	return out
}

// isSaved: the word is a file from elsewhere, or may become one.
func (w *walker) isSaved(a Arg) bool {
	for _, t := range a.texts() {
		for _, f := range pathsIn(t) {
			if w.saved.has(fileKey(f)) {
				return true
			}
		}
	}
	return false
}

// has reports whether a name, or a pattern, means a file that was saved.
func (s *savedState) has(name string) bool {
	if len(s.files) == 0 || name == "" {
		return false
	}
	if !strings.ContainsAny(name, "*?[") {
		return s.files[name]
	}
	for file := range s.files {
		if ok, err := path.Match(name, file); ok || err != nil {
			return true
		}
	}
	return false
}

// mentions: a command works on a file that the line got from elsewhere, so that
// what it prints is from there.
func (w *walker) mentions(s *syntax.Stmt, sc scope) bool {
	if w.saved == nil || len(w.saved.files) == 0 {
		return false
	}
	quiet := *w
	quiet.line, quiet.quiet, quiet.names = &Line{}, true, nil
	found := false
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			if n.Op != syntax.RdrIn && n.Op != syntax.RdrInOut {
				return false
			}
		case *syntax.Word:
			found = found || w.isSaved(quiet.word(n, sc))
		}
		return !found && w.work.spend(1)
	})
	return found
}
