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

	responseSuffix = ".response"
)

// maxContext is the most that an answer echoes. A discovery is answered once
// for each toolbox and sent to every client, so that more of it would turn one
// large message into very many.
const maxContext = 1 << 20

// request is a message that wants an answer.
type request struct {
	bus.Message
	data map[string]json.RawMessage
	size int64
}

// route hands a message to whoever answers it.
func (h *Host) route(m bus.Message) {
	r := request{Message: m, size: int64(len(m.Data))}
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
	switch m.Type {
	case typeDiscover:
		h.query(r, h.discover)
	case typeList:
		h.query(r, h.list)
	case typeGet:
		h.query(r, h.get)
	case typeReload:
		h.query(r, h.reload)
	case typeAnswer:
		if h.people != nil {
			h.query(r, h.people.takeAnswer)
		}
	case typeInvoke:
		h.invoke(r)
	case typeCall:
		var id string
		if json.Unmarshal(r.data["toolbox_id"], &id) == nil {
			h.personaCall(r, id)
		}
	case typeDiscover + responseSuffix:
		h.notice(r)
	default:
		if id, ok := strings.CutSuffix(strings.TrimPrefix(m.Type, personaPrefix), callSuffix); ok {
			h.personaCall(r, id)
		}
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

// notice finds another host that answers for a toolbox of ours: every call of
// it would be carried out twice.
func (h *Host) notice(r request) {
	var id string
	if r.Text("source") == h.cfg.ID || json.Unmarshal(r.data["toolbox_id"], &id) != nil || !h.hosts(h.caller(r.Message), id) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.rival[id] { // only ids of ours get here, so that it stays small
		h.rival[id] = true
		h.known.forget()
		if h.off(id) {
			h.cfg.Log.Info("a toolbox that is switched off here is left to another host on the bus", "toolbox_id", id)
			return
		}
		h.cfg.Log.Error("another host on the bus answers for the same toolbox: each of its calls is carried out by both", "toolbox_id", id, "source", text.ShowLine(text.Clip(r.Text("source"), 80)))
	}
}
