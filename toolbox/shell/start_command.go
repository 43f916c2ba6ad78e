package shell

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
)

//go:embed start_command.md
var startCommandDoc string

type startIn struct {
	Command    string `json:"command" minlen:"1" maxlen:"65536" doc:"The command line, as a POSIX shell reads it."`
	WorkingDir string `json:"working_dir,omitempty" maxlen:"4096" doc:"The directory to run it in, inside the granted ones: absolute, or relative to the working directory of the tools. Left out: that directory."`
	Wait       int    `json:"wait,omitempty" default:"2" min:"0" max:"15" doc:"The most seconds to wait for first output before answering."`
}

type jobOut struct {
	Job      string   `json:"job" doc:"The job, for command_output, command_input and stop_command."`
	Running  bool     `json:"running" doc:"Whether it still runs, or what it changed is being judged."`
	ExitCode *int     `json:"exit_code,omitempty" doc:"Its exit status, once it is over."`
	Stopped  bool     `json:"stopped" doc:"Whether stop_command ended it."`
	TimedOut bool     `json:"timed_out" doc:"Whether it was ended because its time ran out."`
	Stdout   string   `json:"stdout" doc:"What it printed since the last answer about it."`
	Stderr   string   `json:"stderr" doc:"What it printed on standard error, likewise."`
	More     bool     `json:"more" doc:"It printed more than is shown here; command_output pages through all of it."`
	Notes    []string `json:"notes,omitempty" doc:"Once it is over: what was kept from it, and what it made that other programs obey."`

	ending ending
}

// Outcome is how the journal records an answer that tells of a job's end.
func (o *jobOut) Outcome() (toolcrib.Outcome, string) { return o.ending.outcome, o.ending.why }

func (b *Box) startCommand() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "start_command", Title: "Start a command in the background", Description: startCommandDoc, Group: "exec",
		Effects: toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys | toolcrib.Runs | toolcrib.Network,
	}, func(ctx context.Context, env *toolcrib.Env, in startIn) (jobOut, error) {
		cmd, err := b.command(env, in.Command, in.WorkingDir)
		if err != nil {
			return jobOut{}, err
		}
		j := b.newJob(env, &cmd, in.Command)
		// The command outlives this call, but not the box and not its own bound.
		var live context.Context
		live, j.stop = context.WithTimeout(b.ctx, b.cfg.JobTime)
		if err := b.jobs.add(j, b.cfg.Jobs); err != nil {
			j.stop()
			j.programOver()
			close(j.done)
			return jobOut{}, err
		}
		stdin, typed := io.Pipe()
		j.stdin = typed
		started := make(chan struct{})
		cmd.Stdin = &firstRead{Reader: stdin, tell: sync.OnceFunc(func() { close(started) })}
		cmd.Ended = func() context.Context { // one that its caller stopped is as over as one that ended
			j.programOver()
			return b.ctx
		}
		go func() {
			defer close(j.done)
			defer j.programOver() // one that never ran
			defer j.stop()
			defer stdin.CloseWithError(errOver)
			j.exit, j.failure = env.Exec(live, cmd)
		}()
		select { // the handles of this call are dead once it has answered
		case <-started:
		case <-j.done:
		case <-ctx.Done():
			j.stop()
			return jobOut{}, ctx.Err()
		}
		j.settle(ctx, time.Duration(in.Wait)*time.Second)
		return j.state()
	})
}

// errOver is what who types on after the end is told.
var errOver = errors.New("the command is over and reads no more")

// firstRead tells when its reader is read for the first time: then the command
// has been started.
type firstRead struct {
	io.Reader
	tell func()
}

func (r *firstRead) Read(p []byte) (int, error) {
	r.tell()
	return r.Reader.Read(p)
}

// settling is what is told of a job whose program has ended, and whose changes have not
// been settled: it is not over yet.
const settling = "The command has ended. What it changed is judged, and a person may be asked about it: the job is over when that is settled."

// state tells how a command is doing.
func (j *job) state() (jobOut, error) {
	out := jobOut{Job: j.id, Running: !j.over(), Stopped: j.stopped.Load()}
	if out.Running && j.programIsOver() {
		out.Notes = []string{settling}
	}
	var more bool
	out.Stdout, out.More = j.out.fresh(2 * j.out.half)
	out.Stderr, more = j.err.fresh(2 * j.err.half)
	out.More = out.More || more
	if !out.Running {
		out.ending = j.tellEnd()
		out.ExitCode, out.TimedOut, out.Notes = &j.exit.Code, j.exit.TimedOut && !out.Stopped, j.exit.Notes
		return out, j.failure
	}
	return out, nil
}
