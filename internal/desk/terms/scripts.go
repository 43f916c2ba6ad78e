package terms

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// scripts finds the files that a line names as what is run: programs named by a
// path, what an interpreter is given, and what a runner such as make or npm goes
// by. A person who allows the line for longer allows it for these as they are.
//
// Files that a program is told of and that say what it does count like scripts, see
// named. Not among them are the programs of the system, which tools cannot change,
// and what a compiler or a test runner makes of a whole project.
type scripts struct {
	writable []string // where tools can put programs
	files    []desk.File
	// unknown: it is decided while the line runs, or there are too many, so that
	// nothing about it can be remembered.
	unknown bool
}

// scriptsOf gives the scripts of a line, and whether they are all of them.
func scriptsOf(line *shellguard.Line, writable []string) (files []desk.File, known bool) {
	s := &scripts{writable: writable, unknown: !line.Certain()}
	replaces, moves := fillers(line)
	piped := false // what an interpreter runs comes from the rest of the line
	for i := range line.Programs {
		p := &line.Programs[i]
		fed := fedBy(p)
		name := toolName(p.Name)
		_, interpreter := interpreterRulesOf(name)
		runs := interpreter || strings.Contains(p.Name, "/") || p.Class == shellguard.Runs || p.Class == shellguard.Unknown
		switch {
		case fed != "" && strings.Contains(p.Name, "{}"), // the program is filled in
			fed == "xargs" && (replaces && runs || runs && !interpreter && !strings.Contains(p.Name, "/")),
			fed == "find" && moves && runs && !filepath.IsAbs(p.Name):
			s.unknown = true
		}
		s.program(p)
		if interpreter {
			piped = !s.interpreted(p.Dirs, p.Args, name, fed) || piped
		} else {
			s.others(p, name, fed)
		}
		s.definitions(p, fed)
		s.addNamedFiles(p, name)
	}
	if piped {
		s.pipes(line)
	}
	s.readsInput(line)
	s.named(line)
	for i := range line.Programs {
		s.places(&line.Programs[i])
	}
	return s.files, !s.unknown
}

// pipes adds the files of a line in which an interpreter runs its standard input.
func (s *scripts) pipes(line *shellguard.Line) {
	for i := range line.Programs {
		p := &line.Programs[i]
		if _, interpreter := interpreterRulesOf(toolName(p.Name)); !interpreter && p.Class != shellguard.ReadOnly {
			s.unknown = true // what comes of it is decided while the line runs
		}
		for _, a := range p.Args {
			s.unknown = s.unknown || !a.Literal
			s.in(p.Dirs, a.Text, isFile)
		}
		for _, r := range line.Redirects {
			if strings.HasPrefix(r.Op, "<") && !strings.HasPrefix(r.Op, "<<") {
				s.in(p.Dirs, r.Target, isFile)
			}
		}
	}
}

// readsInput adds the files of a line in which a program that obeys what it reads
// is given one: ed < job, cat job | sqlite3 x.db.
func (s *scripts) readsInput(line *shellguard.Line) {
	at := slices.IndexFunc(line.Programs, func(p shellguard.Program) bool {
		return slices.Contains(readers(), toolName(p.Name)) || p.RunsInput()
	})
	if at < 0 {
		return
	}
	dirs := line.Programs[at].Dirs
	if p := &line.Programs[at]; p.RunsInput() {
		for _, a := range p.Args {
			s.unknown = s.unknown || a.Glob
			s.in(dirs, a.Text, func(file string) bool { return isFile(file) && !isDatabase(file) })
		}
	}
	for _, r := range line.Redirects {
		if strings.Contains(r.Op, "<") && !strings.Contains(r.Op, "<<") {
			s.unknown = s.unknown || strings.ContainsAny(r.Target, "$`*?[~")
			s.in(dirs, r.Target, isFile)
		}
	}
	if !strings.Contains(line.Text, "|") {
		return
	}
	for i := range line.Programs {
		p := &line.Programs[i]
		s.unknown = s.unknown || i != at && p.Class != shellguard.ReadOnly
		for _, a := range p.Args {
			s.unknown = s.unknown || i != at && !a.Literal
			s.in(p.Dirs, a.Text, func(file string) bool { return isFile(file) && !isDatabase(file) })
		}
	}
}

// fillers looks for programs that start others with words of which only they
// know. replaces: in the place of a mark that can be any word; moves: elsewhere.
func fillers(line *shellguard.Line) (replaces, moves bool) {
	for i := range line.Programs {
		p := &line.Programs[i]
		name := filepath.Base(p.Name)
		for _, a := range p.Args {
			switch {
			case name == "find":
				moves = moves || a.Text == "-execdir" || a.Text == "-okdir" || !a.Literal && !a.Glob
			case name == "parallel":
				replaces = true
			case name == "xargs":
				replaces = replaces || !a.Literal || strings.HasPrefix(a.Text, "--rep") || strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "--") && strings.ContainsAny(a.Text, "iIJ")
			}
		}
	}
	return replaces, moves
}

// fedBy names what gives a program words that do not stand in the line.
func fedBy(p *shellguard.Program) string {
	fed := ""
	for _, by := range p.Via {
		switch by {
		case "xargs", "parallel":
			return "xargs"
		case "find":
			fed = by
		}
	}
	return fed
}

// launchers run files, some words further on.
func launchers() []string {
	return []string{"deno", "bun", "uv", "poetry", "pipenv", "npx", "bunx", "pnpx", "go", "dotnet", "rye", "pdm", "hatch", "conda", "mise", "direnv", "bundle", "npm", "pnpm", "yarn", "pipx", "uvx", "micromamba", "mamba", "pixi", "tox", "doas", "op", "doppler", "dotenv", "cross-env"}
}

// readers run what stands in a file of any name that they are told of.
func readers() []string {
	return []string{"cmake", "vim", "vi", "nvim", "ex", "ed", "view", "emacs", "gdb", "lldb", "sqlite", "psql", "mysql", "mariadb", "screen", "tmux", "at", "batch", "crontab", "ansible-playbook", "docker-compose", "gs", "bc", "dc", "redis-cli", "mongo", "mongosh", "lftp", "parallel"}
}

// toolName is the name of a program without its place and its version.
func toolName(name string) string {
	if name == "." {
		return name
	}
	name = filepath.Base(name)
	if short := strings.TrimRight(name, "0123456789."); len(short) > 1 {
		return strings.TrimRight(short, "-") // sqlite3, python3.12, bash-5.2
	}
	return name
}

// program adds the program itself, where it is named by a path or lies where
// tools can write.
func (s *scripts) program(p *shellguard.Program) {
	switch {
	case p.Builtin:
	case strings.ContainsAny(p.Name, "$`*?[…") || strings.HasPrefix(p.Name, "~"):
		s.unknown = true // what it is called is decided while the line runs
	case strings.Contains(p.Name, "/"):
		s.in(p.Dirs, p.Name, isFile)
	case p.Path != "":
		if s.canWrite(p.Path) {
			s.add(p.Path, false)
		}
	default: // not found where we look: the line may have its own idea of where that is
		s.in(p.Dirs, p.Name, isFile)
	}
}

// others adds what any other program could be told of to run it: programs and
// scripts by their looks, for launchers also by their names, and what follows the
// name of an interpreter.
func (s *scripts) others(p *shellguard.Program, name, fed string) {
	launcher, reader := slices.Contains(launchers(), name), slices.Contains(readers(), name)
	work := launcher && name != "go" && startsWork(p)
	take := func(file string) bool {
		return runnable(file) || launcher && !work && isFile(file) && isCode(file) || reader && isFile(file) && !isDatabase(file)
	}
	runs := p.Class == shellguard.Runs || p.Class == shellguard.Unknown || reader || launcher
	s.unknown = s.unknown || name == "run-parts"
	for i, a := range p.Args {
		if key, value, ok := strings.Cut(strings.ToLower(strings.TrimPrefix(a.Text, "-c")), "="); ok && name == "git" && (strings.HasPrefix(key, "include") || key == "core.hookspath") {
			s.unknown = s.unknown || key == "core.hookspath"
			s.in(p.Dirs, a.Text[len(a.Text)-len(value):], isFile) // aliases, and programs of git
		}
		if p.Class != shellguard.ReadOnly && (strings.HasPrefix(a.Text, "-") || strings.ContainsAny(a.Text, "=, @")) {
			// --compress-program=./s.sh, -c core.pager=./s.sh, exec=sh s.sh
			for _, word := range strings.FieldsFunc(a.Text, func(r rune) bool { return strings.ContainsRune("= \t\n,:;\"'()!|&@", r) }) {
				s.in(p.Dirs, word, func(file string) bool {
					return take(file) || isFile(file) && (isCode(file) || strings.ContainsAny(a.Text, " ,@"))
				})
			}
			if len(a.Text) > 2 && a.Text[1] != '-' {
				s.in(p.Dirs, a.Text[2:], take) // -I./s.sh
			}
		}
		if !runs {
			if i > 0 && p.Class != shellguard.ReadOnly && strings.HasPrefix(p.Args[i-1].Text, "-") && a.Literal {
				s.in(p.Dirs, a.Text, take) // -I ./s.sh
			}
			continue
		}
		if !a.Literal {
			s.unknown = s.unknown || launcher && !a.Glob
			continue
		}
		if strings.HasPrefix(a.Text, "-") {
			continue
		}
		if inner := toolName(a.Text); inner != "." && inner != "source" && !installs(p) {
			if _, ok := interpreterRulesOf(inner); ok {
				s.interpreted(p.Dirs, p.Args[i+1:], inner, fed)
			}
		}
		s.in(p.Dirs, a.Text, take)
		for _, dir := range p.Dirs {
			if name != "bun" && name != "deno" {
				break
			}
			for _, file := range begins(name, filepath.Join(dir, a.Text)) { // they add endings as well
				if isFile(file) {
					s.add(file, filepath.Base(file) != "package.json")
				}
			}
		}
	}
}

// installs reports whether the words of a program name packages.
func installs(p *shellguard.Program) bool {
	return len(p.Args) > 0 && slices.Contains([]string{"install", "add", "i", "uninstall", "remove", "update", "upgrade", "pull", "search", "info", "show", "tool", "env"}, p.Args[0].Text)
}

// in adds a file by its name in each of the directories where a program may
// run, if it is to be taken.
func (s *scripts) in(dirs []string, name string, take func(file string) bool) {
	if name == "" {
		return
	}
	if filepath.IsAbs(name) {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		if file := s.joined(dir, name); take(file) {
			s.add(file, false)
		}
	}
}

// joined is a name in a directory. Where .. stands behind a link, the system goes
// elsewhere than the words say, and nothing can be remembered.
func (s *scripts) joined(dir, name string) string {
	file := filepath.Join(dir, name)
	if strings.Contains(name, "..") {
		found, err := filepath.EvalSymlinks(dir + string(filepath.Separator) + name)
		plain, errPlain := filepath.EvalSymlinks(file)
		s.unknown = s.unknown || (err == nil) != (errPlain == nil) || found != plain
	}
	return file
}

// add notes a file with what it holds. whole: all of it counts, also of a
// package.json.
func (s *scripts) add(file string, whole bool) {
	before := slices.IndexFunc(s.files, func(f desk.File) bool { return f.Path == file })
	if systemFile(file) && !s.canWrite(file) || before >= 0 && !whole {
		return
	}
	if before < 0 && len(s.files) == maxBound {
		s.unknown = true
		return
	}
	sum, ok := contentOf(file, whole)
	if !ok {
		s.unknown = true
		return
	}
	if before >= 0 {
		s.files[before].Sum = sum
		return
	}
	s.files = append(s.files, desk.File{Path: file, Sum: sum})
}

// canWrite reports whether a file lies where tools can write.
func (s *scripts) canWrite(file string) bool {
	at, err := filepath.EvalSymlinks(file)
	if err != nil {
		at = file
	}
	return slices.ContainsFunc(s.writable, func(dir string) bool { return below(dir, at) || below(dir, file) })
}

func below(dir, file string) bool {
	return pathglob.Inside(filepath.Clean(file), filepath.Clean(dir))
}

// systemFile reports whether a file is one of the system's, that changes with
// its packages.
func systemFile(file string) bool {
	if at, err := filepath.EvalSymlinks(file); err == nil {
		file = at
	}
	return slices.ContainsFunc([]string{"/bin", "/sbin", "/lib", "/lib64", "/usr", "/opt", "/nix", "/snap", "/System", "/Library", "/Applications"}, func(dir string) bool { return below(dir, file) })
}

// contentOf is a fingerprint of what a file holds, unless it cannot be read.
func contentOf(file string, whole bool) (sum string, ok bool) {
	sum = fingerprint(file)
	if !strings.HasPrefix(sum, `"`) {
		return "", false
	}
	if whole || filepath.Base(file) != "package.json" {
		return sum, true
	}
	// Of this one it is the scripts that are run: new dependencies ask nothing.
	text, err := plainfile.Settings(file)
	if err != nil {
		return sum, true
	}
	var manifest map[string]json.RawMessage // and no struct, which would take Scripts for scripts
	var plain bytes.Buffer
	if json.Unmarshal(text, &manifest) != nil || manifest["scripts"] == nil || json.Compact(&plain, manifest["scripts"]) != nil {
		return sum, true
	}
	only := sha256.Sum256(plain.Bytes())
	return "scripts " + hex.EncodeToString(only[:]), true
}

func isFile(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

func isDir(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.IsDir()
}

// runnable reports whether a file is a program or a script by its looks.
func runnable(file string) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if info.Mode().Perm()&0o111 != 0 {
		return true
	}
	begins, err := plainfile.Begin(file, 1)
	return err == nil && bytes.HasPrefix(begins, []byte("#!"))
}

// isCode reports whether a file is called like one that is run.
func isCode(file string) bool {
	return slices.Contains([]string{
		".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".rb", ".pl", ".php", ".lua", ".go", ".ps1", ".dll", ".jar", ".csx",
	}, strings.ToLower(filepath.Ext(file)))
}
