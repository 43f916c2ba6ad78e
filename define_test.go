package toolcrib

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type address struct {
	Street string `json:"street" doc:"Street and number."`
	Zip    string `json:"zip,omitempty" pattern:"^[0-9]{4}$"`
}

type orderIn struct {
	Name     string            `json:"name" doc:"Who orders." minlen:"1" maxlen:"40"`
	Count    int               `json:"count" default:"1" min:"1" max:"10"`
	Size     string            `json:"size,omitempty" enum:"small,large" default:"small"`
	Tags     []string          `json:"tags,omitempty" maxitems:"3" doc:"Labels."`
	To       *address          `json:"to" doc:"Where it goes."`
	Extras   map[string]int    `json:"extras,omitempty"`
	Lines    []address         `json:"lines,omitempty"`
	Note     *string           `json:"note"`
	Ratio    float64           `json:"ratio,omitempty" max:"0.5"`
	Hidden   string            `json:"-"`
	Labels   map[string]string `json:"labels,omitempty"`
	internal int               //nolint:unused // an unexported field is no argument
}

type orderOut struct {
	Items []string `json:"items"`
	Total int      `json:"total"`
}

func TestDerive(t *testing.T) {
	tool := Define(Spec{Name: "order"}, func(context.Context, *Env, orderIn) (orderOut, error) { return orderOut{}, nil })
	if tool.err != nil {
		t.Fatal(tool.err)
	}
	var got any
	if err := json.Unmarshal(tool.Input, &got); err != nil {
		t.Fatal(err)
	}
	var want any
	addr := `{"type":"object","additionalProperties":false,"required":["street"],"properties":{
		"street":{"type":"string","description":"Street and number."},"zip":{"type":"string","pattern":"^[0-9]{4}$"}}}`
	if err := json.Unmarshal([]byte(`{"type":"object","additionalProperties":false,"required":["name"],"properties":{
		"name":{"type":"string","description":"Who orders.","minLength":1,"maxLength":40},
		"count":{"type":"integer","default":1,"minimum":1,"maximum":10},
		"size":{"type":"string","enum":["small","large"],"default":"small"},
		"tags":{"type":"array","items":{"type":"string"},"maxItems":3,"description":"Labels."},
		"to":{"description":"Where it goes.","anyOf":[`+addr+`,{"type":"null"}]}`+`,
		"extras":{"type":"object","additionalProperties":{"type":"integer"}},
		"lines":{"type":"array","items":`+addr+`},
		"note":{"anyOf":[{"type":"string"},{"type":"null"}]},
		"ratio":{"type":"number","maximum":0.5},
		"labels":{"type":"object","additionalProperties":{"type":"string"}}
	}}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}

func TestDefineReportsTypesWithoutSchema(t *testing.T) {
	type bad struct {
		C chan int `json:"c"`
	}
	var c Catalog
	good := Define(Spec{Name: "good"}, func(context.Context, *Env, struct{}) (orderOut, error) { return orderOut{}, nil })
	_, faults := c.Load(t.Context(), Contents{Boxes: []Toolbox{NewBox("b",
		Define(Spec{Name: "chan"}, func(context.Context, *Env, bad) (orderOut, error) { return orderOut{}, nil }),
		Define(Spec{Name: "scalar"}, func(context.Context, *Env, int) (orderOut, error) { return orderOut{}, nil }),
		Define(Spec{Name: "tag"}, func(context.Context, *Env, struct {
			N int `json:"n" min:"many"`
		}) (orderOut, error) {
			return orderOut{}, nil
		}),
		Define(Spec{Name: "default"}, func(context.Context, *Env, struct {
			N int `json:"n" default:"many"`
		}) (orderOut, error) {
			return orderOut{}, nil
		}),
		Define(Spec{Name: "unfit"}, func(context.Context, *Env, struct {
			N int `json:"n" default:"11" max:"10"`
		}) (orderOut, error) {
			return orderOut{}, nil
		}),
		Define(Spec{Name: "quoted"}, func(context.Context, *Env, struct {
			N int `json:"n,string"`
		}) (orderOut, error) {
			return orderOut{}, nil
		}),
		Define(Spec{Name: "own_form"}, func(context.Context, *Env, struct {
			A []netip.Addr `json:"a"`
		}) (orderOut, error) {
			return orderOut{}, nil
		}),
		good)}})
	var names []string
	for _, f := range faults {
		names = append(names, f.Tool)
	}
	if diff := cmp.Diff([]string{"chan", "scalar", "tag", "default", "unfit", "quoted", "own_form"}, names); diff != "" {
		t.Errorf("faults (-want +got):\n%s\n%v", diff, faults)
	}
	if c.find("", "good") == nil {
		t.Error("a bad neighbour kept a good tool off the shelf")
	}
}

// testCrib is a crib that allows everything and records nothing.
func testCrib(t testing.TB, tools ...Tool) *Crib {
	t.Helper()
	c := &Crib{
		Catalog: &Catalog{}, Journal: NoJournal{}, Guards: []Guard{AllowEffects(allEffects)},
	}
	if _, faults := c.Catalog.Load(t.Context(), Contents{Boxes: []Toolbox{NewBox("test", tools...)}}); faults != nil {
		t.Fatal(faults)
	}
	return c
}

func TestInvoke(t *testing.T) {
	c := testCrib(t, Define(Spec{Name: "order"}, func(_ context.Context, _ *Env, in orderIn) (orderOut, error) {
		switch in.Name {
		case "broke":
			return orderOut{}, errors.New("no money")
		case "half":
			return orderOut{Items: []string{"one"}, Total: 1}, errors.New("ran out of stock")
		}
		return orderOut{Total: in.Count}, nil
	}))
	out, err := Invoke[orderOut](t.Context(), c, "order", orderIn{Name: "ann", Count: 3, Size: "large"})
	if err != nil || out.Total != 3 || out.Items == nil {
		t.Errorf("struct: %+v, %v (a nil list must come back empty)", out, err)
	}
	out, err = Invoke[orderOut](t.Context(), c, "order", map[string]any{"name": "ann"})
	if err != nil || out.Total != 1 {
		t.Errorf("map with default: %+v, %v", out, err)
	}
	_, err = Invoke[orderOut](t.Context(), c, "order", map[string]any{"name": "broke"})
	if f, ok := errors.AsType[*FailedError](err); !ok || f.Error() != "order failed: no money" || f.Result.Value != nil {
		t.Errorf("failed tool: %v", err)
	}
	_, err = Invoke[orderOut](t.Context(), c, "order", map[string]any{"name": "half"})
	if f, ok := errors.AsType[*FailedError](err); !ok || string(f.Result.Value) != `{"items":["one"],"total":1}` {
		t.Errorf("failed tool with a value: %v", err)
	}
	if _, err = Invoke[orderOut](t.Context(), c, "order", map[string]any{"name": make(chan int)}); CodeOf(err) != CodeInvalid {
		t.Errorf("not JSON: %v", err)
	}
	if _, err = Invoke[[]int](t.Context(), c, "order", map[string]any{"name": "ann"}); CodeOf(err) != CodeInvalid {
		t.Errorf("another Out than the tool's: %v", err)
	}
}

// Rules for values, on a list, are about its elements.
func TestRulesOnLists(t *testing.T) {
	type in struct {
		Names []string `json:"names" minlen:"2" pattern:"^[a-z]+$" maxitems:"2"`
		Sizes []int    `json:"sizes,omitempty" min:"1" max:"9"`
	}
	c := testCrib(t, Define(Spec{Name: "x"}, func(_ context.Context, _ *Env, i in) (in, error) { return i, nil }))
	for text, ok := range map[string]bool{
		`{"names":["ab"],"sizes":[1,9]}`: true, `{"names":["a"]}`: false, `{"names":["AB"]}`: false, `{"names":["ab","cd","ef"]}`: false,
		`{"names":[],"sizes":[0]}`: false, `{"names":[],"sizes":[10]}`: false,
	} {
		if _, err := c.Call(t.Context(), Call{Tool: "x", Input: json.RawMessage(text)}); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Invoke[in](t.Context(), c, "x", in{}); err != nil {
		t.Errorf("a nil list in a struct: %v", err)
	}
	if out, err := Invoke[orderOut](t.Context(), c, "x", in{}); err == nil || !strings.Contains(err.Error(), "it has no items") {
		t.Errorf("an answer of another shape: %+v, %v", out, err)
	}
	type more struct {
		More int `json:"more"`
	}
	type out struct {
		Names []string `json:"names"`
		*more
	}
	if got, err := Invoke[out](t.Context(), c, "x", in{}); err != nil || got.more != nil {
		t.Errorf("a part that is left out whole: %+v, %v", got, err)
	}
}

// What a tool returns stays the tool's: two calls may return the same memory.
func TestOutputsAreNotWrittenTo(t *testing.T) {
	shared := orderOut{}
	cache := []orderOut{shared}
	type out struct {
		List []orderOut `json:"list"`
		Ref  *orderOut  `json:"ref"`
	}
	c := testCrib(t, Define(Spec{Name: "x"}, func(context.Context, *Env, struct{}) (out, error) { return out{cache, &shared}, nil }))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			r, err := c.Call(t.Context(), Call{Tool: "x"})
			if err != nil || string(r.Value) != `{"list":[{"items":[],"total":0}],"ref":{"items":[],"total":0}}` {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
	wg.Wait()
	if shared.Items != nil || cache[0].Items != nil {
		t.Error("the tool's own memory was changed")
	}
}

// A tool may make up a code, or return one beside a value: what is recorded
// and told is one of ours.
func TestCodesOfTools(t *testing.T) {
	for code, want := range map[Code]Code{"": CodeInternal, "done": CodeInternal, "haha": CodeInternal, "interrupted": CodeInternal, CodeUnavailable: CodeUnavailable, CodeConflict: CodeConflict} {
		c := testCrib(t, Define(Spec{Name: "x"}, func(context.Context, *Env, struct{}) (orderOut, error) {
			return orderOut{Total: 1}, &Error{Code: code, Message: "because"}
		}))
		journal := &pages{}
		c.Journal = journal
		_, err := c.Call(t.Context(), Call{Tool: "x"})
		if CodeOf(err) != want || journal.only(t).Outcome != Outcome(want) {
			t.Errorf("%q: %v, recorded %q", code, err, journal.only(t).Outcome)
		}
	}
}

func TestNamesOfCallersAreBounded(t *testing.T) {
	c := testCrib(t, plain("x"))
	for _, id := range []string{strings.Repeat("i", 300), "a\nb", "a\x00", "\x1b[31m", "\xff"} {
		journal := &pages{}
		c.Journal = journal
		_, err := c.Call(t.Context(), Call{ID: id, Tool: "x", Caller: Caller{Session: strings.Repeat("s", 1<<20)}})
		rec := journal.only(t)
		if CodeOf(err) != CodeInvalid || rec.ID == id || len(rec.Caller.Session) > 300 {
			t.Errorf("%.20q: %v, recorded as %.20q", id, err, rec.ID)
		}
	}
	journal := &pages{}
	c.Journal = journal
	if _, err := c.Call(t.Context(), Call{Tool: strings.Repeat("t", 1<<20)}); CodeOf(err) != CodeNotFound || len(journal.only(t).Tool) > 300 {
		t.Error("a long tool name is kept whole")
	}
}

func TestOutputsAreNotEscapedForTheWeb(t *testing.T) {
	c := testCrib(t, Define(Spec{Name: "x"}, func(context.Context, *Env, struct{}) (orderOut, error) {
		return orderOut{Items: []string{"<a&b>"}}, nil
	}))
	r, err := c.Call(t.Context(), Call{Tool: "x"})
	if err != nil || string(r.Value) != `{"items":["<a&b>"],"total":0}` {
		t.Errorf("%s, %v", r.Value, err)
	}
	if _, err := Invoke[orderOut](t.Context(), c, "x", map[string]any(nil)); err != nil {
		t.Errorf("a nil map: %v", err)
	}
}

func TestWholeNumbersReachIntegers(t *testing.T) {
	type in struct {
		N int `json:"n"`
	}
	c := testCrib(t, Define(Spec{Name: "n"}, func(_ context.Context, _ *Env, i in) (in, error) { return i, nil }))
	for text, want := range map[string]string{`{"n":3.0}`: `{"n":3}`, `{"n":3e2}`: `{"n":300}`, `{"n":-0.0}`: `{"n":0}`} {
		r, err := c.Call(t.Context(), Call{Tool: "n", Input: json.RawMessage(text)})
		if err != nil || string(r.Value) != want {
			t.Errorf("%s: %v, %v", text, r, err)
		}
	}
	for _, text := range []string{`{"n":1e300}`, `{"n":99999999999999999999}`} {
		if _, err := c.Call(t.Context(), Call{Tool: "n", Input: json.RawMessage(text)}); CodeOf(err) != CodeInvalid {
			t.Errorf("%s: %v, want invalid", text, err)
		}
	}
}

func TestDefineKeepsAGivenSchema(t *testing.T) {
	in := json.RawMessage(`{"type":"object","properties":{"d":{"type":"integer"}}}`)
	tool := Define(Spec{Name: "x", Input: in}, func(context.Context, *Env, map[string]time.Duration) (orderOut, error) { return orderOut{}, nil })
	if string(tool.Input) != string(in) {
		t.Errorf("schema replaced: %s", tool.Input)
	}
}
