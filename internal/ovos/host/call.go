package host

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/spoken"
	"github.com/toolcrib/toolcrib/internal/text"
)

// outcome is how a call ended: a result, or an error in the words of the field
// and what it keeps to itself.
type outcome struct {
	result        json.RawMessage
	error, detail string
	spoken        string // for people; see [Speech]
}

// personaAnswer answers the call of a toolbox.
type personaAnswer struct {
	Result    json.RawMessage `json:"result,omitempty"`
	Error     string          `json:"error,omitempty"`
	ToolboxID string          `json:"toolbox_id"`
	Detail    string          `json:"detail,omitempty"`
	Spoken    string          `json:"spoken,omitempty"`
}

// invokeAnswer answers the call of a tool.
type invokeAnswer struct {
	Name   json.RawMessage `json:"name"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	Detail string          `json:"detail,omitempty"`
	Spoken string          `json:"spoken,omitempty"`
}

// hostCall is one call on its way through the host.
type hostCall struct {
	request
	caller toolcrib.Caller
	id     string // of the toolbox
	name   value
	input  json.RawMessage // absent: {}
	shape  func(outcome) any
}

// personaCall calls a tool of a toolbox, if that is here.
func (h *Host) personaCall(r request, id string) {
	u := hostCall{request: r, caller: h.caller(r.Message), id: id, name: pythonValue(r.data["name"]), input: r.data["kwargs"]}
	if !h.hosts(u.caller, id) {
		return
	}
	u.shape = func(o outcome) any { return personaAnswer{o.result, o.error, id, o.detail, o.spoken} }
	h.rivals.ours(claimOf(r, id), r, false, func() { h.begin(u, func() outcome { return h.inBox(u) }) })
}

// inBox finds the tool in its toolbox and calls it.
func (h *Host) inBox(u hostCall) outcome {
	if u.name.unhashable != "" {
		return h.told(u.Message, spoken.Invalid, outcome{error: unhashable(u.name), detail: nameIsText})
	}
	spec, ok := h.inBoxNamed(u)
	if !ok { // it may be new
		ctx, cancel := context.WithTimeout(h.life, h.cfg.LoadTimeout)
		defer cancel()
		if _, err := h.loads.fresh(ctx); err != nil {
			h.cfg.Log.Warn("toolboxes could not be read anew to find a tool", "err", err)
		}
		if spec, ok = h.inBoxNamed(u); !ok {
			detail := h.refuse(u, u.id+"/"+u.name.text)
			return h.told(u.Message, spoken.NotFound, outcome{error: fmt.Sprintf("ValueError: Unknown tool '%s' for ToolBox '%s'.", u.name.shown(), u.id), detail: detail})
		}
	}
	return h.run(u, spec)
}

func (h *Host) inBoxNamed(u hostCall) (toolcrib.Entry, bool) {
	spec, ok := h.named(u.caller, u.name)
	if ok && h.cfg.BoxID(spec.Box) == u.id {
		return spec, true
	}
	if h.cfg.Worded == nil || u.name.kind != "str" {
		return toolcrib.Entry{}, false
	}
	// The name may be another's on the shelves; within its toolbox it is this one's.
	for spec := range h.cfg.Crib.Tools(u.caller) {
		if spec.Native == u.name.text && h.cfg.BoxID(spec.Box) == u.id && h.worded(spec.Box) && h.shows(spec.Box) {
			return spec, true
		}
	}
	return toolcrib.Entry{}, false
}

// worded reports whether a box words its failures itself.
func (h *Host) worded(box string) bool { return h.cfg.Worded != nil && h.cfg.Worded(box) }

// invoke calls a tool of whichever toolbox.
func (h *Host) invoke(r request) {
	u := hostCall{request: r, caller: h.caller(r.Message), name: pythonValue(r.data["name"]), input: r.data["args"]}
	u.shape = func(o outcome) any { return invokeAnswer{u.name.echo(), o.result, o.error, o.detail, o.spoken} }
	h.begin(u, func() outcome {
		switch spec, ok := h.named(u.caller, u.name); {
		case u.name.falsy:
			return h.told(u.Message, spoken.Invalid, outcome{error: missingName})
		case u.name.unhashable != "":
			return h.told(u.Message, spoken.Invalid, outcome{error: unhashable(u.name), detail: nameIsText})
		case !ok:
			return h.told(u.Message, spoken.NotFound, outcome{error: unknownTool(u.name), detail: h.refuse(u, u.name.text)})
		default:
			u.id = h.cfg.BoxID(spec.Box)
			return h.run(u, spec)
		}
	})
}

// begin has a call made and answered, or says that there are too many.
func (h *Host) begin(u hostCall, call func() outcome) {
	if h.calls.take(u.size, func() {
		o := call()
		if o.error == "" && o.result == nil {
			return // the answer to the call that this one repeats is the answer to both
		}
		h.answer(u.request, u.shape(o))
	}) {
		return
	}
	o := outcome{detail: "unavailable: too many calls are under way; try again later"}
	o.error = h.cfg.ErrorText(&toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: u.name.shown()}, u.id)
	o = h.only(u.Message, spoken.Busy, o)
	if !h.turnedAway.take(u.size, func() { h.answer(u.request, u.shape(o)) }) {
		h.cfg.Log.Warn("too many calls at once; one is not even refused", "type", u.Type)
	}
}

// refuse puts a call on record that names no tool, under a name that cannot be
// one, and gives what the crib has to say about it.
func (h *Host) refuse(u hostCall, name string) string {
	if u.name.kind != "str" {
		name += " (" + u.name.kind + ")"
	}
	_, err := h.cfg.Crib.Call(h.life, toolcrib.Call{Tool: name, Input: u.input, Caller: u.caller, Lenient: true})
	return detailOf(err)
}

// run has the crib make a call of a tool that is there.
func (h *Host) run(u hostCall, spec toolcrib.Entry) outcome {
	call := toolcrib.Call{ID: h.callID(u), Tool: h.shelved(u, spec), Input: u.input, Caller: u.caller, Lenient: true}
	notAnObject := ""
	if given := pythonValue(u.input); u.input != nil && given.kind != "dict" {
		notAnObject = fmt.Sprintf("RuntimeError: Tool '%s' called with unexpected type arguments: %s. Must be Dict[str, Any] or ToolArguments.", u.name.text, given.kind)
		// A lax contract could take it, and the protocol does not: whatever the
		// tool, this is refused as an input, and on record as that.
		call.Input = append([]byte("no object: "), u.input...)
	}
	if !h.beginCall(call.ID, u.Message) {
		h.cfg.Log.Debug("a request was repeated while it is carried out", "call", call.ID)
		return outcome{}
	}
	defer h.endCall(call.ID)
	result, err := h.cfg.Crib.Call(h.life, call)
	switch {
	case notAnObject != "":
		return h.told(u.Message, spoken.Invalid, outcome{error: notAnObject, detail: "invalid: the arguments have to be an object"})
	case err != nil:
		return h.refused(u, spec, err)
	case result.Failed:
		return h.failed(u, spec, result)
	}
	out, err := object(result, spec.Output)
	if err != nil {
		if errors.Is(err, errBigInteger) {
			return h.told(u.Message, spoken.Internal, outcome{error: "TypeError: Integer exceeds 64-bit range", detail: err.Error()})
		}
		return h.told(u.Message, spoken.Internal, outcome{error: fmt.Sprintf("RuntimeError: Tool output validation failed for '%s' in ToolBox '%s'", u.name.text, u.id), detail: err.Error()})
	}
	return h.done(u, spec, out)
}

// shelved is the name on the shelves of the tool that is called.
func (h *Host) shelved(u hostCall, spec toolcrib.Entry) string {
	if h.worded(spec.Box) {
		return spec.Name
	}
	return u.name.text
}

// failed is the outcome of a tool that ran and failed.
func (h *Host) failed(u hostCall, spec toolcrib.Entry, result *toolcrib.Result) outcome {
	why := text.Clip(result.String(), maxDetail)
	if h.worded(spec.Box) {
		if said, ok := ownWords(result); ok {
			key := spoken.Failed
			if strings.HasPrefix(said, "ValueError: Tool input validation failed") { // a Python toolbox reads its arguments itself
				key = spoken.Invalid
			}
			return h.told(u.Message, key, outcome{error: said})
		}
	}
	return h.told(u.Message, spoken.Failed, outcome{error: h.cfg.ErrorText(&toolcrib.Error{Code: toolcrib.CodeInternal, Tool: u.name.text}, spec.Box), detail: "failed: " + why})
}

// ownWords is what a toolbox of the field says of a failure: the class of an
// exception and its text. A mark of ours may stand before it, a hint behind.
func ownWords(result *toolcrib.Result) (string, bool) {
	for _, c := range result.Content {
		class, _, ok := strings.Cut(c.Text, ":")
		if ok && c.Type == "text" && isClass(class) {
			return text.Clip(c.Text, maxDetail), true
		}
	}
	return "", false
}

// isClass reports whether a text can be the name of a class in Python.
func isClass(name string) bool {
	for i, r := range name {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return name != ""
}

// detailOf is what the field's own words leave out of a refusal.
func detailOf(err error) string {
	e, ok := toolcrib.AsError(err)
	if !ok {
		return string(toolcrib.CodeInternal) + ": the call broke down"
	}
	return text.Clip(string(e.Code)+": "+e.Message, maxDetail)
}

// caller is who calls. The session is bounded: it is a key of many maps.
func (h *Host) caller(m bus.Message) toolcrib.Caller {
	c := h.cfg.Caller
	// "default" is what everyone has who names none: no conversation of its own.
	if c.Session = m.SessionID(); c.Session == "default" {
		c.Session = ""
	} else if len(c.Session) > maxSession {
		sum := sha256.Sum256([]byte(c.Session))
		c.Session = "sha256-" + hex.EncodeToString(sum[:])
	}
	return c
}

const (
	maxSession = 128
	// minCorrelation keeps keys apart that were made by chance from those that
	// somebody counts up: only the former never come again by accident.
	minCorrelation = 16
)

// callID names a call, so that the repetition of a request is one here too.
// What is called is a part of it, because programs that derive one message from
// another pass the key on with it.
func (h *Host) callID(u hostCall) string {
	key := u.Text(bus.CorrelationKey)
	if len(key) < minCorrelation {
		return callid.New(h.cfg.Now())
	}
	sum := sha256.New()
	for _, part := range []string{key, u.Type, u.caller.Session, u.id, u.name.text, string(u.input)} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		sum.Write(n[:]) // lengths keep two parts from trading bytes
		sum.Write([]byte(part))
	}
	return "ovos-" + hex.EncodeToString(sum.Sum(nil)[:20])
}

// beginCall notes a call under way, unless it is already.
func (h *Host) beginCall(id string, m bus.Message) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, twice := h.flights[id]; twice {
		return false
	}
	h.flights[id] = m
	h.recent.add(id, m)
	return true
}

func (h *Host) endCall(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.flights, id)
}
