//go:build unix

package files

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
)

// The canaries: none of these texts may ever come back, and nothing that holds
// one may change.
const (
	canary     = "CANARY-CONTENT"
	canaryName = "canary-name"
)

// arena is a desk with everything in reach that could lead out.
type arena struct {
	*desk
	base string
}

func newArena(t testing.TB) *arena {
	t.Helper()
	d := newDesk(t, Config{})
	a := &arena{d, filepath.Dir(d.dir)}
	// Outside.
	write(t, filepath.Join(d.out, "secret.txt"), canary+"\n")
	write(t, filepath.Join(d.out, canaryName+".txt"), canary+"\n")
	write(t, filepath.Join(d.out, "sub", "key"), canary+"\n")
	write(t, filepath.Join(d.out, ".ssh", "id_rsa"), canary+"\n")
	write(t, filepath.Join(d.out, ".bashrc"), canary+"\n")
	write(t, filepath.Join(a.base, "work2", "key"), canary+"\n") // a name that begins like the granted one
	for _, dir := range []string{"out", "out/sub", "out/.ssh", "work2", "state", "work/.git/hooks", "work/bare/hooks"} {
		write(t, filepath.Join(a.base, dir, canaryName), canary+"\n") // no attack names these, only a listing can
	}
	write(t, filepath.Join(a.base, "state", "journal.db"), canary+"\n")
	a.mkdir(t, filepath.Join(d.out, "empty"))
	// Granted, with protected parts.
	write(t, filepath.Join(d.read, "lib.txt"), "library\n")
	d.put(t, "plain.txt", "plain\n")
	d.put(t, "dir/inner.txt", "inner\n")
	for _, p := range protectedFiles() {
		d.put(t, p, canary+"\n")
	}
	d.put(t, "bare/HEAD", "ref: refs/heads/main\n")
	d.put(t, "renamed/HEAD", "ref: refs/heads/main\n")
	for _, dir := range []string{"bare/objects", "bare/refs", "renamed/objects", "renamed/refs"} {
		a.mkdir(t, filepath.Join(d.dir, dir))
	}
	d.put(t, "worktree/.git", "gitdir: ../bare\n")
	for name, target := range map[string]string{"link-root": "/", "link-up": "..", "link-dir": "../out", "link-self": a.dir, "loop1": "loop2", "loop2": "loop1", "self": "self"} {
		a.link(t, target, name)
	}
	a.special(t)
	return a
}

// protectedFiles stay out of reach although they are in the granted directory.
func protectedFiles() []string {
	return []string{
		".env", ".env.local", "dir/.env", ".ENV.Production", ".Env", ".env .", ".env\u200b", ".env:stream", ".envrc",
		".git/config", ".git/hooks/pre-commit", ".git/config.worktree", ".GIT/config", ".GIT/hooks/pre-commit", ".Git/CONFIG",
		".git./config", ".git::$INDEX_ALLOCATION/config", ".git\u200c/config", "sub/.git/hooks/post-checkout", "bare/config", "bare/hooks/pre-commit", "bare/HOOKS/x",
		"renamed/config", ".git/modules/m/config", ".git/modules/m/hooks/update",
	}
}

func (a *arena) link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(a.dir, name)); err != nil {
		t.Fatal(err)
	}
}

func (a *arena) mkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// special makes what is no file.
func (a *arena) special(t testing.TB) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(a.dir, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(a.dir, "socket"))
	if err != nil {
		t.Logf("no socket: %v", err)
	} else {
		t.Cleanup(func() { l.Close() })
	}
	for name, dev := range map[string]int{"zero": 0x105, "null": 0x103, "tty": 0x500} { // numbers of Linux
		if err := syscall.Mknod(filepath.Join(a.dir, name), syscall.S_IFCHR|0o666, dev); err != nil {
			t.Logf("no device %s: %v", name, err)
		}
	}
}

// specials are names of what is no file, here and elsewhere: it must not be
// opened, let alone waited for.
func (a *arena) specials(t testing.TB) []attack {
	t.Helper()
	var list []attack
	for i, name := range []string{"fifo", "socket", "zero", "null", "tty", "/dev/zero", "/dev/null", "/dev/stdin", "/dev/fd/0", "/proc/self/environ", "/proc/self/mem", "/proc/self/maps", "/proc/self/fd", "/proc/version", "/sys/kernel", "/etc/passwd", "/etc", "/"} {
		path := name
		if !filepath.IsAbs(name) {
			path = filepath.Join(a.dir, name)
		}
		if _, err := os.Stat(path); err != nil {
			continue // not to be had here
		}
		a.link(t, path, fmt.Sprintf("special-%d", i))
		list = append(list, attack{family: "special", name: name, reach: path}, attack{family: "special", name: fmt.Sprintf("special-%d", i), reach: path})
	}
	return list
}

// snapshot is the state of everything that must not change.
func (a *arena) snapshot(t testing.TB) map[string]string {
	t.Helper()
	state := map[string]string{}
	note := func(path string) {
		info, err := os.Lstat(path)
		if err != nil {
			state[path] = "gone"
			return
		}
		state[path] = info.Mode().String()
		if info.Mode().IsRegular() {
			state[path] += fmt.Sprint(info.ModTime().UnixNano()) + content(t, path)
		}
	}
	for _, dir := range []string{a.out, a.read, filepath.Join(a.base, "work2"), filepath.Join(a.base, "state"), filepath.Join(a.dir, ".git"), filepath.Join(a.dir, "bare"), filepath.Join(a.dir, "sub")} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if path == a.trash {
				return fs.SkipDir
			}
			note(path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range protectedFiles() {
		note(filepath.Join(a.dir, p))
	}
	for _, p := range []string{".env.made", "fifo", "zero", "plain.txt"} {
		note(filepath.Join(a.dir, p))
	}
	return state
}

// control shows that an attack has something to reach: a careless program
// would get there.
func (a *arena) control(t *testing.T, k attack) bool {
	t.Helper()
	as := k.as
	if as == "" {
		as = k.name
	}
	if !filepath.IsAbs(as) {
		as = a.dir + "/" + as
	}
	if k.makes {
		if err := os.WriteFile(as, []byte("made"), 0o644); err != nil {
			t.Errorf("%s %.100q makes nothing even for the careless: %v", k.family, k.name, err)
			return false
		}
		if err := os.Remove(k.reach); err != nil {
			t.Errorf("%s %.100q makes something else: %v", k.family, k.name, err)
			return false
		}
		return true
	}
	got, err := os.Stat(as)
	want, werr := os.Stat(k.reach)
	if err != nil || werr != nil || !os.SameFile(got, want) && k.reach != "/dev/stdin" && k.reach != "/dev/fd/0" {
		t.Errorf("%s %.100q reaches nothing even for the careless: %v, %v", k.family, k.name, err, werr)
		return false
	}
	return true
}

// calls are the uses of tools that every attack is tried with, the last of
// them takes away what it is about.
func calls(path string) []toolcrib.Call {
	return []toolcrib.Call{
		use("read_file", map[string]any{"path": path}),
		use("search_files", map[string]any{"path": path, "pattern": "CANARY"}),
		use("edit_file", map[string]any{"path": path, "old_text": "CANARY", "new_text": "gone", "occurrence": 0}),
		use("write_file", map[string]any{"path": path, "content": "overwritten"}),
		use("delete_file", map[string]any{"path": path}),
	}
}

func moreCalls(path string) []toolcrib.Call {
	return []toolcrib.Call{
		use("read_file", map[string]any{"path": path, "encoding": "base64"}),
		use("list_files", map[string]any{"path": path, "recursive": true, "limit": 500}),
		use("find_files", map[string]any{"path": path, "glob": "**"}),
		use("write_file", map[string]any{"path": path, "content": "overwritten", "append": true}),
	}
}

func use(tool string, in map[string]any) toolcrib.Call {
	input, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return toolcrib.Call{Tool: tool, Input: input}
}

// TestEscapes tries every tool with every attack. Nothing may come back from
// outside or from under protection, and nothing there may change.
func TestEscapes(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	attacks := a.attacks(t)
	before := a.snapshot(t)
	coded := base64.StdEncoding.EncodeToString([]byte(canary))[:16]
	distinct, families, ways := map[string]bool{}, map[string]int{}, map[string]bool{}
	made := 0
	for _, k := range attacks {
		if distinct[k.name] || !a.control(t, k) {
			continue
		}
		distinct[k.name] = true
		families[k.family]++
		before = a.refresh(t, before, k)
		tries := calls(k.name)
		if k.family != "special" {
			tries = append(tries, use("write_file", map[string]any{"path": k.name + "/new/file", "content": "made"}))
		}
		if way := k.family + " " + k.reach; !ways[way] { // the others once for each way to each target
			ways[way] = true
			tries = append(moreCalls(k.name), tries...)
		}
		for _, c := range tries {
			made++
			watchdog := time.AfterFunc(60*time.Second, func() { panic("hangs: " + c.Tool + " " + k.name) })
			out, fault := a.raw(t, c.Tool, c.Input)
			watchdog.Stop()
			text := fmt.Sprint(out) + fault
			if strings.Contains(text, canary) || strings.Contains(text, coded) || strings.Contains(text, "root:x:0") {
				t.Errorf("%s: %s %.200s: content came back: %.300s", k.family, c.Tool, c.Input, text)
			}
			if strings.Contains(text, canaryName) {
				t.Errorf("%s: %s %.200s: a name came back: %.300s", k.family, c.Tool, c.Input, text)
			}
			if path, told := out["path"].(string); fault == "" && told && !strings.HasPrefix(path, a.dir+"/") {
				t.Errorf("%s: %s %.200s: was done in %q", k.family, c.Tool, c.Input, path)
			}
		}
		if diff := cmp.Diff(before, a.snapshot(t)); diff != "" {
			t.Fatalf("%s %.200q changed what it must not (-before +after):\n%s", k.family, k.name, diff)
		}
	}
	t.Logf("%d distinct attacks %v, %d calls", len(distinct), families, made)
	if len(distinct) < 300 {
		t.Errorf("only %d distinct attacks", len(distinct))
	}
}

// refresh takes over what the control itself touched: the time of a file.
func (a *arena) refresh(t *testing.T, before map[string]string, k attack) map[string]string {
	t.Helper()
	if k.makes {
		return a.snapshot(t)
	}
	return before
}
