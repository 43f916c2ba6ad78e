package bundles

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/text"
)

// git runs git in a directory of its own. Neither the settings of the machine nor those of
// the person count, no hook and no helper is run, and nothing is checked out: files are
// read as the repository has them, so that no filter sees them.
type git struct {
	program, dir string
	scheme       string // the only way in which it asks others
}

func (g git) command(ctx context.Context, args ...string) *exec.Cmd {
	all := append([]string{
		"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "credential.helper=", "-c", "protocol.allow=never", "-c", "protocol." + g.scheme + ".allow=always", "-c", "fetch.fsckObjects=true",
		"-c", "http.followRedirects=false", "-c", "submodule.recurse=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	}, args...)
	cmd := exec.CommandContext(ctx, g.program, all...)
	cmd.Dir = g.dir
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = gitEnviron(os.Environ(), g.dir)
	return cmd
}

// gitEnviron leaves what git itself listens to away, but for how the person logs in over
// ssh.
func gitEnviron(environ []string, dir string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool { return strings.HasPrefix(strings.ToUpper(v), "GIT_") })
	return append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_NO_REPLACE_OBJECTS=1", "GIT_LFS_SKIP_SMUDGE=1", "GIT_NO_LAZY_FETCH=1",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_SSH_COMMAND=ssh -oBatchMode=yes", "LC_ALL=C")
}

func (g git) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := g.command(ctx, args...)
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &limited{&told, 4 << 10}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, text.ShowLine(text.ClipRunes(strings.TrimSpace(told.String()), 500)))
	}
	return out.Bytes(), nil
}

// limited keeps the beginning of what is written.
type limited struct {
	to   *bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.to.Write(p[:n])
	return len(p), nil
}

// fetchGit takes the files of a commit.
func (b *Bundles) fetchGit(ctx context.Context, s Source, w *writer, dir string) (Source, error) {
	if b.Program == nil {
		return s, errors.New("git is not started here")
	}
	program, err := b.Program("git")
	if err != nil {
		return s, fmt.Errorf("fetching a repository takes git: %w", err)
	}
	scheme, _, _ := strings.Cut(s.At, "://")
	if scheme != "file" {
		if b.Reach == nil {
			return s, errors.New("nothing is fetched from elsewhere here")
		}
		if err := b.Reach(ctx, s.At); err != nil {
			return s, err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return s, err
	}
	g := git{program, dir, scheme}
	ref := "HEAD"
	for _, r := range []string{s.Ref, s.Commit} {
		if r != "" {
			ref = r
		}
	}
	if _, err := g.run(ctx, "init", "--quiet", "--bare", "--template=", "."); err != nil {
		return s, err
	}
	if _, err := g.run(ctx, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", s.At, ref); err != nil {
		return s, err
	}
	out, err := g.run(ctx, "rev-parse", "--verify", "FETCH_HEAD^{commit}")
	if err != nil {
		return s, err
	}
	got := strings.TrimSpace(string(out))
	if !commitForm.MatchString(got) || s.Commit != "" && s.Commit != got {
		return s, fmt.Errorf("the repository gives the commit %s, and not %s", text.ShowLine(got), s.Commit)
	}
	s.Commit = got
	return s, g.read(ctx, got, s.Path, w)
}

// blob is a file of a commit.
type blob struct {
	name, object string
	program      bool
}

// read takes the files of a commit below a folder.
func (g git) read(ctx context.Context, commit, below string, w *writer) error {
	out, err := g.run(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return err
	}
	var blobs []blob
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		head, name, ok := strings.Cut(line, "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 3 {
			continue // a commit without files
		}
		if below != "" {
			rest, in := strings.CutPrefix(name, below+"/")
			if !in {
				continue
			}
			name = rest
		}
		switch fields[0] {
		case "100644", "100755":
			blobs = append(blobs, blob{name, fields[2], fields[0] == "100755"})
		case "160000":
			w.note(name, "it is a repository of its own, and left out")
		default:
			w.note(name, "it is a link, and left out")
		}
		if len(blobs) > maxFiles {
			return fmt.Errorf("it has more than %d files", maxFiles)
		}
	}
	return g.blobs(ctx, blobs, w)
}

// blobs reads files one after the other.
func (g git) blobs(ctx context.Context, list []blob, w *writer) (err error) {
	cmd := g.command(ctx, "cat-file", "--batch")
	var names strings.Builder
	for _, b := range list {
		names.WriteString(b.object + "\n")
	}
	cmd.Stdin = strings.NewReader(names.String())
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = cmd.Process.Kill() // it may wait for a reader that has gone
			_ = cmd.Wait()
			return
		}
		err = cmd.Wait()
	}()
	in := bufio.NewReader(pipe)
	for _, b := range list {
		head, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("reading %s of the repository: %w", text.ShowLine(b.name), err)
		}
		fields := strings.Fields(head)
		if len(fields) != 3 || fields[1] != "blob" {
			return fmt.Errorf("the repository has no file %s", text.ShowLine(b.name))
		}
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil || size < 0 {
			return fmt.Errorf("the repository has no file %s", text.ShowLine(b.name))
		}
		if err := w.add(b.name, b.program, size, io.LimitReader(in, size)); err != nil {
			return err
		}
		if _, err := in.Discard(1); err != nil {
			return err
		}
	}
	return nil
}
