package layer

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain is also the process that works on a layer, and the one that dies while
// it applies one.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("LAYER_ROOT") != "":
		workOnLayer()
	case os.Getenv("LAYER_UNDO_DIE_AT") != "":
		dieUndoing()
	case os.Getenv("LAYER_DIE_AT") != "":
		dieApplying()
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // under the race detector each program that a test starts would wait for a second at its end
	os.Exit(m.Run())
}

// workOnLayer mounts an overlay over a directory, in namespaces of its own, and
// becomes the shell that runs a script there.
func workOnLayer() {
	root, dir := os.Getenv("LAYER_ROOT"), os.Getenv("LAYER_DIR")
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "cannot mount a layer:", err)
			os.Exit(125)
		}
	}
	fail(os.Chdir("/"))
	fail(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	lower := root
	if earlier := os.Getenv("LAYER_EARLIER"); earlier != "" {
		lower = filepath.Join(earlier, UpperName) + ":" + root
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr", lower, filepath.Join(dir, UpperName), filepath.Join(dir, WorkName))
	fail(unix.Mount("overlay", root, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options))
	fail(os.Chdir(root))
	fail(unix.Exec("/bin/sh", []string{"sh", "-euc", os.Getenv("LAYER_SCRIPT")}, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "GIT_CONFIG_GLOBAL=/dev/null"}))
}

// ground is a directory that scripts work on.
type ground struct {
	t    *testing.T
	tree Tree
	dir  string // with the layer and the record

	earlier string // the directory of what an earlier script left waiting
	at      string // where the record lies, if not there
}

// newGround makes a directory and what a script finds in it.
func newGround(t *testing.T, before string) *ground {
	t.Helper()
	g := &ground{t: t, dir: t.TempDir()}
	g.tree = Tree{Root: filepath.Join(g.dir, "project"), Dir: filepath.Join(g.dir, "layer")}
	for _, dir := range []string{g.tree.Root, g.tree.Upper(), g.tree.Work()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = removeAll(g.dir) }) // the kernel and some scripts leave directories that t could not remove
	g.live(before)
	return g
}

// live runs a script on the directory itself.
func (g *ground) live(script string) {
	g.t.Helper()
	cmd := exec.CommandContext(g.t.Context(), "sh", "-euc", script)
	cmd.Dir, cmd.Env = g.tree.Root, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + g.dir, "GIT_CONFIG_GLOBAL=/dev/null"}
	if out, err := cmd.CombinedOutput(); err != nil {
		g.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// run runs a script on a layer and reads what it changed.
func (g *ground) run(script string) *Set {
	g.t.Helper()
	since := g.now()
	g.on(script)
	s, err := Read(g.t.Context(), []Tree{g.tree}, since)
	if err != nil {
		g.t.Fatal(err)
	}
	return s
}

// now is the time by the clock of the file system, after a tick of it.
func (g *ground) now() time.Time {
	g.t.Helper()
	time.Sleep(10 * time.Millisecond)
	path := filepath.Join(g.dir, "now")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		g.t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		g.t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond)
	return info.ModTime()
}

// on runs a script on the layer.
func (g *ground) on(script string) {
	g.t.Helper()
	cmd := exec.CommandContext(g.t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "LAYER_ROOT="+g.tree.Root, "LAYER_DIR="+g.tree.Dir, "LAYER_SCRIPT="+script, "LAYER_EARLIER="+g.earlier)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		g.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func (g *ground) apply(s *Set) {
	g.t.Helper()
	if err := s.Apply(g.t.Context(), Options{Record: g.record()}); err != nil {
		g.t.Fatal(err)
	}
}

// undo takes back what was applied, in a layer that has another name by then.
func (g *ground) undo() error {
	g.t.Helper()
	a, err := ReadApplied(g.record())
	if err != nil {
		return err
	}
	return a.Undo(g.t.Context())
}

func (g *ground) record() string { return filepath.Join(cmp.Or(g.at, g.dir), "record.json") }

// tree lists a directory with modes, links and contents. Two that are equal are
// listed equally.
func listing(t *testing.T, root string) string {
	t.Helper()
	var out []string
	first := map[uint64]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		line := fmt.Sprintf("%s %o", rel, st.Mode)
		switch d.Type() {
		case fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " -> " + target
		case 0:
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", text)
			if st.Nlink > 1 {
				if first[st.Ino] == "" {
					first[st.Ino] = rel
				}
				line += " = " + first[st.Ino]
			}
		}
		list, err := xattrs(path)
		if err != nil {
			return err
		}
		slices.Sort(list)
		out = append(out, strings.TrimSpace(line+" "+strings.Join(list, " ")))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}

// told is a change set in words.
func told(s *Set, root string) string {
	var out []string
	for _, c := range s.Changes {
		rel, _ := filepath.Rel(root, c.Path)
		line := c.Kind.String() + " " + rel
		if c.From != "" {
			from, _ := filepath.Rel(root, c.From)
			line += " from " + from
		}
		if c.ModeOnly {
			line += fmt.Sprintf(" mode %o", c.After.Mode.Perm())
		}
		if c.Conflict {
			line += " conflict"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

const project = `
	umask 022
	echo one > a; echo two > b; ln -s a link; mkdir -p src/deep empty conf
	echo x > src/x; echo deep > src/deep/file; echo secret > conf/.env; printf '#!/bin/sh\n' > tool; chmod 755 tool
	ln b hard`

// works are scripts, and what is told of each. After it was applied the tree must
// be as if the script had run on it.
func works() map[string][2]string {
	return map[string][2]string{
		"nothing":            {`cat a > /dev/null; ls -R > /dev/null`, ``},
		"rewritten alike":    {`cat a > /tmp/layer-a.$$; cat /tmp/layer-a.$$ > a; rm /tmp/layer-a.$$`, ``},
		"new file":           {`echo new > n`, `created n`},
		"new directory":      {`mkdir -p n/m; echo 1 > n/m/1; ln -s 1 n/m/2`, "created n\ncreated n/m\ncreated n/m/1\ncreated n/m/2"},
		"changed":            {`echo more >> a`, `changed a`},
		"same size":          {`echo eno > a`, `changed a`},
		"deleted":            {`rm a`, `deleted a`},
		"deleted directory":  {`rm -r src`, "deleted src\ndeleted src/deep\ndeleted src/deep/file\ndeleted src/x"},
		"directory replaced": {`rm -r src; mkdir src; echo y > src/y`, "deleted src/deep\ndeleted src/deep/file\ndeleted src/x\ncreated src/y"},
		"directory to file":  {`rm -r src; echo s > src`, "changed src\ndeleted src/deep\ndeleted src/deep/file\ndeleted src/x"},
		"file to directory":  {`rm a; mkdir a; echo in > a/in`, "changed a\ncreated a/in"},
		"file to link":       {`ln -sf tool a`, `changed a`},
		"link led elsewhere": {`ln -sfn b link`, `changed link`},
		"moved":              {`mv a z`, "deleted a\ncreated z from a"},
		"moved and edited":   {`mv a z; echo more >> z`, "deleted a\ncreated z"},
		"moved directory":    {`mv src lib`, "created lib\ncreated lib/deep\ncreated lib/deep/file from src/deep/file\ncreated lib/x from src/x\ndeleted src\ndeleted src/deep\ndeleted src/deep/file\ndeleted src/x"},
		"mode":               {`chmod 700 tool`, `changed tool mode 700`},
		"mode of directory":  {`chmod 700 src`, `changed src mode 700`},
		"mode of the top":    {`chmod 700 .`, `changed . mode 700`},
		"unreadable made":    {`mkdir n; echo 1 > n/1; chmod 000 n`, "created n\ncreated n/1"},
		"new hard links":     {`echo 1 > h1; ln h1 h2`, "created h1\ncreated h2"},
		"odd names":          {`mkdir 'a:b,c'; echo 1 > "a:b,c/$(printf 'x\ny\t\\')"; echo 2 > '-n'; echo 3 > '...'`, ""},
		"deep":               {`mkdir -p d/e/f/g; echo 1 > d/e/f/g/h; echo 2 > src/deep/new; rm src/x`, ""},
		"made and removed":   {`echo 1 > n; mkdir m; rm n; rmdir m`, ``},
		"empty removed":      {`rmdir empty`, `deleted empty`},
		"git":                {`git init -q .; git add a src; git -c user.name=n -c user.email=e commit -qm one; git checkout -q -b other; git mv a moved; git -c user.name=n -c user.email=e commit -qm two`, ""},
	}
}

func TestAppliedIsAsIfItHadRunThere(t *testing.T) {
	for name, work := range works() {
		t.Run(name, func(t *testing.T) {
			g, direct := newGround(t, project), newGround(t, project)
			before := listing(t, g.tree.Root)
			s := g.run(work[0])
			if got := told(s, g.tree.Root); work[1] != "" && got != work[1] || work[1] == "" && got == "" && strings.Contains("odd names deep git", name) {
				t.Errorf("told\n%s\nwant\n%s", got, work[1])
			}
			if now := listing(t, g.tree.Root); now != before {
				t.Fatalf("the script reached the live tree:\n%s\nbefore\n%s", now, before)
			}
			g.apply(s)
			if name == "git" {
				return // its commits have times
			}
			direct.live(work[0])
			for _, d := range []*ground{g, direct} {
				d.live(`find . -type d ! -perm -u+rwx -exec chmod u+rwx {} + || :`) // both alike, to look into it
			}
			if got, want := listing(t, g.tree.Root), listing(t, direct.tree.Root); got != want {
				t.Errorf("applied:\n%s\nrun there:\n%s", got, want)
			}
		})
	}
}

func TestUndoneIsAsBefore(t *testing.T) {
	for name, work := range works() {
		t.Run(name, func(t *testing.T) {
			g := newGround(t, project)
			before := listing(t, g.tree.Root)
			s := g.run(work[0])
			g.apply(s)
			if s.Empty() {
				return
			}
			if err := g.undo(); err != nil {
				t.Fatal(err)
			}
			if now := listing(t, g.tree.Root); now != before {
				t.Errorf("undone:\n%s\nbefore\n%s", now, before)
			}
		})
	}
}
