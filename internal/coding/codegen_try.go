package coding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/codemode"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/gobuild"
	"github.com/toolcrib/toolcrib/internal/scaffold"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/codegen"
)

// What one step of a trial may use.
const (
	stepTime   = time.Minute
	buildTime  = 5 * time.Minute // a first build compiles the standard library
	mostOutput = 64 << 10
)

// try runs steps over files in a directory that holds nothing else, until one fails. What runs sees that directory and the
// system, and no network. Only the Go tool chain sees its cache too, and it runs nothing of what was generated.
func (n Needs) try(ctx context.Context, call toolcrib.Call, list []scaffold.File, steps []codegen.Step) (out []codegen.Outcome, err error) {
	work, err := n.work()
	if err != nil {
		return nil, fmt.Errorf("making room to check it: %w", err)
	}
	scratch, err := os.MkdirTemp(work, "try-")
	if err != nil {
		return nil, fmt.Errorf("making room to check it: %w", err)
	}
	defer cleared(scratch)
	for _, f := range list {
		if err := os.WriteFile(filepath.Join(scratch, filepath.Base(f.Name)), []byte(f.Text), f.Mode.Perm()|0o600); err != nil {
			return nil, err
		}
	}
	for _, s := range steps {
		o, err := n.step(ctx, call, work, scratch, s)
		if err != nil {
			return out, err
		}
		if out = append(out, o); o.Code != 0 || o.How != "" {
			break
		}
	}
	return out, nil
}

// cleared removes a directory in which programs ran that have ended. They may have shut what is in it.
func cleared(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // a directory, of ours alone
		}
		return nil
	})
	_ = os.RemoveAll(dir) // what stays does no harm
}

func (n Needs) step(ctx context.Context, call toolcrib.Call, work, scratch string, s codegen.Step) (codegen.Outcome, error) {
	o := codegen.Outcome{Step: s}
	program := filepath.Join(scratch, strings.TrimPrefix(s.Program, "./"))
	var err error
	if !strings.HasPrefix(s.Program, "./") {
		if program, err = n.Program(s.Program); err != nil {
			return o, err
		}
	}
	grant := toolcrib.Grant{Time: stepTime, Dirs: []files.Dir{{Path: scratch, Write: true}}}
	env := n.Env(grant.Dirs, nil)
	if s.Go {
		cache := filepath.Join(work, filepath.Base(gobuild.Cache(n.Home)))
		if n.writable(cache) {
			cache = filepath.Join(scratch, ".cache")
		}
		if err := os.MkdirAll(cache, 0o700); err != nil {
			return o, err
		}
		if cache, err = filepath.EvalSymlinks(cache); err != nil {
			return o, err
		}
		compiler, err := filepath.EvalSymlinks(program)
		if err != nil {
			return o, err
		}
		grant.Time = buildTime
		grant.Dirs = append(grant.Dirs, files.Dir{Path: cache, Write: true}, files.Dir{Path: gobuild.Root(compiler)})
		env = gobuild.Env(env, cache)
	}
	stdout, stderr := &bounded{}, &bounded{}
	cmd := toolcrib.Cmd{Path: program, Args: s.Args, Dir: scratch, Env: env, Stdout: stdout, Stderr: stderr, Call: call, Tool: codegen.Name, Effects: toolcrib.Pure}
	if s.Stdin != "" {
		cmd.Stdin = io.MultiReader(strings.NewReader(s.Stdin), stdout.until(ctx, s.Until))
	}
	exit, err := n.Run(ctx, cmd, grant)
	if err != nil {
		return o, fmt.Errorf("checking it in the sandbox: %w", err)
	}
	o.Code, o.Stdout, o.Stderr = exit.Code, stdout.text(scratch), stderr.text(scratch)
	switch {
	case exit.TimedOut && ctx.Err() != nil:
		return o, ctx.Err()
	case exit.TimedOut:
		o.How = fmt.Sprintf("ended after %s", grant.Time)
	case exit.Signal != "":
		o.How = "ended by " + exit.Signal
	}
	return o, nil
}

// bounded keeps the beginning of what a program prints.
type bounded struct {
	mu   sync.Mutex
	data []byte
}

// Write never fails.
func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, p[:min(len(p), mostOutput-len(b.data))]...)
	return len(p), nil
}

// answerTime is how long the input of a program stays open that answers nothing.
const answerTime = 15 * time.Second

// until is an empty input that ends when a text was printed.
func (b *bounded) until(ctx context.Context, text string) io.Reader {
	return readerFunc(func([]byte) (int, error) {
		ctx, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for !b.has(text) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return 0, io.EOF
			}
		}
		return 0, io.EOF
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func (b *bounded) has(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(strings.ReplaceAll(string(b.data), " ", ""), text)
}

// text is what was printed, without the directory that nobody knows.
func (b *bounded) text(scratch string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.ReplaceAll(strings.ToValidUTF8(string(b.data), "\uFFFD"), scratch+string(filepath.Separator), "")
}

// checkWorkflow says whether a script can be read: it is made a function that nobody calls. Code that breaks out of it runs
// in the worker, and there is no tool for it there.
func (n Needs) checkWorkflow(cfg settings.CodemodeBox) func(context.Context, string) []string {
	return func(ctx context.Context, code string) []string {
		pool, absent := scriptEngine(cfg, n)
		if pool == nil {
			return []string{absent}
		}
		_, err := pool.Run(ctx, codemode.Script{Code: "(async function () {" + code + "\n}); null"}, codemode.Host{})
		if err := errors.Join(err, pool.Close()); err != nil {
			return []string{err.Error()}
		}
		return nil
	}
}

// writeTool puts a file into the folder of tools, as a whole.
func writeTool(at string, f scaffold.File) error {
	mode := f.Mode.Perm() & 0o755
	if err := durable.Replace(at, []byte(f.Text), mode); err != nil {
		return fmt.Errorf("writing the tool: %w", err)
	}
	return os.Chmod(at, mode) // whatever the mask of the person says
}
