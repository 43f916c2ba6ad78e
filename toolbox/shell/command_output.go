package shell

import (
	"context"
	_ "embed"
	"strings"

	"github.com/toolcrib/toolcrib"
)

//go:embed command_output.md
var commandOutputDoc string

type outputIn struct {
	Job    string `json:"job" minlen:"1" maxlen:"200" doc:"The job, as start_command or run_command named it."`
	Stream string `json:"stream,omitempty" enum:"stdout,stderr" default:"stdout" doc:"Which of its two outputs."`
	Offset int64  `json:"offset,omitempty" default:"0" min:"0" doc:"The byte to begin at."`
	Limit  int    `json:"limit,omitempty" default:"32768" min:"1" max:"1048576" doc:"At most so many bytes."`
}

type outputOut struct {
	Job      string `json:"job" doc:"The job."`
	Running  bool   `json:"running" doc:"Whether it still runs."`
	ExitCode *int   `json:"exit_code,omitempty" doc:"Its exit status, once it is over."`
	Text     string `json:"text" doc:"The part that was asked for."`
	Next     int64  `json:"next" doc:"The offset at which to go on."`
	Total    int64  `json:"total" doc:"How many bytes it has printed so far."`
	// Notes are also told here: nobody may ask for the job in another way.
	Notes []string `json:"notes,omitempty" doc:"Once it is over: what there is to say about it, such as what became of its changes."`

	ending ending
}

// Outcome is how the journal records an answer that is the first to tell of a command's end.
func (o *outputOut) Outcome() (toolcrib.Outcome, string) { return o.ending.outcome, o.ending.why }

func (b *Box) commandOutput() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "command_output", Title: "Read a command's output", Description: commandOutputDoc, Group: "exec", Effects: toolcrib.Reads,
	}, func(_ context.Context, env *toolcrib.Env, in outputIn) (outputOut, error) {
		j, err := b.jobs.find(env.Call.Caller.Subject, in.Job)
		if err != nil {
			return outputOut{}, err
		}
		stream := j.out
		if in.Stream == "stderr" {
			stream = j.err
		}
		text, next, total, err := stream.page(in.Offset, in.Limit)
		if err != nil {
			return outputOut{}, err
		}
		out := outputOut{Job: j.id, Running: !j.over(), Text: strings.ToValidUTF8(text, "\uFFFD"), Next: next, Total: total}
		switch {
		case !out.Running:
			out.ExitCode, out.ending, out.Notes = &j.exit.Code, j.tellEnd(), j.exit.Notes
		case j.programIsOver():
			out.Notes = []string{settling}
		}
		return out, nil
	})
}
