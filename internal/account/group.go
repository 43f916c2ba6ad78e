package account

import (
	"cmp"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// Name is what the tool of a call is called, in a form that can be typed into a rule,
// too: the name that it was called by, or box/tool where that one allows nothing.
func Name(r toolcrib.Record) string {
	return toolname.Typed(r.Tool, r.Box, r.Native, r.Box != "project")
}

// Groups are what calls can be counted by.
func Groups() []string {
	return []string{"agent", "tool", "client", "subject", "session", "outcome", "frontend", "box", "organisation", "hour", "day"}
}

// Group is what a call counts under; ok is false if calls cannot be counted by that.
func Group(by string, r toolcrib.Record, at *time.Location) (name string, ok bool) {
	who := r.Caller
	switch by {
	case "agent":
		name = who.Agent
	case "tool":
		name = Name(r)
	case "client":
		name = cmp.Or(who.Client, who.Frontend)
	case "subject":
		name = who.Subject
	case "session":
		name = who.Session
	case "outcome":
		name = string(r.Outcome)
		if name == "" {
			name = "running"
		}
	case "frontend":
		name = who.Frontend
	case "box":
		name = r.Box
	case "organisation":
		name = who.Organisation
	case "hour":
		name = r.Start.In(at).Format("2006-01-02 15:00")
	case "day":
		name = r.Start.In(at).Format("2006-01-02")
	default:
		return "", false
	}
	return cmp.Or(strings.TrimSpace(name), "(none)"), true
}
