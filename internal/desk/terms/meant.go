package terms

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// maxMeant bounds the files that an answer is bound to where it is not certain
// which of them would run.
const maxMeant = 400

// meant is a fingerprint of the files that a line may run, where it is not
// certain which: everything in it that names a file, patterns and what find would
// find included. all is false if it may run others too: then nobody can say what
// an answer is for.
func meant(line *shellguard.Line) (bind string, all bool) {
	m := &meaning{seen: map[string]bool{}}
	for i := range line.Programs {
		p := &line.Programs[i]
		for _, d := range p.Dirs {
			if !slices.Contains(m.dirs, d) {
				m.dirs = append(m.dirs, d)
			}
		}
		m.walks = m.walks || slices.Contains([]string{"find", "fd", "fdfind", "xargs", "parallel", "rg", "grep", "ls"}, toolName(p.Name))
	}
	m.tame = !slices.ContainsFunc(line.Programs, func(p shellguard.Program) bool { return !plainMaker(&p) })
	words := strings.FieldsFunc(line.Text, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`=,;:|&<>(){}$@!\\", r) })
	for _, word := range words {
		for _, d := range m.dirs {
			m.word(d, word)
		}
	}
	slices.Sort(m.files)
	sum := sha256.New()
	for _, file := range m.files {
		fmt.Fprintf(sum, "%q %s\n", file, fingerprint(file))
	}
	return hex.EncodeToString(sum.Sum(nil)), m.tame && !m.many && len(m.files) > 0
}

// meaning collects the files.
type meaning struct {
	dirs  []string
	files []string
	seen  map[string]bool
	tame  bool // every program prints what stands in files, or names of files
	walks bool // one of them finds files by itself
	many  bool // there are too many to look at
}

func (m *meaning) word(dir, word string) {
	file := word
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	if strings.ContainsAny(word, "*?[") {
		found, err := filepath.Glob(file)
		if err != nil || len(found) > maxMeant {
			m.many = true
			return
		}
		for _, f := range found {
			m.add(f)
		}
		return
	}
	if len(word) > 2 && word[0] == '-' {
		m.add(filepath.Join(dir, word[2:])) // -fx
	}
	if m.walks && isDir(file) {
		m.walk(file)
		return
	}
	m.add(file)
}

func (m *meaning) add(file string) {
	if m.seen[file] || m.many || !isFile(file) {
		return
	}
	if len(m.files) == maxMeant {
		m.many = true
		return
	}
	m.seen[file] = true
	m.files = append(m.files, file)
}

// walk adds what lies below a directory.
func (m *meaning) walk(dir string) {
	looked := 0
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if looked++; err != nil || looked > maxMeant*10 || m.many {
			m.many = true
			return filepath.SkipAll
		}
		if d.IsDir() && d.Name() == ".git" && file != dir {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() || d.Type()&os.ModeSymlink != 0 {
			m.add(file)
		}
		return nil
	})
	m.many = m.many || err != nil
}

// plainMaker: a program whose output stands in files that the line names, or is
// a list of such files. What others print may be the name of any file.
func plainMaker(p *shellguard.Program) bool {
	name := toolName(p.Name)
	if _, ok := interpreterRulesOf(name); ok {
		return true
	}
	switch name {
	case "cat", "find", "fd", "ls", "true", "false", ":", "cd", "test", "[", "head", "tail", "sort", "uniq", "env", "timeout", "nice", "nohup", "time", "eval", "exec", "command", "set", "export", "xargs", "parallel", "chmod", "make", "gmake", "npm", "pnpm", "yarn", "ed", "ex", "vi", "vim", "nvim", "sqlite", "psql", "mysql", "just", "task", "go", "git", "grep":
		return true
	}
	return false
}
