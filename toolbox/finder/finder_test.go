package finder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/find"
)

// shelf is a supplier of tools that shows each subject its own.
type shelf map[string][]toolcrib.Entry

func (s shelf) tools(caller toolcrib.Caller) iter.Seq[toolcrib.Entry] {
	return slices.Values(s[caller.Subject])
}

func spec(box, name, description, input string) toolcrib.Entry {
	return toolcrib.Entry{Spec: toolcrib.Spec{Name: name, Description: description, Input: json.RawMessage(input), Effects: toolcrib.Reads}, Box: box}
}

func sampleSpecs() []toolcrib.Entry {
	return []toolcrib.Entry{
		spec("mail", "send_email", "Send an email to someone.", `{"type":"object","properties":{"to":{"type":"string","description":"Who gets it"},"cc":{"type":["array","null"]},"body":{"type":"string"}},"required":["to","body"]}`),
		spec("mail", "list_folders", "List the folders of the mailbox.", `{"type":"object"}`),
		spec("weather", "get_forecast", "Weather for the next days.", `{"type":"object","properties":{"place":{"type":"string"},"days":{"type":"integer"}},"required":["place"]}`),
		spec("files", "read_file", "Read a file.", `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
		spec("odd", "broken_schema", "A tool with a schema that nobody can read.", `{"properties":{"x":true,"y":{"type":7,"description":[1]}},"required":"x"}`),
		spec(Name, "search_tools", "Find tools.", `{}`),
		spec("other", "call_tool", "Call a tool.", `{}`),
	}
}

func crib(t testing.TB, needs Needs) *toolcrib.Crib {
	t.Helper()
	box, err := Open(t.Context(), Config{}, needs)
	if err != nil {
		t.Fatal(err)
	}
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)}}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}}); faults != nil {
		t.Fatal(faults)
	}
	return c
}

func call(t testing.TB, c *toolcrib.Crib, subject, tool string, input any, out any) *toolcrib.Result {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.Call(t.Context(), toolcrib.Call{Tool: tool, Input: text, Caller: toolcrib.Caller{Subject: subject}})
	if err != nil {
		t.Fatal(err)
	}
	if !result.Failed {
		if err := json.Unmarshal(result.Value, out); err != nil {
			t.Fatal(err)
		}
	}
	return result
}

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox {
		box, err := Open(t.Context(), Config{}, Needs{Tools: func(toolcrib.Caller) iter.Seq[toolcrib.Entry] { return slices.Values(sampleSpecs()) }})
		if err != nil {
			t.Fatal(err)
		}
		return box
	})
}

func TestOpenNeedsTools(t *testing.T) {
	if _, err := Open(t.Context(), Config{}, Needs{}); err == nil || !strings.Contains(err.Error(), "nothing to search") {
		t.Errorf("%v", err)
	}
}

func TestSearchTools(t *testing.T) {
	c := crib(t, Needs{Tools: shelf{"ann": sampleSpecs()}.tools})
	var out searchOut
	call(t, c, "ann", "search_tools", map[string]any{"query": "will it rain tomorrow"}, &out)
	want := found{Name: "get_forecast", Description: "Weather for the next days.", Arguments: "place: string, days?: integer", Box: "weather", Score: 1}
	if out.Total != 5 || len(out.Tools) == 0 || cmp.Diff(want, out.Tools[0]) != "" {
		t.Errorf("%+v", out)
	}

	out = searchOut{}
	call(t, c, "ann", "search_tools", map[string]any{"query": "mail something to Bob", "detail": "full", "limit": 1}, &out)
	if len(out.Tools) != 1 || out.Tools[0].Name != "send_email" || out.Tools[0].Arguments != "" || !strings.Contains(string(out.Tools[0].Input), "Who gets it") {
		t.Errorf("full: %+v", out)
	}

	out = searchOut{}
	result := call(t, c, "ann", "search_tools", map[string]any{"query": "mail something to Bob", "detail": "name"}, &out)
	if len(out.Tools) == 0 || out.Tools[0].Name != "send_email" || strings.Contains(string(result.Value), "description") {
		t.Errorf("name: %s", result.Value)
	}

	out = searchOut{}
	result = call(t, c, "ann", "search_tools", map[string]any{"query": "find or call tools, call_tool, search_tools, other finder", "limit": 20}, &out)
	for _, f := range out.Tools {
		if f.Name == "call_tool" || f.Name == "search_tools" {
			t.Errorf("found itself: %s", result.Value)
		}
	}

	out = searchOut{}
	result = call(t, c, "ann", "search_tools", map[string]any{"query": "zzzz"}, &out)
	if len(out.Tools) != 0 || !strings.Contains(string(result.Value), `"tools":[]`) {
		t.Errorf("nothing: %s", result.Value)
	}
}

// A caller finds what it may see and nothing else, by no wording, whatever was
// asked before by others.
func TestOnlyVisible(t *testing.T) {
	all := sampleSpecs()
	c := crib(t, Needs{Tools: shelf{"ann": all, "bob": all[1:4], "eve": all[1:4], "none": nil}.tools})
	for range 2 {
		for _, subject := range []string{"ann", "bob", "eve", "none"} {
			for _, query := range []string{"send_email", "send an email to someone", "sendemail", "mail"} {
				for _, limit := range []int{1, 20} { // with one, others are merely named
					var out searchOut
					result := call(t, c, subject, "search_tools", map[string]any{"query": query, "limit": limit, "detail": "full"}, &out)
					if got, want := strings.Contains(string(result.Value), "send_email"), subject == "ann"; got != want {
						t.Errorf("%s, %s: %s", subject, query, result.Value)
					}
				}
			}
			var d describeOut
			for _, name := range []string{"send_email", "send_emai"} {
				result := call(t, c, subject, "describe_tool", map[string]any{"name": name}, &d)
				text := strings.Replace(result.String(), fmt.Sprintf("no tool %q", name), "", 1)
				if got, want := strings.Contains(text, "send_email"), subject == "ann"; got != want {
					t.Errorf("%s describes %s: %s", subject, name, result)
				}
			}
		}
	}
}

// TestMore: what fits next best is named, once, best first, and not what hardly fits.
func TestMore(t *testing.T) {
	var specs []toolcrib.Entry
	for i := range 30 {
		specs = append(specs, spec("word", fmt.Sprintf("document_part_%02d", i), "Put a part into a document.", `{}`))
	}
	specs = append(specs, spec("word", "make_document", "Make a new document.", `{}`), spec("clock", "tell_time", "Tell the time, also of when a thing was made.", `{}`))
	c := crib(t, Needs{Tools: shelf{"ann": specs, "bob": specs[28:], "eve": specs[30:]}.tools})
	for subject, want := range map[string]int{"ann": maxMore, "bob": 2, "eve": 0} {
		var out searchOut
		result := call(t, c, subject, "search_tools", map[string]any{"query": "make a document", "limit": 1}, &out)
		if len(out.Tools) != 1 || out.Tools[0].Name != "make_document" || len(out.More) != want || !slices.IsSorted(out.More) ||
			slices.Contains(out.More, "make_document") || slices.Contains(out.More, "tell_time") || strings.Contains(string(result.Value), "more") != (want > 0) {
			t.Errorf("%s: %s", subject, result.Value)
		}
	}
}

// TestMoreTakesNoSchema: the names of others leave the room for the schema of the one
// tool that was asked for.
func TestMoreTakesNoSchema(t *testing.T) {
	var props []string
	for i := range 18 {
		props = append(props, fmt.Sprintf(`"part_%02d":{"type":"string","description":"A part."}`, i))
	}
	specs := []toolcrib.Entry{spec("word", "make_document", "Make a new document.", `{"type":"object","properties":{`+strings.Join(props, ",")+`}}`)}
	for i := range maxMore {
		specs = append(specs, spec("word", fmt.Sprintf("document_part_%02d", i), "Put a part into a document.", `{}`))
	}
	alone := summarise(&specs[0], "full", 1)
	alone.Arguments, alone.Input = "", specs[0].Input
	if n := cost(alone); n > perTool || n < perTool-20 {
		t.Fatalf("with its schema the tool costs %d tokens: the test needs one that just fits", n)
	}
	var out searchOut
	call(t, crib(t, Needs{Tools: shelf{"ann": specs}.tools}), "ann", "search_tools", map[string]any{"query": "make a document", "limit": 1, "detail": "full"}, &out)
	if len(out.Tools) != 1 || out.Tools[0].Input == nil || len(out.More) != maxMore {
		t.Errorf("%+v", out)
	}
}

func TestDescribeTool(t *testing.T) {
	specs := sampleSpecs()
	specs[0].Output, specs[0].Title = json.RawMessage(`{"type":"object"}`), "Send mail"
	specs[0].Effects = toolcrib.Network | toolcrib.Writes
	c := crib(t, Needs{Tools: shelf{"ann": specs}.tools})
	var out describeOut
	call(t, c, "ann", "describe_tool", map[string]any{"name": "send_email"}, &out)
	if out.Name != "send_email" || out.Title != "Send mail" || out.Box != "mail" || out.Effects != "writes,network" ||
		!strings.Contains(string(out.Input), "Who gets it") || string(out.Output) != `{"type":"object"}` {
		t.Errorf("%+v", out)
	}
	for name, want := range map[string]string{
		"sendmail":     `there is no tool "sendmail"; the nearest are send_email`,
		"forecast":     "the nearest are get_forecast",
		"call_tool":    `there is no tool "call_tool"`,
		"search_tools": `there is no tool "search_tools"`,
		"zzzz":         "none that is called alike; use search_tools",
	} {
		result := call(t, c, "ann", "describe_tool", map[string]any{"name": name}, &out)
		if !result.Failed || !strings.Contains(result.String(), want) || strings.Count(result.String(), ",") > 2 {
			t.Errorf("%s: %s", name, result)
		}
	}
}

// However long contracts are, an answer stays small.
func TestAnswersAreBounded(t *testing.T) {
	var specs []toolcrib.Entry
	for i := range 30 {
		var props []string
		for j := range 40 {
			props = append(props, fmt.Sprintf(`"argument_number_%d":{"type":"string","description":%q}`, j, strings.Repeat("a long story about it ", 10)))
		}
		specs = append(specs, spec("box", fmt.Sprintf("mail_tool_with_a_very_long_name_indeed_%d", i), strings.Repeat("Sends email to people you know. ", 200), `{"type":"object","properties":{`+strings.Join(props, ",")+`}}`))
	}
	specs = append(specs, spec("box", "mail_small", "Send a short email.", `{"type":"object","properties":{"to":{"type":"string"}}}`))
	c := crib(t, Needs{Tools: shelf{"ann": specs}.tools})
	for _, detail := range []string{"name", "summary", "full"} {
		for limit, most := range map[int]int{1: 400, 5: 1500, 20: 6000} {
			var out searchOut
			result := call(t, c, "ann", "search_tools", map[string]any{"query": "send email", "limit": limit, "detail": detail}, &out)
			if n := find.Tokens(string(result.Value)); n > most || len(out.Tools) != limit {
				t.Errorf("%s, limit %d: %d tools in %d tokens", detail, limit, len(out.Tools), n)
			}
			at := slices.IndexFunc(out.Tools, func(f found) bool { return f.Name == "mail_small" })
			if at >= 0 && detail == "full" && limit > 1 && out.Tools[at].Input == nil {
				t.Errorf("limit %d: a small schema was left out for a large one", limit)
			}
		}
	}
	var d describeOut
	call(t, c, "ann", "describe_tool", map[string]any{"name": specs[0].Name}, &d)
	if n := len([]rune(d.Description)); n > maxDescription {
		t.Errorf("description of %d characters", n)
	}
}

// The contracts that a model is shown instead of all others are small.
func TestContractsAreSmall(t *testing.T) {
	box, err := Open(t.Context(), Config{}, Needs{Tools: shelf{}.tools})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := box.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, s := range []toolcrib.Entry{{Spec: tools[0].Spec}, {Spec: tools[1].Spec}, CallTool()} {
		shown += definition(s)
	}
	t.Logf("search_tools, describe_tool and call_tool cost %d tokens", shown)
	if shown > 700 {
		t.Errorf("%d tokens, want at most 700", shown)
	}
}

// definition estimates what a tool costs in every request that shows it: its
// name, its description and its input schema, as model APIs take them.
func definition(s toolcrib.Entry) int {
	return find.Tokens(`{"name":"","description":"","input_schema":}`) +
		find.Tokens(s.Name) + find.Tokens(strconv.Quote(s.Description)) - find.Tokens(`""`) + find.Tokens(string(s.Input))
}

func TestDefinition(t *testing.T) {
	input := `{"type":"object","properties":{"path":{"type":"string"}}}`
	whole := find.Tokens(`{"name":"read_file","description":"Read a file.\nOr a part.","input_schema":` + input + `}`)
	got := definition(toolcrib.Entry{Spec: toolcrib.Spec{Name: "read_file", Description: "Read a file.\nOr a part.", Input: []byte(input)}})
	if got < whole-3 || got > whole+3 {
		t.Errorf("%d, but written out it is %d", got, whole)
	}
	if bare := definition(toolcrib.Entry{Spec: toolcrib.Spec{Name: "x"}}); bare < 5 || bare > 15 {
		t.Errorf("a bare tool costs %d", bare)
	}
}

// CallTool must be fit for a catalog, though nothing runs behind it.
func TestCallToolContract(t *testing.T) {
	s := CallTool()
	if s.Name != "call_tool" || s.Effects.Within(toolcrib.Reads) || s.Description == "" {
		t.Errorf("%+v", s)
	}
	tool := toolcrib.Tool{Spec: s.Spec, Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
		return toolcrib.Text("ran"), nil
	}}
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{cribtest.Allow()}}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("x", tool)}}); faults != nil {
		t.Fatal(faults)
	}
	for input, ok := range map[string]bool{`{"name":"x"}`: true, `{"name":"x","arguments":{"a":1}}`: true, `{}`: false, `{"name":"x","arguments":[]}`: false, `{"name":"x","args":{}}`: false} {
		_, err := c.Call(t.Context(), toolcrib.Call{Tool: "call_tool", Input: json.RawMessage(input)})
		if (err == nil) != ok {
			t.Errorf("%s: %v", input, err)
		}
	}
}

type brokenEmbedder struct{}

func (brokenEmbedder) Embed(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("model is out")
}

func TestEmbedderFails(t *testing.T) {
	var log bytes.Buffer
	c := crib(t, Needs{Tools: shelf{"ann": sampleSpecs()}.tools, Embedder: brokenEmbedder{}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	var out searchOut
	call(t, c, "ann", "search_tools", map[string]any{"query": "rain"}, &out)
	if len(out.Tools) == 0 || out.Tools[0].Name != "get_forecast" || !strings.Contains(log.String(), "model is out") {
		t.Errorf("%+v, log %s", out, log.String())
	}
}

// Sets of tools come and go; the memory of them stays bounded and right.
func TestIndexesAreBounded(t *testing.T) {
	x := newIndexes(find.New(nil))
	set := func(i int) []toolcrib.Entry {
		return []toolcrib.Entry{spec("b", "fixed", "Something.", `{}`), spec("b", fmt.Sprintf("tool_%d", i), fmt.Sprintf("Talks about subject%d.", i), `{}`)}
	}
	first := x.of(set(0))
	if x.of(set(0)) != first {
		t.Error("the same set was indexed twice")
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 30 {
				n := (i + g) % 15
				if hits := x.of(set(n)).Search(fmt.Sprintf("tool_%d", n), 1); len(hits) != 1 || hits[0].Doc != 1 {
					t.Errorf("set %d: %v", n, hits)
				}
			}
		})
	}
	wg.Wait()
	if len(x.kept) != maxIndexes {
		t.Errorf("%d indexes kept", len(x.kept))
	}
	changed := set(0)
	changed[1].Description = "Other words."
	if x.of(set(0)) == x.of(changed) {
		t.Error("a changed description has the old index")
	}
}
