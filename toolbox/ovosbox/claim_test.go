package ovosbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib"
)

func TestToolName(t *testing.T) {
	for _, c := range []struct{ id, name, want string }{
		{"ovos-math-tools", "evaluate_expression", "ovos-math-tools__evaluate_expression"},
		{"a", "b_c", "a__b_c"},
	} {
		if got := toolName(c.id, c.name); got != c.want {
			t.Errorf("%s/%s: %s", c.id, c.name, got)
		}
	}
	for _, c := range [][2]string{ // all of these need something to tell them apart
		{"a.b", "c"}, {"a:b", "c"}, {"a", "b c"}, {"a__b", "c"}, {"a", "b__c"}, {"a_", "b"}, {"a", "_b"}, {"日本", "語"}, {"", "x"},
		{strings.Repeat("a", 40), strings.Repeat("b", 40)}, {"a", "0123456789abcdef"}, {"a", "x_0123456789abcdef"},
	} {
		if got := toolName(c[0], c[1]); got == c[0]+"__"+c[1] && c[0] != "" {
			t.Errorf("%q has no hash: %s", c, got)
		}
	}
	valid := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	word := rapid.OneOf(rapid.StringMatching(`[ab_]{0,4}`), rapid.String(), rapid.StringMatching(`[a_]{0,3}[0-9a-f]{16}`))
	rapid.Check(t, func(t *rapid.T) {
		a, b := [2]string{word.Draw(t, "id"), word.Draw(t, "name")}, [2]string{word.Draw(t, "id 2"), word.Draw(t, "name 2")}
		x, y := toolName(a[0], a[1]), toolName(b[0], b[1])
		if !valid.MatchString(x) {
			t.Fatalf("%q is no name", x)
		}
		if a != b && x == y {
			t.Fatalf("%q and %q are both %s", a, b, x)
		}
	})
}

func TestParseAnnouncement(t *testing.T) {
	cfg := Config{MaxTools: 3, MaxSchema: 2000}.filled()
	for _, bad := range []string{
		``, `[]`, `"x"`, `{}`, `{"toolbox_id":null}`, `{"toolbox_id":5,"tools":[]}`, `{"toolbox_id":"","tools":[]}`, `{"toolbox_id":" ","tools":[]}`,
		`{"toolbox_id":"a\u001bb"}`, `{"toolbox_id":"a\u202eb"}`, `{"toolbox_id":"a\nb"}`, `{"toolbox_id":"` + strings.Repeat("x", 129) + `"}`,
		`{"toolbox_id":"a","tools":{}}`, `{"toolbox_id":"a","tools":"x"}`, `{"toolbox_id":"\ud800","tools":[]}`,
	} {
		if r, err := cfg.parseAnnouncement(json.RawMessage(bad)); err == nil {
			t.Errorf("%.60s: %+v", bad, r)
		}
	}
	for _, bad := range []string{
		`null`, `5`, `"x"`, `[]`, `{}`, `{"name":null}`, `{"name":["x"]}`, `{"name":""}`, `{"name":"a\u0000"}`,
		`{"name":"x","argument_schema":"object"}`, `{"name":"x","argument_schema":[]}`, `{"name":"x","argument_schema":true}`,
		`{"name":"x","argument_schema":{"type":"string"}}`, `{"name":"x","argument_schema":{"type":["object"]}}`,
		`{"name":"x","output_schema":"x"}`, `{"name":"x","argument_schema":{"title":"` + strings.Repeat("x", 2000) + `"}}`,
		`{"name":"x","toolbox_id":"another"}`,
	} {
		r, err := cfg.parseAnnouncement(json.RawMessage(`{"toolbox_id":"a","tools":[` + bad + `,{"name":"good"}]}`))
		if err != nil || len(r.claims) != 1 || r.claims[0].name != "good" || len(r.faults) != 1 || r.faults[0].Err == nil {
			t.Errorf("%.60s: %+v, %v", bad, r, err)
		}
	}
	r, err := cfg.parseAnnouncement(json.RawMessage(`{"toolbox_id":"a","tools":[{"name":"x","description":"first"},{"name":"x","description":"last\u001b[0m\u200b"},{"name":"y","description":7},{"name":"z"}]}`))
	if err != nil || len(r.claims) != 2 || r.claims[0].doc != "last[U+001B][0m[U+200B]" || !strings.Contains(r.claims[1].doc, "does not say") || len(r.faults) != 1 || r.tagged {
		t.Errorf("%+v, %v", r, err)
	}
	if string(r.claims[0].input) != `{"type":"object"}` || r.claims[0].output != nil {
		t.Errorf("a tool without schemas: %+v", r.claims[0])
	}
	r, err = cfg.parseAnnouncement(json.RawMessage(`{"toolbox_id":"a","tools":[{"name":"x","toolbox_id":"a"}]}`))
	if err != nil || !r.tagged {
		t.Errorf("%+v, %v", r, err)
	}
	for _, none := range []string{`{"toolbox_id":"a"}`, `{"toolbox_id":"a","tools":null}`, `{"toolbox_id":"a","tools":[]}`} {
		if r, err := cfg.parseAnnouncement(json.RawMessage(none)); err != nil || len(r.claims) > 0 || r.tagged {
			t.Errorf("%s: %+v, %v", none, r, err)
		}
	}
}

func TestSchemasAreClaims(t *testing.T) {
	cfg := Config{}.filled()
	if got, err := cfg.inputSchema(json.RawMessage(numberArgs)); err != nil || string(got) != numberArgs {
		t.Errorf("a plain schema: %s, %v", got, err)
	}
	got, err := cfg.inputSchema(json.RawMessage(`{"type":"object","properties":{"title":{"type":"string","description":"a\u202eb","default":"\u200b","enum":["\u200b"]}},"title":"x\u001b"}`))
	if want := "{\"properties\":{\"title\":{\"default\":\"\u200b\",\"description\":\"a[U+202E]b\",\"enum\":[\"\u200b\"],\"type\":\"string\"}},\"title\":\"x[U+001B]\",\"type\":\"object\"}"; err != nil || string(got) != want {
		t.Errorf("words: %s, %v", got, err)
	}
	got, err = cfg.outputSchema(json.RawMessage(`{"properties":{"a":{"type":"number"},"type":{"items":{"type":"number"},"type":"array"},"n":{"const":1e400,"type":"integer"}}}`))
	if want := `{"properties":{"a":{"type":["number","null"]},"n":{"const":1e400,"type":"integer"},"type":{"items":{"type":["number","null"]},"type":"array"}}}`; err != nil || string(got) != want {
		t.Errorf("numbers: %s, %v", got, err)
	}
	for schema, want := range map[string]bool{
		`{"properties":{"timeout":{"type":"integer"}}}`:                            true,
		`{"properties":{"timeout":{"anyOf":[{"type":"number"},{"type":"null"}]}}}`: true,
		`{"properties":{"timeout":{"type":"string"}}}`:                             false,
		`{"properties":{"timeout":{"anyOf":[{"type":"string"}]}}}`:                 false,
		`{"properties":{"timeouts":{"type":"integer"}}}`:                           false,
		`{"properties":[1]}`: false,
		`{}`:                 false,
	} {
		if takesTimeout(json.RawMessage(schema)) != want {
			t.Errorf("%s: %v", schema, !want)
		}
	}
}

// What the catalog cannot compile is left out there, and the rest is listed.
func TestBadSchemasAreQuarantined(t *testing.T) {
	b := startBus(t, "127.0.0.1:0")
	h := double(g1, "h")
	run := func(map[string]any) (any, string) { return map[string]any{}, "" }
	for name, schema := range map[string]string{
		"ref": `{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/x.json"}}}`, "file": `{"$ref":"file:///etc/passwd"}`,
		"nonsense": `{"type":"object","properties":{"a":{"type":"klingon"}}}`, "shape": `{"type":"object","properties":5}`,
	} {
		h.put(name, entry(name, "Bad.", schema, anyArgs), run)
	}
	h.put("array", entry("array", "Bad.", `{"type":"array"}`, anyArgs), run)
	h.put("loop", entry("loop", "Odd but fine.", `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"properties":{"a":{"$ref":"#/$defs/a"}}}}}`, anyArgs), run)
	h.start(t, b)
	box := b.open(t, Config{})
	lists(t, box, "h__double", "h__file", "h__loop", "h__nonsense", "h__ref", "h__shape")
	c, faults := crib(t, box)
	var out []string
	for _, f := range faults {
		out = append(out, f.Tool)
	}
	slices.Sort(out)
	if !slices.Equal(out, []string{"h__file", "h__nonsense", "h__ref", "h__shape"}) {
		t.Errorf("left out by the catalog: %v", faults)
	}
	if f := box.Faults(); len(f) != 1 || !strings.Contains(f[0].Error(), `"array"`) || !strings.Contains(f[0].Error(), "h/") {
		t.Errorf("left out by the box: %v", f)
	}
	for _, name := range []string{"h__double", "h__loop"} {
		if _, ok := c.Tool(toolcrib.Caller{}, name); !ok {
			t.Errorf("%s is not listed", name)
		}
	}
}

func TestBounds(t *testing.T) {
	b := startBus(t, "127.0.0.1:0")
	for i := range 6 {
		h := double(g1, fmt.Sprintf("h%d", i))
		for j := range 5 {
			h.put(fmt.Sprintf("t%d", j), entry(fmt.Sprintf("t%d", j), "T.", anyArgs, anyArgs), nil)
		}
		h.start(t, b)
	}
	double(g1, "mine").start(t, b)
	double(g1, "ovos").start(t, b) // another program's list of what is here
	box := b.open(t, Config{MaxBoxes: 4, MaxTools: 10, Skip: []string{"mine"}, Window: time.Second})
	var tools []toolcrib.Tool
	eventually(t, "all toolboxes are heard of", func() bool {
		var err error
		if tools, err = box.Tools(t.Context()); err != nil {
			t.Fatal(err)
		}
		f := box.Faults()
		return len(f) == 2 && strings.Contains(f[0].Error(), "more than 4 toolboxes")
	})
	if len(tools) != 10 || slices.ContainsFunc(tools, func(t toolcrib.Tool) bool { return !strings.HasPrefix(t.Name, "h") }) {
		t.Errorf("%d tools: %v", len(tools), tools)
	}
	only := b.open(t, Config{Only: []string{"h[12]", "mine"}, Skip: []string{"h2"}, Effects: map[string]toolcrib.Effects{"h1": toolcrib.Reads, "h1/t0": toolcrib.Pure}})
	lists(t, only, "h1__double", "h1__t0", "h1__t1", "h1__t2", "h1__t3", "h1__t4", "mine__double")
	tools, err := only.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		want := map[string]toolcrib.Effects{"h1__t0": toolcrib.Pure, "mine__double": 0}
		e, ok := want[tool.Name]
		if !ok {
			e = toolcrib.Reads
		}
		if tool.Effects != e {
			t.Errorf("%s: %v", tool.Name, tool.Effects)
		}
	}
	for _, cfg := range []Config{{Window: -1}, {MaxTools: -1}, {Only: []string{"["}}} {
		if _, err := Open(t.Context(), cfg, port{b.client(t, nil)}); err == nil {
			t.Errorf("%+v opens", cfg)
		}
	}
	if _, err := Open(t.Context(), Config{}, nil); err == nil {
		t.Error("it opens without a bus")
	}
}

func TestDeadlines(t *testing.T) {
	b := &Box{cfg: Config{Timeout: 20 * time.Second, MaxTimeout: 5 * time.Minute, Timeouts: map[string]time.Duration{"slow": time.Hour, "slow/quick": time.Second}}.filled()}
	for _, c := range []struct {
		id, name, input string
		timeout         bool
		spec, call      time.Duration
	}{
		{"a", "x", `{"timeout":100}`, false, 20 * time.Second, 20 * time.Second},
		{"a", "x", `{}`, true, 5 * time.Minute, 20 * time.Second},
		{"a", "x", `{"timeout":30}`, true, 5 * time.Minute, 40 * time.Second},
		{"a", "x", `{"timeout":2}`, true, 5 * time.Minute, 20 * time.Second},
		{"a", "x", `{"timeout":1e300}`, true, 5 * time.Minute, 5 * time.Minute},
		{"a", "x", `{"timeout":-5}`, true, 5 * time.Minute, 20 * time.Second},
		{"a", "x", `{"timeout":"30"}`, true, 5 * time.Minute, 20 * time.Second},
		{"slow", "x", `{}`, false, time.Hour, time.Hour},
		{"slow", "quick", `{}`, false, time.Second, time.Second},
	} {
		cl := claimedTool{name: c.name, timeout: c.timeout}
		if got := b.limit(c.id, cl); got != c.spec {
			t.Errorf("%+v: the tool has %v", c, got)
		}
		if got := b.deadline(c.id, cl, json.RawMessage(c.input)); got != c.call {
			t.Errorf("%+v: the call has %v", c, got)
		}
	}
}

func TestParseAnswer(t *testing.T) {
	for _, c := range []struct{ data, value, failed string }{
		{`{"result":{"a":1},"toolbox_id":"x"}`, `{"a":1}`, ""},
		{`{"result":{"a":1},"error":null}`, `{"a":1}`, ""},
		{`{"result":{"a":1},"error":"E: x"}`, "", "E: x"},
		{`{"error":"E: x","detail":"because"}`, "", "E: x: because"},
		{`{"error":"E: x","detail":""}`, "", "E: x"},
		{`{"error":""}`, "", "it failed without saying why"},
		{`{"error":{"code":5}}`, "", `{"code":5}`},
		{`{"error":"` + strings.Repeat("x", 10000) + `"}`, "", strings.Repeat("x", maxError) + "…"},
		{`{}`, "", "the toolbox x answered with neither a result nor an error"},
		{`{"result":null}`, "", "the toolbox x answered with neither a result nor an error"},
		{`{"result":5}`, "", "the toolbox x answered with a result that is no object: 5"},
		{`[]`, "", "the toolbox x answered with something that is not in the known form"},
		{``, "", "the toolbox x answered with something that is not in the known form"},
	} {
		got, _ := parseAnswer("x", json.RawMessage(c.data))
		if string(got.Value) != c.value || got.Failed != (c.failed != "") || got.Failed && got.String() != c.failed {
			t.Errorf("%.80s: %v", c.data, got)
		}
	}
	if _, unknown := parseAnswer("x", json.RawMessage(`{"error":"ValueError: Unknown tool 'y' for ToolBox 'x'."}`)); !unknown {
		t.Error("an unknown tool is not noticed")
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"tools":[` + string(entry("a", "d", numberArgs, numberOut)) + `],"toolbox_id":"x"}`))
	f.Add([]byte(`{"result":{"a":[1,null]},"toolbox_id":"x"}`))
	f.Add([]byte(`{"error":"ValueError: Unknown tool '' for ToolBox 'x'.","detail":5}`))
	f.Add([]byte(`{"toolbox_id":"\ud800","tools":[{"name":"\u202e","argument_schema":{"type":"number"}}]}`))
	cfg := Config{}.filled()
	valid := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	f.Fuzz(func(t *testing.T, data []byte) {
		result, _ := parseAnswer("x", data)
		switch {
		case result.Failed && strings.TrimSpace(result.String()) == "":
			t.Error("failed without a word")
		case result.Failed && visible(result.String()) != result.String():
			t.Errorf("%q holds what cannot be seen", result.String())
		case !result.Failed && !json.Valid(result.Value):
			t.Errorf("%q is no JSON", result.Value)
		}
		r, err := cfg.parseAnnouncement(data)
		if err != nil {
			return
		}
		b := &Box{cfg: cfg}
		for _, c := range r.claims {
			tool := b.tool(r, c)
			if !valid.MatchString(tool.Name) || tool.Effects != 0 || tool.Description == "" || visible(tool.Description) != tool.Description || !json.Valid(tool.Input) || tool.Output != nil && !json.Valid(tool.Output) {
				t.Errorf("%+v", tool.Spec)
			}
		}
	})
}

// TestJoinIsBounded: a toolbox that is announced again and again, with other
// names each time, grows no further than its bound and costs no more than that.
func TestJoinIsBounded(t *testing.T) {
	r := &remote{id: "x"}
	for round := range 400 {
		other := &remote{id: "x"}
		for i := range 512 {
			other.claims = append(other.claims, claimedTool{name: fmt.Sprintf("t%d-%d", round, i)})
		}
		r.join("bus", other, 512)
	}
	if len(r.claims) != 512 || len(r.known) != 512 {
		t.Errorf("%d claims, %d names", len(r.claims), len(r.known))
	}
}
