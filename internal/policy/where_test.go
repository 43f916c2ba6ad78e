//go:build unix

package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
)

// movingCrib has tools for files that do no more than their name says, and
// rules about places.
func movingCrib(t *testing.T, root string, m Mode, around func()) *toolcrib.Crib {
	t.Helper()
	tool := func(name string, e toolcrib.Effects, do func(*files.Handle, string) error) toolcrib.Tool {
		return toolcrib.Define(toolcrib.Spec{Name: name, Effects: e, Group: "fs"}, func(_ context.Context, env *toolcrib.Env, in pathInput) (pathInput, error) {
			return pathInput{}, do(env.Files, in.Path)
		})
	}
	box := toolcrib.NewBox("files",
		tool("write_file", reads|writes, func(f *files.Handle, p string) error { return f.WriteFile(p, []byte("written"), nil) }),
		tool("read_file", reads, func(f *files.Handle, p string) error {
			text, _, err := f.ReadFile(p, 1000)
			if err == nil && strings.Contains(string(text), "kept") {
				t.Errorf("read_file read %q", text)
			}
			return err
		}),
		tool("delete_file", reads|writes|toolcrib.Destroys, func(f *files.Handle, p string) error {
			_, err := f.Remove(p)
			return err
		}))
	trash := t.TempDir()
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: &cribtest.Memory{}, Files: files.Options{Base: root, Trash: trash},
		Grant: toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}},
		Guards: obeyingDesk(t, root, m, nil, Layer{Rank: RankUser, Permissions: Permissions{
			Allow: []string{"write_file(./src/**)"}, Ask: []string{"write_file(./deploy/**)", "read_file(./private/**)", "delete_file(./deploy/**)"},
		}}),
	}
	if around != nil {
		crib.Around = []func(toolcrib.Entry, toolcrib.Tool) toolcrib.Tool{func(_ toolcrib.Entry, tl toolcrib.Tool) toolcrib.Tool {
			run := tl.Run
			tl.Run = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
				around()
				return run(ctx, env, input)
			}
			return tl
		}}
	}
	if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}}); len(faults) > 0 {
		t.Fatal(faults)
	}
	return crib
}

// movingProject has places that are asked about, and the link way beside two
// others that are put in its place.
func movingProject(t *testing.T, good, bad string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"src/in", "other", ".vscode", "deploy", "private", "links"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, "f"), []byte("kept in "+dir), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "src", "in", "f"), []byte("free"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"src/way": good, "src/next": bad, "deploy/l": "../src/in/f", "src/in/l": "f"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// state is every file below a directory but src, with what it holds.
func state(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == filepath.Join(root, "src") {
			return fs.SkipDir
		}
		if e.Type().IsRegular() {
			text, err := os.ReadFile(name)
			fmt.Fprintf(&b, "%s %q\n", name, text)
			return err
		}
		fmt.Fprintln(&b, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var movingCases = []struct {
	name, tool, path, good, bad string
	mode                        Mode
}{
	{"obeyed", "write_file", "src/way/tasks.json", "in", "../.vscode", ModeAutoEdit},
	{"obeyed, directories made", "write_file", "src/way/a/b/c", "in", "../.vscode", ModeAutoEdit},
	{"obeyed, existing", "write_file", "src/way/f", "in", "../.vscode", ModeAutoEdit},
	{"obeyed, by a link to the file", "write_file", "src/way", "in/f", "../.vscode/f", ModeAutoEdit},
	{"obeyed, by a link to nothing", "write_file", "src/way", "in/new", "../.mcp.json", ModeAutoEdit},
	{"obeyed, removed", "delete_file", "src/way/f", "in", "../.vscode", ModeAutoEdit},
	{"asked", "write_file", "src/way/f", "in", "../deploy", ModeAutoEdit},
	{"asked, removed link", "delete_file", "src/way/l", "in", "../deploy", ModeAutoEdit},
	{"asked, read", "read_file", "src/way/f", "in", "../private", ModeDefault},
	{"not allowed", "write_file", "src/way/f", "in", "../other", ModeDefault},
	{"not allowed, by a link to nothing", "write_file", "src/way", "in/new", "../other/new", ModeDefault},
}

// TestMovedLink: a link that is changed after a call was judged leads the call
// nowhere else.
func TestMovedLink(t *testing.T) {
	for _, tt := range movingCases {
		t.Run(tt.name, func(t *testing.T) {
			root := movingProject(t, tt.good, tt.bad)
			before := state(t, root)
			crib := movingCrib(t, root, tt.mode, func() {
				if err := os.Rename(filepath.Join(root, "src", "next"), filepath.Join(root, "src", "way")); err != nil {
					t.Error(err)
				}
			})
			r, err := crib.Call(t.Context(), toolcrib.Call{Tool: tt.tool, Input: mustJSON(t, pathInput{tt.path})})
			if err != nil || !r.Failed || !strings.Contains(r.String(), "leads somewhere else than when it was judged") {
				t.Errorf("the call gave %v, %v", r, err)
			}
			if after := state(t, root); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

// TestJudgedLink: where nothing is changed, the same calls are asked about, or
// done.
func TestJudgedLink(t *testing.T) {
	for _, tt := range movingCases {
		t.Run(tt.name, func(t *testing.T) {
			root := movingProject(t, tt.bad, tt.good)
			before := state(t, root)
			crib := movingCrib(t, root, tt.mode, nil)
			_, err := crib.Call(t.Context(), toolcrib.Call{Tool: tt.tool, Input: mustJSON(t, pathInput{tt.path})})
			if toolcrib.CodeOf(err) != toolcrib.CodeUnavailable { // nobody is there to be asked
				t.Errorf("the call gave %v", err)
			}
			if after := state(t, root); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
			root = movingProject(t, tt.good, tt.bad)
			crib = movingCrib(t, root, tt.mode, nil)
			if r, err := crib.Call(t.Context(), toolcrib.Call{Tool: tt.tool, Input: mustJSON(t, pathInput{tt.path})}); err != nil || r.Failed {
				t.Errorf("the call about the good one gave %v, %v", r, err)
			}
		})
	}
}

// TestFlippedLink: no call gets past what was judged while a link changes all
// the time.
func TestFlippedLink(t *testing.T) {
	for _, tt := range movingCases {
		if tt.tool == "delete_file" {
			continue // there is only one to remove
		}
		t.Run(tt.name, func(t *testing.T) {
			root := movingProject(t, tt.good, tt.bad)
			before := state(t, root)
			crib := movingCrib(t, root, tt.mode, nil)
			var over atomic.Bool
			var flips atomic.Int64
			var group sync.WaitGroup
			group.Go(func() {
				way, next := filepath.Join(root, "src", "way"), filepath.Join(root, "src", "next")
				for targets := []string{tt.good, tt.bad}; !over.Load(); flips.Add(1) {
					_ = os.Remove(next)
					if err := errors.Join(os.Symlink(targets[flips.Load()%2], next), os.Rename(next, way)); err != nil {
						t.Error(err)
						return
					}
				}
			})
			done := 0
			for end := time.Now().Add(150 * time.Millisecond); time.Now().Before(end); {
				if r, err := crib.Call(t.Context(), toolcrib.Call{Tool: tt.tool, Input: mustJSON(t, pathInput{tt.path})}); err == nil && !r.Failed {
					done++
				}
			}
			over.Store(true)
			group.Wait()
			if after := state(t, root); after != before {
				t.Errorf("after %d flips and %d calls that were done, before:\n%s\nafter:\n%s", flips.Load(), done, before, after)
			}
			t.Logf("%d flips, %d calls done", flips.Load(), done)
		})
	}
}

// TestOddNamesLead: a link is followed whatever its name, also to what is not
// there yet.
func TestOddNamesLead(t *testing.T) {
	root := movingProject(t, "in", "../.vscode")
	for name, target := range map[string]string{"a\nb": ".vscode", "\u200b": ".vscode", "to": ".mcp.json", "src/to": "../.github/workflows", "far": "src/to/ci.yml"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []Mode{ModeAutoEdit, ModeYolo} {
		guards := obeyingDesk(t, root, m, nil)
		for _, name := range []string{"a\nb/tasks.json", "\u200b/x", "to", "src/../to", "./to/", "src/to/ci.yml", "far"} {
			r := toolcrib.Review{Spec: toolcrib.Entry{Spec: toolcrib.Spec{Name: "write_file", Effects: reads | writes}, Native: "write_file", Box: "files"}, Input: mustJSON(t, pathInput{name})}
			if v, err := guards[0].Judge(t.Context(), r); err != nil || v.Decision != toolcrib.Ask {
				t.Errorf("%s: %q: %+v, %v", m, name, v, err)
			}
		}
	}
}
