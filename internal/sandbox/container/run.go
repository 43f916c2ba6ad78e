package container

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Run runs a program in a container of its own.
func (s *Sandbox) Run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	if err := sandbox.Admit(ctx, "container", s.claims, s.inImage(cmd), grant); err != nil {
		return toolcrib.Exit{}, err
	}
	network, err := sandbox.WholeNetwork("container", grant.Hosts)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	dirs, notes, err := s.writable(grant.Dirs)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	grant.Dirs = dirs
	covering, err := s.cfg.Shield.LookAt(grant)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	grant.Dirs = covering.Granted(grant)
	// A server may run for weeks: whoever waits for its notes hears of them now.
	notes = sandbox.Early(ctx, slices.Concat(notes, s.unwatched(), covering.Notes))
	exit, err := s.run(ctx, cmd, grant, network, covering.Covers)
	exit.Notes = slices.Concat(notes, covering.Made())
	return exit, err
}

// inImage is the command as it is held against what every sandbox asks of one. The
// name of a server's program stands for a file of the image, which is found there.
func (s *Sandbox) inImage(cmd toolcrib.Cmd) toolcrib.Cmd {
	if s.cfg.Server && cmd.Path != "" && !strings.ContainsAny(cmd.Path, `/\`) {
		cmd.Path = filepath.Join(string(filepath.Separator), cmd.Path)
	}
	return cmd
}

func (s *Sandbox) run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant, network bool, covers []sandbox.Cover) (toolcrib.Exit, error) {
	token := rand.Text()
	args, env, err := wrap(cmd, sandbox.WorkDir(cmd, grant), token, s.cfg.Server)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	envFile, err := privateFile(env)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	drop := sync.OnceFunc(func() { _ = os.Remove(envFile) })
	defer drop()
	c := spec{name: s.newName(), network: network, stdin: cmd.Stdin != nil, dirs: grant.Dirs, covers: covers, envFile: envFile, args: args}
	ctx, cancel := sandbox.Until(ctx, grant)
	defer cancel()
	began := time.Now()
	// The engine has read the values by then; a server may run for weeks.
	sniff := &sniffer{to: cmd.Stderr, token: token, started: drop}
	late, left, err := s.drive(ctx, cmd, c, sniff)
	exit := toolcrib.Exit{TimedOut: late, Duration: time.Since(began)}
	var status *exec.ExitError
	switch {
	case late:
		exit.Code, exit.Signal = 137, "SIGKILL"
	case errors.As(err, &status):
		exit.Code = status.ExitCode()
		err = sniff.verdict(cmd, sandbox.WorkDir(cmd, grant), s.cfg)
	case err == nil:
		err = sniff.verdict(cmd, sandbox.WorkDir(cmd, grant), s.cfg)
	}
	if left != nil {
		err = errors.Join(err, left)
	}
	return exit, err
}

const namePrefix = "toolcrib-"

func (s *Sandbox) newName() string {
	return namePrefix + s.owner + "-" + strconv.FormatUint(s.count.Add(1), 10) + "-" + strings.ToLower(rand.Text()[:8])
}

// privateFile holds values that must not stand in a command line, where every
// user of the machine could read them.
func privateFile(text string) (string, error) {
	f, err := os.CreateTemp("", "toolcrib-env-")
	if err != nil {
		return "", fmt.Errorf("writing the environment of a container: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("writing the environment of a container: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return f.Name(), nil
}

// guarded lets two streams share a writer.
type guarded struct {
	mu sync.Mutex
	to io.Writer
}

func (g *guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.to.Write(p)
}

// sniffer takes the wrapper's own line out of the error output. What comes
// before it is the engine's, and what comes after is the program's.
type sniffer struct {
	to    io.Writer // nil: discarded
	token string
	lock  *sync.Mutex // of the other stream, if they share a writer
	head  []byte
	said  string
	// started is called when the wrapper has said something. Nil: nobody is told.
	started func()
}

const maxHead = 64 << 10

func (s *sniffer) Write(p []byte) (int, error) {
	if s.said != "" {
		return len(p), s.pass(p)
	}
	s.head = append(s.head, p...)
	before, after, found := bytes.Cut(s.head, []byte(s.token+" "))
	word, rest, whole := bytes.Cut(after, []byte("\n"))
	if found && whole {
		s.said = string(word)
		s.head = before
		if s.started != nil {
			s.started()
		}
		return len(p), s.pass(rest)
	}
	if len(s.head) > maxHead { // an engine that talks without end
		s.head = s.head[len(s.head)-maxHead/2:]
	}
	return len(p), nil
}

func (s *sniffer) pass(p []byte) error {
	if s.to == nil || len(p) == 0 {
		return nil
	}
	if s.lock != nil {
		s.lock.Lock()
		defer s.lock.Unlock()
	}
	_, err := s.to.Write(p)
	return err
}

// verdict tells why a program did not start, if it did not.
func (s *sniffer) verdict(cmd toolcrib.Cmd, dir string, cfg Config) error {
	cause := strings.TrimSpace(string(s.head))
	last := cause[strings.LastIndexByte(cause, '\n')+1:] // before it stand warnings
	switch {
	case s.said == "ready":
		return nil
	case s.said == "directory":
		return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: fmt.Sprintf("the working directory %s is not in the container: it must be in a granted directory", dir)}
	case s.said == "program" && cfg.Server:
		return sandbox.Unavailable(fmt.Sprintf("there is no program %s in the image %s: name an image that has it, or the program as the image calls it", cmd.Path, cfg.Image), nil)
	case s.said == "program":
		return sandbox.Unavailable(fmt.Sprintf("there is no program %s in the container: use an image that has it, or the linux backend", cmd.Path), nil)
	case cfg.Server && last != "": // whoever set the server up reads it
		return sandbox.Unavailable("the container could not be started: "+text.Clip(last, 500), errors.New(cause))
	}
	return sandbox.Unavailable("the container could not be started: see the cause in the log", errors.New(cause))
}
