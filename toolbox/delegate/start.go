package delegate

import (
	"context"
	_ "embed" // the descriptions
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib"
)

//go:embed delegate_to_avatar.md
var delegateToAvatarText string

//go:embed spawn_subagent.md
var spawnSubagentText string

type delegateIn struct {
	Avatar   string `json:"avatar_id" minlen:"1" maxlen:"200" doc:"The agent, as list_avatars names it."`
	Task     string `json:"task" minlen:"1" maxlen:"100000" doc:"What it is to do, with all that it has to know: it sees nothing of this conversation."`
	Category string `json:"category,omitempty" enum:"visual,deep,quick,architect" doc:"What kind of task it is. It is only noted: the agent's own model is used."`
}

type delegateOut struct {
	OK        bool   `json:"ok" doc:"It works now."`
	Delegated bool   `json:"delegated" doc:"The same."`
	ID        string `json:"delegation_id,omitempty" doc:"What this piece of work is called."`
	Agent     string `json:"agent_id,omitempty" doc:"The same, as other calls take it."`
	Avatar    string `json:"avatar_id,omitempty" doc:"The agent."`
	Name      string `json:"avatar_name,omitempty" doc:"What it is called."`
	Session   string `json:"avatar_session_id,omitempty" doc:"The session that is kept of it."`
	Task      string `json:"task,omitempty" doc:"What it was given to do."`
	Error     string `json:"error,omitempty" doc:"Why not, in a word."`
	Message   string `json:"message,omitempty" doc:"Why not."`
}

func (b box) delegateToAvatar() toolcrib.Tool {
	t := define("delegate_to_avatar", "Put an agent to work", delegateToAvatarText, time.Minute, func(ctx context.Context, call toolcrib.Call, in delegateIn) (delegateOut, error) {
		s, err := b.team.Start(ctx, call, Order{Avatar: in.Avatar, Task: in.Task})
		if err != nil {
			return delegateOut{Error: word(err), Message: err.Error()}, err
		}
		return delegateOut{OK: true, Delegated: true, ID: s.ID, Agent: s.ID, Avatar: s.Avatar, Name: s.Name, Session: s.Session, Task: s.Task}, nil
	})
	t.Preview = checked(b, func(in delegateIn) Order { return Order{Avatar: in.Avatar, Task: in.Task} })
	return t
}

// checked is a Preview that only says why an order would not be begun.
func checked[In any](b box, order func(In) Order) func(context.Context, *toolcrib.Env, json.RawMessage) (string, error) {
	team, ok := b.team.(Checker)
	if !ok {
		return nil
	}
	return func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (string, error) {
		var in In
		if err := json.Unmarshal(input, &in); err != nil {
			return "", err
		}
		return "", team.Check(ctx, env.Call, order(in))
	}
}

type spawnIn struct {
	Name      string       `json:"name" minlen:"1" maxlen:"100" doc:"What the worker is called."`
	Role      string       `json:"role" minlen:"1" maxlen:"200" doc:"What it is for, such as researcher or tester."`
	Task      string       `json:"task" minlen:"1" maxlen:"100000" doc:"What it is to do, with all that it has to know: it sees nothing of this conversation."`
	Category  string       `json:"category,omitempty" enum:"visual,deep,quick,architect" doc:"What kind of task it is. It is only noted."`
	Mode      string       `json:"mode,omitempty" enum:"run,session" doc:"Only noted: every worker can be told more afterwards."`
	Cleanup   string       `json:"cleanup,omitempty" enum:"keep,delete" doc:"Whether its session is kept."`
	Timeout   int          `json:"run_timeout_seconds,omitempty" min:"0" max:"86400" doc:"How long it may work; never longer than the settings say."`
	Provider  string       `json:"provider,omitempty" maxlen:"100" doc:"Not used: models are named by the settings."`
	Model     string       `json:"model,omitempty" maxlen:"200" doc:"The model, by its name in the settings. Left out: yours."`
	Workspace string       `json:"workspace_dir,omitempty" maxlen:"4000" doc:"The directory to work in; it is told to the worker and grants nothing."`
	Prompt    string       `json:"system_prompt,omitempty" maxlen:"20000" doc:"More instructions for it."`
	Tools     []string     `json:"tools,omitempty" maxitems:"200" doc:"The only tools it has, of those that you have. Left out: all of yours but these."`
	Files     []Attachment `json:"attachments,omitempty" maxitems:"20" doc:"Texts that go with the task."`
}

type spawnOut struct {
	OK        bool   `json:"ok" doc:"It works now."`
	ID        string `json:"agent_id,omitempty" doc:"What it is called in other calls."`
	Name      string `json:"name,omitempty" doc:"What it is called."`
	Role      string `json:"role,omitempty" doc:"What it is for."`
	Task      string `json:"task,omitempty" doc:"What it was given to do."`
	Depth     int    `json:"depth,omitempty" doc:"How many agents stand above it."`
	Mode      string `json:"mode,omitempty" doc:"As it was given."`
	Model     string `json:"model,omitempty" doc:"The model it thinks with."`
	Workspace string `json:"workspace_dir,omitempty" doc:"As it was given."`
	Error     string `json:"error,omitempty" doc:"Why not, in a word."`
	Message   string `json:"message,omitempty" doc:"Why not."`
}

func (b box) spawnSubagent() toolcrib.Tool {
	t := define("spawn_subagent", "Put a worker to work", spawnSubagentText, time.Minute, func(ctx context.Context, call toolcrib.Call, in spawnIn) (spawnOut, error) {
		o := in.order()
		if in.Workspace != "" {
			o.Task += "\n\nWork in " + in.Workspace + "."
		}
		s, err := b.team.Start(ctx, call, o)
		if err != nil {
			return spawnOut{Error: word(err), Message: err.Error()}, err
		}
		return spawnOut{OK: true, ID: s.ID, Name: s.Name, Role: s.Role, Task: in.Task, Depth: s.Depth, Mode: in.Mode, Model: s.Model, Workspace: in.Workspace}, nil
	})
	t.Preview = checked(b, spawnIn.order)
	return t
}

func (in spawnIn) order() Order {
	return Order{Name: in.Name, Role: in.Role, Task: in.Task, Model: in.Model, Prompt: in.Prompt, Tools: in.Tools,
		Timeout: time.Duration(in.Timeout) * time.Second, Forget: in.Cleanup == "delete", Files: in.Files}
}
