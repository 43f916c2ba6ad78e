// Package delegate is the toolbox by which one agent puts others to work, under the names
// that AgenticX has for its meta tools.
//
// It is for whoever wires up a crib; other toolboxes never import it. It knows no agent:
// who is put to work, and with which rights, is the word of the [Team] it is given. Its
// one invariant: whoever works for another finds nothing here. These tools exist for
// agents that a person has work, and refuse everybody else.
package delegate

import (
	"context"
	"errors"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/lineage"
)

// Name is the name of the box.
const Name = "delegate"

// group is what profiles pick the tools by.
const group = "agents"

// Config is empty: there is nothing to choose.
type Config struct{}

// Needs is what the box works with.
type Needs struct{ Team Team }

// Team puts agents to work. Every method is about what the caller of the call put to
// work itself: what others did is not found.
type Team interface {
	// Avatars are the agents that a caller may put to work.
	Avatars(caller toolcrib.Caller) []Avatar
	// Start has an agent work, and does not wait for it.
	Start(ctx context.Context, call toolcrib.Call, o Order) (Status, error)
	// Ask has an agent answer without tools.
	Ask(ctx context.Context, call toolcrib.Call, avatar, message string) (Reply, error)
	// Tell says something more to one that works, or has one go on that has ended.
	Tell(ctx context.Context, call toolcrib.Call, id, message string) (Status, error)
	// Status gives one, or with no ID all. Wait is how long it waits for them to end.
	Status(ctx context.Context, call toolcrib.Call, id string, wait time.Duration) ([]Status, error)
	Cancel(call toolcrib.Call, id string) (Status, error)
	// Retry has one that has ended begin anew; an empty task is the one it had.
	Retry(ctx context.Context, call toolcrib.Call, id, task string) (Status, error)
	// Load tells how busy this machine is.
	Load(caller toolcrib.Caller) Load
}

// Checker is a [Team] that says why an order would not be begun, so that nobody is asked about
// it: there is no such agent, or no such model.
type Checker interface {
	Check(ctx context.Context, call toolcrib.Call, o Order) error
}

// Avatar is an agent that can be put to work.
type Avatar struct {
	ID          string `json:"avatar_id" doc:"What it is called in other calls."`
	Name        string `json:"name" doc:"What it is called."`
	Role        string `json:"role" doc:"What it is for."`
	Description string `json:"description" doc:"More about it."`
}

// Order is what an agent is put to work for.
type Order struct {
	Avatar  string // the preset; empty: none but that of who puts it to work
	Name    string
	Role    string
	Task    string
	Model   string        // in place of its own
	Prompt  string        // more instructions
	Tools   []string      // the only tools that it has; nil: all that both have
	Timeout time.Duration // 0: as long as any
	Forget  bool          // its session is removed when it has ended
	Files   []Attachment
}

// Attachment is a text that goes with a task.
type Attachment struct {
	Name    string `json:"name" minlen:"1" maxlen:"200" doc:"What it is called."`
	Content string `json:"content" maxlen:"200000" doc:"The text."`
}

// Status is how an agent is doing that was put to work.
type Status struct {
	ID       string   `json:"agent_id" doc:"What it is called in other calls: sa-… or dlg-…"`
	Name     string   `json:"name" doc:"What it is called."`
	Role     string   `json:"role" doc:"What it is for."`
	Task     string   `json:"task" doc:"What it was given to do."`
	State    string   `json:"status" doc:"pending, running, completed, failed or cancelled."`
	Summary  string   `json:"result_summary" doc:"What it answered."`
	Error    string   `json:"error_text" doc:"Why it failed."`
	Events   []string `json:"recent_events" doc:"What it did last, the latest at the end."`
	Depth    int      `json:"depth" doc:"How many agents stand above it."`
	Parent   string   `json:"parent_agent_id" doc:"Who put it to work."`
	Model    string   `json:"model" doc:"The model it thinks with."`
	Avatar   string   `json:"avatar_id,omitempty" doc:"The agent it is, if it has a name of its own."`
	Session  string   `json:"session_id,omitempty" doc:"The session that is kept of it."`
	Updated  float64  `json:"updated_at" doc:"When something last happened, in seconds since 1970."`
	Waits    string   `json:"pending_confirm,omitempty" doc:"What it waits for a person to answer."`
	Calls    int      `json:"calls" doc:"How many calls it made."`
	Tokens   int      `json:"tokens" doc:"How many tokens its model read and wrote."`
	Finished bool     `json:"-"`
}

// Reply is what an agent answered.
type Reply struct {
	Avatar Avatar
	Model  string
	Text   string
}

// Load is how busy this machine is.
type Load struct {
	CPU, Memory float64 // in percent; 0: not known
	Working     int     // agents that were put to work
	Reasons     []string
}

// Refusal is why a team does not do something, with the word that programs know it by.
type Refusal struct {
	Word string // such as not_found
	Text string
}

func (r *Refusal) Error() string { return r.Text }

// word is the code of an error for the results.
func word(err error) string {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Word
	}
	return "failed"
}

type box struct{ team Team }

// Open makes the box.
func Open(_ context.Context, _ Config, needs Needs) (toolcrib.Toolbox, error) {
	if needs.Team == nil {
		return nil, errors.New("opening toolbox delegate: there is nobody to put to work")
	}
	b := box{needs.Team}
	return toolcrib.NewBox(Name, b.delegateToAvatar(), b.spawnSubagent(), b.chatWithAvatar(), b.sendMessageToAgent(),
		b.querySubagentStatus(), b.cancelSubagent(), b.retrySubagent(), b.checkResources(), b.listAvatars()), nil
}

// define makes a tool that refuses whoever works for another, however it came to see it.
func define[In, Out any](name, title, description string, timeout time.Duration, fn func(context.Context, toolcrib.Call, In) (Out, error)) toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: name, Title: title, Description: description, Effects: toolcrib.Reads, Group: group, Timeout: timeout,
	}, func(ctx context.Context, env *toolcrib.Env, in In) (Out, error) {
		if lineage.Delegate(env.Call.Caller.Agent) {
			var none Out
			return none, &toolcrib.Error{Code: toolcrib.CodeDenied, Tool: name, Message: "who is put to work puts nobody to work: do it yourself, or say in your answer what is left to do"}
		}
		return fn(ctx, env.Call, in)
	})
}
