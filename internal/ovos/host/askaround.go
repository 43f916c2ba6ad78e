package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// probeKey is the key of the context by which hosts of this kind know a question
// that is only there to find out who answers.
const probeKey = "toolcrib_probe"

// probe is what such a question says of who asks.
type probe struct {
	ID      string `json:"id"`
	Held    bool   `json:"held"`              // it answers for this already
	Toolbox string `json:"toolbox,omitempty"` // what it asks for; empty: the service
	Shared  bool   `json:"shared,omitempty"`  // on the topic that all toolboxes share
}

// key is what a probe asks for.
func (p probe) key() string {
	if p.Shared {
		return shared(p.Toolbox)
	}
	return p.Toolbox
}

// probeFor is what we say of ourselves when we ask for a key.
func (v *rivals) probeFor(key string, held bool) probe {
	id, is := strings.CutPrefix(key, sharedMark)
	return probe{ID: v.self, Held: held, Toolbox: id, Shared: is}
}

// typeClaimed is how hosts of this kind say that something is theirs. It is no type
// that anybody else waits for.
const typeClaimed = "toolcrib.tools.claimed"

// greeting tells the others that a host has joined, as clients of the field did: it
// is the only way to learn of it on a bus that is not one's own.
func (v *rivals) greeting(ctx context.Context) {
	v.mu.Lock()
	greet := v.greet
	v.greet = false
	v.mu.Unlock()
	if !greet {
		return
	}
	about, err := json.Marshal(probe{ID: v.self})
	if err == nil {
		err = v.host.bus.Send(ctx, bus.Message{Type: typeJoined, Data: json.RawMessage("{}")}.With(probeKey, about))
	}
	if err != nil {
		v.host.cfg.Log.Debug("the others on the bus are not told that this host has joined", "err", err)
	}
}

// question is what every host of the field answers at once and without doing
// anything. Its callers take the first answer of the type that they wait for, whoever
// asked: so where somebody is known to be there, what is asked is one whose answer is
// true for everybody. Where nobody is, a toolbox is asked for a tool whose name is
// none, which is answered sooner; an empty name would have it read its tools anew.
func question(key string, there bool) (typ string, data json.RawMessage) {
	id, is := strings.CutPrefix(key, sharedMark)
	switch {
	case key == theService:
		return typeList, json.RawMessage(`{}`)
	case there:
		return typeDiscover, json.RawMessage(`{}`)
	case is:
		return typeCall, fmt.Appendf(nil, `{"name":[],"kwargs":{},"toolbox_id":%s}`, jsontext.Quote(id))
	}
	return personaPrefix + key + callSuffix, json.RawMessage(`{"name":[],"kwargs":{}}`)
}

// answers reports whether a message answers a question about a key.
func answers(m bus.Message, key string) bool {
	if m.Type != typeDiscover+responseSuffix {
		return m.Type == typeClaimed || strings.HasSuffix(m.Type, responseSuffix)
	}
	return field(m, "toolbox_id") == strings.TrimPrefix(key, sharedMark)
}

// field is a text in the data of a message; "" for everything else.
func field(m bus.Message, key string) (text string) {
	var data map[string]json.RawMessage
	if json.Unmarshal(m.Data, &data) != nil || json.Unmarshal(data[key], &text) != nil {
		return ""
	}
	return text
}

// slower is how many times as long as the bus itself another host may take to
// speak up: on a machine with much to do, both take their time.
const slower = 12

// longest is the most that others are waited for.
const longest = 6 * time.Second

// errNoEcho: a question did not come back, so that nobody else may have had it.
var errNoEcho = errors.New("the bus does not pass on what it is sent")

// ask asks around for a key and reports whether anybody spoke up. The time for
// that begins when the question comes back from the bus.
func (v *rivals) ask(ctx context.Context, key string, held, there bool, wait time.Duration) (answered bool, err error) {
	typ, data := question(key, there)
	about, err := json.Marshal(v.probeFor(key, held))
	if err != nil {
		return false, err
	}
	id := rand.Text()
	m := bus.Message{Type: typ, Data: data}.With(bus.CorrelationKey, jsontext.Quote(id)).With(probeKey, about)
	sub := v.host.bus.Subscribe(bus.Filter{
		Types: []string{typ, typ + responseSuffix, typeClaimed},
		Match: func(m bus.Message) bool {
			return m.Text(bus.CorrelationKey) == id && (m.Type == typ || answers(m, key))
		},
	})
	defer sub.Close()
	began, passed := time.Now(), false
	sending, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if err := v.host.bus.Send(sending, m); err != nil {
		return false, err
	}
	for end := began.Add(max(longest, wait)); ; {
		m, err := nextBefore(ctx, sub, end)
		switch {
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && passed:
			return false, nil // nobody spoke up
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			return false, errNoEcho
		case err != nil:
			return false, err
		case m.Type != typ:
			return true, nil
		}
		if passed {
			continue // somebody sends our question again: it is not ours any more
		}
		passed = true
		end = time.Now().Add(max(min(slower*time.Since(began), longest), wait))
	}
}

// nextBefore gives what comes before a time.
func nextBefore(ctx context.Context, sub *bus.Subscription, end time.Time) (bus.Message, error) {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	return sub.Next(ctx)
}

// asked answers a question of another host of this kind, if what it asks for is
// ours and stays so. Of two, the one that answers already keeps it; of two that
// have just come, the one with the smaller id. What we lose is the other's at once.
func (v *rivals) asked(r request) bool {
	raw, ok := r.Context[probeKey]
	if !ok {
		return false
	}
	var p probe
	if json.Unmarshal(raw, &p) != nil || p.ID == "" {
		return false // somebody else's key
	}
	if strings.HasSuffix(r.Type, responseSuffix) {
		return false // what a host of the field answers to a question, with its context
	}
	if p.ID == v.self {
		return true // our own question comes back
	}
	if r.Type == typeJoined {
		return false // somebody else's
	}
	if p.Toolbox != "" && !v.host.hosts(v.host.caller(r.Message), p.Toolbox) {
		return true
	}
	if v.keeps(p.key(), p) {
		v.host.query(r, func(r request) {
			if err := v.host.send(r.Reply(v.host.cfg.ID, typeClaimed, json.RawMessage(`{}`))); err != nil {
				v.host.cfg.Log.Warn("another host may not have heard that something is ours", "err", err)
			}
		})
	}
	return true
}

// keeps decides between this host and another of its kind.
func (v *rivals) keeps(key string, other probe) bool {
	switch {
	case key == theService && v.host.cfg.Service == ServiceOff:
		return false
	case key == theService && v.host.cfg.Service == ServiceOn, v.around < 0:
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.claim(key)
	switch {
	case c.yielded:
		return false
	case c.held != other.Held && c.held, c.held == other.Held && v.self < other.ID:
		return true
	}
	v.yield(c)
	return false
}
