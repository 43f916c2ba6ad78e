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

// TestNothingWakesPrograms: the kernel sends no signal of a program's own choice
// later, which could be the one that lets it go on after it was stopped. What
// makes timers in the old way works.
func TestNothingWakesPrograms(t *testing.T) {
	s := open(t, Config{})
	root := tempProject(t)
	for _, script := range []string{
		`python3 -c '
import ctypes, errno, sys
libc, timer = ctypes.CDLL(None, use_errno=True), ctypes.c_void_p()
if libc.timer_create(1, None, ctypes.byref(timer)) == 0 or ctypes.get_errno() != errno.ENOSYS: sys.exit("a timer")
import fcntl, signal
try: fcntl.fcntl(0, 10, signal.SIGCONT)
except PermissionError: sys.exit()
sys.exit("F_SETSIG")'`,
		"timeout 20 true && ! timeout 0.1 sleep 20",
	} {
		needsPython(t, script)
		if out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, "exec 2>&1; "+script); exit.Code != 0 || out != "" {
			t.Errorf("%s: %+v\n%s", script, exit, out)
		}
	}
}
