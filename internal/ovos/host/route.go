package host

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/text"
)

// The types of messages, as the field has them.
const (
	personaPrefix = "ovos.persona.tools."
	callSuffix    = ".call"

	typeDiscover = "ovos.persona.tools.discover"
	typeCall     = "ovos.persona.tools.call"
	typeList     = "ovos.tools.list"
	typeGet      = "ovos.tools.get"
	typeInvoke   = "ovos.tools.invoke"
	typeReload   = "ovos.tools.reload"
	typeJoined   = "ovos.session.sync" // what clients said as they joined, up to a version of 2026

	responseSuffix = ".response"
)

// maxContext is the most that an answer echoes. A discovery is answered once
// for each toolbox and sent to every client, so that more of it would turn one
// large message into very many.
const maxContext = 1 << 20

// request is a message that wants an answer.
type request struct {
	bus.Message
	data  map[string]json.RawMessage
	size  int64
	epoch uint64 // of the connection that it came by
}

// route hands a message to whoever answers it.
func (h *Host) route(m bus.Message, epoch uint64) {
	r := request{Message: m, size: int64(len(m.Data)), epoch: epoch}
	for key, value := range m.Context {
		r.size += int64(len(key) + len(value))
	}
	if r.size-int64(len(m.Data)) > maxContext {
		h.cfg.Log.Warn("a request whose context is too large to be echoed is not answered", "type", text.ShowLine(m.Type))
		return
	}
	if err := json.Unmarshal(m.Data, &r.data); err != nil {
		h.cfg.Log.Debug("a request is not answered", "type", m.Type, "err", err) // cannot be: it was scanned
		return
	}
	if h.rivals.asked(r) {
		return
	}
	switch m.Type {
	case typeDiscover:
		h.query(r, h.discover)
	case typeList:
		h.service(r, true, func() { h.query(r, h.list) })
	case typeGet:
		h.service(r, true, func() { h.query(r, h.get) })
	case typeReload: // whoever answers it, it is meant for all
		h.query(r, h.reload)
	case typeAnswer:
		if h.people != nil {
			h.query(r, h.people.takeAnswer)
		}
	case typeInvoke:
		h.service(r, false, func() { h.invoke(r) })
	case typeJoined:
		h.rivals.joined()
	default:
		if id, ok := callee(r); ok {
			h.personaCall(r, id)
			return
		}
		h.notice(r)
	}
}

// callee is the id of the toolbox that is called.
func callee(r request) (id string, ok bool) {
	if r.Type == typeCall {
		ok = json.Unmarshal(r.data["toolbox_id"], &id) == nil
		return id, ok
	}
	return strings.CutSuffix(strings.TrimPrefix(r.Type, personaPrefix), callSuffix)
}

// claimOf is what a host needs to have to answer a call of a toolbox.
func claimOf(r request, id string) string {
	if r.Type == typeCall {
		return shared(id)
	}
	return id
}

// service answers a request that any service for tools could answer, if this host
// is the one that does. It is safe if answering it does nothing.
func (h *Host) service(r request, safe bool, then func()) {
	switch h.cfg.Service {
	case ServiceOff:
	case ServiceOn:
		then()
	case ServiceAuto:
		h.rivals.ours(theService, r, safe, then)
	}
}

// query answers something that runs no tool.
func (h *Host) query(r request, answer func(request)) {
	if !h.queries.take(r.size, func() { answer(r) }) {
		h.cfg.Log.Warn("too many questions at once; one is not answered", "type", text.ShowLine(r.Type))
	}
}

// maxRival is the most that is read of another host's answer.
const maxRival = 1 << 20

// notice finds another host that answers for the same as this one.
func (h *Host) notice(r request) {
	key, ok := responder(r.Message, r.data)
	if !ok || r.Text("source") == h.cfg.ID {
		return
	}
	h.rivals.busy()
	switch {
	case key == theService && h.cfg.Service == ServiceAuto, key != theService && h.hosts(h.caller(r.Message), strings.TrimPrefix(key, sharedMark)):
		h.rivals.heard(key)
	}
}
