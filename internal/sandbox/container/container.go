// Package container runs programs in containers, through the command line of
// Docker, Podman or nerdctl: each in a new one, without network unless all of
// it was granted, as a plain user, without capabilities, on a read-only root
// with a small /tmp, under limits, and gone at the deadline.
//
// A program sees the file system of the image, and the granted directories
// under their own names. The image must have sh, env, cat and printf. It is
// never pulled: that would be a download that nobody granted.
//
// It may be imported by the wiring; it imports the root package and
// internal/sandbox. Its invariant: what it claims was seen to hold in a
// container that it started when it was opened.
package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/image"
	"github.com/toolcrib/toolcrib/internal/remedy"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Config says which engine and image to use, and what programs may use.
type Config struct {
	// Engine is docker, podman or nerdctl, or the path of one that takes the
	// same arguments. Empty: the first of them that works.
	Engine string
	// Image is the image programs run in. It must be there already.
	Image string
	// User is the "uid:gid" programs run as, never root. Empty: our own, or
	// nobody's (65534:65534) when we are root.
	User string
	// Limits hold for a container; zero fields have the usual values.
	Limits sandbox.Limits
	// CPUs is how many processors a container may keep busy. Zero: all.
	CPUs float64
	// TempBytes is the size of /tmp. Zero: 256 MiB.
	TempBytes int64
	// Network is the network of a container whose grant gives all of it.
	// Empty: the engine's own.
	Network string
	// Look finds an engine by its name. Nil: exec.LookPath.
	Look func(name string) (string, error)
	// Shield is what stays covered inside granted directories. Nil: nothing.
	Shield *sandbox.Shield
	// Runtime is the runtime of the engine, such as runsc. Empty: its own.
	Runtime string
	// Server: programs are MCP servers that the image brings, or fetches. One
	// without a slash in its name is looked for in the PATH of the image; they get
	// the variables of the image besides their own, may run what lies in /tmp, and
	// see read-only what the user inside cannot write.
	Server bool
}

const defaultTemp = 256 << 20

// engines are looked for in this order.
func engines() []string { return []string{"docker", "podman", "nerdctl"} }

// Sandbox runs programs in containers.
type Sandbox struct {
	cfg      Config
	engine   string // the path
	claims   toolcrib.Bounds
	rootless string // empty: root's engine; else how containers see our files
	owner    string
	label    string
	count    atomic.Uint64
	shell    string      // what watches over containers
	told     atomic.Bool // that it is not there
}

// Open finds the engine, starts a container to see what holds in one, and
// removes what an earlier process of ours left behind.
func Open(ctx context.Context, cfg Config) (*Sandbox, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	s := &Sandbox{cfg: cfg, owner: sandbox.OwnerName(), label: machineLabel(), shell: "/bin/sh"}
	if s.engine, err = s.find(ctx); err != nil {
		return nil, err
	}
	if err := s.look(ctx); err != nil {
		return nil, err
	}
	if s.claims, err = s.trial(ctx); err != nil {
		return nil, err
	}
	return s, s.Sweep(ctx)
}

func (c Config) filled() (Config, error) {
	if err := c.Limits.Validate(); err != nil {
		return c, err
	}
	c.Limits = c.Limits.Filled()
	if c.TempBytes == 0 {
		c.TempBytes = defaultTemp
	}
	if c.User == "" {
		c.User = "65534:65534"
		if uid := os.Getuid(); uid > 0 {
			c.User = strconv.Itoa(uid) + ":" + strconv.Itoa(os.Getgid())
		}
	}
	switch {
	case c.TempBytes < 0:
		return c, fmt.Errorf("the size of /tmp must not be negative: %d", c.TempBytes)
	case c.CPUs < 0:
		return c, fmt.Errorf("the number of processors must not be negative: %g", c.CPUs)
	case c.Image == "":
		return c, sandbox.Unavailable("no image is set for containers: set sandbox.container.image to one that has been pulled", nil)
	case strings.HasPrefix(c.Network, "-"), strings.HasPrefix(c.Runtime, "-"):
		return c, errors.New("a name of a network or a runtime does not begin with a dash")
	}
	if err := image.Check(c.Image); err != nil {
		return c, err
	}
	uid, gid, ok := strings.Cut(c.User, ":")
	if u, err := strconv.ParseUint(uid, 10, 31); err != nil || u == 0 || !ok {
		return c, fmt.Errorf("containers run as a plain user given as uid:gid, not as %q", c.User)
	}
	if g, err := strconv.ParseUint(gid, 10, 31); err != nil || g == 0 {
		return c, fmt.Errorf("containers run in a plain group given as uid:gid, not as %q", c.User)
	}
	return c, nil
}

// find gives the path of the first engine that answers.
func (s *Sandbox) find(ctx context.Context) (string, error) {
	names := engines()
	if s.cfg.Engine != "" {
		names = []string{s.cfg.Engine}
	}
	var tried []string
	var errs []error
	for _, name := range names {
		look := s.cfg.Look
		if look == nil {
			look = exec.LookPath
		}
		path, err := look(name)
		if err == nil {
			// Being installed is not enough: the daemon must answer.
			if _, err = output(ctx, path, "info"); err == nil {
				return path, nil
			}
		}
		tried, errs = append(tried, name), append(errs, err)
	}
	return "", sandbox.Unavailable(fmt.Sprintf("no container engine answers (tried %s): start one, or choose another backend", strings.Join(tried, ", ")), errors.Join(errs...))
}

// look finds out whether the image is there and whether the engine is one
// without root, in which users have other numbers.
func (s *Sandbox) look(ctx context.Context) error {
	if _, err := output(ctx, s.engine, "image", "inspect", s.cfg.Image); err != nil {
		return sandbox.Unavailable(fmt.Sprintf("the image %s is not there: pull it with '%s pull %s'", s.cfg.Image, filepath.Base(s.engine), s.cfg.Image), remedy.With(err, text.ShellWord(s.engine)+" pull "+text.ShellWord(s.cfg.Image)))
	}
	if text, err := output(ctx, s.engine, "info", "--format", "{{.Host.Security.Rootless}}"); err == nil {
		if strings.TrimSpace(text) == "true" {
			s.rootless = "keep-id" // Podman can give us our own number inside
		}
		return nil
	}
	if text, err := output(ctx, s.engine, "info", "--format", "{{.SecurityOptions}}"); err == nil && strings.Contains(text, "rootless") {
		s.rootless = "mapped"
	}
	return nil
}

// Enforces tells what was seen to hold.
func (s *Sandbox) Enforces() toolcrib.Bounds { return s.claims }

// FileLimit is the largest file a program can write.
func (s *Sandbox) FileLimit() int64 { return s.cfg.Limits.FileBytes }

// output runs the engine for its answer.
func output(ctx context.Context, engine string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, engine, args...)
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	c.WaitDelay = engineGrace
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", engine, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}
