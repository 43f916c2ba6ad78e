//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// run is one program on its way.
type run struct {
	sandbox  *Sandbox
	job      *job
	streams  *sandbox.Streams
	group    *group
	report   *os.File // our end
	notes    []string // of what happened while it ran
	covering *sandbox.Covering
	network  *ownNetwork // nil: it has that of the host
	pid      int         // of the first process of the namespace
	lost     bool        // it was cut off, and perhaps not all of its processes have ended
	layer    *layered    // nil: it works on the live files
	files    []*os.File  // sent along; the report is the first
	owned    []*os.File  // of them, those to be closed by us
}

// The graces for output that is still in a pipe, and for a kernel that has to
// end a tree of processes.
const (
	drainGrace = 3 * time.Second
	killGrace  = 10 * time.Second
)

// add puts a file among those that are sent and gives its number.
func (r *run) add(f *os.File, own bool) int {
	r.files = append(r.files, f)
	if own {
		r.owned = append(r.owned, f)
	}
	return len(r.files) - 1
}

// prepare opens everything a program needs.
func (s *Sandbox) prepare(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant, network bool) (_ *run, err error) {
	r := &run{sandbox: s, job: s.job(cmd, grant, network)}
	if !network {
		r.network = s.openNetwork(ctx, grant.Hosts)
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if err := s.furnish(r, cmd); err != nil {
		return nil, err
	}
	if cmd.OnLayer {
		base, err := s.earlier(ctx, cmd, grant)
		if err != nil {
			return nil, err
		}
		// Who only reads needs no layer, unless there is something to see on one.
		if base != nil || s.hasCache(cmd.Tool) || slices.ContainsFunc(grant.Dirs, func(d files.Dir) bool { return d.Write }) {
			return r, s.prepareLayer(ctx, r, cmd, grant, base)
		}
	}
	if r.covering, err = s.cfg.Shield.LookAt(grant); err != nil {
		return nil, err
	}
	r.job.covers = r.covering.Covers
	if err := s.showTools(r, cmd.Tool, sandbox.Tools(ctx)); err != nil {
		return nil, err
	}
	return r, s.granted(r, r.covering.Granted(grant))
}

// furnish opens what every program needs, whatever it was granted.
func (s *Sandbox) furnish(r *run, cmd toolcrib.Cmd) (err error) {
	var theirs *os.File
	if r.report, theirs, err = reportPair(); err != nil {
		return err
	}
	r.add(theirs, true)
	if r.streams, err = sandbox.OpenStreams(cmd); err != nil {
		return err
	}
	r.job.files = jobFiles{stdin: r.add(r.streams.Stdin, false), stdout: r.add(r.streams.Stdout, false), stderr: r.add(r.streams.Stderr, false)}
	if s.cgroups == nil {
		return nil
	}
	if r.group, err = s.cgroups.make(); err != nil {
		return fmt.Errorf("making a cgroup: %w", err)
	}
	files, err := r.group.open()
	for _, f := range files {
		r.job.files.join = append(r.job.files.join, r.add(f, true))
	}
	return err
}

// prepareLayer is the rest of prepare for a program on a layer.
func (s *Sandbox) prepareLayer(ctx context.Context, r *run, cmd toolcrib.Cmd, grant toolcrib.Grant, base *kept) (err error) {
	if r.layer, err = s.openLayer(); err != nil {
		return errors.Join(err, base.close())
	}
	r.layer.base, r.layer.session, r.layer.command, r.layer.grants = base, sessionOf(cmd.Call.Caller), commandOf(cmd), dirsOf(grant)
	if r.covering, err = s.cfg.Shield.LookBelow(grant); err != nil {
		return err
	}
	if r.job.covers, err = r.layer.shown(r.covering.Covers); err != nil {
		return err
	}
	if err := s.showTools(r, cmd.Tool, sandbox.Tools(ctx)); err != nil {
		return err
	}
	return s.granted(r, r.covering.Granted(grant))
}

// disown closes what the new process has by now.
func (r *run) disown() {
	for _, f := range r.owned {
		_ = f.Close()
	}
	r.owned = nil
}

func (r *run) close() {
	r.disown()
	_ = r.layer.remove() // unless its changes were handed on
	r.network.close()
	if r.report != nil {
		_ = r.report.Close()
	}
	if r.streams != nil {
		_ = r.streams.Close()
	}
	if r.group != nil {
		r.sandbox.cgroups.remove(r.group)
	}
}

// run sees the program through to its end, or to the end of its time.
func (r *run) run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	ctx, cancel := sandbox.Until(ctx, grant)
	defer cancel()
	began := time.Now()
	keeper, err := r.sandbox.nursery.connect()
	if err != nil {
		return toolcrib.Exit{}, err
	}
	r.job.files.keeper = len(r.files)
	s := build(r.job)
	child, err := keeper.birth(r.sandbox.who, spaces(r.job.network), s, r.files)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	born := <-child.born
	r.disown()
	if born.err != nil {
		return toolcrib.Exit{}, birthError(born.err)
	}
	r.pid = born.pid
	if err := r.covered(ctx, s, child); err != nil {
		return toolcrib.Exit{}, err
	}
	if err := r.streams.Started(); err != nil {
		return toolcrib.Exit{}, errors.Join(err, child.kill())
	}
	if r.sandbox.cgroups == nil {
		stop := watch(born.pid, r.sandbox.watched(), child.kill)
		defer stop()
	}
	if r.layer != nil {
		stop := r.layer.watch(child.kill)
		defer stop()
	}
	told := r.listen()
	late, err := await(ctx, child, r.sandbox.grace)
	if err != nil {
		_ = r.report.Close() // nobody is heard any more
	} else {
		r.lost = child.lost
	}
	_ = r.report.SetReadDeadline(time.Now().Add(r.sandbox.grace)) // all have ended: what was said lies there
	exit := r.exit(s, late, <-told, &err)
	exit.Duration = time.Since(began)
	if err != nil {
		return exit, err
	}
	return exit, r.streams.Drain(drainGrace, ctx.Done())
}

// listen hears the first process of the namespace until it ends.
func (r *run) listen() <-chan report {
	last := make(chan report, 1)
	go func() {
		defer close(last)
		for {
			told, file, err := receiveReport(r.report)
			switch {
			case err != nil:
				return
			case told.kind == reportSocket:
				r.network.serve(told.first, file)
			default:
				last <- told
				return
			}
		}
	}()
	return last
}

// await waits for the end of everything in the namespace, and brings it about
// when the time is over.
func await(ctx context.Context, c *child, grace time.Duration) (late bool, err error) {
	select {
	case <-c.ended:
		// It may have been ended while it was still being covered.
		return ctx.Err() != nil, nil
	case <-ctx.Done():
	}
	if err := c.kill(); err != nil {
		return true, fmt.Errorf("ending a program: %w", err)
	}
	for range 2 {
		select {
		case <-c.ended:
			return true, nil
		case <-time.After(grace):
		}
		// The keeper does not answer. Whoever stopped it, nobody can keep it
		// from being killed, and with it goes all that it gave birth to.
		_ = c.link.process.Process.Kill()
	}
	return true, fmt.Errorf("the program was killed %s ago and the kernel has not ended it yet", 2*grace)
}

// exit goes by the last report. A program that ended by itself at the last moment has
// its own exit, and was not late. One without a report was killed.
func (r *run) exit(s *script, late bool, last report, err *error) toolcrib.Exit {
	if *err != nil {
		exit := sandbox.Killed()
		exit.TimedOut = late
		return exit
	}
	switch last.kind {
	case reportEnded:
		return sandbox.ExitOf(syscall.WaitStatus(last.first))
	case reportFailed:
		*err = s.failure(last.first, last.second)
		return toolcrib.Exit{}
	}
	exit := sandbox.Killed()
	exit.TimedOut = late
	return exit
}

// birthError explains why there was no process at all.
func birthError(err error) error {
	switch {
	case errors.Is(err, errKeeper):
		return sandbox.Unavailable("the sandbox broke down while it started the program: try again", err)
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOMEM), errors.Is(err, unix.EMFILE):
		return sandbox.Unavailable("this machine is too busy to start another program: try later", err)
	}
	return sandbox.Unavailable(fmt.Sprintf("the linux sandbox cannot make namespaces here: %s. %s", err, namespaceHint), err)
}
