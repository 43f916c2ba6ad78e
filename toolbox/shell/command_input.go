package shell

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib"
)

//go:embed command_input.md
var commandInputDoc string

type inputIn struct {
	Job   string `json:"job" minlen:"1" maxlen:"200" doc:"The job, as start_command named it."`
	Text  string `json:"text" maxlen:"65536" doc:"What to type; a newline is added."`
	Close bool   `json:"close,omitempty" doc:"Close the command's input afterwards."`
	Wait  int    `json:"wait,omitempty" default:"2" min:"0" max:"15" doc:"The most seconds to wait for output before answering."`
}

func (b *Box) commandInput() toolcrib.Tool {
	t := toolcrib.Define(toolcrib.Spec{
		Name: "command_input", Title: "Type into a command", Description: commandInputDoc, Group: "exec",
		// What is typed into a shell or an interpreter is a command like any other.
		Effects: toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys | toolcrib.Runs | toolcrib.Network,
	}, func(ctx context.Context, env *toolcrib.Env, in inputIn) (jobOut, error) {
		j, err := b.reading(env.Call.Caller.Subject, in.Job)
		if err != nil {
			return jobOut{}, err
		}
		j.unread() // only what comes now is an answer
		if err := j.enter(ctx, env.Call.ID, in.Text, in.Close); err != nil {
			return jobOut{}, err
		}
		j.settle(ctx, time.Duration(in.Wait)*time.Second)
		return j.state()
	})
	t.Preview = func(_ context.Context, env *toolcrib.Env, input json.RawMessage) (string, error) {
		var in inputIn
		if err := json.Unmarshal(input, &in); err != nil {
			return "", err
		}
		_, err := b.reading(env.Call.Caller.Subject, in.Job)
		return "", err
	}
	return t
}

// reading finds a job that something can be typed into.
func (b *Box) reading(subject, id string) (*job, error) {
	j, err := b.jobs.find(subject, id)
	if err == nil && (j.stdin == nil || j.over()) {
		err = fmt.Errorf("the job %s does not read any more", id)
	}
	return j, err
}
