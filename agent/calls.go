package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/finder"
)

// wanted is a call of a model's, as it is to be made.
type wanted struct {
	said model.ToolCall  // as it stands in the conversation
	raw  json.RawMessage // the arguments as the model gave them
	name string          // and the name
	cut  bool            // the answer ended within it
	note string          // to be told with the result
}

// calls puts the calls of an answer into a form that every service takes back: each has
// an ID of its own, a name and an object of arguments.
func (r *run) calls(answer *model.Answer) (model.Message, []wanted) {
	said := answer.Message
	said.Role = model.Assistant
	if len(said.Calls) == 0 {
		return said, nil
	}
	given := said.Calls
	note := ""
	if most := cmp.Or(r.agent.MaxCalls, defaultCalls); len(given) > most {
		note = fmt.Sprintf("%d more calls of your answer were dropped: at most %d calls are made for one answer. Make those that you still need again.", len(given)-most, most)
		given = given[:most]
	}
	said.Calls = make([]model.ToolCall, 0, len(given))
	list := make([]wanted, 0, len(given))
	seen := make(map[string]bool, len(given))
	changed := note != ""
	for i, tc := range given {
		w := wanted{raw: tc.Arguments, name: tc.Name, cut: answer.Stop == model.StopLength && i == len(given)-1 && note == ""}
		w.said = model.ToolCall{ID: tc.ID, Name: tc.Name, Arguments: plainArguments(tc.Arguments)}
		if !validName(tc.Name) {
			w.said.Name = safeName(tc.Name)
		}
		if tc.ID == "" || seen[tc.ID] || len(tc.ID) > maxID {
			w.said.ID = r.newID(i, seen)
		}
		seen[w.said.ID] = true
		changed = changed || w.said.ID != tc.ID || w.said.Name != tc.Name || !bytes.Equal(w.said.Arguments, tc.Arguments)
		if i == len(given)-1 {
			w.note = note
		}
		said.Calls = append(said.Calls, w.said)
		list = append(list, w)
	}
	if changed {
		said.Own, said.By = nil, "" // it says what the model said, which is not what the service gets back
	}
	return said, list
}

const maxID = 256

// newID makes the ID of a call that has none, or one that another has.
func (r *run) newID(i int, seen map[string]bool) string {
	id := "call_" + strconv.Itoa(len(r.c.Messages)) + "_" + strconv.Itoa(i)
	for seen[id] {
		id += "_"
	}
	return id
}

// plainArguments gives the arguments as an object: as they are, unpacked from a text, or
// mended. What is none of that becomes an empty object; the result quotes it then.
func plainArguments(raw json.RawMessage) json.RawMessage {
	if args, ok := readArguments(raw); ok {
		return args
	}
	return json.RawMessage("{}")
}

// readArguments reads what a model gave as arguments; nothing at all is an empty object.
func readArguments(raw json.RawMessage) (json.RawMessage, bool) {
	plain := bytes.TrimSpace(raw)
	for range 3 { // some services pack JSON into a text, and some models once more
		if len(plain) == 0 || plain[0] != '"' {
			break
		}
		var packed string
		if json.Unmarshal(plain, &packed) != nil {
			return nil, false
		}
		plain = bytes.TrimSpace([]byte(packed))
	}
	if len(plain) == 0 || string(plain) == "null" {
		return json.RawMessage("{}"), true
	}
	if plain[0] == '{' && json.Valid(plain) {
		return plain, true
	}
	return mendObject(plain)
}

func validName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

// safeName is a name that services take back in a conversation.
func safeName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name) && b.Len() < 64; i++ {
		if c := name[i : i+1]; validName(c) {
			b.WriteString(c)
		} else {
			b.WriteByte('_')
		}
	}
	return cmp.Or(b.String(), "unnamed")
}

// makeCalls makes the calls of an answer and adds a message for each, in their order.
// Those that follow each other and change nothing run at once.
func (r *run) makeCalls(ctx context.Context, tools *toolSet, calls []wanted) {
	out := make([]model.Message, len(calls))
	ready := make([]prepared, len(calls))
	for i := range calls {
		ready[i] = r.prepare(tools, calls[i])
	}
	for i := 0; i < len(calls); {
		n := 1
		for ready[i].together && i+n < len(calls) && ready[i+n].together {
			n++
		}
		r.makeTogether(ctx, ready[i:i+n], out[i:i+n])
		for _, m := range out[i : i+n] {
			r.append(m)
		}
		i += n
	}
}

func (r *run) makeTogether(ctx context.Context, calls []prepared, out []model.Message) {
	if len(calls) == 1 {
		out[0] = r.makeCall(ctx, calls[0])
		return
	}
	room := make(chan struct{}, cmp.Or(r.agent.Parallel, defaultParallel))
	var all sync.WaitGroup
	for i := range calls {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			out[i] = r.makeCall(ctx, calls[i])
		})
	}
	all.Wait()
}

// prepared is a call that is ready to be made.
type prepared struct {
	wanted
	call     toolcrib.Call
	bad      *toolcrib.Error // why it cannot be made as it was meant
	never    bool            // it must not be made: it could be something that was not meant
	together bool            // it changes nothing, so others may run meanwhile
}

// prepare finds what a model means by a call. What it cannot mean goes to the crib all
// the same, so that the journal has it.
func (r *run) prepare(tools *toolSet, w wanted) prepared {
	p := prepared{wanted: w}
	args, ok := readArguments(w.raw)
	if w.cut && string(args) == "{}" {
		ok = false // they had not begun
	}
	shown := w.name
	if _, known := tools.set.Names[shown]; !known {
		if near := tools.sameName(shown); near != "" {
			shown = near
		}
	}
	name, known := tools.set.Real(shown)
	direct := false
	if !known {
		// It may know the tool from elsewhere, such as from a search. Which tools there
		// are is for the crib to say, and for its guards.
		name = w.name
		_, direct = r.agent.Crib.Tool(r.agent.Caller, name)
	}
	switch {
	case !known && !direct:
		p.call = toolcrib.Call{Tool: name, Input: plainArguments(w.raw)}
		p.bad = &toolcrib.Error{Code: toolcrib.CodeNotFound, Tool: name, Message: tools.unknown(name)}
	case !ok:
		p.call = toolcrib.Call{Tool: name, Input: w.raw}
		p.bad = &toolcrib.Error{Code: toolcrib.CodeInvalid, Tool: name, Message: notJSON(w)}
		p.never = w.cut
	case direct:
		p.call = toolcrib.Call{Tool: name, Input: args}
	default:
		call, err := tools.set.CallNamed(shown, args)
		if err == nil && !tools.own[finder.CallToolName] {
			err = finder.Unwrap(&call)
		}
		p.call = call
		if err != nil {
			p.call = toolcrib.Call{Tool: name, Input: args}
			p.bad, p.never = refusalOf(name, err), true
		}
	}
	return r.ready(p)
}

// ready says who calls, and whether other calls may run meanwhile.
func (r *run) ready(p prepared) prepared {
	p.call.Caller, p.call.Parent, p.call.Lenient = r.agent.Caller, r.agent.Parent, r.agent.Lenient
	p.call.ID = callid.New(time.Now())
	if p.bad == nil {
		e, found := r.agent.Crib.Tool(r.agent.Caller, p.call.Tool)
		p.together = found && e.Effects.ReadOnly() && e.Effects.All()&toolcrib.AsksPerson == 0 // people are asked one thing after the other
	}
	return p
}

// notJSON says what is wrong with arguments that cannot be read.
func notJSON(w wanted) string {
	if w.cut {
		return "your answer reached its limit of tokens before the arguments were complete, so nothing was done. Do it in smaller steps: write less in one call"
	}
	return "the arguments are no JSON object: " + text.Clip(text.ShowLine(string(w.raw)), 200)
}

// makeCall makes one call, and the message about what came of it.
func (r *run) makeCall(ctx context.Context, p prepared) model.Message {
	event := Event{Kind: Call, Call: &p.said, Tool: p.call.Tool, ID: p.call.ID, Args: p.call.Input}
	if p.bad != nil {
		event.Args = p.said.Arguments
	}
	r.emit(event)
	var result *toolcrib.Result
	err := ctx.Err()
	switch {
	case err != nil:
		code := toolcrib.CodeTimeout
		if errors.Is(err, context.Canceled) {
			code = toolcrib.CodeCancelled
		}
		err = &toolcrib.Error{Code: code, Tool: p.call.Tool, Message: "not begun: the run was ended before", Err: err}
	case p.never:
		err = p.bad
	default:
		r.count()
		result, err = r.agent.Crib.Call(ctx, p.call)
		if code := toolcrib.CodeOf(err); p.bad != nil && (code == toolcrib.CodeNotFound || code == toolcrib.CodeInvalid) {
			err = p.bad // the crib refuses it too, but knows less of what was meant
		}
	}
	event.Kind, event.Result = CallResult, result
	m := resultMessage(p.said, "", false)
	if err != nil {
		e := refusalOf(p.call.Tool, err)
		event.Error = e
		m.Failed, m.Parts = true, []model.Part{{Text: explain(ctx, e, p)}}
	} else {
		m.Failed, m.Parts = result.Failed, r.parts(result)
	}
	if p.note != "" {
		m.Parts = append(m.Parts, model.Part{Text: "\n" + p.note})
	}
	r.emit(event)
	return m
}

func refusalOf(tool string, err error) *toolcrib.Error {
	if e, ok := toolcrib.AsError(err); ok {
		return e
	}
	return &toolcrib.Error{Code: toolcrib.CodeInternal, Tool: tool, Message: "the call broke down", Err: err}
}

func (r *run) count() {
	r.mu.Lock()
	r.out.Calls++
	r.mu.Unlock()
}

func resultMessage(tc model.ToolCall, said string, failed bool) model.Message {
	m := model.Message{Role: model.Tool, CallID: tc.ID, Name: tc.Name, Failed: failed}
	if said != "" {
		m.Parts = []model.Part{{Text: said}}
	}
	return m
}
