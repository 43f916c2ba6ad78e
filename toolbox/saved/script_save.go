package saved

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

//go:embed script_save.md
var scriptSaveText string

// SaveTool is the name of the tool that saves.
const SaveTool = "script_save"

type saveIn struct {
	Name        string          `json:"name" minlen:"2" maxlen:"48" doc:"What the tool is to be called: a-z, 0-9 and _."`
	Description string          `json:"description" minlen:"1" maxlen:"1000" doc:"What it does, for whoever looks for a tool."`
	Code        string          `json:"code" minlen:"1" maxlen:"16384" doc:"The script, as run_script takes it."`
	Arguments   json.RawMessage `json:"arguments,omitempty" doc:"JSON Schema of its arguments, of type object. Left out: it takes none."`
	Example     json.RawMessage `json:"example,omitempty" doc:"Arguments that can be tried."`
}

type saveOut struct {
	Tool     string   `json:"tool" doc:"The name of the tool that there is now."`
	Calls    []string `json:"calls" doc:"The tools that it may call."`
	Effects  string   `json:"effects" doc:"What a call may do."`
	Replaced bool     `json:"replaced,omitempty"`
}

// scriptSave declares that it asks a person and does nothing else: what is kept is kept by their yes to exactly this, and in no
// mode without it.
func (b *Box) scriptSave() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: SaveTool, Title: "Keep a script as a tool", Description: scriptSaveText, Effects: toolcrib.AsksPerson | toolcrib.Reads, Group: Group, Timeout: 15 * time.Minute,
	}, func(ctx context.Context, env *toolcrib.Env, in saveIn) (saveOut, error) {
		s, reading, err := b.prepare(in, env.Call.Caller)
		if err != nil {
			return saveOut{}, err
		}
		b.saving.Lock()
		defer b.saving.Unlock()
		old, err := b.named(ctx, s.Name)
		if err != nil {
			return saveOut{}, err
		}
		question := review(s, old, reading)
		if b.needs.Hides != nil && b.needs.Hides(question) { // its parts together may look like what none of them does
			return saveOut{}, refusal(toolcrib.CodeInvalid, "%s", hidden)
		}
		if s.By, err = b.ask(ctx, env, question); err != nil {
			return saveOut{}, err
		}
		// While the person thought the tools may have become others: they said yes to those that they saw.
		now, _, err := b.prepare(in, env.Call.Caller)
		if err != nil {
			return saveOut{}, err
		}
		if !slices.Equal(now.Calls, s.Calls) {
			return saveOut{}, refusal(toolcrib.CodeConflict, "the tools that the script calls changed while the person was asked; try again")
		}
		s.Saved = b.needs.Now().UTC()
		if err := b.needs.Store.Put(ctx, s); err != nil {
			return saveOut{}, err
		}
		b.changed()
		b.await(ctx, s.Name, env.Call.Caller)
		out := saveOut{Tool: s.Name, Calls: []string{}, Effects: s.Effects().String(), Replaced: old != nil}
		for _, c := range s.Calls {
			out.Calls = append(out.Calls, c.Name)
		}
		return out, nil
	})
}

const hidden = "the script holds something that looks like a secret, which the person would not be shown; have it come from a tool or as an argument, and write no marks of keys in its words"

// await returns when the tool is there, so that whoever is told of it can call it. A
// crib that takes long, or hides it from this caller, is not waited for.
func (b *Box) await(ctx context.Context, name string, caller toolcrib.Caller) {
	heard := false
	b.watchers.Each(func(func()) { heard = true })
	if !heard {
		return // nobody takes it up before they look again
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		now := b.needs.Store.Marks()
		b.mu.Lock()
		fresh := b.read && b.marks == now // an older one of this name does not count
		b.mu.Unlock()
		if spec, ok := b.known(caller)[name]; fresh && ok && spec.Box == Name {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// prepare makes a script of what was sent, with the tools that it may call.
func (b *Box) prepare(in saveIn, caller toolcrib.Caller) (Script, reading, error) {
	s := Script{Name: in.Name, Description: in.Description, Code: in.Code, Arguments: given(in.Arguments), Example: given(in.Example)}
	r := reading{reads: readCalls(in.Code)}
	if err := s.check(b.needs.Parse); err != nil {
		return s, r, err
	}
	known := b.known(caller)
	if other, taken := known[s.Name]; taken && other.Box != Name || slices.Contains(reserved(), s.Name) {
		return s, r, refusal(toolcrib.CodeInvalid, "name: a tool is called %s already; choose another name", s.Name)
	}
	if b.needs.Hides != nil && (b.needs.Hides(s.Code) || b.needs.Hides(s.Description)) {
		return s, r, refusal(toolcrib.CodeInvalid, "%s", hidden)
	}
	if b.needs.Ran != nil {
		r.ran, r.runs = b.needs.Ran(in.Code)
	}
	names := slices.Clone(r.names)
	for _, name := range r.ran {
		if _, ok := known[name]; ok { // what is gone since is not missed
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var err error
	s.Calls, err = calls(slices.Compact(names), known)
	return s, r, err
}

// known are the tools that a caller sees, by their own names.
func (b *Box) known(caller toolcrib.Caller) map[string]toolcrib.Entry {
	caller.Dialect = "" // tools speak to tools by these
	known := map[string]toolcrib.Entry{}
	for spec := range b.needs.Tools(caller) {
		known[spec.Name] = spec
	}
	return known
}

// reading is what is known of the calls of a script.
type reading struct {
	reads
	ran  []string
	runs int
}

// maxCalls is how many tools a person can be expected to look at.
const maxCalls = 40

// calls finds the tools that a script calls. Those that run scripts are not among them: a person could not see what they would do.
func calls(names []string, known map[string]toolcrib.Entry) ([]Called, error) {
	if len(names) > maxCalls {
		return nil, refusal(toolcrib.CodeInvalid, "code: it names %d tools, and a person has to look at each; at most %d are taken", len(names), maxCalls)
	}
	var out []Called
	for _, name := range names {
		spec, ok := known[name]
		switch {
		case !ok:
			return nil, refusal(toolcrib.CodeInvalid, "code: there is no tool %.80q%s", name, meant(name, slices.Sorted(maps.Keys(known))))
		case spec.Box == Name || slices.Contains(runners(), spec.Native):
			return nil, refusal(toolcrib.CodeInvalid, "code: %s runs scripts itself, or calls tools by any name, and a saved script may not call it: put what it would do into this one", name)
		}
		out = append(out, Called{Name: name, Box: spec.Box, Native: spec.Native, Effects: spec.Effects})
	}
	return out, nil
}

// runners are tools of other boxes that run what they are given, or call any tool.
func runners() []string { return []string{"run_script", "call_tool", "mcp_call", "codegen"} }

// reserved are names that mean something where no tool of a box has them.
func reserved() []string {
	return append(runners(), "search_tools", "describe_tool", "ask_model", "run_command", "tools", "search", "describe", "input", "log", "parallel")
}

func meant(name string, all []string) string {
	if near := text.Nearest(name, all); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// given is a value that was sent; null is none. Models often send an object as a text.
func given(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	var said string
	if json.Unmarshal(raw, &said) == nil && strings.HasPrefix(strings.TrimSpace(said), "{") && json.Valid([]byte(said)) {
		return json.RawMessage(said)
	}
	return raw
}

// named finds a script by its name, nil if there is none. One that does not count any more may be replaced.
func (b *Box) named(ctx context.Context, name string) (*Script, error) {
	scripts, _, err := b.needs.Store.List(ctx)
	if err != nil {
		return nil, err
	}
	for i := range scripts {
		if scripts[i].Name == name {
			return &scripts[i], nil
		}
	}
	return nil, nil
}

// The answers that a person can give.
const (
	yes = "save it"
	no  = "do not save it"
)

// ask has a person say yes, and gives who it was.
func (b *Box) ask(ctx context.Context, env *toolcrib.Env, question string) (string, error) {
	if env.Ask == nil {
		return "", &toolcrib.Error{Code: toolcrib.CodeUnavailable, Err: toolcrib.ErrNobody, Message: "a person has to see a script before it is kept, and nobody is there to be asked"}
	}
	answer, err := env.Ask(ctx, toolcrib.Question{Text: question, Options: []string{yes, no}, Effects: toolcrib.AsksPerson})
	if _, told := toolcrib.AsError(err); told {
		return "", err
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return "", ctx.Err()
	case err != nil && (ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded)):
		return "", &toolcrib.Error{Code: toolcrib.CodeTimeout, Err: err, Message: "a person was asked and did not answer in time; the script was not kept"}
	case err != nil:
		return "", &toolcrib.Error{Code: toolcrib.CodeUnavailable, Err: err, Message: "a person has to see a script before it is kept, and nobody could be asked"}
	case answer.Decision != toolcrib.Allow || answer.Message != yes:
		message := "the person does not want the script kept"
		if answer.Message != "" && answer.Message != no {
			message += ": " + text.Clip(answer.Message, 500)
		}
		return "", refusal(toolcrib.CodeDenied, "%s", message)
	}
	return answer.By, nil
}
