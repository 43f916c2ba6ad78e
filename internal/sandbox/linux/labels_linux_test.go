//go:build amd64 || arm64

package linux

import (
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestNoLabels: a program cannot leave an access list that counts for what a
// person makes later, and what copies files goes on without.
func TestNoLabels(t *testing.T) {
	s := open(t, Config{Shield: obeyedShield(t)})
	root := tempProject(t)
	put(t, root, map[string]string{"src/a": "text"})
	for _, script := range []string{
		`python3 -c '
import errno, os, sys
for name in "system.posix_acl_default", "system.posix_acl_access", "user.x":
    try:
        os.setxattr(".", name, bytes.fromhex("0200000001000700ffffffff04000700ffffffff20000700ffffffff"))
    except OSError as e:
        if e.errno == errno.EOPNOTSUPP: continue
    sys.exit(name)'`,
		`python3 -c 'import shutil; shutil.copytree("src", "copy"); shutil.copy2("src/a", "b")' && cmp copy/a src/a`,
		"cp -a src src2 && cmp src/a src2/a && tar cf - src | (mkdir t && cd t && tar xpf -) && cmp src/a t/src/a && install -m 644 src/a c && mv c d",
	} {
		needsPython(t, script)
		if out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, "exec 2>&1; "+script); exit.Code != 0 || out != "" {
			t.Errorf("%s: %+v\n%s", script, exit, out)
		}
	}
}
