package reach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/gobuild"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

// mostBuilt bounds a program that was built.
const mostBuilt = 64 << 20

// built gives the program of a source, made now or before, beside the copy of the source. The compiler runs in the sandbox,
// with a directory of its own, a cache that only compilers write, and no network.
func (t *Tools) built(ctx context.Context, f *toolfile.File, source string) (string, error) {
	program := strings.TrimSuffix(source, filepath.Ext(source)) + "-" + runtime.GOARCH
	if _, err := os.Lstat(program); err == nil {
		return program, linked.Straight(program, filepath.Dir(filepath.Dir(t.Copies.Dir)))
	}
	compiler, err := t.Look("go")
	if err != nil {
		return "", fmt.Errorf("%s is a Go source, and is built before it runs: %w", filepath.Base(f.Path), err)
	}
	scratch, cache, err := t.workplace()
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // what stays does no harm
	for name, text := range map[string][]byte{gobuild.Main: f.Content, "go.mod": []byte(gobuild.Module)} {
		if err := os.WriteFile(filepath.Join(scratch, name), text, 0o600); err != nil {
			return "", err
		}
	}
	grant := toolcrib.Grant{Time: f.Timeout, Dirs: []files.Dir{{Path: scratch, Write: true}, {Path: cache, Write: true}, {Path: gobuild.Root(realDir(compiler))}}}
	var said bytes.Buffer
	cmd := toolcrib.Cmd{Path: compiler, Args: []string{"build", "-o", "program", "."}, Dir: scratch, Stdout: &said, Stderr: &said, Tool: f.Name, Effects: toolcrib.Pure}
	cmd.Env = gobuild.Env(t.Plain(grant.Dirs, nil), cache)
	exit, err := t.RunExact(ctx, cmd, grant)
	switch {
	case err != nil:
		return "", err
	case exit.TimedOut && errors.Is(ctx.Err(), context.Canceled):
		return "", ctx.Err()
	case exit.TimedOut:
		return "", fmt.Errorf("building %s took longer than a call of it may take; the next call goes on where this one ended", filepath.Base(f.Path))
	case exit.Code != 0:
		return "", fmt.Errorf("%s cannot be built:\n%s", filepath.Base(f.Path), strings.TrimSpace(said.String()))
	}
	content, err := plainfile.Read(filepath.Join(scratch, "program"), mostBuilt)
	if err != nil {
		return "", err
	}
	if err := durable.Replace(program, content, 0o500); err != nil {
		return "", fmt.Errorf("putting the program where it runs: %w", err)
	}
	return program, nil
}

// workplace makes a directory to build in, and gives the cache of builds. Where tools could write, the cache is a new one:
// they could put another program into it.
func (t *Tools) workplace() (scratch, cache string, err error) {
	if t.Home == "" {
		return "", "", errors.New("there is no home directory to build in")
	}
	work := gobuild.Work(t.Home)
	if err := os.MkdirAll(work, 0o700); err != nil {
		return "", "", err
	}
	if work, err = filepath.EvalSymlinks(work); err != nil { // a sandbox is granted no link
		return "", "", err
	}
	if scratch, err = os.MkdirTemp(work, "build-"); err != nil {
		return "", "", err
	}
	cache = filepath.Join(work, filepath.Base(gobuild.Cache(t.Home)))
	if slices.ContainsFunc(t.Grant.Dirs, func(d files.Dir) bool { return d.Write && linked.Within(cache, realDir(d.Path)) }) {
		cache = filepath.Join(scratch, "cache")
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", "", err
	}
	cache, err = filepath.EvalSymlinks(cache)
	return scratch, cache, err
}
