// Package microvm runs programs in virtual machines of a microsandbox server,
// through its JSON-RPC interface: each program in a machine of its own, with a
// kernel of its own, and the machine is stopped when the program has ended or
// its time is over.
//
// What the interface of that server cannot do is refused or not claimed: it
// cannot switch off the network of a machine, bound the number of its
// processes, mount a directory read-only, or hand over standard input; it gives
// the output when the program has ended and not while it runs. The image must
// have sh, env, head and base64.
//
// It may be imported by the wiring; it imports the root package and
// internal/sandbox. Its invariant: no machine that it started outlives Run.
package microvm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/plainaddr"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// Config says where the server is and what machines look like.
type Config struct {
	// URL is the server's address. Empty: MSB_SERVER_URL, or
	// http://127.0.0.1:5555. Anything but this machine needs https.
	URL string
	// Key is sent with every request. Empty: MSB_API_KEY, or none.
	Key string
	// Image is the image of the machines. Empty: microsandbox/python.
	Image string
	// Namespace holds our machines. Empty: toolcrib.
	Namespace string
	// Shield is what must stay covered inside granted directories. A server
	// cannot cover anything, so such a directory is refused. Nil: nothing.
	Shield *sandbox.Shield
	// Limits: only the memory can be bounded, and only that is claimed. Zero
	// has the usual value.
	Limits sandbox.Limits
	// CPUs is the number of processors of a machine. Zero: one.
	CPUs int
}

const (
	defaultURL = "http://127.0.0.1:5555"
	enforced   = toolcrib.BoundFiles | toolcrib.BoundMemory | toolcrib.BoundTime
	// stopGrace is how long stopping a machine may take.
	stopGrace = 30 * time.Second
)

// Sandbox runs programs in virtual machines.
type Sandbox struct {
	cfg   Config
	base  *url.URL
	http  *http.Client
	owner string
	count atomic.Uint64
}

// Open looks for the server, runs a program in a machine to see that it works,
// and stops the machines that an earlier process of ours left behind.
func Open(ctx context.Context, cfg Config) (*Sandbox, error) {
	s, err := prepare(cfg)
	if err != nil {
		return nil, err
	}
	if err := s.health(ctx); err != nil {
		return nil, sandbox.Unavailable(fmt.Sprintf("no microsandbox server answers at %s: start one (msb server start), set MSB_SERVER_URL, or choose another backend", s.base), err)
	}
	exit, err := s.Run(ctx, toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "exit 7"}}, toolcrib.Grant{Hosts: []string{"*"}})
	if err != nil {
		return nil, err
	}
	if exit.Code != 7 {
		return nil, sandbox.Unavailable(fmt.Sprintf("the microsandbox server does not tell how programs end: %+v", exit), nil)
	}
	return s, s.Sweep(ctx)
}

func prepare(cfg Config) (*Sandbox, error) {
	cfg.URL = firstOf(cfg.URL, os.Getenv("MSB_SERVER_URL"), defaultURL)
	cfg.Key = firstOf(cfg.Key, os.Getenv("MSB_API_KEY"))
	cfg.Image = firstOf(cfg.Image, "microsandbox/python")
	cfg.Namespace = firstOf(cfg.Namespace, "toolcrib")
	if cfg.CPUs == 0 {
		cfg.CPUs = 1
	}
	if err := cfg.Limits.Validate(); err != nil {
		return nil, err
	}
	cfg.Limits = cfg.Limits.Filled()
	base, err := url.Parse(cfg.URL)
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("the address of the microsandbox server is not a plain URL: %q", cfg.URL)
	}
	if base.Scheme != "https" && (base.Scheme != "http" || !plainaddr.IsLoopback(base.Hostname())) {
		return nil, fmt.Errorf("the microsandbox server at %q must be on this machine or speak https: programs and keys are sent to it", cfg.URL)
	}
	if !plainName(cfg.Namespace) {
		return nil, fmt.Errorf("the namespace %q is not made of letters, digits, hyphens and underscores", cfg.Namespace)
	}
	return &Sandbox{cfg: cfg, base: base, owner: strings.ReplaceAll(sandbox.OwnerName(), ".", "_"), http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute}, // no proxy: what is sent is for this server
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the server sends us elsewhere, which is not followed")
		},
	}}, nil
}

func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// plainName is what the server takes for a name.
func plainName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || r != '-' && r != '_') {
			return false
		}
	}
	return s != "" && len(s) <= 63
}

// Enforces is what a machine holds: it sees only the granted directories, has
// only its memory, and is stopped as a whole.
func (s *Sandbox) Enforces() toolcrib.Bounds { return enforced }

// Run runs a program in a machine of its own.
func (s *Sandbox) Run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	if err := sandbox.Admit(ctx, "microvm", enforced, cmd, grant); err != nil {
		return toolcrib.Exit{}, err
	}
	if _, err := sandbox.WholeNetwork("microvm", grant.Hosts); err != nil {
		return toolcrib.Exit{}, err
	}
	volumes, err := volumes(grant.Dirs)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	covering, err := s.cfg.Shield.LookAt(grant)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	if covers := covering.Covers; len(covers) > 0 {
		return toolcrib.Exit{}, sandbox.Unavailable(fmt.Sprintf("a microsandbox server cannot keep %s from a program: grant another directory, or choose another backend", covers[0].Path), nil)
	}
	if cmd.Stdin != nil {
		return toolcrib.Exit{}, sandbox.Unavailable("a microsandbox server cannot hand standard input to a program: put it into a file, or choose another backend", nil)
	}
	token := rand.Text()
	script, err := wrap(cmd, sandbox.WorkDir(cmd, grant), token)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	ctx, cancel := sandbox.Until(ctx, grant)
	defer cancel()
	began := time.Now()
	answer, err := s.inMachine(ctx, volumes, script)
	exit := toolcrib.Exit{Duration: time.Since(began), Notes: covering.Made()}
	switch {
	case answer != nil && err == nil:
		return s.deliver(exit, cmd, grant, *answer, token)
	case answer != nil: // a machine that could not be stopped
		exit, delivered := s.deliver(exit, cmd, grant, *answer, token)
		return exit, errors.Join(delivered, err)
	case ctx.Err() != nil:
		exit.Code, exit.Signal, exit.TimedOut = 137, "SIGKILL", true
		return exit, stopFailure(err)
	}
	return exit, sandbox.Unavailable("the microsandbox server could not run the program", err)
}

// volumes: a read-only one cannot be had, and giving more than was granted is
// no answer.
func volumes(dirs []files.Dir) ([]string, error) {
	list := []string{}
	for _, d := range dirs {
		if !d.Write {
			return nil, sandbox.Unavailable(fmt.Sprintf("a microsandbox server cannot mount %s read-only: leave it out of the grant, or choose another backend", d.Path), nil)
		}
		if strings.Contains(d.Path, ":") {
			return nil, sandbox.Unavailable(fmt.Sprintf("a microsandbox server cannot mount %q: there is a colon in its name", d.Path), nil)
		}
		list = append(list, d.Path+":"+d.Path)
	}
	return list, nil
}

// errStop marks a machine that may still run.
var errStop = errors.New("stopping the machine")

func stopFailure(err error) error {
	if errors.Is(err, errStop) {
		return err
	}
	return nil
}

// inMachine starts a machine, runs the script in it, and stops the machine
// whatever happened, also when starting it failed: it may be under way.
func (s *Sandbox) inMachine(ctx context.Context, volumes []string, script string) (answer *commandAnswer, err error) {
	name := namePrefix + s.owner + "-" + strconv.FormatUint(s.count.Add(1), 10) + "-" + strings.ToLower(rand.Text()[:8])
	where := place{Sandbox: name, Namespace: s.cfg.Namespace}
	defer func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
		defer cancel()
		if stopErr := s.call(grace, "sandbox.stop", where, nil); stopErr != nil && (answer != nil || ctx.Err() != nil) {
			err = errors.Join(err, errStop, stopErr) // otherwise there was no machine to stop
		}
	}()
	start := startRequest{place: where, Config: machine{
		Image: s.cfg.Image, Memory: max(1, s.cfg.Limits.MemoryBytes>>20), CPUs: s.cfg.CPUs, Volumes: volumes,
	}}
	if err := s.call(ctx, "sandbox.start", start, nil); err != nil {
		return nil, fmt.Errorf("starting a machine: %w", err)
	}
	run := commandRequest{place: where, Command: "/bin/sh", Args: []string{"-c", script}}
	if deadline, ok := ctx.Deadline(); ok {
		run.Timeout = int64(time.Until(deadline).Seconds()) + 5 // ours comes first
	}
	got := &commandAnswer{}
	if err := s.call(ctx, "sandbox.command.run", run, got); err != nil {
		return nil, fmt.Errorf("running a program in a machine: %w", err)
	}
	return got, nil
}

const namePrefix = "toolcrib-"

// Sweep stops the machines of processes of ours that are gone.
func (s *Sandbox) Sweep(ctx context.Context) error {
	var list metricsAnswer
	if err := s.call(ctx, "sandbox.metrics.get", map[string]string{"namespace": s.cfg.Namespace}, &list); err != nil {
		return fmt.Errorf("looking for machines that were left behind: %w", err)
	}
	var errs []error
	for _, m := range list.Sandboxes {
		owner, ok := strings.CutPrefix(m.Name, namePrefix)
		owner, _, _ = strings.Cut(owner, "-")
		if !ok || !m.Running || sandbox.OwnerLives(strings.ReplaceAll(owner, "_", ".")) {
			continue
		}
		if err := s.call(ctx, "sandbox.stop", place{Sandbox: m.Name, Namespace: s.cfg.Namespace}, nil); err != nil {
			errs = append(errs, fmt.Errorf("stopping a machine that was left behind: %w", err))
		}
	}
	return errors.Join(errs...)
}
