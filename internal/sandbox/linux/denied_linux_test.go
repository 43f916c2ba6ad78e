//go:build amd64 || arm64

package linux

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestDeniedByLinks: a program cannot lead a link elsewhere that a rule goes
// by, so that the next one would find the place uncovered.
func TestDeniedByLinks(t *testing.T) {
	root := tempProject(t)
	put(t, root, map[string]string{"real/f": "x", "realsec/a.txt": "hush", "x/f": "y"})
	link(t, root, map[string]string{"lsrc": "real", "lsec": "realsec"})
	s := open(t, Config{Shield: obeyedShield(t)})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Denied: []string{root + "/lsec/*.txt"}, Fixed: []string{root + "/lsrc/**"}}
	for range 2 {
		out, _ := sh(t, s, grant, "exec 2>&1; rm lsrc lsec; ln -sfn x lsrc; ln -sfn x lsec; mv lsec l; mv realsec r; cat realsec/a.txt lsec/a.txt r/a.txt; echo evil > real/f && echo DONE; echo evil > lsrc/f && echo DONE")
		if strings.Contains(out, "hush") || strings.Contains(out, "DONE") {
			t.Errorf("it worked:\n%s", out)
		}
	}
}

// TestDeniedDirectoriesAreNoObstacle: what goes through a project does not stop
// at a directory that a rule denies; nothing of it is seen, and nothing can be
// put there.
func TestDeniedDirectoriesAreNoObstacle(t *testing.T) {
	root := tempProject(t)
	put(t, root, map[string]string{"secrets/k": "hush", "secrets/deep/k": "hush", "src/a": "hallo"})
	s := open(t, Config{Shield: obeyedShield(t)})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Denied: []string{root + "/secrets/**"}}
	out, exit := sh(t, s, grant, "exec 2>&1; set -e; find . >/dev/null; grep -r hallo src secrets; du -s . >/dev/null; ls secrets; cp -r . /tmp/all; test ! -e secrets/k; ! touch secrets/n; ! mkdir secrets/d; ! chmod 777 secrets; ! rmdir secrets; ! mv secrets s; ! cat secrets/k")
	if exit.Code != 0 || strings.Contains(out, "hush") {
		t.Errorf("%+v\n%s", exit, out)
	}
}
