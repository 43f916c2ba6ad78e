package gitconfig_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/gitconfig"
)

// TestCredentialHelper: git runs a helper of its own by the name, and never a
// file of the work tree that has it.
func TestCredentialHelper(t *testing.T) {
	for value, want := range map[string][]string{
		"gcloud.sh":                  nil,
		"store --file ./creds.txt":   {"/w/creds.txt"},
		"store --file=conf/creds.db": {"/w/conf/creds.db"},
		"!./tools/cred.sh":           {"/w/tools/cred.sh"},
		"/w/tools/cred.sh":           {"/w/tools/cred.sh"},
	} {
		src := gitconfig.Source{Read: func(path string) ([]byte, error) {
			if path == "/w/.git/config" {
				return []byte("[credential \"https://x.example\"]\n\thelper = " + value + "\n"), nil
			}
			return nil, fs.ErrNotExist
		}}
		var got []string
		for _, p := range src.PointedAt("/w") {
			if p.Path != "/w/.git/hooks" {
				got = append(got, p.Path)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", value, diff)
		}
	}
}

func TestPointedAt(t *testing.T) {
	files := map[string]string{
		"/w/.git/config": "[core]\n\thooksPath = .githooks # remark\n\tfsmonitor = \"tools/watch.sh\" --x\n\tattributesFile=etc/attr\n\tpager = less\n[include]\n\tpath = ../.gitconfig\n" +
			"[includeIf \"gitdir:/w/\"]\n\tpath = ../more.inc\n[alias]\n\tst = status\n\tx = \"!sh ./scripts/x.sh\"\n[filter \"f\"]\n\tclean = python3 tools/clean.py %f\n[diff \"d\"]\n\ttextconv = bin/\\\ncon\n",
		"/w/.gitconfig":      "[core]\n hooksPath=/w/other\n[include]\npath=deep.inc\n[include]\npath=.gitconfig\n",
		"/home/u/.gitconfig": "[core]\n\thooksPath = ~/hooks\n\teditor = vim\n",
		"/sub/.git":          "gitdir: ../w/.git/modules/sub\n", "/w/.git/modules/sub/config": "[core]\nhooksPath=h\nworktree=/sub\n",
		"/lw/.git": "gitdir: /w/.git/worktrees/lw\n", "/w/.git/worktrees/lw/commondir": "../..\n",
		"/top/.git/config": "[core]\nhooksPath = .\n",
	}
	src := gitconfig.Source{Home: "/home/u", Read: func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}}
	pointed := func(tree string) []string {
		var out []string
		for _, p := range src.PointedAt(tree) {
			if p.Include != strings.Contains(p.Path, "conf") && p.Include != strings.HasSuffix(p.Path, ".inc") {
				t.Errorf("%s is an include: %v", p.Path, p.Include)
			}
			out = append(out, p.Path)
		}
		return out
	}
	want := []string{"/home/u/hooks", "/w/.git/hooks", "/w/.gitconfig", "/w/.githooks", "/w/bin/con", "/w/deep.inc", "/w/etc/attr", "/w/more.inc", "/w/other", "/w/scripts/x.sh", "/w/tools/clean.py", "/w/tools/watch.sh"}
	if diff := cmp.Diff(want, pointed("/w")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := pointed("/sub"); !slices.Contains(got, "/sub/h") {
		t.Errorf("a submodule: %q", got)
	}
	if got := pointed("/lw"); !slices.Contains(got, "/lw/.githooks") {
		t.Errorf("a linked work tree: %q", got)
	}
	if got := pointed("/top"); slices.Contains(got, "/top") || !slices.Contains(got, "/top/pre-commit") {
		t.Errorf("hooks in the work tree itself: %q", got)
	}
}

// FuzzParse holds the reader against git itself: every value that git reads, we
// read.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"[core]\n\thooksPath = a b # c\n", "[a \"b\\\"c\"]\nd=\"e;f\"g\\\n h\n", "[A.B] c\n", "[a]b=c\n[d]e = \\t\\n\"\n", "\ufeff[core]hookspath=x", "[core]\r\nhookspath = x\r\n", "[a]\nb = c\\",
	} {
		f.Add(text)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		f.Skip("there is no git on this machine")
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := gitconfig.Parse(text)
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(git, "config", "--file", file, "--null", "--list")
		c.Env = []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME=/nonexistent", "PATH=/usr/bin:/bin"}
		out, err := c.Output()
		if err != nil || strings.Contains(text, "\x00") {
			return // git refuses it, or would cut it otherwise
		}
		var ours []string
		for _, s := range got {
			name := strings.TrimPrefix(s.Section+"."+s.Key, ".")
			if s.Sub != "" {
				name = s.Section + "." + s.Sub + "." + s.Key
			}
			ours = append(ours, name+"\n"+s.Value)
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if line == "" {
				continue
			}
			if !strings.Contains(line, "\n") {
				line += "\ntrue"
			}
			if !slices.Contains(ours, line) {
				t.Errorf("git reads %q out of %q, we read %q", line, text, ours)
			}
		}
	})
}

// TestUnreadSettings: settings that are there and cannot be read are no reason
// to believe that there are none.
func TestUnreadSettings(t *testing.T) {
	for errno, known := range map[syscall.Errno]bool{syscall.ENOENT: true, syscall.EACCES: true, syscall.ENOTDIR: true, syscall.EAGAIN: false, syscall.EIO: false} {
		src := gitconfig.Source{Read: func(path string) ([]byte, error) {
			return nil, &fs.PathError{Op: "open", Path: path, Err: errno}
		}}
		if _, err := src.AllPointedAt("/p"); (err == nil) != known {
			t.Errorf("%v: %v", errno, err)
		}
	}
}

// TestPersonal: settings of the person and of the machine count wherever they
// lie, also where there is no repository; what is relative is in each of those.
func TestPersonal(t *testing.T) {
	files := map[string]string{
		"/x/git/config": "[core]\n\thooksPath = .githooks\n[include]\n\tpath = more.inc\n", "/etc/gitconfig": "[core]\n\tpager = /p/pager.sh\n", "/g": "[core]\n\thooksPath = /p/hooks\n",
		"/home/u/.gitconfig": "[include]\n\tpath = /p/my.inc\n[alias]\n\tx = !./x.sh\n",
	}
	env := map[string]string{"XDG_CONFIG_HOME": "/x", "GIT_CONFIG_GLOBAL": "/g", "GIT_CONFIG_SYSTEM": "relative"}
	src := gitconfig.Source{Home: "/home/u", Settings: gitconfig.Files("/home/u", func(name string) string { return env[name] }), Read: func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}}
	for tree, want := range map[string][]string{
		"":   {"/p/hooks", "/p/my.inc", "/p/pager.sh", "/x/git/more.inc"},
		"/w": {"/p/hooks", "/p/my.inc", "/p/pager.sh", "/w/.githooks", "/w/x.sh", "/x/git/more.inc"},
	} {
		list, err := src.Personal(tree)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range list {
			got = append(got, p.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tree, diff)
		}
	}
}

// TestPrograms: the files of a work tree that a command line runs, however it
// writes them.
func TestPrograms(t *testing.T) {
	there := map[string]bool{"/w/clean": true, "/w/tools/clean": true, "/w/lib/x.sh": true}
	for line, want := range map[string]string{
		`sh tools/clean %f`: "/w/tools/clean", `"$(git rev-parse --show-toplevel)"/tools/clean.sh`: "/w/tools/clean.sh", `sh ${PWD}/tools/clean.sh`: "/w/tools/clean.sh", `sh "$PWD"/a/b`: "/w/a/b",
		"sh `pwd`/a/b": "/w/a/b", `sh clean`: "/w/clean", `cd tools && ./clean`: "/w/clean /w/tools/clean", `PATH=tools:$PATH clean`: "/w/clean /w/tools", `sh -c 'exec tools/cle"an"'`: "/w/tools/clean",
		`$ROOT/lib/x.sh`: "/w/lib/x.sh", `$ROOT/lib/none.sh`: "", `$HOME/bin/x`: "/home/u/bin/x", `~/bin/x`: "/home/u/bin/x", `git log --format=%h`: "", `$(tools/which) x`: "/w/tools/which",
		`cat`: "", `!f() { ./a.sh "$1"; }; f`: "/w/a.sh", `$`: "", "`": "", `$(`: "", `${`: "", `cd`: "",
	} {
		src := gitconfig.Source{Home: "/home/u", Read: func(path string) ([]byte, error) {
			if path == "/w/.git/config" {
				return []byte("[filter \"x\"]\n\tclean = \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(line) + "\"\n"), nil
			}
			if there[path] {
				return nil, nil
			}
			return nil, fs.ErrNotExist
		}}
		var got []string
		for _, p := range src.PointedAt("/w") {
			if !p.Own {
				got = append(got, p.Path)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	src := gitconfig.Source{Read: func(path string) ([]byte, error) {
		if path != "/w/.git/config" {
			return nil, fs.ErrNotExist
		}
		return []byte("[remote \"o\"]\n\tuploadpack = ./up.sh\n\treceivepack = down/x\n\turl = ext::sh ./ext.sh\n[branch \"b\"]\n\tremote = ext::tools/y\n[remote \"p\"]\n\turl = https://host/a/b\n"), nil
	}}
	var got []string
	for _, p := range src.PointedAt("/w") {
		got = append(got, p.Path)
	}
	if diff := cmp.Diff([]string{"/w/.git/hooks", "/w/down/x", "/w/ext.sh", "/w/tools/y", "/w/up.sh"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestProgramsByName: the settings beyond those of every day that name a program.
func TestProgramsByName(t *testing.T) {
	for setting, runs := range map[string]bool{
		"[gc]\n\trecentObjectsHook": true, "[sendemail]\n\tsmtpServer": true, "[sendemail \"work\"]\n\tsmtpServer": true, "[sendemail]\n\tccCmd": true, "[imap]\n\ttunnel": true,
		"[tar \"tgz\"]\n\tcommand": true, "[browser \"b\"]\n\tpath": true, "[man \"m\"]\n\tpath": true, "[instaweb]\n\thttpd": true, "[commit]\n\ttemplate": false, "[tar]\n\tumask": false,
	} {
		src := gitconfig.Source{Read: func(path string) ([]byte, error) {
			if path != "/w/.git/config" {
				return nil, fs.ErrNotExist
			}
			return []byte(setting + " = ./s/run\n"), nil
		}}
		if got := slices.ContainsFunc(src.PointedAt("/w"), func(p gitconfig.Pointed) bool { return p.Path == "/w/s/run" }); got != runs {
			t.Errorf("%q leads to a program: %v, want %v", setting, got, runs)
		}
	}
}

func FuzzPrograms(f *testing.F) {
	for _, line := range []string{"$(a $(b `c` ${d", "cd x; PATH=a:$PATH ./y", `"$(git rev-parse --show-toplevel)"/x`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		src := gitconfig.Source{Home: "/home/u", Read: func(path string) ([]byte, error) {
			if path == "/w/.git/config" {
				return []byte("[core]\n\teditor = \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(line) + "\"\n"), nil
			}
			return nil, nil
		}}
		for _, p := range src.PointedAt("/w") {
			if !filepath.IsAbs(p.Path) || filepath.Clean(p.Path) != p.Path || p.Path == "/w" || p.Path == "/" {
				t.Errorf("%q leads to %q", line, p.Path)
			}
		}
	})
}
