package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/toolbox/web"
)

// row is one recorded call; testdata/golden/README.md tells where ours may
// answer otherwise.
type row struct {
	Toolbox string
	Config  struct {
		AllowWrite      *bool    `json:"allow_write"`
		AllowShell      bool     `json:"allow_shell"`
		MaxTimeout      int      `json:"max_timeout"`
		AllowedCommands []string `json:"allowed_commands"`
	}
	Name   string
	Kwargs json.RawMessage
	Result map[string]any
	Error  string

	spoken bool // it was refused by us
}

// spoken: what was not done is told in a sentence that can be said, besides the
// words that a Python host has for it.
func spoken(t testing.TB, got map[string]any, must bool) {
	t.Helper()
	said, told := got["spoken"].(string)
	if must && !told || told && (said == "" || strings.ContainsAny(said, "'\"_/()[]{}:=")) {
		t.Errorf("spoken: %q", got["spoken"])
	}
}

func rows(t *testing.T, file, toolbox, root string) []row {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/golden/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var list []row
	for line := range bytes.Lines(bytes.ReplaceAll(text, []byte("$ROOT"), []byte(root))) {
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if toolbox == "" || r.Toolbox == toolbox {
			list = append(list, r)
		}
	}
	return list
}

// check sends a row by each of the ways there are, and compares all that comes
// back with what a Python host would answer.
func (s *socket) check(r row, ways ...string) {
	s.t.Helper()
	for _, way := range ways {
		data := map[string]any{"name": r.Name, "kwargs": r.Kwargs}
		want := map[string]any{"toolbox_id": r.Toolbox}
		switch way {
		case "ovos.tools.invoke":
			data, want = map[string]any{"name": r.Name, "args": r.Kwargs}, map[string]any{"name": r.Name}
		case "ovos.persona.tools.call":
			data["toolbox_id"] = r.Toolbox
		}
		text, err := json.Marshal(data)
		if err != nil {
			s.t.Fatal(err)
		}
		got := s.ask(way, string(text)).Data
		if r.Error != "" {
			want["error"] = r.Error
			if detail, ok := got["detail"].(string); !ok || detail == "" {
				s.t.Errorf("%s %s: the reason is not told: %v", r.Name, r.Kwargs, got)
			}
			delete(got, "detail")
		} else {
			want["result"] = r.Result
			lenient(s.t, r, got["result"])
			if r.spoken {
				delete(got, "detail")
			}
		}
		spoken(s.t, got, r.Error != "" || r.spoken)
		delete(got, "spoken")
		if diff := cmp.Diff(want, got); diff != "" {
			s.t.Errorf("%s %s %s (-recorded +ours):\n%s", way, r.Name, r.Kwargs, diff)
		}
	}
}

func persona(r row) string { return "ovos.persona.tools." + r.Toolbox + ".call" }

// lenient makes equal what may differ.
func lenient(t testing.TB, r row, result any) {
	got, ok := result.(map[string]any)
	if !ok {
		return
	}
	if text, ok := r.Result["error"].(string); ok && strings.HasPrefix(text, "Syntax error:") {
		if ours, ok := got["error"].(string); ok && strings.HasPrefix(ours, "Syntax error:") {
			got["error"] = text
		}
	}
	for _, side := range []map[string]any{got, r.Result} {
		if matches, ok := side["matches"].([]any); ok { // of any order
			slices.SortFunc(matches, func(a, b any) int { return strings.Compare(text(t, a), text(t, b)) })
		}
	}
	switch r.Name {
	case "solve_equation":
		got["method"] = r.Result["method"]
		if r.Result["equation"] == "(x-0.5)**2" {
			r.Result["solutions"] = []any{0.5}
		}
	case "get_current_datetime":
		for key, form := range map[string]string{
			"iso": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?[+-]\d\d:\d\d$`, "date": `^\d{4}-\d\d-\d\d$`, "time": `^\d\d:\d\d:\d\d$`, "timezone": `.`,
		} {
			if text, ok := got[key].(string); !ok || !regexp.MustCompile(form).MatchString(text) {
				t.Errorf("%s is %v", key, got[key])
			}
			got[key] = r.Result[key]
		}
	}
}

func text(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRecordedClockAndMathRows(t *testing.T) {
	_, s := open(t, setup{})
	list := rows(t, "ovos_rows.jsonl", "", "")
	if len(list) < 100 {
		t.Errorf("only %d rows", len(list))
	}
	for _, r := range list {
		s.check(r, persona(r), "ovos.persona.tools.call", "ovos.tools.invoke")
	}
}

// TestNumbersOfAnySize: a float is sent however large it is, as a float.
func TestNumbersOfAnySize(t *testing.T) {
	big := tool("big", func(context.Context, json.RawMessage) (*toolcrib.Result, error) {
		return &toolcrib.Result{Value: json.RawMessage(`{"n":18446744073709551616}`)}, nil
	})
	big.Output = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	_, s := open(t, setup{more: []toolcrib.Toolbox{toolcrib.NewBox("ints", big)}})
	math := func(name, kwargs string, result map[string]any) row {
		return row{Toolbox: "ovos-math-tools", Name: name, Kwargs: json.RawMessage(kwargs), Result: result}
	}
	for _, r := range []row{
		math("evaluate_expression", `{"expression":"2**64"}`, map[string]any{"result": 1.8446744073709552e+19, "expression": "2**64", "error": nil}),
		math("evaluate_expression", `{"expression":"-10**20"}`, map[string]any{"result": -1e20, "expression": "-10**20", "error": nil}),
		math("evaluate_expression", `{"expression":"2**63"}`, map[string]any{"result": 9223372036854775808.0, "expression": "2**63", "error": nil}),
		math("unit_convert", `{"value":20,"from_unit":"ly","to_unit":"mm"}`, map[string]any{"result": 1.89214e+20, "from_unit": "ly", "to_unit": "mm", "category": "length", "error": nil}),
		math("statistics_summary", `{"numbers":[1e20,3e20]}`, map[string]any{"count": 2.0, "mean": 2e20, "median": 2e20, "stdev": 1.4142135623730951e+20, "minimum": 1e20, "maximum": 3e20, "total": 4e20, "error": nil}),
		{Toolbox: "ints", Name: "big", Kwargs: json.RawMessage(`{}`), Error: "TypeError: Integer exceeds 64-bit range"},
	} {
		s.check(r, persona(r), "ovos.persona.tools.call", "ovos.tools.invoke")
	}
}

// TestContractsAreTheRecordedOnes compares everything that the field knows,
// however it is asked for.
func TestContractsAreTheRecordedOnes(t *testing.T) {
	webBox, err := web.Open(t.Context(), web.Config{})
	if err != nil {
		t.Fatal(err)
	}
	_, s := open(t, setup{root: t.TempDir(), write: true, more: []toolcrib.Toolbox{webBox}})
	var recorded []map[string]any
	file, err := os.ReadFile("../../../testdata/golden/ovos_tools.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file, &recorded); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{}
	for _, c := range recorded {
		want[c["name"].(string)] = c
	}
	if len(want) != 12 {
		t.Errorf("%d contracts are recorded", len(want))
	}
	known := func(list any) map[string]any {
		got := map[string]any{}
		for _, c := range list.([]any) {
			c := c.(map[string]any)
			if name := c["name"].(string); want[name] != nil {
				got[name] = c
			}
		}
		return got
	}
	compare := func(way string, got map[string]any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-recorded +ours):\n%s", way, diff)
		}
	}
	compare("list", known(s.ask("ovos.tools.list", `{}`).Data["tools"]))
	compare("reload", known(s.ask("ovos.tools.reload", `{}`).Data["tools"]))
	one := map[string]any{}
	for name := range want {
		one[name] = s.ask("ovos.tools.get", `{"name":"`+name+`"}`).Data
	}
	compare("get", one)

	all := map[string]any{}
	for _, answer := range s.discover(5) {
		for name, c := range known(answer.Data["tools"]) {
			all[name] = c
			if c := c.(map[string]any); c["toolbox_id"] != answer.Data["toolbox_id"] {
				t.Errorf("%s is of %v and told by %v", name, c["toolbox_id"], answer.Data["toolbox_id"])
			}
		}
	}
	compare("discover", all)
}

// discover asks every toolbox what it has, n of them, and keeps listening
// while others ask again, so that a second answer of one would be noticed.
func (s *socket) discover(n int) []frame {
	s.t.Helper()
	found := map[string][]frame{}
	for _, mark := range []string{"first", "second", "third"} {
		s.send(`{"type":"ovos.persona.tools.discover","data":{},"context":{"mark":"` + mark + `"}}`)
		for len(found[mark]) < n {
			f := s.next("ovos.persona.tools.discover.response", "")
			by, ok := f.Context["mark"].(string)
			if !ok {
				continue // the host asks around itself
			}
			found[by] = append(found[by], f)
		}
	}
	if len(found["first"]) != n {
		s.t.Errorf("%d answers of %d toolboxes", len(found["first"]), n)
	}
	return found["first"]
}
