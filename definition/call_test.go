package definition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
)

func sample() []toolcrib.Entry {
	const input = `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"],"additionalProperties":false}`
	return []toolcrib.Entry{{Spec: toolcrib.Spec{Name: "weather.get", Description: "The weather.", Input: json.RawMessage(input)}, Box: "weather"}}
}

// TestCall: a call in each API's form is a call of the real tool with arguments of its contract.
func TestCall(t *testing.T) {
	shown := naming{}.assign([]string{"weather.get"})["weather.get"]
	for _, c := range []struct {
		format     Format
		strict     bool
		item, want string // want without {: part of the error
	}{
		{OpenAI, true, `{"id":"call_1","type":"function","function":{"name":"` + shown + `","arguments":"{\"city\":\"Rome\",\"days\":null}"}}`, `{"city":"Rome"}`},
		{OpenAI, false, `{"id":"call_1","type":"function","function":{"name":"` + shown + `","arguments":"{\"city\":\"Rome\"}"}}`, `{"city":"Rome"}`},
		{OpenAI, false, `{"function":{"name":"` + shown + `","arguments":""}}`, `{}`},
		{OpenAIResponses, true, `{"type":"function_call","id":"fc_1","call_id":"call_1","namespace":"weather","name":"` + shown + `","arguments":"{\"city\":\"Rome\",\"days\":2}"}`, `{"city":"Rome","days":2}`},
		{Anthropic, false, `{"type":"tool_use","id":"toolu_1","name":"` + shown + `","input":{"city":"Rome"}}`, `{"city":"Rome"}`},
		{Gemini, false, `{"functionCall":{"id":"1","name":"weather.get","args":{"city":"Rome"}}}`, `{"city":"Rome"}`},
		{Gemini, false, `{"function_call":{"name":"weather.get","args":{"city":"Rome"}}}`, `{"city":"Rome"}`},
		{Gemini, false, `{"name":"weather.get","args":{"city":"Rome"}}`, `{"city":"Rome"}`},
		{Gemini, false, `{"name":"weather.get"}`, `{}`},
		{MCP, false, `{"name":"weather.get","arguments":{"city":"Rome"}}`, `{"city":"Rome"}`},
		{OpenAI, true, `{"function":{"name":"other","arguments":"{}"}}`, "no tool is shown"},
		{OpenAI, true, `{"function":{"name":"` + shown + `","arguments":"{\"city\":"}}`, "reading the arguments"},
		{OpenAI, true, `{"type":"message"}`, "names no tool"},
		{OpenAI, true, `nonsense`, "reading the model's call"},
		{OpenAI, true, `[]`, "reading the model's call"},
	} {
		set, err := Options{Strict: c.strict}.Of(c.format, sample())
		if err != nil {
			t.Fatal(err)
		}
		call, err := set.Call(json.RawMessage(c.item))
		if !strings.HasPrefix(c.want, "{") {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.item, err)
			}
			continue
		}
		if err != nil || call.Tool != "weather.get" || string(call.Input) != c.want || call.ID != "" || call.Caller != (toolcrib.Caller{}) {
			t.Errorf("%s: %+v, %v", c.item, call, err)
		}
	}
}

// crowd are tools of three boxes, the first of which has most.
func crowd() []toolcrib.Entry {
	var specs []toolcrib.Entry
	for box, n := range map[string]int{"a": 6, "b": 2, "c d": 1} {
		for i := range n {
			specs = append(specs, toolcrib.Entry{Spec: toolcrib.Spec{Name: fmt.Sprintf("%s_%d", box[:1], i), Description: strings.Repeat("Words. ", 20)}, Box: box})
		}
	}
	return specs
}

// TestPick: every box has its share, whatever the order.
func TestPick(t *testing.T) {
	for most, want := range map[int]string{0: "", 1: "a_0", 3: "a_0 b_0 c_0", 4: "a_0 a_1 b_0 c_0", 6: "a_0 a_1 a_2 b_0 b_1 c_0", 9: "a_0 a_1 a_2 a_3 a_4 a_5 b_0 b_1 c_0", 99: "a_0 a_1 a_2 a_3 a_4 a_5 b_0 b_1 c_0"} {
		kept, rest := Pick(crowd(), most)
		var names []string
		for _, s := range kept {
			names = append(names, s.Name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want || len(kept)+len(rest) != 9 {
			t.Errorf("%d: %s, and %d left", most, got, len(rest))
		}
	}
}

// TestLimits: what is beyond a limit is told, and names stay callable where the API searches itself.
func TestLimits(t *testing.T) {
	set, err := Options{MaxTools: 3, MaxDescription: 20}.Of(OpenAI, crowd())
	if err != nil || len(set.Tools) != 3 || strings.Join(set.Rest, " ") != "a_1 a_2 a_3 a_4 a_5 b_1" || len(set.Names) != 3 {
		t.Errorf("%v: %d tools, rest %v", err, len(set.Tools), set.Rest)
	}
	for _, format := range Formats() {
		set, err := Options{MaxDescription: 20}.Of(format, crowd())
		if err != nil || strings.Contains(string(set.Tools[0]), strings.Repeat("Words. ", 3)) || !strings.Contains(string(set.Tools[0]), "Words. Words.…") {
			t.Errorf("%s: %v, %s", format, err, set.Tools[0])
		}
	}
	for format, want := range map[Format]string{OpenAI: "no search of its own", Gemini: "no search of its own", MCP: "no search of its own"} {
		if _, err := (Options{Defer: true}).Of(format, crowd()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func TestDefer(t *testing.T) {
	set, err := Options{Defer: true, MaxTools: 2}.Of(Anthropic, crowd())
	if err != nil || len(set.Tools) != 10 || string(set.Tools[0]) != `{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}` {
		t.Fatalf("%v: %s", err, set.Tools)
	}
	for i, def := range set.Tools[1:] {
		if got := strings.Contains(string(def), `"defer_loading":true`); got != (i >= 2) {
			t.Errorf("%d: %s", i, def)
		}
	}
	set, err = Options{Defer: true, MaxTools: 2, Strict: true}.Of(OpenAIResponses, crowd())
	if err != nil || len(set.Tools) != 1+2+3 || string(set.Tools[0]) != `{"type":"tool_search"}` {
		t.Fatalf("%v: %s", err, set.Tools)
	}
	last := must(string(set.Tools[5]))
	if last.get("type").text != "namespace" || !strings.HasPrefix(last.get("name").text, "c_d_") || last.get("description").text != "Tools of c d: c_0" {
		t.Errorf("%s", last)
	}
	tools := last.get("tools").elems
	if len(tools) != 1 || !tools[0].get("defer_loading").truth() || !tools[0].get("strict").truth() {
		t.Errorf("%s", last)
	}
	if call, err := set.Call(json.RawMessage(`{"type":"function_call","namespace":"c_d","name":"c_0","arguments":"{}"}`)); err != nil || call.Tool != "c_0" {
		t.Errorf("%+v, %v", call, err)
	}
	if set, err := (Options{Defer: true}).Of(Anthropic, nil); err != nil || len(set.Tools) != 0 {
		t.Errorf("a search of nothing: %v, %s", err, set.Tools)
	}
}

// FuzzCall: whatever a model answers is a call of a tool that was shown, with
// arguments that are JSON, or an error. The same arguments in the words of another
// API are the same call.
func FuzzCall(f *testing.F) {
	f.Add([]byte(`{"function":{"name":"weather_get","arguments":"{\"city\":\"Rome\",\"days\":null}"}}`), []byte(`{"city":"Rome","days":null}`))
	f.Add([]byte(`{"name":"weather.get","args":{"city":"Rome"}}`), []byte(`{"more":"{\"x\":1}","when":"{\"day\":2}"}`))
	f.Add([]byte(`{"functionCall":{"functionCall":{"name":"a"}}}`), []byte(`{"city":"Rome","city":"Oslo"}`))
	f.Add([]byte(`{"name":"weather.get","arguments":"\"null\"","input":[]}`), []byte(` {"a":[1e400,"\ud800"]} `))
	const input = `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"when":{"anyOf":[{"type":"object","properties":{"day":{"type":"integer"}}},{"type":"array","items":{"type":"string"}}]}},
		"required":["city"],"additionalProperties":{"type":"number"}}`
	tools := append(sample(), toolcrib.Entry{Spec: toolcrib.Spec{Name: "plan a day", Description: "Plans.", Input: json.RawMessage(input)}, Box: "plans"})
	sets := map[variant]Set{}
	for _, v := range variants() {
		var err error
		if sets[v], err = (Options{Strict: v.strict}).Of(v.format, tools); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, item, args []byte) {
		for v, set := range sets {
			judge := func(c toolcrib.Call, err error) {
				if err != nil {
					return
				}
				if !json.Valid(c.Input) || c.Tool != "weather.get" && c.Tool != "plan a day" || c.ID != "" || c.Caller != (toolcrib.Caller{}) {
					t.Fatalf("%s: %q became %+v with %s", v, item, c, c.Input)
				}
			}
			judge(set.Call(item))
			if text := bytes.TrimSpace(args); !json.Valid(args) || text[0] != '{' {
				continue // no API sends it as arguments
			}
			for shown := range set.Names {
				want, wantErr := set.CallNamed(shown, args)
				judge(want, wantErr)
				name, err := json.Marshal(shown)
				if err != nil {
					t.Fatal(err)
				}
				packed, err := json.Marshal(string(args))
				if err != nil {
					t.Fatal(err)
				}
				for _, form := range []string{
					`{"type":"function","id":"1","function":{"name":%s,"arguments":%s}}`, `{"type":"function_call","name":%s,"arguments":%s}`,
					`{"type":"tool_use","name":%s,"input":%s}`, `{"functionCall":{"name":%s,"args":%s}}`, `{"function_call":{"name":%s,"args":%s}}`, `{"name":%s,"arguments":%s}`,
				} {
					given := args
					if strings.Contains(form, `"type":"function`) && utf8.Valid(args) {
						given = packed
					}
					got, err := set.Call(fmt.Appendf(nil, form, name, given))
					if (err == nil) != (wantErr == nil) || got.Tool != want.Tool || !bytes.Equal(bytes.TrimSpace(got.Input), bytes.TrimSpace(want.Input)) {
						t.Fatalf("%s: %s as %s: %s, %v, want %s, %v", v, args, form, got.Input, err, want.Input, wantErr)
					}
				}
			}
		}
	})
}
