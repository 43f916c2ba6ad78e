package shell

import (
	"context"
	_ "embed"
	"time"

	"github.com/toolcrib/toolcrib"
)

//go:embed run_command.md
var runCommandDoc string

type runIn struct {
	Command    string `json:"command" minlen:"1" maxlen:"65536" doc:"The command line, as a POSIX shell reads it."`
	WorkingDir string `json:"working_dir,omitempty" maxlen:"4096" doc:"The directory to run it in, inside the granted ones: absolute, or relative to the working directory of the tools. Left out: that directory."`
	Timeout    int    `json:"timeout,omitempty" default:"30" min:"1" max:"86400" doc:"Seconds after which it is ended, with everything it started. The configuration may allow less."`
	Network    bool   `json:"network,omitempty" doc:"Ask for the granted hosts. Only needed if a result says that the command ran without network because no rule allows it: a person is asked then."`
}

type runOut struct {
	Command   string   `json:"command" doc:"The command line that ran."`
	Stdout    string   `json:"stdout" doc:"What it printed; beginning and end of it if that was much."`
	Stderr    string   `json:"stderr" doc:"What it printed on standard error, likewise."`
	ExitCode  int      `json:"exit_code" doc:"Its exit status; 128 and the number of the signal if one ended it."`
	Signal    string   `json:"signal,omitempty" doc:"The signal that ended it, such as SIGKILL."`
	Sandbox   string   `json:"sandbox,omitempty" doc:"Where it ran."`
	Success   bool     `json:"success" doc:"Whether the exit status is 0."`
	TimedOut  bool     `json:"timed_out" doc:"Whether it was ended because its time ran out."`
	Cancelled bool     `json:"cancelled,omitempty" doc:"Whether it was ended because whoever asked for it cancelled the call."`
	Truncated bool     `json:"truncated" doc:"Whether output was left out here."`
	Job       string   `json:"job,omitempty" doc:"If output was left out: the job whose output command_output pages through."`
	Notes     []string `json:"notes,omitempty" doc:"What was kept from it, and what it made that other programs obey."`
}

func (b *Box) runCommand() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "run_command", Title: "Run a command", Description: runCommandDoc, Group: "exec",
		Effects: toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys | toolcrib.Runs | toolcrib.Network,
		// The command has its own deadline; this one only catches what hangs beyond it.
		Timeout: b.cfg.MaxTimeout + 10*time.Second,
	}, func(ctx context.Context, env *toolcrib.Env, in runIn) (runOut, error) {
		cmd, err := b.command(env, in.Command, in.WorkingDir)
		if err != nil {
			return runOut{}, err
		}
		ctx, cancel := context.WithTimeout(ctx, min(time.Duration(in.Timeout)*time.Second, b.cfg.MaxTimeout))
		defer cancel()
		j := b.newJob(env, &cmd, in.Command)
		j.stop = cancel
		j.exit, err = env.Exec(ctx, cmd)
		j.reported.Store(true) // by this call itself
		j.programOver()
		close(j.done)
		if err != nil {
			j.drop()
			return runOut{}, err
		}
		return b.result(j, in.Timeout)
	})
}

// Outcome is how the journal records the command.
func (o *runOut) Outcome() (toolcrib.Outcome, string) {
	return outcomeOf(toolcrib.Exit{Code: o.ExitCode, Signal: o.Signal, TimedOut: o.TimedOut, Cancelled: o.Cancelled})
}

// result tells how a finished command went, and keeps it if there is more to
// page through.
func (b *Box) result(j *job, asked int) (runOut, error) {
	out := runOut{Command: j.line, ExitCode: j.exit.Code, Signal: j.exit.Signal, Sandbox: j.exit.Sandbox, TimedOut: j.exit.TimedOut, Cancelled: j.exit.Cancelled, Notes: j.exit.Notes}
	out.Success = out.ExitCode == 0 && !out.TimedOut && !out.Cancelled
	var cutOut, cutErr bool
	out.Stdout, cutOut = j.out.text()
	out.Stderr, cutErr = j.err.text()
	out.Notes = append(out.Notes, b.hints(j.exit, asked, out.Stdout, out.Stderr)...)
	if out.Truncated = cutOut || cutErr; out.Truncated && (j.out.kept() || j.err.kept()) {
		out.Job = j.id
		return out, b.jobs.add(j, b.cfg.Jobs)
	}
	j.drop()
	return out, nil
}
