// Package httpauth reads from the settings who may come in over HTTP, in the words
// of internal/serve/httpapi, which checks it. The wiring imports it.
//
// Its one invariant: whoever the settings do not name does not come in.
package httpauth

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// The words of tokens.NAME.approves_for, shortest first.
const (
	forOnce    = "once"
	forSession = "session"
	forProject = "project"
	forAlways  = "always"
)

// Answers gives the answers that a holder may give; nil: none.
func Answers(h httpapi.Holder) []desk.Choice {
	if h.Approves == "" {
		return nil
	}
	list := []desk.Choice{desk.AllowOnce, desk.Edit, desk.Deny}
	for _, c := range []struct {
		word   string
		choice desk.Choice
	}{{forSession, desk.AllowSession}, {forProject, desk.AllowProject}, {forAlways, desk.AllowAlways}} {
		if h.Approves == forOnce {
			break
		}
		if list = append(list, c.choice); c.word == h.Approves {
			break
		}
	}
	return list
}

// AccessOf reads who may come in. subject is the person whose server it is, before
// who could come in until now; nil: nobody. What is known of the keys of an issuer
// that stays is kept: it may be down when the settings change.
func AccessOf(l *settings.Layers, cfg settings.Config, subject string, before *httpapi.Access) (*httpapi.Access, error) {
	holders, err := tokens(l)
	if err != nil {
		return nil, err
	}
	people, err := issuer(l.OIDC(), before)
	if err != nil {
		return nil, err
	}
	return &httpapi.Access{
		Holders: holders, Open: cfg.Serve.Open, Issuer: people,
		Owner: httpapi.Holder{
			Caller: toolcrib.Caller{Subject: cmp.Or(subject, "local"), Organisation: l.Organisation()},
			// A client of the person's own: it may show them what it asks for. What they
			// allow beyond the conversation they say at a terminal.
			Approves: forSession,
		},
	}, nil
}

// tokens reads the settings of tokens. One that both layers have is the
// machine's.
func tokens(l *settings.Layers) ([]httpapi.Holder, error) {
	all := maps.Clone(l.User.Tokens)
	if all == nil {
		all = map[string]settings.Token{}
	}
	maps.Copy(all, l.Admin.Tokens)
	var out []httpapi.Holder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t := all[name]
		if strings.HasPrefix(name, settings.OIDCToken("")) {
			return nil, fmt.Errorf("tokens.%s: names that begin with %s are those of people who log in; choose another", name, settings.OIDCToken(""))
		}
		sum, err := hex.DecodeString(t.SHA256)
		if err != nil || len(sum) != sha256.Size {
			return nil, fmt.Errorf("tokens.%s.sha256: want the 64 hexadecimal digits of a SHA-256", name)
		}
		approves, err := approvesFor("tokens."+name, t.Approves, t.ApprovesFor)
		if err != nil {
			return nil, err
		}
		out = append(out, httpapi.Holder{
			// Prefixed, so that nobody takes the place of a person of this machine.
			Caller: toolcrib.Caller{Subject: "token:" + name, Token: name, Agent: t.Agent, Organisation: t.Organisation, Dialect: t.Speaks()},
			Sum:    [sha256.Size]byte(sum), Approves: approves, Watches: t.Watches, Chooses: strings.Join(t.Agents, ","),
		})
	}
	return out, nil
}

// approvesFor reads how long a holder may allow things; empty: not at all.
func approvesFor(key string, approves bool, word string) (string, error) {
	if approves {
		// What lasts beyond a conversation is said at a terminal, unless the
		// settings trust this holder with it.
		return cmp.Or(word, forSession), nil
	}
	if word != "" {
		return "", fmt.Errorf("%s.approves_for says how long its holder may allow things, and without approves they allow nothing: set approves: true, or leave it out", key)
	}
	return "", nil
}
