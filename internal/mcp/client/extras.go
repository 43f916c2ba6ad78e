package client

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/trace"
)

// requestExtras is what a request carries besides its own parameters.
type requestExtras struct {
	version      string // modern: said with every request; empty: legacy
	info         json.RawMessage
	capabilities json.RawMessage
	logLevel     string
	token        int64         // of progress; zero: none is wanted
	at           trace.Context // in a trace; the zero value: in none

	// of a further round of a call that wanted input
	responses json.RawMessage
	state     json.RawMessage
}

// params writes the parameters of a request. What the caller put into _meta is
// kept, but for the keys of the era: those are ours alone, so that nobody can
// speak for a client with more capabilities than the one that is there.
func (o *requestExtras) params(params json.RawMessage) (json.RawMessage, error) {
	if params == nil {
		params = json.RawMessage("{}")
	}
	if !isObject(params) {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "the parameters are no JSON object")
	}
	out := make([]byte, 1, len(params)+256+len(o.info)+len(o.capabilities)+len(o.responses)+len(o.state))
	out[0] = '{'
	var meta json.RawMessage
	err := jsontext.Members(params, func(m jsontext.Member) bool {
		switch m.Key {
		case "_meta":
			meta = m.Value
		case "inputResponses", "requestState":
			if o.responses != nil || o.state != nil {
				return true
			}
			fallthrough
		default:
			out = keepMember(out, m)
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("reading the parameters: %w", err)
	}
	if o.responses != nil {
		out = appendMember(out, "inputResponses", o.responses)
	}
	if o.state != nil {
		out = appendMember(out, "requestState", o.state)
	}
	text, err := o.meta(meta)
	if err != nil {
		return nil, err
	}
	if len(text) > 2 {
		out = appendMember(out, "_meta", text)
	}
	return append(out, '}'), nil
}

func (o *requestExtras) meta(given json.RawMessage) (json.RawMessage, error) {
	out := []byte{'{'}
	if given != nil && string(given) != "null" {
		err := jsontext.Members(given, func(m jsontext.Member) bool {
			switch m.Key {
			case mcp.MetaVersion, mcp.MetaCapabilities, mcp.MetaClient, mcp.MetaLogLevel, mcp.MetaSubscription, mcp.MetaProgress:
			case trace.KeyParent, trace.KeyState:
				if !o.at.Valid() {
					out = keepMember(out, m)
				}
			default:
				out = keepMember(out, m)
			}
			return true
		})
		if err != nil {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "the _meta of the parameters is no JSON object")
		}
	}
	if o.token != 0 {
		out = appendMember(out, mcp.MetaProgress, strconv.AppendInt(nil, o.token, 10))
	}
	if o.at.Valid() {
		out = appendMember(out, trace.KeyParent, strconv.AppendQuote(nil, o.at.Parent()))
		if o.at.State != "" {
			out = appendMember(out, trace.KeyState, jsontext.AppendString(nil, o.at.State))
		}
	}
	if o.version != "" {
		out = appendMember(out, mcp.MetaVersion, strconv.AppendQuote(nil, o.version))
		capabilities := o.capabilities
		if capabilities == nil {
			capabilities = json.RawMessage("{}")
		}
		out = appendMember(out, mcp.MetaCapabilities, capabilities)
		if o.info != nil {
			out = appendMember(out, mcp.MetaClient, o.info)
		}
		if o.logLevel != "" {
			level, err := json.Marshal(o.logLevel)
			if err != nil {
				return nil, fmt.Errorf("writing the log level: %w", err)
			}
			out = appendMember(out, mcp.MetaLogLevel, level)
		}
	}
	return append(out, '}'), nil
}

// isObject reports whether a text is one valid JSON object.
func isObject(text []byte) bool {
	i := jsontext.SkipSpace(text, 0)
	return i < len(text) && text[i] == '{' && json.Valid(text)
}

// appendMember writes a member behind those that stand in an open object. The
// key is one of ours: there is nothing to escape in it.
func appendMember(out []byte, key string, value []byte) []byte {
	if len(out) > 1 {
		out = append(out, ',')
	}
	out = append(append(append(out, '"'), key...), '"')
	return append(append(out, ':'), value...)
}

// keepMember writes a member as it was written.
func keepMember(out []byte, m jsontext.Member) []byte {
	if len(out) > 1 {
		out = append(out, ',')
	}
	return append(append(append(out, m.Name...), ':'), m.Value...)
}
