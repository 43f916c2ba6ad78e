package agent

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/definition"
	"github.com/toolcrib/toolcrib/internal/find"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/finder"
)

// Definitions keeps what models were told of tools, so that it is written once for each
// list of tools and each form. The zero value is ready, and may be shared by agents of
// one crib or of several.
type Definitions struct {
	mu   sync.Mutex
	seed maphash.Seed
	sets map[setKey]*toolSet
	turn int
}

type setKey struct {
	format string
	list   uint64 // of everything that a model is told
	count  int
}

// maxSets is how many lists are kept: callers who see the same tools share one.
const maxSets = 32

// toolSet is what a model is shown at one time.
type toolSet struct {
	set    definition.Set
	tokens int             // what it takes of the context
	own    map[string]bool // the real names that the crib itself has
	react  string          // the list as the ReAct loop tells it
	used   int             // when it was used last
}

// tools gives what the model is shown now. Without finder every tool is among them.
func (r *run) tools(react bool) (*toolSet, error) {
	a := r.agent
	if a.Shown != nil {
		return r.defs.of(r.format(react), a.Shown(a.Caller))
	}
	all := make([]toolcrib.Entry, 0, 64)
	var finders []toolcrib.Entry
	for e := range a.Crib.Tools(a.Caller) {
		if e.Box == finder.Name {
			finders = append(finders, e)
		} else {
			all = append(all, e)
		}
	}
	set, err := r.defs.of(r.format(react), all)
	if err != nil || len(finders) == 0 || !r.tooMany(set) {
		return set, err
	}
	return r.defs.of(r.format(react), append(finders, finder.CallTool()))
}

const (
	manyTools  = 128    // services refuse more, and models choose worse
	manyTokens = 20_000 // what definitions may take of a context that is not known
)

// tooMany: the definitions would take too much of the context.
func (r *run) tooMany(set *toolSet) bool {
	room := manyTokens
	if limit := r.contextLimit(); limit > 0 {
		room = min(room, limit/4)
	}
	return len(set.set.Tools) > manyTools || set.tokens > room
}

func (r *run) format(react bool) string {
	if react {
		return ReAct
	}
	return r.traits.Format
}

// of gives the set of a list, written now or before.
func (d *Definitions) of(format string, list []toolcrib.Entry) (*toolSet, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sets == nil {
		d.sets, d.seed = map[setKey]*toolSet{}, maphash.MakeSeed()
	}
	key := setKey{format, d.fingerprint(list), len(list)}
	d.turn++
	if set := d.sets[key]; set != nil {
		set.used = d.turn
		return set, nil
	}
	set, err := newToolSet(format, list)
	if err != nil {
		return nil, err
	}
	if len(d.sets) >= maxSets {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(d.sets)), func(a, b setKey) int { return d.sets[a].used - d.sets[b].used })
		delete(d.sets, oldest)
	}
	set.used = d.turn
	d.sets[key] = set
	return set, nil
}

// fingerprint sums up all that definitions are made of.
func (d *Definitions) fingerprint(list []toolcrib.Entry) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	for i := range list {
		e := &list[i]
		for _, s := range [...]string{e.Name, e.Box, e.Hash, e.Title, e.Description} {
			_, _ = h.WriteString(s)
			_ = h.WriteByte(0)
		}
		_, _ = h.Write(e.Input)
		_ = h.WriteByte(1)
		_, _ = h.Write(e.Output)
		_ = h.WriteByte(2)
	}
	return h.Sum64()
}

func newToolSet(format string, list []toolcrib.Entry) (*toolSet, error) {
	t := &toolSet{own: make(map[string]bool, len(list))}
	for i := range list {
		if list[i].Box != "" || list[i].Name != finder.CallToolName { // behind that one there is no tool
			t.own[list[i].Name] = true
		}
	}
	if format == ReAct {
		t.set = definition.With(list, reactEntry)
		t.react = reactList(t.set)
		t.tokens = find.Tokens(t.react)
		return t, nil
	}
	set, err := definition.Of(definition.Format(format), list)
	if err != nil {
		return nil, fmt.Errorf("telling the model of its tools: %w", err)
	}
	t.set = set
	for _, def := range set.Tools {
		t.tokens += find.Tokens(string(def))
	}
	return t, nil
}

// sameName gives the shown name that a model means though it wrote it otherwise: with
// other capitals, or with a prefix that clients have.
func (t *toolSet) sameName(name string) string {
	found := ""
	for shown, real := range t.set.Names {
		if strings.EqualFold(shown, name) || real == name || shown == strings.TrimPrefix(name, "functions.") {
			if found != "" {
				return "" // it could be either
			}
			found = shown
		}
	}
	return found
}

// unknown says what to do about a name that means nothing.
func (t *toolSet) unknown(name string) string {
	names := slices.Sorted(maps.Keys(t.set.Names))
	if near := text.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	if len(names) == 0 {
		return "there are no tools at all"
	}
	if len(names) <= 20 {
		return "the tools are " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("you were shown %d others", len(names))
}
