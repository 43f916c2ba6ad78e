package codemode

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/internal/text"
)

// deeds is what a script has done so far.
type deeds struct {
	program Program
	depth   int    // 1: no other script stands above it
	above   *deeds // the script that called it, or nil

	mu   sync.Mutex
	list []deed
	from []string // tools whose results came from outside
}

// deed is a tool, how its calls ended, and how many ended so.
type deed struct {
	tool, end string // end empty: well
	times     int
}

// deedsKey is where the context of a call has the script that makes it.
type deedsKey struct{}

func newDeeds(p Program, depth int, above *deeds) *deeds {
	return &deeds{program: p, depth: depth, above: above}
}

func outer(ctx context.Context) *deeds {
	d, _ := ctx.Value(deedsKey{}).(*deeds)
	return d
}

// running reports whether this call is made by a script, and how many there are above
// it.
func running(ctx context.Context) (bool, int) {
	if d := outer(ctx); d != nil {
		return true, d.depth
	}
	return false, 0
}

// named is a tool as a line about calls names it. A script may call anything by any
// name: what could be read as words of ours is quoted.
func named(tool string) string {
	plain := tool != "" && len(tool) <= 128
	for _, r := range tool {
		plain = plain && (r == '_' || r == '-' || r == '.' || r == '/' || r == ':' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	if plain {
		return tool
	}
	return "a tool that it calls " + text.ShowExact(strconv.Quote(text.Clip(tool, 40)))
}

// mostKinds bounds the list: a script may call things by thousands of names.
const mostKinds = 40

// others stands for the calls beyond that. No tool has a blank in its name.
const others = "other tools"

func (d *deeds) add(tool, end string, outside bool) {
	tool = named(tool)
	d.mu.Lock()
	defer d.mu.Unlock()
	if outside && !slices.Contains(d.from, tool) && len(d.from) < mostKinds {
		d.from = append(d.from, tool)
	}
	at := slices.IndexFunc(d.list, func(x deed) bool { return x.tool == tool && x.end == end })
	if at < 0 && len(d.list) >= mostKinds {
		tool, end = others, ""
		at = slices.IndexFunc(d.list, func(x deed) bool { return x.tool == tool })
	}
	if at < 0 {
		d.list = append(d.list, deed{tool: tool, end: end})
		at = len(d.list) - 1
	}
	d.list[at].times++
}

// line says what was called, in the order in which it was first, such as "read_file 3,
// web_fetch denied".
func (d *deeds) line() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var parts []string
	for _, x := range d.list {
		part := x.tool
		if x.times > 1 {
			part += fmt.Sprintf(" ×%d", x.times)
		}
		if x.end != "" {
			part += " (" + x.end + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// worked are the tools of which a call ended well.
func (d *deeds) worked() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var names []string
	for _, x := range d.list {
		if x.end == "" && x.tool != others {
			names = append(names, x.tool)
		}
	}
	return names
}

func (d *deeds) outside() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.from)
}
