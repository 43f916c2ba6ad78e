package chatapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/definition"
	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/model"
)

// clientTool is a tool that the client brings. It is not ours: a call of it goes back to the
// client, which makes it.
type clientTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// nameOfTool is what a tool may be called.
var nameOfTool = pattern.Of(`^[A-Za-z0-9_-]{1,64}$`)

const toolNames = "the name of a function has 1 to 64 letters, digits, _ and -"

func toolName(name string) bool { return nameOfTool.MatchString(name) }

// checkTools refuses tools that could not be shown to a model.
func checkTools(tools []clientTool) *refusal {
	seen := map[string]bool{}
	for i, t := range tools {
		at := fmt.Sprintf("tools[%d]", i)
		switch params := bytes.TrimSpace(t.Function.Parameters); {
		case t.Type != "function":
			return invalid(at+".type", "only tools of the type function are taken")
		case !toolName(t.Function.Name):
			return invalid(at+".function.name", toolNames)
		case seen[t.Function.Name]:
			return invalid(at+".function.name", "two tools are called "+t.Function.Name)
		case len(params) > 0 && params[0] != '{' && string(params) != "null":
			return invalid(at+".function.parameters", "parameters are a JSON Schema of an object")
		}
		seen[t.Function.Name] = true
	}
	return nil
}

// entries writes the client's tools in our words, so that every service is shown them in its own.
func entries(tools []clientTool) []toolcrib.Entry {
	var out []toolcrib.Entry
	for _, t := range tools {
		input := t.Function.Parameters
		if len(input) == 0 || string(input) == "null" {
			input = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, toolcrib.Entry{Spec: toolcrib.Spec{Name: t.Function.Name, Description: t.Function.Description, Input: input}, Native: t.Function.Name})
	}
	return out
}

// asked is the model of an agent for one request: it is asked as the client wants it asked, and
// shown the client's tools beside ours.
type asked struct {
	model.Model
	req    *request
	theirs definition.Set
	system string // what the loop tells the model; with another one it asks for itself, to sum up

	mu    sync.Mutex
	calls []chatCall // of the client's tools, which end the run
	said  string     // beside them
	stop  string     // why the last answer ended
	usage model.Usage
}

// errTheirs ends a run: the client has to make calls before it can go on.
var errTheirs = errors.New("the client has to make calls")

// Ask asks the model. Calls of the client's tools are taken out of its answer: if they are all
// the model wants, the run ends, and else they wait: the model is answered about our tools
// first, and calls again what it still needs.
func (a *asked) Ask(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Answer, error) {
	if !strings.HasSuffix(r.System, a.system) || a.system == "" && r.System != "" {
		answer, err := a.Model.Ask(ctx, r, emit)
		if err == nil {
			a.mu.Lock()
			a.usage = a.usage.Add(answer.Usage)
			a.mu.Unlock()
		}
		return answer, err
	}
	if limit := a.req.limit(); limit > 0 && (r.MaxTokens == 0 || limit < r.MaxTokens) {
		r.MaxTokens = limit
	}
	if a.req.Temperature != nil {
		r.Temperature = a.req.Temperature
	}
	r.Stop = append(slices.Clone(r.Stop), a.req.stops...)
	r.NoCalls = r.NoCalls || a.req.noCalls
	if len(a.theirs.Tools) > 0 && !r.NoCalls {
		for _, shown := range r.Tools {
			if name := shownName(shown); a.isTheirs(name) {
				return nil, clash(name)
			}
		}
		r.Tools = append(slices.Clone(r.Tools), a.theirs.Tools...)
	}
	answer, err := a.Model.Ask(ctx, r, emit)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stop, a.usage = answer.Stop, a.usage.Add(answer.Usage)
	a.calls = nil
	if r.NoCalls && len(answer.Message.Calls) > 0 { // whatever it was told, it calls
		out := *answer
		out.Message.Calls, out.Message.Own, out.Message.By = nil, nil, ""
		return &out, nil
	}
	var ours []model.ToolCall
	for _, call := range answer.Message.Calls {
		if a.isTheirs(call.Name) {
			a.calls = append(a.calls, a.callOf(call))
		} else {
			ours = append(ours, call)
		}
	}
	if len(a.calls) == 0 {
		return answer, nil
	}
	if len(ours) == 0 {
		if a.req.Parallel != nil && !*a.req.Parallel {
			a.calls = a.calls[:1]
		}
		a.said = answer.Message.Said()
		return nil, errTheirs
	}
	a.calls = nil
	out := *answer
	// What the service wants to get back as it was has the calls in it that are gone.
	out.Message.Calls, out.Message.Own, out.Message.By = ours, nil, ""
	return &out, nil
}

func (a *asked) isTheirs(shown string) bool {
	_, ok := a.theirs.Names[shown]
	return ok
}

// callOf is a call as the client is told of it.
func (a *asked) callOf(call model.ToolCall) chatCall {
	out := chatCall{ID: call.ID, Type: "function"}
	out.Function.Name = a.theirs.Names[call.Name]
	args, err := a.theirs.Restore(call.Name, call.Arguments)
	if err != nil {
		args = call.Arguments // as the model wrote it: who reads it knows that it may be anything
	}
	out.Function.Arguments = string(args)
	return out
}

// ended tells why the run ended, in OpenAI's words, and which calls the client has to make.
func (a *asked) ended() (reason string, calls []chatCall, usage model.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case len(a.calls) > 0:
		reason = "tool_calls"
	case a.stop == model.StopLength:
		reason = "length"
	case a.stop == model.StopRefused:
		reason = "content_filter"
	default:
		reason = "stop"
	}
	return reason, a.calls, a.usage
}

// clash refuses a tool of the client's that is called as one of ours.
func clash(name string) *refusal {
	return invalid("tools", "the tool "+name+" of this server has the same name as one of yours, and nobody could tell which was meant: rename yours, or leave it out")
}

// shownName is the name of a tool in the form of whatever API.
func shownName(shown json.RawMessage) string {
	var t struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(shown, &t) != nil {
		return ""
	}
	if t.Name != "" {
		return t.Name
	}
	return t.Function.Name
}
