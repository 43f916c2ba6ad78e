package shell

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib"
)

//go:embed stop_command.md
var stopCommandDoc string

type stopIn struct {
	Job string `json:"job" minlen:"1" maxlen:"200" doc:"The job, as start_command named it."`
}

func (b *Box) stopCommand() toolcrib.Tool {
	t := toolcrib.Define(toolcrib.Spec{
		Name: "stop_command", Title: "Stop a command", Description: stopCommandDoc, Group: "exec", Idempotent: true,
		// It ends only what this caller started here.
		Effects: toolcrib.Writes,
	}, func(ctx context.Context, env *toolcrib.Env, in stopIn) (jobOut, error) {
		j, err := b.jobs.find(env.Call.Caller.Subject, in.Job)
		if err != nil {
			return jobOut{}, err
		}
		if !j.over() && !j.programIsOver() {
			j.stopped.Store(true)
		}
		j.stop()
		select {
		case <-j.done:
		case <-ctx.Done():
			return jobOut{}, ctx.Err()
		case <-time.After(10 * time.Second):
			if !j.programIsOver() {
				return jobOut{}, fmt.Errorf("the job %s did not end", in.Job)
			}
		}
		out, _ := j.state() // that it was ended is what was asked for, not a failure
		return out, nil
	})
	t.Preview = func(_ context.Context, env *toolcrib.Env, input json.RawMessage) (string, error) {
		var in stopIn
		if err := json.Unmarshal(input, &in); err != nil {
			return "", err
		}
		_, err := b.jobs.find(env.Call.Caller.Subject, in.Job)
		return "", err
	}
	return t
}
