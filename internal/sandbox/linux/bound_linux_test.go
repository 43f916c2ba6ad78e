//go:build amd64 || arm64

package linux

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// TestNoProgramShutsTheShellDown: whatever one program leaves behind, the next
// one is started, sees nothing that is protected, and a person is told.
func TestNoProgramShutsTheShellDown(t *testing.T) {
	shield, err := sandbox.NewShield("", files.DefaultProtected(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Shield: shield})
	for _, c := range []struct{ name, script, then, note string }{
		{"a hard link", "echo SECRET >.env && ln .env other && ln .env sub/third", "! cat .env && ! cat other && ! cat sub/third", "other name (a hard link)"},
		{"two hard links", "echo SECRET >sub/.env && ln sub/.env .env.x && ln .env.x y", "! cat y", "other name (a hard link)"},
		{"a deep tree", `python3 -c '
import os
for i in range(3000):
    os.mkdir("d"); os.chdir("d")
open(".env", "w").write("SECRET")'`, "! cd $(printf d/%.0s $(seq 130)) 2>/dev/null", "too deep"},
		{"long names", `python3 -c '
import os
for i in range(40):
    os.mkdir("d"*250); os.chdir("d"*250)
open(".env", "w").write("SECRET")'`, ":", "too deep"},
		{"many in a directory", `python3 -c '
import os
os.mkdir("many")
for i in range(2500): open("many/.env.%d" % i, "w").write("SECRET")'`, "! cat many/.env.7 && ! ls many", "more than 2048"},
		{"many in many directories", `python3 -c '
import os
for i in range(1500): os.makedirs("many/%d/x" % i); open("many/%d/x/.env" % i, "w").write("SECRET")'`, "! cat many/7/x/.env", "more than 2048"},
		{"many at the top", `python3 -c '
for i in range(2500): open(".env.%d" % i, "w").write("SECRET")'`, "! cat .env.7 && ! cat .env.2499", ""},
		{"many repositories", `python3 -c '
import os
for i in range(1500): os.makedirs("many/%d/.git" % i)'`, "! touch many/7/.git/x", "more than 2048"},
		{"a directory that nobody may enter", "mkdir shut; echo SECRET >shut/.env; chmod 0 shut", "! cat shut/.env", ""},
		{"no index", "mkdir r r/.git; echo junk >r/.git/index; touch r/.git/HEAD", "cat r/.git/index", "not understood"},
		{"a loop of links", "ln -s .env.b .env.a; ln -s .env.a .env.b; ln -s . loop; ln -s loop/loop/.env .env", ":", ""},
		{"names that are no text", `python3 -c '
import os
for n in (b".env\xff\n", b"\xfe", b"a b\t"): os.mkdir(n); open(n + b"/.env", "w").write("SECRET")'`, "! cat a\\ b*/.env", ""},
		{"a pipe", "mkfifo .env .git id_rsa k.pem", "! cat .env", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			needsPython(t, c.script)
			root := t.TempDir()
			mkdir(t, root, "sub")
			t.Cleanup(func() { makeRemovable(t, root) })
			grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: time.Minute}
			if out, exit := sh(t, s, grant, c.script); exit.Code != 0 {
				t.Fatalf("%+v\n%s", exit, out)
			}
			for range 2 { // the second time from memory
				out, exit := sh(t, s, grant, "exec 2>&1; echo x >sub/x && cat sub/x && "+c.then)
				if exit.Code != 0 || strings.Contains(out, "SECRET") {
					t.Errorf("%+v\n%s", exit, out)
				}
				if said := strings.Join(exit.Notes, "\n"); !strings.Contains(said, c.note) || (said == "") != (c.note == "") || len(exit.Notes) > 6 {
					t.Errorf("%d notes: %s", len(exit.Notes), said)
				}
			}
		})
	}
}

// needsPython skips a test whose program is written in it.
func needsPython(t *testing.T, script string) {
	t.Helper()
	if !strings.Contains(script, "python3") {
		return
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("this program is written in Python, and this machine has no python3")
	}
}

// makeRemovable takes away what the test's own clean-up cannot: it goes by
// whole paths.
func makeRemovable(t *testing.T, root string) {
	t.Helper()
	if out, err := exec.Command("/bin/sh", "-c", `chmod -R u+rwx "$1" 2>/dev/null; rm -rf "$1"/*`, "sh", root).CombinedOutput(); err != nil {
		t.Logf("%v\n%s", err, out)
	}
}
