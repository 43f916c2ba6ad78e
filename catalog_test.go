package toolcrib

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/toolname"
)

func plain(name string) Tool {
	return Tool{Spec: Spec{Name: name, Description: name, Input: json.RawMessage(`{"type":"object"}`), Effects: Pure},
		Run: func(context.Context, *Env, json.RawMessage) (*Result, error) { return Text(name), nil }}
}

func names(c *Catalog) []string {
	var out []string
	for _, e := range c.all("") {
		out = append(out, e.Name)
	}
	return out
}

func TestCollisionsDoNotDependOnOrder(t *testing.T) {
	long := strings.Repeat("x", 60)
	boxes := []Toolbox{
		NewBox("a", plain("read"), plain("only_a"), plain("b__c")),
		NewBox("b", plain("read"), plain("write"), plain("c")),
		NewBox("a__b", plain("c")), // a__b__c from two sides
		NewBox("z", plain(long)), NewBox("y", plain(long)),
		NewBox("c", plain("a__read")), // the name a collision would produce
	}
	var want []string
	for range 200 {
		rand.Shuffle(len(boxes), func(i, j int) { boxes[i], boxes[j] = boxes[j], boxes[i] })
		var c Catalog
		if _, faults := c.Load(t.Context(), Contents{Boxes: boxes}); faults != nil {
			t.Fatal(faults)
		}
		got := names(&c)
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("names depend on the order of loading:\n%s", diff)
		}
	}
	if len(want) != 10 {
		t.Errorf("tools were lost: %v", want)
	}
	for _, n := range want {
		if !toolname.Valid(n) {
			t.Errorf("bad name %q", n)
		}
	}
	if !slices.Contains(want, "only_a") || !slices.Contains(want, "b__read") {
		t.Errorf("got %v", want)
	}
}

func TestBadToolsAreLeftOutByName(t *testing.T) {
	badSchema := plain("schema")
	badSchema.Input = json.RawMessage(`{"type":"strin"}`)
	badOut := plain("output")
	badOut.Output = json.RawMessage(`{"properties":3}`)
	noRun := plain("norun")
	noRun.Run = nil
	var c Catalog
	_, faults := c.Load(t.Context(), Contents{Boxes: []Toolbox{
		NewBox("b", plain("good"), badSchema, badOut, noRun, plain("bad name"), plain(""), plain("good"), plain(strings.Repeat("n", 65))),
		NewBox("b", plain("other")), NewBox("not a name", plain("x")), failingBox{"down"},
	}})
	var got []string
	for _, f := range faults {
		got = append(got, f.Box+"/"+f.Tool)
	}
	want := []string{"b/", "not a name/", "down/", "b/schema", "b/output", "b/norun", "b/bad name", "b/", "b/good", "b/" + strings.Repeat("n", 65)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"good"}, names(&c)); diff != "" {
		t.Errorf("shelf (-want +got):\n%s", diff)
	}
}

type failingBox struct{ name string }

func (b failingBox) Name() string                          { return b.name }
func (b failingBox) Tools(context.Context) ([]Tool, error) { return nil, errors.New("not there") }

type changingBox struct {
	tools []Tool
	err   error
}

func (b *changingBox) Name() string                          { return "box" }
func (b *changingBox) Tools(context.Context) ([]Tool, error) { return b.tools, b.err }

func TestReload(t *testing.T) {
	var c Catalog
	box := &changingBox{tools: []Tool{plain("a"), plain("b"), plain("c")}}
	s := Contents{Boxes: []Toolbox{box}}
	var seen []Diff
	stop := c.Watch(func(d Diff) { seen = append(seen, d) })
	load := func() Diff { d, _ := c.Load(t.Context(), s); return d }

	load()
	changed := plain("b")
	changed.Description = "does something else now"
	box.tools = []Tool{plain("a"), changed, plain("d")}
	want := Diff{Added: []string{"d"}, Removed: []string{"c"}, Changed: []string{"b"}}
	if diff := cmp.Diff(want, load()); diff != "" {
		t.Errorf("diff (-want +got):\n%s", diff)
	}
	if d := load(); !d.Empty() {
		t.Errorf("nothing changed, but %+v", d)
	}
	box.err = errors.New("down") // keeps what it had
	if d := load(); !d.Empty() || c.find("", "d") == nil {
		t.Errorf("a box that cannot be read lost its tools: %+v", d)
	}
	stop()
	box.tools, box.err = nil, nil
	load()
	if len(seen) != 2 {
		t.Errorf("watcher saw %d changes, want 2: %+v", len(seen), seen)
	}
}

func TestNamesByConfiguration(t *testing.T) {
	var c Catalog
	_, faults := c.Load(t.Context(), Contents{
		Boxes:   []Toolbox{NewBox("fs", plain("read"), plain("write"), plain("list")), NewBox("net", plain("read")), NewBox("one", plain("write")), NewBox("two", plain("write"))},
		Rename:  map[string]string{"fs/read": "open", "nothing": "x", "fs/write": "no good"},
		Alias:   map[string]string{"look": "list", "twice": "write", "gone": "fs/none"},
		Disable: []string{"net/read", "typo", "["},
	})
	if diff := cmp.Diff([]string{"fs__write", "list", "look", "one__write", "open", "two__write"}, names(&c)); diff != "" {
		t.Errorf("shelf (-want +got):\n%s", diff)
	}
	if e := c.find("", "open"); e.spec.Native != "read" || e.spec.Box != "fs" {
		t.Errorf("a rename hides the native name: %+v", e.spec)
	}
	var told []string
	for _, f := range faults {
		told = append(told, f.Tool)
	}
	slices.Sort(told)
	if diff := cmp.Diff([]string{"[", "gone", "nothing", "twice", "typo", "write"}, told); diff != "" {
		t.Errorf("faults (-want +got):\n%s\n%v", diff, faults)
	}
}

// An alias of a name that two boxes have is a mistake: it would mean one of them.
func TestAliasMeansOneTool(t *testing.T) {
	var c Catalog
	_, faults := c.Load(t.Context(), Contents{
		Boxes: []Toolbox{NewBox("one", plain("copy")), NewBox("two", plain("copy"))},
		Alias: map[string]string{"both": "copy", "first": "one/copy"},
	})
	if len(faults) != 1 || faults[0].Tool != "both" || c.find("", "both") != nil || c.find("", "first") == nil {
		t.Errorf("%v, %v", names(&c), faults)
	}
}

// A name that is taken stays with its tool: a rename or an alias to it is a
// mistake, and a box that bears another's last name gives way.
func TestNoToolIsLostToAName(t *testing.T) {
	var c Catalog
	_, faults := c.Load(t.Context(), Contents{
		Boxes:  []Toolbox{NewBox("m", plain("a"), plain("b"), plain("c"))},
		Rename: map[string]string{"a": "b"}, Alias: map[string]string{"c": "a"},
	})
	if diff := cmp.Diff([]string{"a", "b", "c"}, names(&c)); diff != "" || len(faults) != 2 {
		t.Errorf("shelf (-want +got):\n%s\nfaults %v", diff, faults)
	}
	for _, name := range []string{"a", "b", "c"} {
		if e := c.find("", name); e.spec.Native != name {
			t.Errorf("%s is %s", name, e.spec.Native)
		}
	}

	victim := NewBox("a", plain("x"))
	evil := []Tool{plain("x"), plain("a__x")}
	last := toolname.Last("a", "x", "x")
	for _, boxes := range [][]Toolbox{{victim, NewBox("evil", append(evil, plain(last))...)}, {NewBox("evil", append(evil, plain(last))...), victim}} {
		if _, faults := c.Load(t.Context(), Contents{Boxes: boxes}); faults != nil || len(names(&c)) != 4 {
			t.Fatalf("%v, %v", names(&c), faults)
		}
		if e := c.find("", last); e == nil || e.spec.Box != "a" {
			t.Errorf("%s is not the victim's: %+v", last, e)
		}
	}
}

func TestAdaptersOfOneName(t *testing.T) {
	var c Catalog
	object := json.RawMessage(`{"type":"object"}`)
	_, faults := c.Load(t.Context(), Contents{
		Boxes: []Toolbox{NewBox("a", plain("y"), plain("z"), plain("a__z"), plain("w"))},
		Adapters: []Adapter{
			{Spec: Spec{Name: "z", Input: object}, Dialect: "d", Box: "a", Native: "y"},
			{Spec: Spec{Name: "z", Input: object}, Dialect: "d", Box: "a", Native: "w"},
		},
	})
	if len(faults) != 1 || len(c.all("d")) != 3 {
		t.Errorf("%d tools, faults %v: want the second adapter reported and every native tool there", len(c.all("d")), faults)
	}
}

func TestBoxThatBreaksDown(t *testing.T) {
	var c Catalog
	if _, faults := c.Load(t.Context(), Contents{Boxes: []Toolbox{NewBox("b", plain("x")), panickingBox{}}}); len(faults) != 1 || c.find("", "x") == nil {
		t.Errorf("faults %v", faults)
	}
}

type panickingBox struct{ Toolbox }

func (panickingBox) Name() string                          { return "bad" }
func (panickingBox) Tools(context.Context) ([]Tool, error) { panic("no") }

func TestDialectShelf(t *testing.T) {
	var c Catalog
	object := json.RawMessage(`{"type":"object"}`)
	_, faults := c.Load(t.Context(), Contents{
		Boxes: []Toolbox{NewBox("fs", plain("read"), plain("write"), plain("cat"))},
		Adapters: []Adapter{
			{Spec: Spec{Name: "cat", Input: object}, Dialect: "other", Box: "fs", Native: "read"},
			{Spec: Spec{Name: "gone", Input: object}, Dialect: "other", Box: "none", Native: "read"},
		},
	})
	if faults != nil {
		t.Fatal(faults)
	}
	var got []string
	for _, e := range c.all("other") {
		got = append(got, e.Name+"="+e.Native)
	}
	if diff := cmp.Diff([]string{"cat=read", "fs__cat=cat", "write=write"}, got); diff != "" {
		t.Errorf("shelf (-want +got):\n%s", diff)
	}
	if c.find("nobody", "read") == nil {
		t.Error("a dialect nobody adapts for is not the native one")
	}
}

func TestReadersNeverWait(t *testing.T) {
	var c Catalog
	box := &changingBox{tools: []Tool{plain("a")}}
	c.Load(t.Context(), Contents{Boxes: []Toolbox{box}})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 2000 {
				if c.find("", "a") == nil {
					t.Error("a tool was gone for a moment during a reload")
					return
				}
			}
		})
	}
	for i := range 50 {
		box.tools = []Tool{plain("a"), plain(fmt.Sprintf("t%d", i))}
		c.Load(t.Context(), Contents{Boxes: []Toolbox{box}})
	}
	wg.Wait()
}

// TestStrangersGiveWay: a tool of a stranger neither takes a name of ours nor
// makes it change.
func TestStrangersGiveWay(t *testing.T) {
	run := func(context.Context, *Env, json.RawMessage) (*Result, error) { return Text("x"), nil }
	tool := func(name string) Tool { return Tool{Spec: Spec{Name: name, Effects: Pure}, Run: run} }
	boxes := []Toolbox{NewBox("ours", tool("read"), tool("ours__odd")), NewBox("always", tool("read"), tool("own")), NewBox("yields", tool("read"), tool("free"))}
	for _, order := range [][]Toolbox{boxes, {boxes[2], boxes[1], boxes[0]}} {
		var c Catalog
		if _, faults := c.Load(t.Context(), Contents{Boxes: order, Qualify: []string{"always"}, Yield: []string{"yields"}}); faults != nil {
			t.Fatal(faults)
		}
		var got []string
		for _, s := range c.all("") {
			got = append(got, s.Box+" "+s.Name)
		}
		want := []string{"always always__own", "always always__read", "yields free", "ours ours__odd", "ours read", "yields yields__read"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
