package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// scanned lists files as the joint does.
func scanned(_ context.Context, dir string, want func(string) bool) ([]Seen, bool) {
	var list []Seen
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it is gone
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if info, err := d.Info(); err == nil && d.Type().IsRegular() && want(d.Name()) {
			list = append(list, Seen{path, info.ModTime(), info.Size()})
		}
		return nil
	})
	return list, false
}

// rig is a box and the files of a project.
type rig struct {
	t    testing.TB
	box  *Box
	root string
	opt  files.Options
	dirs []files.Dir
}

func (r *rig) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) read(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.root, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

func (r *rig) env(id string) *toolcrib.Env {
	r.t.Helper()
	handle, err := files.New(r.dirs, r.opt)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = handle.Close() })
	return &toolcrib.Env{Files: handle, Call: toolcrib.Call{ID: id, Caller: toolcrib.Caller{Subject: "ann"}}, Emit: func(toolcrib.Event) {}}
}

func (r *rig) tool(name string) toolcrib.Tool {
	r.t.Helper()
	tools, err := r.box.Tools(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.Name == name {
			return tool
		}
	}
	r.t.Fatalf("there is no %s", name)
	return toolcrib.Tool{}
}

type args map[string]any

// try makes a call and gives its answer, or how it failed.
func try[Out any](ctx context.Context, r *rig, name string, in args) (out Out, failure string) {
	r.t.Helper()
	text, err := json.Marshal(in)
	if err != nil {
		r.t.Fatal(err)
	}
	result, err := r.tool(name).Run(ctx, r.env("call"), text)
	switch {
	case err != nil:
		return out, err.Error()
	case result.Failed:
		return out, result.String()
	}
	if err := json.Unmarshal(result.Value, &out); err != nil {
		r.t.Fatal(err)
	}
	return out, ""
}

func ask[Out any](r *rig, name string, in args) Out {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	out, failure := try[Out](ctx, r, name, in)
	if failure != "" {
		r.t.Fatalf("%s %v: %s", name, in, failure)
	}
	return out
}

func newRig(t testing.TB, cfg Config, run func(context.Context, Program) (toolcrib.Exit, error)) *rig {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return newRigAt(t, root, cfg, Needs{Run: run, Scan: scanned, Find: func(name string) (string, error) { return "/bin/" + name, nil }})
}

func newRigAt(t testing.TB, root string, cfg Config, needs Needs) *rig {
	t.Helper()
	protected, err := files.NewProtection("/nobody", files.DefaultProtected()...)
	if err != nil {
		t.Fatal(err)
	}
	box, err := Open(t.Context(), cfg, needs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	return &rig{t: t, box: box, root: root, dirs: []files.Dir{{Path: root, Write: true}}, opt: files.Options{Base: root, Protected: protected, Trash: ""}}
}
