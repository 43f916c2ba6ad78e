package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/glob"
)

// folderRules are the rules of .gitignore files for the entries of a folder.
type folderRules struct {
	rules *glob.Ignore
	void  bool // here and below no rule counts: something may take it back
}

// ignoreRules are the rules of .gitignore files for the entries of a folder: those of the
// folders above it in the walk, and its own. Rules count only where rg certainly goes by
// them, since what they exclude is not looked at.
func (r *reading) ignoreRules(d *Folder) *glob.Ignore {
	if !r.ignores {
		return nil
	}
	var now folderRules
	if d.Parent != nil {
		now, _ = d.Parent.Value.(folderRules)
	}
	if !now.void {
		now = now.in(d)
	}
	d.Value = now
	return now.rules
}

// in adds the rules of a folder to those of the folders above it.
func (above folderRules) in(d *Folder) folderRules {
	own := ""
	for _, e := range d.Entries {
		switch name := strings.ToLower(e.Name); {
		case overrulesGitignore(name):
			return folderRules{void: true}
		case name == ".git", name == ".jj": // the rules of one repository do not count in another
			above.rules = nil
		case name != ".gitignore":
		case own != "" || !e.Type.IsRegular(): // rg follows a link
			return folderRules{void: true}
		default:
			own = e.Name
		}
	}
	if own == "" {
		return above
	}
	text, err := d.readAll(own)
	if err == nil {
		text, err = sureRules(text)
	}
	if err != nil {
		return folderRules{void: true}
	}
	above.rules = glob.NewIgnore(above.rules, d.Path, text)
	return above
}

var errUnsure = errors.New("rg may understand these rules in another way")

// sureRules leaves those lines of a .gitignore file that git and rg understand in the same
// way. A line that is left out excludes nothing. One that takes something back cannot be
// left out, and neither can one at which rg stops reading.
func sureRules(text []byte) ([]byte, error) {
	if !utf8.Valid(text) || strings.HasPrefix(string(text), "\ufeff") {
		return nil, errUnsure
	}
	var sure []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if strings.HasPrefix(line, "#") {
			continue
		}
		rule, not := strings.CutPrefix(line, "!")
		switch ok := sureRule(rule); {
		case ok:
			sure = append(sure, line)
		case not:
			return nil, errUnsure
		}
	}
	return []byte(strings.Join(sure, "\n")), nil
}

// sureRule reports whether a pattern consists of plain characters, single wildcards and
// whole elements that are two stars. Braces, classes and backslashes differ.
func sureRule(rule string) bool {
	rule = strings.TrimRight(rule, " ")
	if strings.HasPrefix(rule, "!") || strings.ContainsAny(rule, `{}[]\`) || strings.ContainsFunc(rule, func(c rune) bool { return c < ' ' || c > '~' }) {
		return false
	}
	for elem := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(rule, "/"), "/"), "/") {
		if elem == "" || strings.Contains(elem, "**") && elem != "**" {
			return false
		}
	}
	return true
}

// overrulesGitignore: rg goes by these files first, and they may name what others leave
// out. The name is in small letters: some file systems do not tell them apart.
func overrulesGitignore(name string) bool { return name == ".ignore" || name == ".rgignore" }

// obeysGitignore reports whether .gitignore files count below a directory: it is in a
// repository, and no other file takes them back. rg looks at all directories above,
// whether they were granted or not; only the presence of these files is looked at.
func (f *Handle) obeysGitignore(dir string) bool {
	at, err := f.Real(dir)
	if err != nil {
		return false
	}
	for repository := false; ; at = filepath.Dir(at) {
		for _, name := range []string{".ignore", ".rgignore"} {
			if _, err := os.Lstat(filepath.Join(at, name)); err == nil || !errors.Is(err, os.ErrNotExist) {
				return false
			}
		}
		info, err := os.Stat(filepath.Join(at, ".git"))
		repository = repository || err == nil && (info.IsDir() || info.Mode().IsRegular())
		if filepath.Dir(at) == at {
			return repository
		}
	}
}

// maxIgnoreFile bounds the .gitignore files that are read.
const maxIgnoreFile = 1 << 20

func (d *Folder) readAll(name string) ([]byte, error) {
	s, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(s, maxIgnoreFile+1))
	if len(text) > maxIgnoreFile {
		err = errors.Join(err, errUnsure)
	}
	return text, errors.Join(err, s.Close())
}
