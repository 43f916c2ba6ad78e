//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

const (
	togetherFiles    = 6 // of a person, to which commands write as well
	togetherBranched = 3 // that differ between two branches
)

// together is a project in which commands and a person work at once.
type together struct {
	t                           *testing.T
	s                           *Sandbox
	project                     string
	wrote                       [togetherFiles][]string // the lines of the person
	moved                       [togetherFiles]bool     // the file has its other name
	raced                       int                     // what the person did right while a file was replaced
	applied, conflicts, nothing atomic.Int32
}

// command runs one command and applies what it changed. Whatever is not applied must be a
// conflict that names a path.
func (g *together) command(ctx context.Context, id string, r *rand.Rand) error {
	k := r.IntN(togetherFiles)
	line := []string{
		fmt.Sprintf(`echo %s >> p%d`, id, k),
		fmt.Sprintf(`cat p%d > t%s && echo %[2]s >> t%[2]s && mv t%[2]s p%[1]d`, k, id),
		fmt.Sprintf(`sed -i 's/^c.*//' p%d; echo %s >> p%d`, k, id, (k+1)%togetherFiles),
		fmt.Sprintf(`rm -rf d%d; mkdir d%[1]d; echo %s > d%[1]d/x; chmod 600 p%[1]d`, k, id),
		fmt.Sprintf(`echo %s >> b%d`, id, k%togetherBranched),
		fmt.Sprintf(`cp p%d q%[1]d; rm -f q%d; ln -sf p%[1]d link`, k, (k+1)%togetherFiles),
	}[r.IntN(6)]
	cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", line}, Dir: g.project, Env: []string{"PATH=/usr/bin:/bin"}, OnLayer: true}
	exit, err := g.s.Run(ctx, cmd, toolcrib.Grant{Dirs: []files.Dir{{Path: g.project, Write: true}}, Programs: []string{"*"}})
	if err != nil || exit.Changes == nil {
		g.nothing.Add(1)
		return err
	}
	err = exit.Changes.Apply(ctx, func(string) bool { return true })
	if err := exit.Changes.Drop(); err != nil {
		return fmt.Errorf("%s: dropped: %w", line, err)
	}
	conflict, is := errors.AsType[*layer.ConflictError](err)
	switch {
	case err == nil:
		g.applied.Add(1)
	case is && len(conflict.Paths) > 0 || errors.Is(err, layer.ErrStuck):
		g.conflicts.Add(1)
	case errors.Is(err, fs.ErrNotExist): // a directory on the way went meanwhile
		g.conflicts.Add(1)
	default:
		return fmt.Errorf("%s: %w", line, err)
	}
	return nil
}

func (g *together) path(k int) string {
	name := fmt.Sprintf("p%d", k)
	if g.moved[k] {
		name += ".moved"
	}
	return filepath.Join(g.project, name)
}

// person does one thing: adds a line in place or by another file, renames, or checks out
// another branch.
func (g *together) person(r *rand.Rand, n int) error {
	k := r.IntN(togetherFiles)
	line, path := fmt.Sprintf("person%d.", n), g.path(k)
	switch r.IntN(5) {
	case 0, 1:
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(line + "\n")
		opened, errOpened := f.Stat()
		// A file that was replaced while it was open has the line, and no name any more.
		if named, err := os.Stat(path); err == nil && errOpened == nil && os.SameFile(opened, named) {
			g.wrote[k] = append(g.wrote[k], line)
		} else {
			g.raced++
		}
		return errors.Join(err, errOpened, f.Close())
	case 2:
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, earlier := range g.wrote[k] {
			if !strings.Contains(string(text), earlier+"\n") { // it was put in place this moment, and is about to be taken back
				g.raced++
				return nil
			}
		}
		g.wrote[k] = append(g.wrote[k], line)
		temp := path + ".person"
		return errors.Join(os.WriteFile(temp, append(text, line+"\n"...), 0o644), os.Rename(temp, path))
	case 3:
		g.moved[k] = !g.moved[k]
		return os.Rename(path, g.path(k))
	}
	branch := []string{"main", "other"}[r.IntN(2)]
	err := g.git("checkout", "-q", "-f", branch)
	for range 20 { // git removes a file and makes it anew: in between a command may make it, and git says so
		if err == nil || !strings.Contains(err.Error(), "File exists") {
			break
		}
		err = g.git("checkout", "-q", "-f", branch)
	}
	return err
}

func (g *together) git(args ...string) error {
	cmd := exec.CommandContext(g.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = g.project, []string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Dir(g.project), "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", args, err, out)
	}
	return nil
}

// has tells whether a line of the person is in their file.
func (g *together) has(k int, line string) bool {
	for _, name := range []string{fmt.Sprintf("p%d", k), fmt.Sprintf("p%d.moved", k)} {
		if text, err := os.ReadFile(filepath.Join(g.project, name)); err == nil && strings.Contains(string(text), line+"\n") {
			return true
		}
	}
	return false
}

// TestWorkingTogether: eight commands at once, and a person who edits, renames and checks
// out branches meanwhile. No line that the person wrote is lost, and what is not applied is
// a conflict that is told. TOOLCRIB_TOGETHER says for how long, such as 1m.
func TestWorkingTogether(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	long, err := time.ParseDuration(os.Getenv("TOOLCRIB_TOGETHER"))
	if err != nil {
		if long = 8 * time.Second; testing.Short() {
			long = 2 * time.Second
		}
	}
	dir := t.TempDir()
	g := &together{t: t, s: open(t, Config{Layers: filepath.Join(dir, "layers")}), project: filepath.Join(dir, "project")}
	t.Cleanup(func() { _ = layer.Remove(dir) })
	if err := os.Mkdir(g.project, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(g.project, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	steps := [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "p"}, {"config", "user.email", "p@example.com"}, {"config", "gc.auto", "0"}}
	for _, branch := range []string{"main", "other"} {
		for k := range togetherBranched {
			write(fmt.Sprintf("b%d", k), "branch "+branch+"\n")
		}
		for _, args := range append(steps, []string{"add", "."}, []string{"commit", "-q", "-m", branch}) {
			if err := g.git(args...); err != nil {
				t.Fatal(err)
			}
		}
		steps = nil
		if branch == "main" {
			if err := g.git("checkout", "-q", "-b", "other"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for k := range togetherFiles {
		write(fmt.Sprintf("p%d", k), "")
	}
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 7)) //nolint:gosec // the same for each run
			for n := 0; ctx.Err() == nil; n++ {
				if err := g.command(context.WithoutCancel(ctx), fmt.Sprintf("c%d-%d", i, n), r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	r, n := rand.New(rand.NewPCG(8, 7)), 0 //nolint:gosec // the same for each run
	for ; ctx.Err() == nil; n++ {
		if err := g.person(r, n); err != nil {
			t.Error(err)
			break
		}
		time.Sleep(time.Duration(r.IntN(8)) * time.Millisecond)
	}
	cancel()
	all.Wait()
	lines := 0
	for k := range g.wrote {
		for _, line := range g.wrote[k] {
			if lines++; !g.has(k, line) {
				t.Errorf("%s is not in p%d any more", line, k)
			}
		}
	}
	head, err := os.ReadFile(filepath.Join(g.project, ".git", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	branch := strings.TrimPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	for k := range togetherBranched {
		if text, err := os.ReadFile(filepath.Join(g.project, fmt.Sprintf("b%d", k))); err != nil || !strings.HasPrefix(string(text), "branch "+branch+"\n") {
			t.Errorf("b%d of the branch %s is %q, %v", k, branch, text, err)
		}
	}
	t.Logf("a person did %d things and wrote %d lines, and %d times it did so right while a file was replaced; of the commands %d were applied, %d told of a conflict, %d changed nothing", n, lines, g.raced, g.applied.Load(), g.conflicts.Load(), g.nothing.Load())
	if g.applied.Load() == 0 || g.conflicts.Load() == 0 || lines == 0 {
		t.Error("nobody was in the way of anybody")
	}
}
