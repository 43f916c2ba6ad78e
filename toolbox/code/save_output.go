package code

import (
	"context"
	"crypto/sha256"
	_ "embed" // the description
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

//go:embed save_output.md
var saveOutputText string

type saveIn struct {
	Language string `json:"language" minlen:"1" maxlen:"32" doc:"The language of the session."`
	Session  string `json:"session,omitempty" default:"main" minlen:"1" maxlen:"64" doc:"The session that has the file."`
	Name     string `json:"name" minlen:"1" maxlen:"255" doc:"The file in the session."`
	Path     string `json:"path" minlen:"1" maxlen:"4096" doc:"Where it goes: relative to the working directory, or absolute inside a granted one."`
}

type saveOut struct {
	Path  string `json:"path" doc:"Absolute path of the file."`
	Bytes int    `json:"bytes" doc:"How many bytes it has."`
}

func (b *Box) saveOutput() toolcrib.Tool {
	t := toolcrib.Define(toolcrib.Spec{
		Name: SaveOutput, Title: "Save a file that code made", Description: saveOutputText, Group: "fs", Effects: toolcrib.Reads | toolcrib.Writes,
	}, func(ctx context.Context, env *toolcrib.Env, in saveIn) (saveOut, error) {
		plan, err := b.planSave(ctx, env, in)
		if err != nil {
			return saveOut{}, err
		}
		if seen, ok := b.saves.take(env.Call.ID); ok && seen != plan.text {
			return saveOut{}, errors.New("the file, or what stands in its place, has changed since it was approved: nothing was saved; try again")
		}
		if err := env.Files.WriteFile(in.Path, plan.data, &plan.was); err != nil {
			return saveOut{}, err
		}
		path, err := env.Files.Real(in.Path)
		if err != nil {
			return saveOut{}, err
		}
		return saveOut{Path: path, Bytes: len(plan.data)}, nil
	})
	t.Preview = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (string, error) {
		var in saveIn
		if err := json.Unmarshal(input, &in); err != nil {
			return "", fmt.Errorf("reading the input: %w", err)
		}
		plan, err := b.planSave(ctx, env, in)
		if err != nil {
			return "", err
		}
		b.saves.put(env.Call.ID, plan.text)
		return plan.text, nil
	}
	return t
}

// savePlan is what a call would write, in words that name its content.
type savePlan struct {
	data []byte
	was  files.Stamp // zero: nothing is there
	text string
}

func (b *Box) planSave(ctx context.Context, env *toolcrib.Env, in saveIn) (p savePlan, err error) {
	if env.Files == nil {
		return p, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "no directory was granted, so nothing can be saved; grant one in the configuration (grant.write)"}
	}
	if p.data, err = b.fetch(ctx, keyOf(env.Call.Caller, in.Language, in.Session), in.Name); err != nil {
		return p, err
	}
	sum := sha256.Sum256(p.data)
	p.text = fmt.Sprintf("would write %d bytes (SHA-256 %s) to the file %q", len(p.data), hex.EncodeToString(sum[:]), in.Path)
	if p.was, err = env.Files.Stamp(in.Path); err != nil {
		return p, err
	}
	if p.was == (files.Stamp{}) {
		p.text += ", which is new\n"
	} else {
		p.text += fmt.Sprintf(", which is replaced: it has %d bytes now (SHA-256 %s)\n", p.was.Size, hex.EncodeToString(p.was.Sum[:]))
	}
	return p, nil
}

// approvals are what people were shown, by call.
type approvals struct {
	mu   sync.Mutex
	list []approval
}

type approval struct{ call, text string }

func (a *approvals) put(call, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, approval{call, text})
	if len(a.list) > 64 { // those that nobody approved
		a.list = a.list[len(a.list)-64:]
	}
}

// take gives what was shown last for a call.
func (a *approvals) take(call string) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, shown := range slices.Backward(a.list) {
		if shown.call == call {
			return shown.text, true
		}
	}
	return "", false
}
