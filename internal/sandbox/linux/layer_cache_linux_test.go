//go:build amd64 || arm64

package linux

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// cached is a project with build caches, on layers.
type cached struct {
	t              *testing.T
	s              *Sandbox
	project, cache string
}

func newCached(t *testing.T) *cached {
	c := &cached{t: t, project: tempProject(t), cache: tempProject(t)}
	put(t, c.cache, map[string]string{"old": "old\n", "gone": "gone\n", "used": "used\n", "mod/v1/f": "f\n"})
	past := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(c.cache, "used"), past, past); err != nil {
		t.Fatal(err)
	}
	c.s = open(t, Config{Layers: filepath.Join(t.TempDir(), "layers"), Cache: c.cache, CachePlace: "/var/cache/build", CacheEnv: []string{"C=/var/cache/build"}, CacheTools: []string{"run_command"}})
	t.Cleanup(func() { noLayers(t, c.s) })
	return c
}

func (c *cached) run(ctx context.Context, stdin io.Reader, line string) toolcrib.Exit {
	c.t.Helper()
	var out strings.Builder
	exit, err := c.s.Run(ctx, toolcrib.Cmd{Tool: "run_command", Path: "/bin/sh", Args: []string{"-euc", line}, Dir: c.project, Env: []string{"PATH=/usr/bin:/bin"}, Stdin: stdin, Stdout: &out, Stderr: &out, OnLayer: true},
		toolcrib.Grant{Dirs: []files.Dir{{Path: c.project, Write: true}}, Programs: []string{"*"}})
	if err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	if exit.Code != 0 && !exit.TimedOut {
		c.t.Fatalf("%s: %+v\n%s", line, exit, out.String())
	}
	return exit
}

// has is what a file of the live cache holds.
func (c *cached) has(name string) string {
	text, err := os.ReadFile(filepath.Join(c.cache, name))
	if err != nil {
		return "-"
	}
	return strings.TrimSpace(string(text))
}

const cacheWork = `echo new > $C/new; echo changed > $C/old; rm $C/gone; touch $C/used; mkdir -p $C/mod/v2/d; echo f > $C/mod/v2/d/f; ln -s /etc/passwd $C/link
	chmod -w $C/mod/v2/d $C/mod/v2; echo x > $C/tmp; mv $C/tmp $C/mod/renamed; mkfifo $C/pipe; rm -r $C/mod/v1; mkdir $C/mod/v1; echo g > $C/mod/v1/g;`

// checkKept holds the live cache against what cacheWork did.
func (c *cached) checkKept(kept bool) {
	c.t.Helper()
	want := map[string]string{"new": "-", "old": "old", "gone": "gone", "mod/v2/d/f": "-", "mod/renamed": "-", "tmp": "-", "mod/v1/f": "f", "mod/v1/g": "-"}
	if kept {
		want = map[string]string{"new": "new", "old": "changed", "gone": "-", "mod/v2/d/f": "f", "mod/renamed": "x", "tmp": "-", "mod/v1/f": "-", "mod/v1/g": "g"}
	}
	for name, text := range want {
		if got := c.has(name); got != text {
			c.t.Errorf("the cache has %q in %s, want %q", got, name, text)
		}
	}
	info, err := os.Stat(filepath.Join(c.cache, "used"))
	if err != nil || time.Since(info.ModTime()) < time.Hour != kept {
		c.t.Errorf("the time of what was used: %v, %v", info.ModTime(), err)
	}
	if _, err := os.Lstat(filepath.Join(c.cache, "pipe")); !os.IsNotExist(err) {
		c.t.Errorf("there is a pipe: %v", err)
	}
	_, err = os.Readlink(filepath.Join(c.cache, "link"))
	if (err == nil) != kept {
		c.t.Errorf("a link: %v", err)
	}
	if kept {
		if info, err := os.Stat(filepath.Join(c.cache, "mod", "v2", "d")); err != nil || info.Mode().Perm()&0o222 != 0 {
			c.t.Errorf("a directory lost its permissions: %v, %v", info, err)
		}
		_ = os.Chmod(filepath.Join(c.cache, "mod", "v2"), 0o755) // to be removed
		_ = os.Chmod(filepath.Join(c.cache, "mod", "v2", "d"), 0o755)
	}
}

// TestLayerCaches: what a command does to build caches is no change to be judged. It is
// kept where the command changed nothing else, or all of that was applied, and dropped
// otherwise.
func TestLayerCaches(t *testing.T) {
	all := func(string) bool { return true }
	t.Run("nothing else", func(t *testing.T) {
		c := newCached(t)
		if exit := c.run(t.Context(), nil, cacheWork); exit.Changes != nil {
			t.Errorf("changes: %+v", exit.Changes.List())
		}
		c.checkKept(true)
		c.run(t.Context(), nil, `test "$(cat $C/new)" = new && test -e $C/mod/v2/d/f`)
	})
	t.Run("applied", func(t *testing.T) {
		c := newCached(t)
		exit := c.run(t.Context(), nil, cacheWork+`echo 1 > n`)
		if exit.Changes == nil || len(exit.Changes.List()) != 1 {
			t.Fatalf("changes: %+v", exit.Changes)
		}
		c.checkKept(false)
		if err := exit.Changes.Apply(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		c.checkKept(true)
	})
	t.Run("applied in part", func(t *testing.T) {
		c := newCached(t)
		exit := c.run(t.Context(), nil, cacheWork+`echo 1 > n; echo 2 > m`)
		if err := exit.Changes.Apply(t.Context(), func(path string) bool { return filepath.Base(path) == "n" }); err != nil {
			t.Fatal(err)
		}
		c.checkKept(false)
	})
	t.Run("dropped", func(t *testing.T) {
		c := newCached(t)
		exit := c.run(t.Context(), nil, cacheWork+`echo 1 > n`)
		if err := exit.Changes.Drop(); err != nil {
			t.Fatal(err)
		}
		c.checkKept(false)
	})
	t.Run("cut off", func(t *testing.T) {
		c := newCached(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		in, hold := io.Pipe() // it waits for what never comes
		defer hold.Close()    // nothing is written
		go func() {
			deadline := time.Now().Add(time.Minute)
			for time.Now().Before(deadline) {
				if found, _ := filepath.Glob(filepath.Join(c.s.cfg.Layers, "*", "*", "upper", "mod", "v1", "g")); len(found) > 0 {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
			cancel()
		}()
		if exit := c.run(ctx, in, cacheWork+`read -r x`); !exit.TimedOut || exit.Changes != nil {
			t.Errorf("%+v", exit)
		}
		c.checkKept(false)
	})
}

// TestLayerCacheInUse: what somebody else changed in a cache meanwhile stays, and is no
// question.
func TestLayerCacheInUse(t *testing.T) {
	c := newCached(t)
	in, more := io.Pipe()
	go func() {
		deadline := time.Now().Add(time.Minute)
		for time.Now().Before(deadline) {
			if found, _ := filepath.Glob(filepath.Join(c.s.cfg.Layers, "*", "*", "upper", "mod", "v1", "g")); len(found) > 0 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		put(t, c.cache, map[string]string{"old": "theirs\n", "new": "theirs\n", "mod/v1/h": "theirs\n"})
		_ = more.Close()
	}()
	if exit := c.run(t.Context(), in, cacheWork+`cat > /dev/null`); exit.Changes != nil {
		t.Errorf("changes: %+v", exit.Changes.List())
	}
	for name, want := range map[string]string{"old": "theirs", "new": "theirs", "mod/v1/h": "theirs", "mod/renamed": "x", "mod/v2/d/f": "f", "mod/v1/g": "g"} {
		if got := c.has(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	_ = os.Chmod(filepath.Join(c.cache, "mod", "v2"), 0o755) // to be removed
	_ = os.Chmod(filepath.Join(c.cache, "mod", "v2", "d"), 0o755)
}

// TestLayerCacheOfReaders: who may write nothing but a cache works on a layer of it.
func TestLayerCacheOfReaders(t *testing.T) {
	c := newCached(t)
	exit, err := c.s.Run(t.Context(), toolcrib.Cmd{Tool: "run_command", Path: "/bin/sh", Args: []string{"-c", "echo x > $C/new; echo x > x"}, Dir: c.project, Env: []string{"PATH=/usr/bin:/bin"}, OnLayer: true},
		toolcrib.Grant{Dirs: []files.Dir{{Path: c.project}}, Programs: []string{"*"}})
	if err != nil || exit.Code == 0 || exit.Changes != nil || c.has("new") != "x" {
		t.Errorf("%+v, %v, %s", exit, err, c.has("new"))
	}
}
