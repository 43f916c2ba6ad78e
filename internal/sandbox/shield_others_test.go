package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// beside is a server without network that runs in a project, and commands beside it.
type beside struct {
	t        *testing.T
	shield   *sandbox.Shield
	top, lib string
	server   *sandbox.Covering
}

func newBeside(t *testing.T) *beside {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("what changed is not known here")
	}
	both, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &beside{t: t, shield: shield(t, "", []string{".ssh"}, nil), top: filepath.Join(both, "top"), lib: filepath.Join(both, "lib")}
	b.shield.Holds = &sandbox.Holds{Dir: filepath.Join(t.TempDir(), "holds")}
	b.repository(b.lib, "")
	plantTree(t, b.top, "file")
	b.server = b.look(b.dir())
	return b
}

func (b *beside) dir(more ...string) toolcrib.Grant {
	g := toolcrib.Grant{Dirs: []files.Dir{{Path: b.top, Write: true}}}
	for _, dir := range more {
		g.Dirs = append(g.Dirs, files.Dir{Path: dir})
	}
	return g
}

func (b *beside) look(g toolcrib.Grant) *sandbox.Covering {
	b.t.Helper()
	c, err := b.shield.LookAt(g)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

func (b *beside) online() toolcrib.Grant {
	g := b.dir()
	g.Hosts = []string{"*"}
	return g
}

func (b *beside) repository(dir, config string) {
	b.t.Helper()
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tbare = false\n" + config, "objects/info/packs": "", "refs/heads/x": ""} {
		file := filepath.Join(dir, ".git", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
}

// aside ends a program and tells whether the repository is set aside then.
func (b *beside) aside(c *sandbox.Covering) bool {
	b.t.Helper()
	notes := c.Sweep()
	info, err := os.Lstat(filepath.Join(b.top, "new", ".git", "HEAD"))
	if err != nil {
		b.t.Fatal(err)
	}
	if info.IsDir() != (len(notes) > 0) {
		b.t.Errorf("%v, %q", info.Mode(), notes)
	}
	return info.IsDir()
}

const partial = "[remote \"origin\"]\n\turl = https://example.com/x\n\tpromisor = true\n\tpartialclonefilter = blob:none\n"

// TestPartialCloneBeside: a partial clone is held against a program without
// network only if nobody had the network meanwhile.
func TestPartialCloneBeside(t *testing.T) {
	for name, c := range map[string]struct {
		run   func(b *beside)
		aside bool
	}{
		"nobody":             {func(b *beside) { b.repository(b.top+"/new", partial) }, true},
		"another without it": {func(b *beside) { c := b.look(b.dir()); c.Running()(); b.repository(b.top+"/new", partial) }, true},
		"one made it": {func(b *beside) {
			c := b.look(b.online())
			ended := c.Running()
			b.repository(b.top+"/new", partial)
			if b.aside(c) {
				t.Error("it was set aside at once")
			}
			ended()
		}, false},
		"one runs": {func(b *beside) { b.look(b.online()).Running(); b.repository(b.top+"/new", partial) }, false},
		"with it and a setting that starts a program": {func(b *beside) {
			b.look(b.online()).Running()
			b.repository(b.top+"/new", partial+"[core]\n\tsshCommand = x\n")
		}, true},
		"one ran before": {func(b *beside) {
			b.look(b.online()).Running()()
			b.server = b.look(b.dir())
			b.repository(b.top+"/new", partial)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBeside(t)
			c.run(b)
			if got := b.aside(b.server); got != c.aside {
				t.Errorf("it is set aside: %v", got)
			}
		})
	}
}

// TestJudgedOnce: what was found harmless after one program is not held against
// another that was granted less, unless it or what it names changed since.
func TestJudgedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		names string
		then  func(b *beside)
		aside bool
	}{
		"as it was": {"LIB", func(*beside) {}, false},
		"written in place": {"LIB", func(b *beside) {
			b.repository(b.top+"/new", fmt.Sprintf("[remote \"origin\"]\n\turl = %s\n", b.lib))
		}, true},
		"another in its place": {"LIB", func(b *beside) {
			if err := os.Rename(b.top+"/new", b.top+"/old"); err != nil {
				b.t.Fatal(err)
			}
			if err := os.RemoveAll(b.top + "/old"); err != nil {
				b.t.Fatal(err)
			}
			b.repository(b.top+"/new", fmt.Sprintf("[remote \"origin\"]\n\turl = %s\n", b.lib))
		}, true},
		"a hook": {"LIB", func(b *beside) { plantTree(b.t, b.top, "new/.git/hooks/pre-commit") }, true},
		"what it names is led elsewhere": {"../near", func(b *beside) {
			if err := os.Rename(b.top+"/near", b.top+"/far"); err != nil {
				b.t.Fatal(err)
			}
			if err := os.Symlink(b.lib, b.top+"/near"); err != nil {
				b.t.Fatal(err)
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBeside(t)
			command := b.look(b.dir(b.lib))
			b.repository(b.top+"/near", "")
			b.repository(b.top+"/new", fmt.Sprintf("[remote \"origin\"]\n\turl = %s\n", strings.ReplaceAll(c.names, "LIB", b.lib)))
			if b.aside(command) {
				t.Fatal("it was set aside at once")
			}
			c.then(b)
			if got := b.aside(b.server); got != c.aside {
				t.Errorf("it is set aside: %v", got)
			}
		})
	}
}

// TestAsidesAreListed: what was set aside can be asked for until it is put back.
func TestAsidesAreListed(t *testing.T) {
	b := newBeside(t)
	b.repository(b.top+"/new", "[core]\n\tfsmonitor = x\n")
	if !b.aside(b.server) {
		t.Fatal("it was not set aside")
	}
	list := b.shield.Holds.Asides()
	if len(list) != 1 || list[0].Path != filepath.Join(b.top, "new", ".git") || list[0].Why == "" || !strings.HasPrefix(list[0].Undo, "remove the directory") || list[0].When.IsZero() {
		t.Fatalf("%+v", list)
	}
	if err := os.RemoveAll(filepath.Join(b.top, "new", ".git", "HEAD")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.top, "new", ".git", "HEAD"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if list := b.shield.Holds.Asides(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	if list := (*sandbox.Holds)(nil).Asides(); list != nil {
		t.Errorf("%+v", list)
	}
	// Whoever writes anything else there is no list.
	if err := os.WriteFile(b.shield.Holds.Dir+".aside", []byte("{}\nx\n[1]\n\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list := b.shield.Holds.Asides(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}
