//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/refusal"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

const enforced = toolcrib.BoundFiles | toolcrib.BoundNetwork | toolcrib.BoundMemory | toolcrib.BoundProcesses | toolcrib.BoundTime

// Sandbox runs confined programs. It is safe for use by many at once.
type Sandbox struct {
	cfg     Config
	system  system
	who     identity
	cgroups *cgroups // nil: rlimits and a watch instead

	landlock int // ABI, zero for none
	claims   toolcrib.Bounds
	nursery  nursery

	leftMu  sync.Mutex
	left    []string      // what there is to say of programs whose Toolcrib was killed
	grace   time.Duration // for the kernel to end a tree of processes
	running sync.RWMutex  // read while a program runs
	room    chan struct{} // as many programs as there are descriptors for
}

// Open prepares a sandbox and tries it with a program that does nothing. What
// this kernel or this user cannot do shows there.
func Open(ctx context.Context, cfg Config) (*Sandbox, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	if startedByUs() {
		return nil, errors.New("this process was started to be the keeper of a linux sandbox: its main must call linux.Main first")
	}
	s := &Sandbox{cfg: cfg, landlock: landlockABI(), claims: enforced, grace: killGrace, room: make(chan struct{}, roomFor())}
	if s.system, err = lookAround(cfg.ReadOnly); err != nil {
		return nil, err
	}
	if s.who, err = whoAmI(); err != nil {
		return nil, err
	}
	if !cfg.NoCgroups {
		s.cgroups = openCgroups(cfg.Limits)
	}
	left := s.sweepLayers()
	if err := s.try(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	s.left = left // told to the first program that is no trial
	if s.cgroups == nil && !canWatch() {
		s.claims &^= toolcrib.BoundMemory
	}
	return s, nil
}

// tellLeft gives what was left to say, once.
func (s *Sandbox) tellLeft() []string {
	s.leftMu.Lock()
	defer s.leftMu.Unlock()
	left := s.left
	s.left = nil
	return left
}

// Close ends what is still running. A sandbox that is not closed ends with us.
func (s *Sandbox) Close() error {
	err := s.nursery.Close()
	s.running.Lock() // until all that ended with it was seen to
	defer s.running.Unlock()
	if s.cgroups != nil {
		s.cgroups.removeStale()
	}
	return err
}

// roomFor is how many programs may run at once without using up our
// descriptors. Those that come later wait.
func roomFor() int {
	const each, least, most = 24, 16, 4096
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return least
	}
	return int(max(least, min(files.Cur/each, most)))
}

// try runs a program that does nothing.
func (s *Sandbox) try(ctx context.Context) error {
	i := slices.IndexFunc(nothings(), func(path string) bool { _, err := os.Stat(path); return err == nil })
	if i < 0 {
		return sandbox.Unavailable("the linux sandbox was not tried: there is neither true nor sh on this system", nil)
	}
	exit, err := s.Run(ctx, toolcrib.Cmd{Path: nothings()[i], Args: []string{"-c", ":"}}, toolcrib.Grant{})
	if failed, ok := errors.AsType[*scriptError](err); ok && s.cgroups != nil && failed.label.step == stepJoin {
		// The groups can be made but not joined: do without.
		s.cgroups = nil
		exit, err = s.Run(ctx, toolcrib.Cmd{Path: nothings()[i], Args: []string{"-c", ":"}}, toolcrib.Grant{})
	}
	switch {
	case err != nil:
		return err
	case exit.TimedOut, exit.Code != 0:
		return sandbox.Unavailable(fmt.Sprintf("the linux sandbox does not work here: %s ended with %+v inside it", nothings()[i], exit), nil)
	}
	return nil
}

func nothings() []string { return []string{"/bin/true", "/usr/bin/true", "/bin/sh"} }

// Enforces is everything, but for the memory on a kernel where it can neither
// be bounded nor watched. What else cannot be set up fails in Open.
func (s *Sandbox) Enforces() toolcrib.Bounds { return s.claims }

// FileLimit is the largest file a program can write.
func (s *Sandbox) FileLimit() int64 { return s.cfg.Limits.FileBytes }

// Run runs a program confined to its grant.
func (s *Sandbox) Run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	if err := sandbox.Admit(ctx, "linux", s.claims, cmd, grant); err != nil {
		return toolcrib.Exit{}, err
	}
	if cmd.OnLayer && s.cfg.Layers == "" {
		return toolcrib.Exit{}, sandbox.Unavailable("the command was to run on a layer, and there is no directory for layers", nil)
	}
	network := slices.Contains(grant.Hosts, "*") // single hosts are reached by a proxy
	var err error
	select {
	case s.room <- struct{}{}:
		defer func() { <-s.room }()
	case <-ctx.Done():
		return toolcrib.Exit{}, &toolcrib.Error{Code: toolcrib.CodeTimeout, Message: "the time was over before there was room for another program", Err: ctx.Err()}
	}
	s.running.RLock()
	defer s.running.RUnlock()
	var exit toolcrib.Exit
	for range maxStarts {
		if exit, err = s.start(ctx, cmd, grant, network); err == nil {
			return exit, nil
		}
		if _, moved := movedPlace(err); !moved && !s.cleared(err) {
			break
		}
	}
	return exit, explain(err, cmd, sandbox.WorkDir(cmd, grant))
}

// start looks at what is to be covered and runs the program. It can be called
// again if a place had moved in between: the program has not run then.
func (s *Sandbox) start(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant, network bool) (toolcrib.Exit, error) {
	run, err := s.prepare(ctx, cmd, grant, network)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	defer run.close()
	if run.layer != nil {
		return s.onLayer(ctx, run, cmd, grant)
	}
	exit, err := run.run(ctx, cmd, grant)
	run.network.close()
	if _, failed := errors.AsType[*scriptError](err); !failed { // or it has not run
		exit.Notes = slices.Concat(s.tellLeft(), run.covering.Notes, run.notes, run.covering.Made(), run.network.notes(exit))
	}
	return exit, err
}

// onLayer runs a program on its layer, and reads what it changed there.
func (s *Sandbox) onLayer(ctx context.Context, run *run, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	run.layer.look = func() (*sandbox.Covering, error) { return s.cfg.Shield.LookAt(grant) }
	exit, err := run.run(ctx, cmd, grant)
	run.network.close()
	if err != nil {
		return exit, err
	}
	exit.Notes = slices.Concat(s.tellLeft(), run.covering.Notes, run.notes, run.network.notes(exit))
	overfull := func() (toolcrib.Exit, error) {
		exit.Notes = append(exit.Notes, run.layer.overfull()+". Nothing that it changed was applied")
		return exit, nil
	}
	if run.layer.full.Load() { // it was ended for that
		return overfull()
	}
	if run.lost || exit.TimedOut && !errors.Is(ctx.Err(), context.Canceled) { // whoever ended it may want what it did until then
		exit.Notes = append(exit.Notes, refusal.CutOff)
		return exit, nil
	}
	exit.Changes, err = run.layer.changes(ctx, exit.TimedOut)
	if errors.Is(err, layer.ErrOverfull) { // it has ended before that was seen
		return overfull()
	}
	if err != nil {
		return exit, sandbox.Unavailable("what the program changed cannot be read, so nothing of it was applied: "+err.Error(), err)
	}
	run.layer = nil // it is the business of the changes now
	return exit, nil
}

func (s *Sandbox) job(cmd toolcrib.Cmd, grant toolcrib.Grant, network bool) *job {
	j := &job{
		path: cmd.Path, args: append([]string{cmd.Path}, cmd.Args...), env: cmd.Env, dir: sandbox.WorkDir(cmd, grant),
		uid: s.who.insideUID, gid: s.who.insideGID, become: s.who.root,
		binds: slices.Clone(s.system.binds), links: s.system.links,
		temp: s.tempSize(), network: network, limits: s.limits(), anonymous: s.cgroups != nil, landlock: s.landlock, watches: s.system.watches,
	}
	if !network && len(grant.Hosts) > 0 {
		j.proxy, j.env = true, sandbox.ProxyEnv(cmd.Env, proxyAddress, grant.Hosts)
	}
	if network {
		j.binds = append(j.binds, s.system.network...)
	}
	if cmd.OnLayer {
		j.env = sandbox.GitOnLayer(j.env)
	}
	return j
}

// tempSize: what lies in /tmp lies in memory. Where no cgroup counts it, it
// may take a quarter of the limit, and processes have the rest.
func (s *Sandbox) tempSize() int64 {
	if s.cgroups != nil {
		return s.cfg.TempBytes
	}
	return min(s.cfg.TempBytes, s.cfg.Limits.MemoryBytes/4)
}

// watched is the memory that processes may have together where no cgroup
// bounds it.
func (s *Sandbox) watched() int64 {
	return s.cfg.Limits.MemoryBytes - s.tempSize() - sharedSize(s.tempSize())
}

func (s *Sandbox) limits() []limit {
	l := s.cfg.Limits
	limits := []limit{
		{unix.RLIMIT_CORE, 1}, // zero does not keep a crash from the machine's own handler, one does
		{unix.RLIMIT_FSIZE, uint64(l.FileBytes)},
		{unix.RLIMIT_NPROC, uint64(l.Processes)},
	}
	if l.CPUSeconds > 0 {
		limits = append(limits, limit{unix.RLIMIT_CPU, uint64(l.CPUSeconds)})
	}
	if s.cgroups == nil {
		// Not RLIMIT_AS: many programs reserve far more than they use.
		limits = append(limits, limit{unix.RLIMIT_DATA, uint64(l.MemoryBytes)})
	}
	for i, l := range limits {
		// What lies above the hard limit we stand under cannot be set, and need not be.
		var now unix.Rlimit
		if unix.Prlimit(0, l.resource, nil, &now) == nil {
			limits[i].value = min(l.value, now.Max)
		}
	}
	return limits
}

// granted adds the granted directories to the job, outer ones first. As root
// the mounts are made here, because only here may their owner be mapped.
func (s *Sandbox) granted(r *run, dirs []files.Dir) error {
	dirs = slices.Clone(dirs)
	var points []string // file systems that are mounted below what is granted
	if r.layer != nil {
		var err error
		if points, err = mountsBelow(dirs); err != nil {
			return err
		}
		dirs = withMounts(dirs, points)
	}
	slices.SortFunc(dirs, func(a, b files.Dir) int { return strings.Compare(a.Path, b.Path) })
	for _, d := range dirs {
		if err := ungrantable(d.Path); err != nil {
			return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: err.Error()}
		}
		if r.layer != nil && !d.Write && r.seenOutside(d.Path) {
			continue // it is seen in the outer layer, with what earlier commands did there
		}
		if r.layer != nil && !s.cfg.Shield.Scratches(d.Path) {
			if err := s.grantedLayer(r, d, points); err != nil {
				return grantError(d.Path, err)
			}
			continue
		}
		b := bind{source: d.Path, target: d.Path, write: d.Write, strict: true}
		if err := reachable(d.Path); err != nil {
			return grantError(d.Path, err)
		}
		if s.who.root {
			f, whole, err := s.who.mount(d)
			if err == nil {
				b.mount = r.add(f, true)
			}
			if err == nil && !whole {
				err = r.hideUnder(d.Path, dirs)
			}
			if err != nil {
				return grantError(d.Path, err)
			}
		}
		r.job.binds = append(r.job.binds, b)
	}
	return nil
}

// reachable asks early for what the shim will ask again, to say it better.
func reachable(path string) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	return unix.Close(fd)
}

func grantError(path string, err error) error {
	if errors.Is(err, unix.ELOOP) {
		target, lookErr := filepath.EvalSymlinks(path)
		if lookErr != nil {
			target = "unknown"
		}
		return &toolcrib.Error{Code: toolcrib.CodeDenied, Err: err,
			Message: fmt.Sprintf("the granted directory %s leads over a symbolic link: grant the real path, %s", path, target)}
	}
	if _, ok := toolcrib.AsError(err); ok {
		return err
	}
	return sandbox.Unavailable(fmt.Sprintf("the granted directory %s cannot be shown in the sandbox: %s", path, err), err)
}

// scriptError is a call of the script that failed.
type scriptError struct {
	label label
	errno syscall.Errno
}

func (e *scriptError) Error() string {
	if e.label.detail == "" {
		return e.label.step + ": " + e.errno.Error()
	}
	return e.label.step + ": " + e.label.detail + ": " + e.errno.Error()
}

// failure is what a report tells of a call.
func (s *script) failure(index, errno uint32) *scriptError {
	failed := &scriptError{label: label{step: stepProgram}, errno: syscall.Errno(errno)}
	if int(index) < len(s.labels) {
		failed.label = s.labels[index]
	}
	return failed
}

func (e *scriptError) Unwrap() error { return e.errno }

// explain turns a failure into what a person can act on.
func explain(err error, cmd toolcrib.Cmd, dir string) error {
	failed, ok := errors.AsType[*scriptError](err)
	if !ok {
		return err
	}
	if place, moved := movedPlace(err); moved {
		return sandbox.Moving(place, failed)
	}
	switch failed.label.step {
	case stepCover:
		return sandbox.Unavailable(fmt.Sprintf("the protected place %s cannot be covered, so the program was not started: %s", failed.label.detail, failed.errno.Error()), failed)
	case stepProgram:
		return sandbox.Unavailable(fmt.Sprintf("the program %s could not be started in the sandbox: %s. Programs are found in the system directories and in the granted ones", cmd.Path, failed.errno.Error()), failed)
	case stepDir:
		return &toolcrib.Error{Code: toolcrib.CodeDenied, Err: failed,
			Message: fmt.Sprintf("the working directory %s is not in the sandbox: it must be in a granted directory", dir)}
	}
	return sandbox.Unavailable(fmt.Sprintf("the linux sandbox does not work here: %s. %s", failed.Error(), namespaceHint), failed)
}

const namespaceHint = "It needs a kernel from 5.12 on that lets this user make user namespaces: see the sysctls user.max_user_namespaces, " +
	"kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns; a container must be allowed to make them (toolcrib sandbox probe)"

// spaces are the namespaces a program is born into.
func spaces(network bool) uint64 {
	flags := uint64(unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS)
	if !network {
		flags |= unix.CLONE_NEWNET
	}
	return flags
}
