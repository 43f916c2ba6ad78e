package httpauth

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// Access is who may come in, as the settings say.
type Access struct {
	holders []Holder
	open    bool            // who sends no token may come in too
	owner   toolcrib.Caller // who calls with the token of our own
}

// all is everybody who may come in, with the token of our own; empty: there is
// none.
func (g *Access) all(own string) []Holder {
	list := slices.Clone(g.holders)
	if own != "" {
		// A client of the person's own: it may show them what it asks for. What they
		// allow beyond the conversation they say at a terminal.
		list = append(list, Holder{Caller: g.owner, sum: sha256.Sum256([]byte(own)), approves: forSession})
	}
	if g.open {
		list = append(list, anyone())
	}
	return list
}

// Holder is who has a token, and the token's hash.
type Holder struct {
	Caller toolcrib.Caller
	sum    [sha256.Size]byte
	// approves is the longest that they may allow what they themselves call:
	// one of approvesFor. Empty: whoever calls does not approve.
	approves string
}

// The words of tokens.NAME.approves_for, shortest first.
const (
	forOnce    = "once"
	forSession = "session"
	forProject = "project"
	forAlways  = "always"
)

// Answers gives the answers that a holder may give; nil: none.
func (h Holder) Answers() []desk.Choice {
	if h.approves == "" {
		return nil
	}
	list := []desk.Choice{desk.AllowOnce, desk.Edit, desk.Deny}
	for _, c := range []struct {
		word   string
		choice desk.Choice
	}{{forSession, desk.AllowSession}, {forProject, desk.AllowProject}, {forAlways, desk.AllowAlways}} {
		if h.approves == forOnce {
			break
		}
		if list = append(list, c.choice); c.word == h.approves {
			break
		}
	}
	return list
}

// tokens reads the settings of tokens. One that both layers have is the
// machine's.
func tokens(l *settings.Layers) ([]Holder, error) {
	all := maps.Clone(l.User.Tokens)
	if all == nil {
		all = map[string]settings.Token{}
	}
	maps.Copy(all, l.Admin.Tokens)
	var out []Holder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t := all[name]
		sum, err := hex.DecodeString(t.SHA256)
		if err != nil || len(sum) != sha256.Size {
			return nil, fmt.Errorf("tokens.%s.sha256: want the 64 hexadecimal digits of a SHA-256", name)
		}
		h := Holder{
			// Prefixed, so that nobody takes the place of a person of this machine.
			Caller: toolcrib.Caller{Subject: "token:" + name, Token: name, Agent: t.Agent, Organisation: t.Organisation, Frontend: viaHTTP},
			sum:    [sha256.Size]byte(sum),
		}
		if t.Approves {
			// What lasts beyond a conversation is said at a terminal, unless the
			// settings trust this holder with it.
			h.approves = cmp.Or(t.ApprovesFor, forSession)
		} else if t.ApprovesFor != "" {
			return nil, fmt.Errorf("tokens.%s.approves_for says how long its holder may allow things, and without approves they allow nothing: set approves: true, or leave it out", name)
		}
		out = append(out, h)
	}
	return out, nil
}

// viaHTTP is how callers over HTTP come in, as rules and the journal see it.
const viaHTTP = "mcp-http"

// AccessOf reads who may come in. subject is the person whose server it is.
func AccessOf(l *settings.Layers, cfg settings.Config, subject string) (*Access, error) {
	holders, err := tokens(l)
	if err != nil {
		return nil, err
	}
	return &Access{
		holders: holders, open: cfg.Serve.Open,
		owner: toolcrib.Caller{Subject: cmp.Or(subject, "local"), Organisation: l.Organisation(), Frontend: viaHTTP},
	}, nil
}

// anyone is who comes in without a token, where the settings say so: whoever is
// on this machine. They may be anybody, so that they approve nothing.
func anyone() Holder {
	return Holder{Caller: toolcrib.Caller{Subject: "anyone", Frontend: viaHTTP}}
}

// holderOf finds out who sends a request. One with a token that is not known is
// nobody, also where none is needed.
func holderOf(known []Holder, authorization []string) (found Holder, ok bool) {
	if len(authorization) == 0 {
		return anyone(), slices.Contains(known, anyone())
	}
	if len(authorization) != 1 {
		return found, false
	}
	scheme, token, _ := strings.Cut(authorization[0], " ")
	token = strings.TrimLeft(token, " ")
	sent := strings.EqualFold(scheme, "Bearer") && token != ""
	sum := sha256.Sum256([]byte(token))
	for _, k := range known { // all are compared, so that the time tells nothing
		if subtle.ConstantTimeCompare(sum[:], k.sum[:]) == 1 && sent && k != anyone() {
			found, ok = k, true
		}
	}
	return found, ok
}
