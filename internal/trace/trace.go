// Package trace is where in a distributed trace something happens, in the words
// of W3C Trace Context: which trace, which span, and whether it is recorded. It
// records nothing itself. The frontends, the MCP client and internal/telemetry
// import it.
//
// Its one invariant: a header that does not keep to the format counts as none,
// so that nothing of it is passed on.
package trace

import (
	"context"
	"encoding/hex"
	"strings"
)

// The keys of the context: headers of HTTP, and members of _meta in MCP.
const (
	KeyParent = "traceparent"
	KeyState  = "tracestate"
)

// Context is a place in a trace. The zero value is none.
type Context struct {
	Trace   [16]byte
	Span    [8]byte
	Sampled bool
	State   string // what others added to it; passed on as it is
}

// Valid reports whether it is a place at all.
func (c Context) Valid() bool { return c.Trace != [16]byte{} && c.Span != [8]byte{} }

// Parent is the place as it is sent on.
func (c Context) Parent() string {
	out := make([]byte, 0, 55)
	out = append(out, "00-"...)
	out = hex.AppendEncode(out, c.Trace[:])
	out = append(out, '-')
	out = hex.AppendEncode(out, c.Span[:])
	if c.Sampled {
		return string(append(out, "-01"...))
	}
	return string(append(out, "-00"...))
}

// maxParent bounds the header of a later version, which may have more behind the
// part that we know.
const maxParent = 256

// Parse reads what was sent. False: it is no place.
func Parse(parent, state string) (c Context, ok bool) {
	if len(parent) < 55 || len(parent) > maxParent || parent[2] != '-' || parent[35] != '-' || parent[52] != '-' {
		return Context{}, false
	}
	version := parent[:2]
	if version == "ff" || version == "00" && len(parent) > 55 || len(parent) > 55 && parent[55] != '-' {
		return Context{}, false
	}
	var head, flags [1]byte
	if !lowerHex(head[:], version) || !lowerHex(c.Trace[:], parent[3:35]) || !lowerHex(c.Span[:], parent[36:52]) || !lowerHex(flags[:], parent[53:55]) || !c.Valid() {
		return Context{}, false
	}
	c.Sampled = flags[0]&1 != 0
	if validState(state) {
		c.State = state
	}
	return c, true
}

// lowerHex reads hexadecimal digits; capitals are not allowed.
func lowerHex(into []byte, text string) bool {
	if strings.ToLower(text) != text {
		return false
	}
	_, err := hex.Decode(into, []byte(text))
	return err == nil
}

// What a state may be. Everyone who passes it on may cut it at 512 bytes; a
// longer one is left out, since half a list is none.
const (
	maxState   = 512
	maxMembers = 32
)

func validState(state string) bool {
	if state == "" || len(state) > maxState {
		return false
	}
	members := strings.Split(state, ",")
	if len(members) > maxMembers {
		return false
	}
	for _, m := range members {
		key, value, ok := strings.Cut(strings.Trim(m, " \t"), "=")
		if !ok || key == "" || len(key) > 256 || len(value) > 256 || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789_-*/@") != "" {
			return false
		}
		for i := range len(value) {
			if value[i] < ' ' || value[i] > '~' || value[i] == '=' {
				return false
			}
		}
	}
	return true
}

type key struct{}

// With puts a place into a context: what is begun under it is its child.
func With(ctx context.Context, c Context) context.Context { return context.WithValue(ctx, key{}, c) }

// Of gives the place of a context. False: nobody traces.
func Of(ctx context.Context) (Context, bool) {
	c, ok := ctx.Value(key{}).(Context)
	return c, ok
}
