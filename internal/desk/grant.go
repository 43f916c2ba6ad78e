package desk

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Scope says where a grant holds. The zero value is nowhere.
type Scope string

// The scopes, narrowest first.
const (
	Session Scope = "session"
	Project Scope = "project"
	Always  Scope = "always"
)

// Grant is a remembered allowance. It is bound to the subject, in its organisation, and
// agent it was given to, whatever its scope, and to one definition of one tool unless a
// person said that it is for a directory or a server.
type Grant struct {
	ID           string `json:"id"`
	Scope        Scope  `json:"scope"`
	Organisation string `json:"organisation,omitempty"`
	Subject      string `json:"subject"`
	Agent        string `json:"agent,omitempty"`
	Session      string `json:"session,omitempty"` // for Session
	Project      string `json:"project,omitempty"` // for Project

	Tool       string `json:"tool"` // as it was called
	Box        string `json:"box,omitempty"`
	Native     string `json:"native,omitempty"`
	Definition string `json:"definition"`
	// Way is what was remembered; empty in grants of older programs, for which
	// Arguments is the hash of the normalised arguments, and if it is empty, Rules
	// are the rules that were allowed.
	Way       By              `json:"way,omitempty"`
	Dir       string          `json:"dir,omitempty"` // for ByDirectory
	Arguments string          `json:"arguments,omitempty"`
	Rules     []string        `json:"rules,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"` // the arguments as they were shown
	// SetUp is what stood behind the name of the toolbox, for ByTool and ByServer: a
	// server that is started or reached otherwise is another one.
	SetUp string `json:"set_up,omitempty"`
	// Effects and Asked are what the person saw: a call that can do more, or
	// that a further guard wants asked, is not covered.
	Effects toolcrib.Effects `json:"effects"`
	Asked   []string         `json:"asked,omitempty"`
	// Files are the scripts it was given for: one that holds something else, or
	// another one, is not covered.
	Files []File `json:"files,omitempty"`

	Question  string    `json:"question"` // the ID of the question it came from
	By        string    `json:"by"`
	At        time.Time `json:"at"`
	Expires   time.Time `json:"expires,omitzero"` // zero: never
	Revoked   time.Time `json:"revoked,omitzero"`
	RevokedBy string    `json:"revoked_by,omitempty"`
}

// Holds reports whether the grant counts at a time.
func (g *Grant) Holds(now time.Time) bool {
	return g.Revoked.IsZero() && (g.Expires.IsZero() || now.Before(g.Expires)) && !now.Before(g.At)
}

// Bound names whom and which definition of which tool a grant is for.
func (g *Grant) Bound() string {
	if g.by().wide() {
		return hashOf("bound to a box", g.Organisation, g.Subject, g.Agent, g.Box)
	}
	return hashOf("bound", g.Organisation, g.Subject, g.Agent, g.Tool, g.Box, g.Native, g.Definition)
}

// bound is what Bound gives for the grants that may cover the question.
func (q *Question) bound() (tool, box string) {
	box = hashOf("bound to a box", q.Caller.Organisation, q.Caller.Subject, q.Caller.Agent, q.Box)
	return hashOf("bound", q.Caller.Organisation, q.Caller.Subject, q.Caller.Agent, q.Tool, q.Box, q.Native, q.Definition), box
}

// covers reports whether a grant answers a question, if the scripts that would
// run are still those it was given for: see changed.
func (g *Grant) covers(q *Question, now time.Time) bool {
	switch {
	case !g.Holds(now), q.Floor, q.askedByTool(),
		g.Organisation != q.Caller.Organisation, g.Subject != q.Caller.Subject, g.Agent != q.Caller.Agent,
		g.Box != q.Box,
		!q.Effects.Within(g.Effects.All()):
		return false
	}
	switch g.Scope {
	case Session:
		if g.Session == "" || g.Session != q.Caller.Session {
			return false
		}
	case Project:
		if g.Project == "" || g.Project != q.Project {
			return false
		}
	case Always:
	default:
		return false
	}
	return g.about(q)
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// askers names the guards that want a question asked, with the rule by which
// they do or without.
func askers(reasons []toolcrib.Verdict, rules bool) []string {
	var list []string
	for _, v := range reasons {
		if v.Decision != toolcrib.Ask {
			continue
		}
		name := v.Guard
		if rules {
			name += "\n" + v.Rule
		}
		list = append(list, name)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// grant makes what an answer has remembered.
func (d *Desk) grant(r Reply, q *Question, by string, now time.Time) *Grant {
	scope := r.Choice.scope()
	if scope == "" {
		return nil
	}
	g := &Grant{
		ID: d.newID("g-"), Scope: scope, Organisation: q.Caller.Organisation, Subject: q.Caller.Subject, Agent: q.Caller.Agent,
		Tool: q.Tool, Box: q.Box, Native: q.Native, Definition: q.Definition, Input: q.Input,
		Effects: q.Effects, Files: slices.Clone(q.Files), Question: q.ID, By: by, At: now,
	}
	last := d.cfg.AlwaysFor
	switch scope {
	case Session:
		g.Session, last = q.Caller.Session, d.cfg.SessionFor
	case Project:
		g.Project, last = q.Project, d.cfg.ProjectFor
	case Always:
	}
	if r.For > 0 {
		last = r.For
	}
	if last > 0 {
		g.Expires = now.Add(last)
	}
	g.Way, g.Asked = r.By, askers(q.Reasons, false)
	switch r.By {
	case ByArguments:
		g.Arguments, g.Asked = q.Arguments, askers(q.Reasons, true)
	case ByRule:
		g.Rules = slices.Clone(q.Rules)
	case ByDirectory:
		g.Dir = q.Dir
	case ByTool, ByServer:
		g.SetUp = q.SetUp
	}
	return g
}
