package chatapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/model"
)

// The roles that messages have at OpenAI.
const (
	roleSystem    = "system"
	roleDeveloper = "developer"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

// chatMessage is one message as clients send it.
type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Refusal string          `json:"refusal"`
	Calls   []chatCall      `json:"tool_calls"`
	CallID  string          `json:"tool_call_id"`
}

// chatCall is a call of a tool that the client brought.
type chatCall struct {
	Index    *int   `json:"index,omitempty"` // in a stream
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// conversation is what the messages of a request say.
type conversation struct {
	system   string
	messages []model.Message
	images   int
	called   []string // names of tools that the client says were called
}

// conversationOf reads the messages. Every call must have its result and every result its call:
// the services behind refuse anything else, each in other words.
func conversationOf(list []chatMessage) (*conversation, *refusal) {
	c := &conversation{}
	var system []string
	open := map[string]string{} // calls without a result: their names
	for i, m := range list {
		at := fmt.Sprintf("messages[%d]", i)
		if len(open) > 0 && m.Role != roleTool {
			return nil, invalid(at, "a message with tool_calls has to be followed by a message of role tool for each of them")
		}
		if m.Role != roleAssistant && len(m.Calls) > 0 {
			return nil, invalid(at+".tool_calls", "only messages of the assistant have tool_calls")
		}
		parts, no := partsOf(m.Content, at+".content")
		if no != nil {
			return nil, no
		}
		if m.Role != roleUser && m.Role != roleTool && hasImage(parts) {
			return nil, invalid(at+".content", "images are taken in messages of the user")
		}
		switch m.Role {
		case roleSystem, roleDeveloper:
			if said := (model.Message{Parts: parts}).Said(); said != "" {
				system = append(system, said)
			}
		case roleUser:
			if len(parts) == 0 {
				return nil, invalid(at+".content", "the message is empty")
			}
			c.messages = append(c.messages, model.Message{Role: model.User, Parts: parts})
		case roleAssistant:
			if no := c.assistant(m, parts, at, open); no != nil {
				return nil, no
			}
		case roleTool:
			name, ok := open[m.CallID]
			if !ok {
				return nil, invalid(at+".tool_call_id", "there is no call before it that this is the result of, or it has one already")
			}
			delete(open, m.CallID)
			c.messages = append(c.messages, model.Message{Role: model.Tool, CallID: m.CallID, Name: name, Parts: parts})
		default:
			return nil, invalid(at+".role", "the role is system, developer, user, assistant or tool")
		}
		for _, p := range parts {
			if p.Data != nil {
				c.images++
			}
		}
	}
	switch {
	case len(open) > 0:
		return nil, invalid("messages", "a message with tool_calls has to be followed by a message of role tool for each of them")
	case c.images > mostImages:
		return nil, invalid("messages", fmt.Sprintf("there are %d images; at most %d are taken", c.images, mostImages))
	case len(c.messages) == 0 || c.messages[len(c.messages)-1].Role == model.Assistant:
		return nil, invalid("messages", "the last message has to be of the user, or the result of a tool")
	}
	c.system = strings.Join(system, "\n\n")
	return c, nil
}

// assistant adds a message of the assistant, and notes its calls.
func (c *conversation) assistant(m chatMessage, parts []model.Part, at string, open map[string]string) *refusal {
	out := model.Message{Role: model.Assistant, Parts: parts}
	if len(parts) == 0 && m.Refusal != "" {
		out.Parts = []model.Part{{Text: m.Refusal}}
	}
	for j, call := range m.Calls {
		where := fmt.Sprintf("%s.tool_calls[%d]", at, j)
		switch _, twice := open[call.ID]; {
		case call.ID == "" || len(call.ID) > 256 || twice:
			return invalid(where+".id", "every call has an id of its own, of at most 256 letters")
		case call.Type != "" && call.Type != "function":
			return invalid(where+".type", "only calls of functions are taken")
		case !toolName(call.Function.Name):
			return invalid(where+".function.name", toolNames)
		}
		open[call.ID] = call.Function.Name
		c.called = append(c.called, call.Function.Name)
		args := json.RawMessage(call.Function.Arguments)
		if !json.Valid(args) { // a model wrote it: it goes back as the text that it was
			args, _ = json.Marshal(call.Function.Arguments) // a text always has a form
		}
		out.Calls = append(out.Calls, model.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: args})
	}
	if len(out.Parts) == 0 && len(out.Calls) == 0 {
		return nil // clients keep empty answers, and services refuse them
	}
	c.messages = append(c.messages, out)
	return nil
}
