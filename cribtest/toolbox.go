package cribtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Toolbox holds a toolbox of our own making to what every one of them
// promises: contracts that load and tell a model enough, an answer to every
// input however hostile, and the contracts written down in
// testdata/specs/<box>.json. open makes a new box each time; what it touches
// must be made for the test, because the tools are called for real.
func Toolbox(t *testing.T, open func(t testing.TB) toolcrib.Toolbox) {
	t.Helper()
	for _, c := range toolboxChecks() {
		t.Run(c.name, func(t *testing.T) {
			e, err := examine(t.Context(), openBox(t, open))
			if err != nil {
				t.Fatal(err)
			}
			for _, fault := range c.run(t.Context(), e) {
				t.Error(fault)
			}
		})
	}
	t.Run("golden contracts", func(t *testing.T) {
		e, err := examine(t.Context(), openBox(t, open))
		if err != nil {
			t.Fatal(err)
		}
		text, err := e.contracts()
		if err != nil {
			t.Fatal(err)
		}
		Golden(t, filepath.Join("testdata", "specs", e.box.Name()+".json"), text)
	})
}

func openBox(t testing.TB, open func(t testing.TB) toolcrib.Toolbox) toolcrib.Toolbox {
	t.Helper()
	box := open(t)
	if c, ok := box.(io.Closer); ok {
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Errorf("closing toolbox %s: %v", box.Name(), err)
			}
		})
	}
	return box
}

// toolboxCheck is one promise. It gives faults instead of failing a test, so
// that it can be tried on boxes that break it.
type toolboxCheck struct {
	name string
	run  func(context.Context, *exam) []error
}

func toolboxChecks() []toolboxCheck {
	return []toolboxCheck{
		{"contracts load", loadFaults},
		{"contracts tell enough", contractFaults},
		{"tools are listed the same again", stableFaults},
		{"a plain call reaches the tool", sampleFaults},
		{"hostile inputs are answered", hostileFaults},
		{"callers that have gone are refused", cancelledFaults},
		{"many calls at once", parallelFaults},
	}
}

// exam is a box on a crib of its own that allows everything.
type exam struct {
	box     toolcrib.Toolbox
	tools   []toolcrib.Tool
	faults  []toolcrib.LoadError
	crib    *toolcrib.Crib
	journal *Memory
}

func examine(ctx context.Context, box toolcrib.Toolbox) (*exam, error) {
	tools, err := box.Tools(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the tools of %s: %w", box.Name(), err)
	}
	if len(tools) == 0 {
		return nil, fmt.Errorf("toolbox %s has no tools: there is nothing to examine", box.Name())
	}
	slices.SortFunc(tools, func(a, b toolcrib.Tool) int { return strings.Compare(a.Name, b.Name) })
	e := &exam{box: box, tools: tools, journal: &Memory{}}
	e.crib = &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{},
		Guards:  []toolcrib.Guard{Allow()},
		Journal: e.journal,
		Limits:  toolcrib.Limits{Timeout: 20 * time.Second},
		Log:     slog.New(slog.DiscardHandler),
	}
	_, e.faults = e.crib.Catalog.Load(ctx, toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}})
	return e, nil
}

func (e *exam) call(ctx context.Context, tool string, input []byte, lenient bool) (*toolcrib.Result, error) {
	return e.crib.Call(ctx, toolcrib.Call{Tool: tool, Input: input, Lenient: lenient, Caller: toolcrib.Caller{Subject: "exam", Frontend: "cribtest"}})
}

// contracts is the golden text: the specs as the box gives them.
func (e *exam) contracts() ([]byte, error) {
	specs := make([]toolcrib.Spec, len(e.tools))
	for i, t := range e.tools {
		specs[i] = t.Spec
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(specs)
	return b.Bytes(), err
}

func loadFaults(_ context.Context, e *exam) []error {
	var faults []error
	for _, f := range e.faults {
		faults = append(faults, f)
	}
	listed := map[string]bool{}
	for spec := range e.crib.Tools(toolcrib.Caller{}) {
		listed[spec.Name] = true
	}
	for _, t := range e.tools {
		if !listed[t.Name] {
			faults = append(faults, fmt.Errorf("tool %s is not on the shelf under its own name", t.Name))
		}
	}
	return faults
}

func contractFaults(_ context.Context, e *exam) []error {
	var faults []error
	for _, t := range e.tools {
		add := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("tool "+t.Name+": "+format, args...))
		}
		if strings.TrimSpace(t.Description) == "" {
			add("has no description: a model cannot know when to use it")
		}
		if t.Effects == 0 {
			add("declares no effects, which counts as all of them: say Pure if it has none")
		}
		if t.Group == "" {
			add("has no group: profiles select by it")
		}
		if t.Output == nil {
			add("promises no output: programs cannot use what it answers")
		}
		for _, name := range undescribed(t.Input) {
			add("parameter %s has no description", name)
		}
	}
	return faults
}

// undescribed names the properties of a schema, at any depth, without a
// description.
func undescribed(input json.RawMessage) []string {
	var names []string
	var walk func(path string, s schemaNode)
	walk = func(path string, s schemaNode) {
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[name]
			at := strings.TrimPrefix(path+"."+name, ".")
			if strings.TrimSpace(p.Description) == "" {
				names = append(names, at)
			}
			walk(at, p)
		}
		if s.Items != nil {
			walk(path+"[]", *s.Items)
		}
		for _, list := range [][]schemaNode{s.AnyOf, s.OneOf, s.AllOf} {
			for _, option := range list {
				walk(path, option)
			}
		}
	}
	walk("", readSchema(input))
	return names
}

func stableFaults(ctx context.Context, e *exam) []error {
	before, err := e.contracts()
	if err != nil {
		return []error{err}
	}
	next, err := examine(ctx, e.box)
	if err != nil {
		return []error{err}
	}
	after, err := next.contracts()
	if err != nil {
		return []error{err}
	}
	if !bytes.Equal(before, after) {
		return []error{errors.New("the box lists other contracts when it is asked again")}
	}
	return nil
}

// sampleFaults makes sure that the other checks reach the tools at all.
func sampleFaults(ctx context.Context, e *exam) []error {
	var faults []error
	for _, t := range e.tools {
		input := sampleInput(t.Input)
		result, err := e.call(ctx, t.Name, input, false)
		if toolcrib.CodeOf(err) == toolcrib.CodeInvalid {
			faults = append(faults, fmt.Errorf("tool %s: no valid input could be made from its schema (tried %.200s): %w; "+
				"give the parameter an enum, a default or examples", t.Name, input, err))
			continue
		}
		if f := answerFault(result, err); f != nil {
			faults = append(faults, fmt.Errorf("tool %s, called with %.200s: %w", t.Name, input, f))
		}
	}
	return faults
}
