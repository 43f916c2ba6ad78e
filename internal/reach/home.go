package reach

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// homeLinks finds what the links in obeyed directories of the home directory lead
// to, as ~/.claude/settings.json to one of the dotfiles that are worked on.
type homeLinks struct {
	outer *linked.Outer // nil: there is no home
	dirs  []string      // that tools may write
	whole []string      // a link to one of these leads to a project
}

func newHomeLinks(home, start string, dirs []files.Dir, except []string) homeLinks {
	var h homeLinks
	if home != "" {
		h.outer = &linked.Outer{Dirs: namesAtHome(home), Except: except}
	}
	if start != "" {
		h.whole = append(h.whole, realDir(start))
	}
	for _, d := range dirs {
		at := realDir(d.Path)
		if h.whole = append(h.whole, at); d.Write {
			h.dirs = append(h.dirs, at)
		}
	}
	return h
}

// places gives the links and what they lead to.
func (h homeLinks) places() []string {
	var out []string
	for _, led := range h.outer.Into(h.dirs, h.whole) {
		if _, ok := linked.Obeyed(led.Link); ok && !ownProgram(led.Link) {
			out = append(out, led.Link, led.Target)
		}
	}
	return out
}

// ownProgram: a link in a directory of programs leads to one that is made in the
// project. Whoever runs it runs the project, and builds have to write it. One that
// goes by the name of a program of the machine is run for something else.
func ownProgram(link string) bool {
	return filepath.Base(filepath.Dir(link)) == "bin" && !onMachine(filepath.Base(link))
}

// onMachine tells whether the machine has a program of this name.
func onMachine(name string) bool {
	return filepath.IsLocal(name) && slices.ContainsFunc(shellguard.SystemDirs(), func(dir string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// crontabs are where the person's may lie. Few systems let her read it there.
func crontabs(needs Start) (files []string) {
	env := needs.Variable()
	for _, name := range []string{env("USER"), env("LOGNAME"), filepath.Base(needs.Home)} {
		for _, dir := range []string{"/var/spool/cron/crontabs", "/var/spool/cron"} {
			if file := filepath.Join(dir, name); name != "" && filepath.IsLocal(name) && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files
}
