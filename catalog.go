package toolcrib

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/internal/toolname"
	"github.com/toolcrib/toolcrib/internal/watch"
)

// Catalog is what is on the shelves. Readers work on an immutable snapshot and
// never wait; Load makes the next one. The zero Catalog is empty.
type Catalog struct {
	snap atomic.Pointer[snapshot]

	mu       sync.Mutex // one Load at a time; guards the rest
	last     map[string][]Tool
	watchers watch.List[func(Diff)]
}

// Contents says what goes onto the shelves and under which names. Tools are
// named as box/tool, or as tool for every box's tool of that name; in Disable
// by every name that they have.
type Contents struct {
	Boxes    []Toolbox
	Adapters []Adapter
	Rename   map[string]string // tool → its new name
	Alias    map[string]string // a further name → the tool
	Disable  []string          // tools, or patterns such as box/*
	// BoxNames has further names of boxes, those of dialects: a person may type
	// them in rules and settings.
	BoxNames map[string][]string
	Absent   map[string]string // names that are not on the shelves, and what to tell who calls them
	// Qualify has boxes whose tools are called box__tool from the start, so that
	// a tool from elsewhere never takes a name that one of ours could have.
	Qualify []string
	// Yield has boxes whose tools keep their names only if no tool of another
	// box wants them; it is they that are called box__tool then.
	Yield []string
}

// Adapter gives a native tool the name and shape another system knows it by.
// Guards, journal and tool see only the native side.
type Adapter struct {
	Spec               // the dialect's contract
	Dialect     string // whose it is
	Box, Native string // which tool it is about
	// Foreign says that the name comes from elsewhere, such as the author of a
	// skill: nothing is allowed by it.
	Foreign bool
	// In turns an input of this contract into one of the native tool. Nil: as it is.
	In func(input json.RawMessage) (json.RawMessage, error)
	// Out turns the native result, failed or not, into one of this contract.
	Out func(input json.RawMessage, native *Result) (*Result, error)
	// Refused puts the refusal of a call into a result, where callers of this
	// dialect look for refusals there. The record says that it was refused. Nil,
	// or a nil result: the refusal stays one.
	Refused func(input json.RawMessage, e *Error) *Result
}

// Diff is what a Load changed, by the names callers use.
type Diff struct {
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	Changed []string `json:"changed,omitempty"` // same name, other definition
}

// Empty reports whether nothing changed.
func (d Diff) Empty() bool { return len(d.Added)+len(d.Removed)+len(d.Changed) == 0 }

// Entry is a tool as the catalog shows it: its contract, and what it is called.
type Entry struct {
	Spec
	// Rules always match Box and Native, whatever else the tool is called, so
	// neither a rename nor a dialect slips past them.
	Box     string `json:"box,omitempty"`
	Native  string `json:"native,omitempty"`
	Dialect string `json:"dialect,omitempty"`
	Hash    string `json:"hash,omitempty"` // of the definition as its supplier gave it

	shown *toolname.Given // see Names
}

// LoadError is something that was left out of the catalog, and why.
type LoadError struct {
	Box  string `json:"box"`
	Tool string `json:"tool,omitempty"` // empty: the whole box
	Err  error  `json:"-"`
}

func (f LoadError) Error() string {
	switch {
	case f.Tool == "":
		return fmt.Sprintf("toolbox %s: %v", f.Box, f.Err)
	case f.Box == "": // a name from the configuration
		return fmt.Sprintf("tool %s: %v", f.Tool, f.Err)
	}
	return fmt.Sprintf("tool %s/%s: %v", f.Box, f.Tool, f.Err)
}

// Unwrap gives the reason.
func (f LoadError) Unwrap() error { return f.Err }

// callable is one tool as one dialect sees it, ready to be called.
type callable struct {
	spec    Entry // as shown in this dialect
	native  Entry // as guards, approver and journal see it
	tool    Tool
	in, out *schema.Schema
	adapter *adapter // nil: shown as it is
	alias   bool     // a further name of a tool that has its own entry
	wanted  string   // the name it has if nobody else wants it
}

// adapter is an Adapter ready for use.
type adapter struct {
	Adapter
	in *schema.Schema
}

type snapshot struct {
	byName map[string]map[string]*callable // dialect → name
	sorted map[string][]Entry              // dialect → by name, side by side in memory: listing is a walk over it
	absent map[string]absence              // what to tell of names that are not there
}

// Load reads every box again and puts up a new snapshot. What cannot be used
// is left out and reported, one by one; the rest is loaded. A box that cannot
// be read keeps the tools it had.
func (c *Catalog) Load(ctx context.Context, s Contents) (Diff, []LoadError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var faults []LoadError
	fault := func(box, tool string, err error) { faults = append(faults, LoadError{box, tool, err}) }

	lists := map[string][]Tool{}
	for _, box := range s.Boxes {
		name := box.Name()
		if _, twice := lists[name]; twice {
			fault(name, "", errors.New("another toolbox has the same name"))
			continue
		}
		if !toolname.Valid(name) {
			fault(name, "", fmt.Errorf("bad name %q: want 1 to 64 letters, digits, _ or -", name))
			continue
		}
		tools, err := list(ctx, box)
		if err != nil {
			fault(name, "", err)
			tools = c.last[name]
		}
		lists[name] = tools
	}
	c.last = lists
	entries := shelve(lists, s, fault)
	next := &snapshot{byName: map[string]map[string]*callable{}, sorted: map[string][]Entry{}, absent: absences(&s, lists)}
	next.put("", entries)
	addDialects(next, entries, s.Adapters, fault)

	diff := compare(c.snap.Load(), next)
	c.snap.Store(next)
	if !diff.Empty() {
		c.tell(diff)
	}
	return diff, faults
}

// Announce has everyone who watches look again, because callers may see other
// tools now though the shelves are as they were.
func (c *Catalog) Announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell(Diff{})
}

func (c *Catalog) tell(diff Diff) { c.watchers.Each(func(changed func(Diff)) { changed(diff) }) }

// list asks a box; one that breaks down is a box that cannot be read.
func list(ctx context.Context, box Toolbox) (tools []Tool, err error) {
	defer func() {
		if p := recover(); p != nil {
			tools, err = nil, fmt.Errorf("it broke down: %v", p)
		}
	}()
	return box.Tools(ctx)
}

// Watch calls changed after every Load that changed something, and with an
// empty Diff after every [Catalog.Announce], until stop is called. changed must return soon and must not call Load, nor stop itself.
func (c *Catalog) Watch(changed func(Diff)) (stop func()) {
	remove := c.watchers.Add(changed)
	return func() {
		c.mu.Lock() // whoever has stopped is not called any more
		defer c.mu.Unlock()
		remove()
	}
}

// current is the snapshot that readers work on; an empty one if there is none yet.
func (c *Catalog) current() *snapshot {
	if c != nil {
		if snap := c.snap.Load(); snap != nil {
			return snap
		}
	}
	return &snapshot{}
}

func (c *Catalog) find(dialect, name string) *callable { return c.current().names(dialect)[name] }

// native finds a tool by its box and its own name there, whatever it is called here.
func (c *Catalog) native(box, name string) *callable {
	for _, e := range c.current().byName[""] {
		if e.native.Box == box && e.native.Native == name {
			return e
		}
	}
	return nil
}

// all gives the contracts of a dialect by name; the slice is never written to.
func (c *Catalog) all(dialect string) []Entry {
	snap := c.current()
	if list, ok := snap.sorted[dialect]; ok {
		return list
	}
	return snap.sorted[""]
}

// names: a dialect nobody adapted anything for is the native one.
func (s *snapshot) names(dialect string) map[string]*callable {
	if m, ok := s.byName[dialect]; ok {
		return m
	}
	return s.byName[""]
}

func (s *snapshot) put(dialect string, entries []*callable) {
	m := make(map[string]*callable, len(entries))
	for _, e := range entries {
		m[e.spec.Name] = e
	}
	s.byName[dialect] = m
	sorted := make([]Entry, 0, len(m))
	for _, e := range m {
		sorted = append(sorted, e.spec)
	}
	slices.SortFunc(sorted, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	s.sorted[dialect] = sorted
}

func compare(old, next *snapshot) Diff {
	var d Diff
	var before map[string]*callable
	if old != nil {
		before = old.byName[""]
	}
	for i := range next.sorted[""] {
		spec := &next.sorted[""][i]
		switch was := before[spec.Name]; {
		case was == nil:
			d.Added = append(d.Added, spec.Name)
		case was.spec.Hash != spec.Hash || was.spec.Box != spec.Box || was.spec.Native != spec.Native:
			d.Changed = append(d.Changed, spec.Name)
		}
	}
	for name := range before {
		if next.byName[""][name] == nil {
			d.Removed = append(d.Removed, name)
		}
	}
	slices.Sort(d.Removed)
	return d
}
