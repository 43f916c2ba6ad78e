package files

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
)

// desk is a crib with the box and directories made for the test.
type desk struct {
	*toolcrib.Crib
	box   *Box
	dir   string // granted for writing, the first
	read  string // granted for reading only
	trash string
	out   string // not granted
}

// grantedBox is the box with the handle put into every call, for suites whose
// crib grants nothing.
type grantedBox struct {
	*Box
	dirs []files.Dir
	opt  files.Options
}

func (g grantedBox) Tools(ctx context.Context) ([]toolcrib.Tool, error) {
	tools, err := g.Box.Tools(ctx)
	for i := range tools {
		run := tools[i].Run
		tools[i].Run = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
			files, err := files.New(g.dirs, g.opt)
			if err != nil {
				return nil, err
			}
			defer files.Close()
			env.Files = files
			return run(ctx, env, input)
		}
	}
	return tools, err
}

func newDesk(t testing.TB, cfg Config) *desk {
	t.Helper()
	box, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{
		box: box, dir: filepath.Join(base, "work"), read: filepath.Join(base, "lib"),
		trash: filepath.Join(base, "state", "trash"), out: filepath.Join(base, "out"),
	}
	for _, dir := range []string{d.dir, d.read, d.out} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	g := d.granted(t)
	d.Crib = &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{cribtest.Allow()}, Journal: toolcrib.NoJournal{},
		Log: slog.New(slog.DiscardHandler), Limits: toolcrib.Limits{Timeout: 30 * time.Second, Output: 64 << 20, Input: 64 << 20},
		Grant: toolcrib.Grant{Dirs: g.dirs}, Files: g.opt,
	}
	_, faults := d.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}})
	for _, f := range faults {
		t.Fatal(f)
	}
	return d
}

func (d *desk) granted(t testing.TB) grantedBox {
	t.Helper()
	p, err := files.NewProtection(d.out, append(files.DefaultProtected(), filepath.Join(filepath.Dir(d.dir), "state"))...)
	if err != nil {
		t.Fatal(err)
	}
	return grantedBox{d.box, []files.Dir{{Path: d.dir, Write: true}, {Path: d.read}}, files.Options{Base: d.dir, Protected: p, Trash: d.trash}}
}

// call uses a tool and gives its value, or the text of what went wrong.
func (d *desk) call(t testing.TB, tool string, in map[string]any) (map[string]any, string) {
	t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return d.raw(t, tool, input)
}

// callOf is a call of the desk's caller.
func callOf(t testing.TB, tool string, in map[string]any) toolcrib.Call {
	t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return toolcrib.Call{Tool: tool, Input: input, Caller: toolcrib.Caller{Subject: "ann", Session: "s"}}
}

// valueText is a value as a caller reads it.
func valueText(t testing.TB, value json.RawMessage) string {
	t.Helper()
	if value == nil {
		return ""
	}
	var out map[string]any
	if err := json.Unmarshal(value, &out); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(out)
}

func (d *desk) raw(t testing.TB, tool string, input []byte) (map[string]any, string) {
	t.Helper()
	result, err := d.Call(t.Context(), toolcrib.Call{Tool: tool, Input: input, Caller: toolcrib.Caller{Subject: "ann", Session: "s"}})
	if err != nil {
		return nil, err.Error()
	}
	var out map[string]any
	if result.Value != nil {
		if err := json.Unmarshal(result.Value, &out); err != nil {
			t.Fatal(err)
		}
	}
	if result.Failed {
		return out, result.String()
	}
	return out, ""
}

// must is call for what has to work.
func (d *desk) must(t testing.TB, tool string, in map[string]any) map[string]any {
	t.Helper()
	out, fault := d.call(t, tool, in)
	if fault != "" {
		t.Fatalf("%s %v: %s", tool, in, fault)
	}
	return out
}

// fails is call for what must not work.
func (d *desk) fails(t testing.TB, want, tool string, in map[string]any) {
	t.Helper()
	if out, fault := d.call(t, tool, in); !strings.Contains(fault, want) || fault == "" {
		t.Errorf("%s %v: got %q (%v), want a failure with %q", tool, in, fault, out, want)
	}
}

func (d *desk) put(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(d.dir, name)
	write(t, path, content)
	return path
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func content(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestToolbox(t *testing.T) {
	t.Parallel()
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox {
		d := newDesk(t, Config{})
		d.put(t, "a", "some text\nof two lines\n")
		return d.granted(t)
	})
}

func TestNothingGranted(t *testing.T) {
	box, err := Open(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := box.Tools(t.Context())
	if err != nil || len(tools) == 0 {
		t.Fatal(tools, err)
	}
	for _, tool := range tools {
		_, err := tool.Run(t.Context(), &toolcrib.Env{}, json.RawMessage(`{"path":"a","content":"","old_text":"a","new_text":"","glob":"*","pattern":"a","file_pattern":"*"}`))
		if toolcrib.CodeOf(err) != toolcrib.CodeDenied || !strings.Contains(err.Error(), "no directory was granted") {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
	if _, err := Open(t.Context(), Config{MaxRead: -1}); err == nil {
		t.Error("a negative limit was taken")
	}
}
