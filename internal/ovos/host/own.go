package host

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// byOwnName finds a tool of a toolbox of the field by the name that it has there,
// where another tool here is called so too.
func (h *Host) byOwnName(u hostCall) (toolcrib.Entry, bool) {
	if u.name.kind != "str" {
		return toolcrib.Entry{}, false
	}
	for spec := range h.cfg.Crib.Tools(u.caller) {
		if spec.Native == u.name.text && h.cfg.BoxID(spec.Box) == u.id && h.cfg.Own(spec.Box) && h.shows(spec.Box) {
			return spec, true
		}
	}
	return toolcrib.Entry{}, false
}

// asOwn is the contract of a tool as its own toolbox tells it.
func (h *Host) asOwn(spec toolcrib.Entry) (json.RawMessage, error) {
	if h.cfg.Own(spec.Box) {
		spec.Name = spec.Native
	}
	return h.contract(spec)
}

// ownWords is what a toolbox of the field said when it failed. What was added here for
// models, before and behind it, is not for a program that compares the text.
func ownWords(r *toolcrib.Result) string {
	for _, c := range r.Content {
		if c.Type == "text" && !strings.HasPrefix(c.Text, "[untrusted: ") {
			return c.Text
		}
	}
	return r.String()
}
