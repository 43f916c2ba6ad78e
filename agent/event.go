package agent

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/model"
)

// The kinds of events, which are OWL's chunks.
const (
	Content    = "content"     // a piece of the answer's text
	Call       = "tool_call"   // a call is about to be made
	CallResult = "tool_result" // what came of it
	Stage      = "stage"       // what it is doing now: thinking, context or model
	AskUser    = "ask_user"    // a person is asked
	Done       = "done"
	Failed     = "error"
	Aborted    = "aborted"
)

// The stages, as the text of an event.
const (
	Thinking = "thinking" // the model thinks aloud; Thought has what
	InModel  = "model"    // a request is sent
	Context  = "context"  // the conversation is made to fit
)

// Event is something that happens in a run, for who watches. As JSON it is one of OWL's
// chunks; see [Event.MarshalJSON].
type Event struct {
	Kind    string
	Text    string // Content: the piece; Stage: which one; Failed: what went wrong
	Thought string // Stage thinking: what the model thinks
	// Call, Tool (its real name) and ID (the call's in the journal) are of Call and
	// CallResult, whose Args the arguments as they were called with.
	Call   *model.ToolCall
	Tool   string
	ID     string
	Args   json.RawMessage
	Result *toolcrib.Result // CallResult: what the tool answered
	Error  *toolcrib.Error  // or why it was refused
	// Question is of AskUser.
	Question *Question
	// Usage, Cost and Stopped are of Done, Failed and Aborted: the whole run's.
	Usage   *model.Usage
	Cost    float64
	Stopped string
	// Agent is who runs, Depth how many runs stand above it: 0 is no delegate's.
	Agent string
	Depth int
}

// Question is what a person is asked.
type Question struct {
	ID      string   `json:"id"`
	Text    string   `json:"question"`
	Options []string `json:"options,omitempty"`
	Tool    string   `json:"tool,omitempty"` // the tool that asks, or that has to be approved
	// Approval says that it is a call that has to be approved, and not a tool's own
	// question.
	Approval bool `json:"approval,omitempty"`
}

// Success says of a CallResult that the tool ran and did not fail.
func (e Event) Success() bool { return e.Error == nil && e.Result != nil && !e.Result.Failed }

type chunk struct {
	Content    *string      `json:"content,omitempty"`
	ToolCall   *chunkCall   `json:"tool_call,omitempty"`
	ToolResult *chunkResult `json:"tool_result,omitempty"`
	Stage      string       `json:"stage,omitempty"`
	Thought    string       `json:"thought,omitempty"`
	AskUser    *Question    `json:"ask_user,omitempty"`
	Done       bool         `json:"done,omitempty"`
	Error      *string      `json:"error,omitempty"`
	Aborted    bool         `json:"aborted,omitempty"`
	Stopped    string       `json:"stopped,omitempty"`
	Usage      *model.Usage `json:"usage,omitempty"`
	Cost       float64      `json:"cost,omitempty"`
	Agent      string       `json:"agent,omitempty"` // of delegates only
	Depth      int          `json:"depth,omitempty"`
}

type chunkCall struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
	ID   string          `json:"id,omitempty"`
}

type chunkResult struct {
	Name    string        `json:"name"`
	Success bool          `json:"success"`
	ID      string        `json:"id,omitempty"`
	Error   toolcrib.Code `json:"error,omitempty"`
	Text    string        `json:"text,omitempty"`
}

// MarshalJSON writes the event as one of OWL's chunks: an object whose one key of theirs
// is the kind. What OWL does not have, such as the call's ID, stands beside it.
func (e Event) MarshalJSON() ([]byte, error) {
	c := chunk{Usage: e.Usage, Cost: e.Cost, Stopped: e.Stopped, Depth: e.Depth}
	if e.Depth > 0 {
		c.Agent = e.Agent
	}
	switch e.Kind {
	case Content:
		c.Content = &e.Text
	case Call:
		c.ToolCall = &chunkCall{Name: e.name(), Args: e.Args, ID: e.ID}
		if !json.Valid(e.Args) {
			c.ToolCall.Args = json.RawMessage("{}")
		}
	case CallResult:
		c.ToolResult = &chunkResult{Name: e.name(), Success: e.Success(), ID: e.ID}
		if e.Error != nil {
			c.ToolResult.Error, c.ToolResult.Text = e.Error.Code, e.Error.Message
		} else if e.Result != nil {
			c.ToolResult.Text = e.Result.String()
		}
	case Stage:
		c.Stage, c.Thought = e.Text, e.Thought
	case AskUser:
		c.AskUser = e.Question
	case Done:
		c.Done = true
	case Failed:
		c.Error = &e.Text
	case Aborted:
		c.Aborted = true
	}
	return json.Marshal(c)
}

func (e Event) name() string {
	if e.Tool == "" && e.Call != nil {
		return e.Call.Name
	}
	return e.Tool
}
