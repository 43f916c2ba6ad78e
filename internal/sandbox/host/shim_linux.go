package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// A shim is this same executable, started again to stand between us and the
// program: it confines itself, forks the program, outlives it, and tells how
// it ended. It gets its job on descriptor 3, which stays open as a lifeline:
// when we are gone, the shim reads the end of it and takes the program along.
// Its report comes back on descriptor 4.
const (
	jobFD     = 3
	reportFD  = 4
	maxJob    = 16 << 20
	maxReport = 64 << 10
)

// shimPath is this executable, also after the file was replaced or removed.
const shimPath = "/proc/self/exe"

// shimWord is the argument by which Main knows that it is to be a shim.
const shimWord = "__toolcrib_host"

// patience is how long the shim may take to kill a tree before it is killed
// itself. It needs milliseconds; the rest is for a machine that is busy.
const patience = 5 * time.Second

// report is what a shim tells.
type report struct {
	Status *int   `json:"status,omitempty"` // wait status of the program
	Step   string `json:"step,omitempty"`   // what failed before it ran
	Error  string `json:"error,omitempty"`
	Errno  int    `json:"errno,omitempty"`
	Late   bool   `json:"late,omitempty"` // the shim ended the program
}

// startError is a program that did not start.
type startError struct{ report }

func (e *startError) Error() string { return e.Step + ": " + e.report.Error }

// Unwrap gives the errno, if there was one.
func (e *startError) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return syscall.Errno(e.Errno)
}

// The grace for output that is still in a pipe, and for a kernel that has to
// end a tree of processes.
const (
	drainGrace = 3 * time.Second
	killGrace  = 10 * time.Second
)

// runShim starts a shim and sees the program through to its end. The error is
// a *startError if the program did not start.
func runShim(ctx context.Context, job []byte, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	ctx, cancel := sandbox.Until(ctx, grant)
	defer cancel()
	began := time.Now()
	streams, err := sandbox.OpenStreams(cmd)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	defer func() { _ = streams.Close() }()
	run, err := startShim(job, streams)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	exit, err := run.wait(ctx)
	exit.Duration = time.Since(began)
	if err != nil {
		return exit, err
	}
	return exit, streams.Drain(drainGrace, ctx.Done())
}

// shimRun is a shim that was started.
type shimRun struct {
	process  *exec.Cmd
	lifeline *os.File
	ended    chan shimEnd
}

type shimEnd struct {
	report report
	told   bool
	wait   error
}

func startShim(job []byte, streams *sandbox.Streams) (*shimRun, error) {
	jobR, jobW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting the shim: %w", err)
	}
	defer func() { _ = jobR.Close() }()
	repR, repW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting the shim: %w", errors.Join(err, jobW.Close()))
	}
	defer func() { _ = repW.Close() }()
	c := &exec.Cmd{
		Path: shimPath, Args: []string{"toolcrib", shimWord}, Dir: "/",
		// One processor and no collector: a shim has little to do, and what
		// threads it has are counted against the program.
		Env:   []string{"GOMAXPROCS=1", "GOGC=off", "GOTRACEBACK=none"},
		Stdin: streams.Stdin, Stdout: streams.Stdout, Stderr: streams.Stderr,
		ExtraFiles:  []*os.File{jobR, repW},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("starting the shim: %w", errors.Join(err, jobW.Close(), repR.Close()))
	}
	run := &shimRun{process: c, lifeline: jobW, ended: make(chan shimEnd, 1)}
	_ = repW.Close() // the shim has it; only then does its end show
	go run.collect(repR)
	if err := errors.Join(streams.Started(), run.send(job)); err != nil {
		_ = c.Process.Kill()
		_ = jobW.Close()
		end := <-run.ended
		return nil, fmt.Errorf("giving the shim its job: %w", errors.Join(err, end.failure()))
	}
	return run, nil
}

// send writes the job, its length before it: the pipe stays open after it.
func (r *shimRun) send(job []byte) error {
	_, err := r.lifeline.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(job))), job...))
	return err
}

// collect waits for the report and then for the shim.
func (r *shimRun) collect(from *os.File) {
	var end shimEnd
	text, err := io.ReadAll(io.LimitReader(from, maxReport))
	_ = from.Close()
	if err == nil && len(bytes.TrimSpace(text)) > 0 {
		end.told = json.Unmarshal(text, &end.report) == nil
	}
	end.wait = r.process.Wait()
	r.ended <- end
}

func (r *shimRun) wait(ctx context.Context) (toolcrib.Exit, error) {
	select {
	case end := <-r.ended:
		_ = r.lifeline.Close()
		return end.exit()
	case <-ctx.Done():
	}
	_ = r.lifeline.Close() // the shim begins to end what it started
	select {
	case end := <-r.ended:
		return end.overdue()
	case <-time.After(patience):
	}
	_ = r.process.Process.Kill()
	select {
	case end := <-r.ended:
		return end.overdue()
	case <-time.After(killGrace):
		exit := sandbox.Killed()
		exit.TimedOut = true
		return exit, fmt.Errorf("the program was killed %s ago and the kernel has not ended it yet", killGrace)
	}
}

func (e shimEnd) failure() error {
	if e.told && e.report.Status == nil {
		return &startError{e.report}
	}
	return nil
}

// exit reads the end of a shim that nobody hurried.
func (e shimEnd) exit() (toolcrib.Exit, error) {
	switch {
	case !e.told:
		return toolcrib.Exit{}, fmt.Errorf("the sandbox ended without a report: %w", errors.Join(e.wait, errors.New("is it this program that was started again?")))
	case e.report.Status == nil:
		return toolcrib.Exit{}, &startError{e.report}
	}
	return sandbox.ExitOf(syscall.WaitStatus(*e.report.Status)), nil
}

// overdue reads the end of a shim after the time was over. A program that
// ended by itself at the last moment has its own exit, and was not late.
func (e shimEnd) overdue() (toolcrib.Exit, error) {
	if e.told && e.report.Status != nil && !e.report.Late {
		return sandbox.ExitOf(syscall.WaitStatus(*e.report.Status)), nil
	}
	exit := sandbox.Killed()
	exit.TimedOut = true
	return exit, nil
}
