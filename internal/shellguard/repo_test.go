package shellguard

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/gitindex"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

const plainConfig = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n[remote \"origin\"]\n\turl = git@example.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = Ann\n"

// indexOf is an index of one entry, as git writes it.
func indexOf(mode uint16, name string) string {
	entry := make([]byte, 62, 128)
	binary.BigEndian.PutUint16(entry[26:], mode)
	binary.BigEndian.PutUint16(entry[60:], uint16(len(name))) //nolint:gosec // a short one
	entry = append(entry, name...)
	return "DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + string(entry) + strings.Repeat("\x00", 8-len(entry)%8) + strings.Repeat("h", gitindex.SHA1)
}

// TestHostileRepositories: the settings of a repository that came from someone
// else must not start programs when git is asked to look at it.
func TestHostileRepositories(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  toolcrib.Decision
	}{
		{"none", nil, toolcrib.Allow},
		{"plain", map[string]string{".git/config": plainConfig, ".git/HEAD": "ref: refs/heads/main"}, toolcrib.Allow},
		{"sample hooks", map[string]string{".git/config": plainConfig, ".git/hooks/pre-commit.sample": "x", ".git/hooks/pre-commit": "x"}, toolcrib.Allow},
		{"comments", map[string]string{".git/config": "# a\n; b\n[core] ; c\n\tbare = false # d\n"}, toolcrib.Allow},
		{"fsmonitor off", map[string]string{".git/config": "[core]\nfsmonitor = false"}, toolcrib.Allow},
		{"fsmonitor", map[string]string{".git/config": plainConfig + "[core]\n\tfsmonitor = ./evil\n"}, toolcrib.Ask},
		{"same line", map[string]string{".git/config": "[core]fsmonitor=./evil"}, toolcrib.Ask},
		{"upper case", map[string]string{".git/config": "[CORE]\nFsMonitor=./evil"}, toolcrib.Ask},
		{"value is a flag", map[string]string{".git/config": "[core]\nfsmonitor"}, toolcrib.Ask},
		{"byte order mark", map[string]string{".git/config": "\ufeff[core]\nfsmonitor=./evil"}, toolcrib.Ask},
		{"carriage returns", map[string]string{".git/config": "[core]\r\nfsmonitor=./evil\r\n"}, toolcrib.Ask},
		{"dotted section", map[string]string{".git/config": "[filter.x]\nclean=./evil"}, toolcrib.Ask},
		{"pager", map[string]string{".git/config": "[core]\npager=./evil"}, toolcrib.Ask},
		{"pager of log", map[string]string{".git/config": "[pager]\nlog=./evil"}, toolcrib.Ask},
		{"ssh", map[string]string{".git/config": "[core]\nsshCommand=./evil"}, toolcrib.Ask},
		{"hooks elsewhere", map[string]string{".git/config": "[core]\nhooksPath=."}, toolcrib.Ask},
		{"editor", map[string]string{".git/config": "[core]\neditor=./evil"}, toolcrib.Ask},
		{"external diff", map[string]string{".git/config": "[diff]\nexternal=./evil"}, toolcrib.Ask},
		{"diff driver", map[string]string{".git/config": "[diff \"x\"]\ncommand=./evil"}, toolcrib.Ask},
		{"text conversion", map[string]string{".git/config": "[diff \"x\"]\ntextconv=./evil"}, toolcrib.Ask},
		{"filter", map[string]string{".git/config": "[filter \"x\"]\nclean=./evil"}, toolcrib.Ask},
		{"filter process", map[string]string{".git/config": "[filter \"x\"]\nprocess=./evil"}, toolcrib.Ask},
		{"signatures", map[string]string{".git/config": "[log]\nshowSignature=true\n[gpg]\nprogram=./evil"}, toolcrib.Ask},
		{"merges once more", map[string]string{".git/config": "[log]\ndiffMerges=remerge\n[merge \"x\"]\ndriver=./evil"}, toolcrib.Ask},
		{"merges once more, short", map[string]string{".git/config": "[log]\ndiffMerges=r"}, toolcrib.Ask},
		{"merges once more, in quotes", map[string]string{".git/config": "[log]\ndiffMerges=re\"merge\""}, toolcrib.Ask},
		{"merges shown", map[string]string{".git/config": "[log]\ndiffMerges=first-parent\n[merge \"x\"]\ndriver=./mine"}, toolcrib.Allow},
		{"include", map[string]string{".git/config": "[include]\npath=../evil"}, toolcrib.Ask},
		{"include if", map[string]string{".git/config": "[includeIf \"gitdir:/\"]\npath=../evil"}, toolcrib.Ask},
		{"partial clone", map[string]string{".git/config": "[remote \"o\"]\npromisor=true\nurl=ext::sh"}, toolcrib.Ask},
		{"extension", map[string]string{".git/config": "[extensions]\npartialClone=o"}, toolcrib.Ask},
		{"format", map[string]string{".git/config": "[format]\npretty=%G?"}, toolcrib.Ask},
		{"continued line", map[string]string{".git/config": "[user]\nname = a \\\n[core]\nfsmonitor=x"}, toolcrib.Ask},
		{"comment with backslash", map[string]string{".git/config": "# x \\\n[core]\nfsmonitor=./evil"}, toolcrib.Ask},
		{"bracket in a name", map[string]string{".git/config": "[branch \"a]\"]\nremote=x\n[branch \"b\\\"]\"]core=x\n[core]fsmonitor=./evil"}, toolcrib.Ask},
		{"broken section", map[string]string{".git/config": "[core\nfsmonitor=./evil"}, toolcrib.Ask},
		{"settings of a work tree", map[string]string{".git/config": plainConfig, ".git/config.worktree": "[core]\nfsmonitor=./evil"}, toolcrib.Ask},
		{"hook on the index", map[string]string{".git/config": plainConfig, ".git/hooks/post-index-change": "#!/bin/sh"}, toolcrib.Ask},
		{"linked work tree", map[string]string{".git": "gitdir: /data/evil\n", "/data/evil/config": "[core]\nfsmonitor=./evil"}, toolcrib.Ask},
		{"relative link", map[string]string{".git": "gitdir: sub/g\n", "sub/g/config": "[core]\nfsmonitor=./evil"}, toolcrib.Ask},
		{"common directory", map[string]string{".git": "gitdir: g\n", "g/commondir": "../c\n", "c/config": "[core]\nfsmonitor=./evil"}, toolcrib.Ask},
		{"odd link", map[string]string{".git": "garbage"}, toolcrib.Ask},
		{"bare", map[string]string{"HEAD": "ref: x", "config": "[core]\nfsmonitor=./evil", "objects/x": "", "refs/x": ""}, toolcrib.Ask},
		{"a directory above", map[string]string{home + "/.git/config": "[core]\nfsmonitor=./evil"}, toolcrib.Ask},
		{"index of files", map[string]string{".git/config": plainConfig, ".git/index": indexOf(0o100644, "a.txt")}, toolcrib.Allow},
		{"index of a link", map[string]string{".git/config": plainConfig, ".git/index": indexOf(0o120000, "a")}, toolcrib.Allow},
		{"gitlink", map[string]string{".git/config": plainConfig, ".git/index": indexOf(0o160000, "sub")}, toolcrib.Ask},
		{"gitlink of a work tree", map[string]string{".git": "gitdir: /data/repo\n", "/data/repo/config": plainConfig, "/data/repo/index": indexOf(0o160000, "sub")}, toolcrib.Ask},
		{"damaged index", map[string]string{".git/config": plainConfig, ".git/index": indexOf(0o100644, "a.txt")[:40]}, toolcrib.Ask},
		{"without HEAD", map[string]string{".git/config": "[core]\nfsmonitor=./evil"}, toolcrib.Ask},
	} {
		m := shelltest.NewMachine()
		for name, text := range tt.files {
			if !strings.HasPrefix(name, "/") {
				name = work + "/" + name
			}
			m.Files[name] = text
		}
		s := shellOn(t, m)
		for _, line := range []string{"git status", "git log -1", "git -C src diff", "sh -c 'git status'", "go list ./..."} {
			if v := shelltest.Judge(t, s, line); v.Decision != tt.want {
				t.Errorf("%s: %q: %v: %s", tt.name, line, v.Decision, v.Reason)
			}
		}
		if v := shelltest.Judge(t, s, "ls"); v.Decision != toolcrib.Allow {
			t.Errorf("%s: ls asks", tt.name)
		}
	}
	s := shellOn(t, shelltest.NewMachine())
	s.ReadFile = nil
	if v := shelltest.Judge(t, s, "git status"); v.Decision != toolcrib.Ask {
		t.Error("git runs unasked though nobody can read the settings of the repository")
	}
}
