package script

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/schema"
	shown "github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

// Group is that of a tool whose file names none.
const Group = "tools"

// tool makes a tool of a file.
func (b *Box) tool(f *toolfile.File) (toolcrib.Tool, error) {
	t := toolcrib.Tool{Spec: toolcrib.Spec{
		Name: f.Name, Title: f.Title, Description: f.Description, Input: f.Schema, Effects: f.Effects, Group: f.Group, Timeout: f.Timeout,
	}}
	if t.Group == "" {
		t.Group = Group
	}
	var result *schema.Schema
	if f.Result != nil {
		var err error
		if result, err = schema.Compile(f.Result); err != nil {
			return t, fmt.Errorf("result: %w", err)
		}
		if ofObjects(f.Result) { // what is no object cannot be promised to every kind of caller
			t.Output = f.Result
		}
	}
	t.Run = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
		return b.call(ctx, env, f, result, input)
	}
	t.Preview = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (string, error) {
		return "", b.ready(ctx, env.Call, f, input)
	}
	return t, nil
}

// ready says why a call would fail before its program runs, so that nobody is asked
// about it: its words cannot be made, a secret is not there, or nothing can run it.
func (b *Box) ready(ctx context.Context, call toolcrib.Call, f *toolfile.File, sent json.RawMessage) error {
	if b.needs.Run == nil {
		return errNoPrograms()
	}
	v, err := readValues(sent)
	if err != nil {
		return err
	}
	if _, _, err := line(f, v); err != nil {
		return err
	}
	for _, s := range f.Secrets {
		if b.needs.Secret == nil {
			return errNoSecrets(s.Value)
		}
		if b.needs.HasSecret == nil {
			continue
		}
		if err := b.needs.HasSecret(ctx, call, f.Name, s.Value); err != nil {
			return err
		}
	}
	if b.needs.Ready == nil {
		return nil
	}
	return b.needs.Ready(ctx, f)
}

func errNoPrograms() error {
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "no program can be run here"}
}

func errNoSecrets(name string) error {
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "there are no secrets here, and the tool needs " + name}
}

func ofObjects(s json.RawMessage) bool {
	var top struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(s, &top) == nil && top.Type == "object"
}

// call runs the program of a tool once.
func (b *Box) call(ctx context.Context, env *toolcrib.Env, f *toolfile.File, result *schema.Schema, sent json.RawMessage) (*toolcrib.Result, error) {
	if b.needs.Run == nil {
		return nil, errNoPrograms()
	}
	v, err := readValues(sent)
	if err != nil {
		return nil, err
	}
	words, self, err := line(f, v)
	if err != nil {
		return nil, err
	}
	out, complaints := &kept{most: b.cfg.Output}, &tail{most: tailMost, tell: env.Emit}
	p := Program{File: f, Tool: f.Name, Words: words, Self: self, Stdout: out, Stderr: complaints, Call: env.Call}
	if text, ok := input(f, v, sent); ok {
		p.Stdin = strings.NewReader(text)
	}
	for _, s := range f.Secrets {
		if b.needs.Secret == nil {
			return nil, errNoSecrets(s.Value)
		}
		value, err := b.needs.Secret(ctx, env, f.Name, s.Value)
		if err != nil {
			return nil, err
		}
		p.Secrets = append(p.Secrets, toolfile.Variable{Name: s.Name, Value: value})
	}
	exit, err := b.needs.Run(ctx, p)
	if err != nil {
		return nil, err
	}
	return answer(ctx, f, result, exit, out, complaints)
}

// answer makes a result of what a program left.
func answer(ctx context.Context, f *toolfile.File, result *schema.Schema, exit toolcrib.Exit, out *kept, complaints *tail) (*toolcrib.Result, error) {
	switch {
	case exit.Cancelled:
		return nil, context.Canceled
	case exit.TimedOut && ctx.Err() != nil:
		return nil, ctx.Err()
	case exit.TimedOut:
		return toolcrib.Failed(failure("the program took too long and was ended", exit, out, complaints)), nil
	case exit.Signal != "":
		return toolcrib.Failed(failure("the program was ended by "+exit.Signal, exit, out, complaints)), nil
	case exit.Code != 0:
		return toolcrib.Failed(failure(fmt.Sprintf("the program ended with status %d", exit.Code), exit, out, complaints)), nil
	case f.Output == toolfile.OutputJSON:
		r, err := structured(result, out)
		if err == nil && r.Failed { // a host that was refused may be why
			return toolcrib.Failed(withNotes(r.Content[0].Text, exit)), nil
		}
		return r, err
	}
	return toolcrib.Text(out.text()), nil
}

// failure says how a program failed, with what it complained of, or printed last.
func failure(how string, exit toolcrib.Exit, out *kept, complaints *tail) string {
	said := complaints.text()
	if strings.TrimSpace(said) == "" {
		said = shown.Tail(out.text(), tailMost)
	}
	if said = strings.TrimSpace(said); said != "" {
		how += ":\n" + said
	}
	return withNotes(how, exit)
}

// withNotes adds what the sandbox has to say about it.
func withNotes(text string, exit toolcrib.Exit) string {
	for _, note := range exit.Notes {
		text += "\n(" + note + ")"
	}
	return text
}

// structured takes the output of a program as JSON.
func structured(result *schema.Schema, out *kept) (*toolcrib.Result, error) {
	if out.left > 0 {
		return toolcrib.Failed(fmt.Sprintf("the program printed more than %d bytes, so that its JSON is not whole", out.most)), nil
	}
	text := strings.TrimSpace(string(out.data))
	doc, err := schema.Parse([]byte(text), schema.Limits{Bytes: out.most})
	if err != nil {
		message := "the program is to print JSON, and what it printed is none: " + err.Error()
		if text != "" {
			message += "\nIt printed: " + shown.Head(strings.ToValidUTF8(text, "\uFFFD"), 500)
		}
		return toolcrib.Failed(message), nil
	}
	defer doc.Release()
	if result != nil {
		if problems := result.Validate(doc); len(problems) > 0 {
			var list []string
			for _, p := range problems {
				list = append(list, p.String())
			}
			return toolcrib.Failed("the JSON that the program printed does not fit the result that its file declares: " + strings.Join(list, "; ")), nil
		}
	}
	r := toolcrib.Text(text)
	r.Value = json.RawMessage(text)
	return r, nil
}

// kept is the beginning of a stream, up to a bound.
type kept struct {
	mu   sync.Mutex
	data []byte
	most int
	left int64 // bytes that were left out
}

// Write never fails: a program that prints much is told by what is left out.
func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := min(len(p), k.most-len(k.data))
	k.data = append(k.data, p[:n]...)
	k.left += int64(len(p) - n)
	return len(p), nil
}

func (k *kept) text() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := strings.ToValidUTF8(string(k.data), "\uFFFD")
	if k.left > 0 {
		s += fmt.Sprintf("\n[%d more bytes are left out]", k.left)
	}
	return s
}

// tailMost is how much of what a program complains of is told.
const tailMost = 4 << 10

// tail is the end of a stream. Screens see each piece, until it is much.
type tail struct {
	mu    sync.Mutex
	data  []byte
	most  int
	total int
	tell  func(toolcrib.Event)
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-2*t.most):]...)
	if len(t.data) > 4*t.most {
		t.data = append([]byte(nil), t.data[len(t.data)-t.most:]...)
	}
	if t.total += len(p); t.total < 1<<20 && t.tell != nil {
		t.tell(toolcrib.Event{Kind: "stderr", Text: string(p)})
	}
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return shown.Tail(strings.ToValidUTF8(string(t.data), "\uFFFD"), t.most)
}
