package memory

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib"
)

//go:embed memory_append.md
var memoryAppendText string

type appendIn struct {
	Target  string `json:"target" enum:"daily,long_term" doc:"daily: what happened today. long_term: what stays true."`
	Content string `json:"content" doc:"The note, at most 4,000 characters. It must make sense by itself."`
	Scope   string `json:"scope,omitempty" enum:"agent,user" default:"agent" doc:"agent: for this agent. user: for all agents of this person."`
}

func (in appendIn) entry() Entry {
	return Entry{Target: in.Target, Scope: in.Scope, Content: in.Content}
}

type appendOut struct {
	File      string   `json:"file" doc:"The file that the note was written to."`
	Untrusted string   `json:"untrusted,omitempty" doc:"The note is marked as one from outside, because this tool brought content from outside into the conversation."`
	Notes     []string `json:"notes,omitempty" doc:"What was written in another way than it was given."`
}

func (b box) memoryAppend() toolcrib.Tool {
	t := toolcrib.Define(toolcrib.Spec{
		Name: "memory_append", Title: "Remember a note", Description: memoryAppendText,
		Effects: toolcrib.Writes, Group: group,
	}, func(ctx context.Context, env *toolcrib.Env, in appendIn) (appendOut, error) {
		saved, err := b.store.Append(ctx, env.Call.Caller, in.entry())
		if err != nil {
			return appendOut{}, err
		}
		return appendOut{File: saved.File, Untrusted: saved.Untrusted, Notes: saved.Notes}, nil
	})
	t.Preview = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (string, error) {
		var in appendIn
		if err := json.Unmarshal(input, &in); err != nil {
			return "", err
		}
		plan, err := b.store.Plan(ctx, env.Call.Caller, in.entry())
		if err != nil {
			return "", err
		}
		return "--- " + plan.File + "\n+++ " + plan.File + "\n@@ at its end @@\n+" +
			strings.ReplaceAll(strings.TrimSuffix(plan.Text, "\n"), "\n", "\n+") + "\n", nil
	}
	return t
}
