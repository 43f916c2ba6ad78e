package account

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

func call(tool, input string) toolcrib.Record {
	return toolcrib.Record{Seq: 1, ID: "019a84c2-5a30", Tool: tool, Native: tool, Input: json.RawMessage(input), Outcome: toolcrib.Done, Start: at, Duration: 12 * time.Millisecond,
		Caller: toolcrib.Caller{Subject: "ann", Agent: "coder", Frontend: "mcp", Client: "editor 1.0"}}
}

var at = time.Date(2026, 11, 18, 14, 30, 0, 0, time.UTC)

func TestWhat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, input, want string }{
		{"run_command", `{"working_dir":"/x","command":"go test ./..."}`, "go test ./..."},
		{"search_files", `{"path":"src","pattern":"needle"}`, "needle src"},
		{"unit_convert", `{"value":26.2,"from_unit":"mi","to_unit":"km"}`, "26.2 mi km"},
		{"github_create_issue", `{"body":"` + strings.Repeat("long ", 90) + `","title":"A title"}`, "A title"},
		{"weather", `{"days":3,"place":"Ulm"}`, "Ulm"},
		{"weather", `{"days":3}`, "days=3"},
		{"weather", `{}`, ""},
		{"weather", `"only text"`, "only text"},
		{"weather", ``, ""},
		{"run_command", "{\"command\":\"ls\\u001b[2J\\nrm\\u202e x\"}", `ls[U+001B][2J\nrm[U+202E] x`},
	} {
		if got := What(call(c.tool, c.input)); got != c.want {
			t.Errorf("What(%s %s) = %q, want %q", c.tool, c.input, got, c.want)
		}
	}
	edited := call("run_command", `{"command":"rm x"}`)
	edited.Edited = json.RawMessage(`{"command":"ls x"}`)
	if got := What(edited); got != "ls x" {
		t.Errorf("what a person put in its place is not told: %q", got)
	}
}

func FuzzWhat(f *testing.F) {
	f.Add("run_command", `{"command":"ls"}`)
	f.Add("x", `{"a":{"b":[1,"\u202e"]}}`)
	f.Add("x", `{`)
	f.Fuzz(func(t *testing.T, tool, input string) {
		rec := call(tool, input)
		if strings.ContainsFunc(What(rec), text.Invisible) {
			t.Fatalf("%q is not all visible", What(rec))
		}
		rec.Result = json.RawMessage(input)
		rec.Verdicts = []toolcrib.Verdict{{Guard: tool, Reason: input}}
		for _, wide := range []int{0, 20, 80, 120} {
			l := Look{Wide: wide, Now: at}
			for _, shown := range []string{l.Table([]toolcrib.Record{rec}, true), l.Page(rec, nil, nil, "")} {
				for row := range strings.SplitSeq(shown, "\n") {
					if strings.ContainsFunc(row, func(r rune) bool { return r != '\t' && text.Invisible(r) }) {
						t.Fatalf("%q is not all visible", row)
					}
				}
			}
		}
	})
}

func TestWhen(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("there", 2*3600)
	now := at.In(zone) // 16:30
	for said, want := range map[string]string{
		"today": "2026-11-18T00:00:00+02:00", "yesterday": "2026-11-17T00:00:00+02:00", "2h": "2026-11-18T14:30:00+02:00",
		"7d": "2026-11-11T16:30:00+02:00", "1w": "2026-11-11T16:30:00+02:00", "90m": "2026-11-18T15:00:00+02:00", "168h": "2026-11-11T16:30:00+02:00",
		"2026-11-01": "2026-11-01T00:00:00+02:00", "2026-11-01 14:30": "2026-11-01T14:30:00+02:00", "2026-11-01t14:30:00z": "2026-11-01T14:30:00Z", "08:15": "2026-11-18T08:15:00+02:00",
	} {
		got, err := When(said, now)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("When(%q) = %v %v, want %s", said, got, err, want)
		}
	}
	for _, bad := range []string{"", "soon", "-2h", "99999999d", "2026-13-01", "7", "d"} {
		if got, err := When(bad, now); err == nil {
			t.Errorf("When(%q) = %v", bad, got)
		}
	}
}

func FuzzWhen(f *testing.F) {
	for _, s := range []string{"today", "7d", "2026-11-01", "65535w", "9223372036s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, said string) {
		if got, err := When(said, at); err == nil && strings.TrimRight(said, "dwhmsnuµ") != said && got.After(at) {
			t.Fatalf("%q is a time ago, and %v is in the future", said, got)
		}
	})
}

// A spreadsheet must not compute what a call says.
func TestCSVHasNoFormulas(t *testing.T) {
	t.Parallel()
	var list []toolcrib.Record
	for _, evil := range []string{`=HYPERLINK("http://x","y")`, "+1+1", "-2", "@SUM(A1)", "\t=1", " =1", "＝1", "|calc"} {
		r := call("run_command", fmt.Sprintf(`{"command":%q}`, evil))
		r.Caller.Client, r.Message = evil, "a\nb"
		list = append(list, r)
	}
	var b bytes.Buffer
	if err := WriteCSV(&b, list, true); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != len(list)+1 {
		t.Fatal(len(rows), err)
	}
	for _, row := range rows[1:] {
		if len(row) != len(CSVColumns()) {
			t.Fatalf("%d columns", len(row))
		}
		for _, cell := range row {
			if first := strings.TrimLeft(cell, " \t"); first != "" && strings.ContainsAny(first[:1], "=+-@|\t") {
				t.Errorf("%q is a formula", cell)
			}
			if strings.Contains(cell, "\n") {
				t.Errorf("%q has several lines", cell)
			}
		}
	}
}

// Where a semicolon ends a cell, as in much of Europe, quotes in the middle of one count
// for nothing.
func TestCSVHasNoFormulasBehindSemicolons(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	r := call("run_command", `{"command":"echo a;=cmd|' /C calc'!A0; +1;\"=2"}`)
	r.Message = "x; \u00a0@SUM(A1), y;＝1"
	if err := WriteCSV(&b, []toolcrib.Record{r}, false); err != nil {
		t.Fatal(err)
	}
	for cell := range strings.SplitSeq(b.String(), ";") {
		if first := strings.TrimLeft(cell, " \u00a0\""); strings.HasPrefix(first, "＝") || first != "" && strings.ContainsAny(first[:1], "=+-@|") {
			t.Errorf("%q is a formula", cell)
		}
	}
}

// What a call says reaches a terminal as letters, and is the same JSON.
func TestLinesHaveNoControls(t *testing.T) {
	t.Parallel()
	r := call("run_command", `{"command":"x"}`)
	r.Message = "a\u009b2J\u202eb\x1b]0;c\u2066\U000e0041\u2028d"
	var b bytes.Buffer
	if err := WriteLines(&b, []toolcrib.Record{r, r}); err != nil {
		t.Fatal(err)
	}
	if out := b.String(); strings.ContainsFunc(out, func(c rune) bool { return c != '\n' && text.Invisible(c) }) || strings.Count(out, "\n") != 2 {
		t.Errorf("%q", out)
	}
	for line := range strings.Lines(b.String()) {
		var got toolcrib.Record
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Message != r.Message {
			t.Errorf("%q, %v", got.Message, err)
		}
	}
}

func TestNoRowIsWiderThanTheScreen(t *testing.T) {
	t.Parallel()
	long := call("a_tool_with_a_very_long_name_of_some_server", `{"path":"/home/ann/`+strings.Repeat("目录/", 60)+`"}`)
	long.ID = strings.Repeat("0123456789", 4)
	long.Verdicts = []toolcrib.Verdict{{Guard: "rules", Reason: strings.Repeat("because ", 40)}}
	long.Message = strings.Repeat("sorry ", 60)
	sum := &Tally{}
	sum.Add(long)
	sum.Sum(at)
	for _, wide := range []int{40, 80, 120} {
		l := Look{Wide: wide, Now: at}
		for name, shown := range map[string]string{"table": l.Table([]toolcrib.Record{long, call("x", `{}`)}, true), "page": l.Page(long, nil, Steps(long, []Step{{long.Start, "a person was asked"}}, nil), ""), "charts": l.Charts(sum)} {
			for row := range strings.SplitSeq(shown, "\n") {
				if text.Width(row) > wide {
					t.Errorf("%s at %d: %d columns: %s", name, wide, text.Width(row), row)
				}
			}
		}
	}
	plain := Look{Wide: 80, Now: at, Plain: true}
	if shown := plain.Table([]toolcrib.Record{long}, true) + plain.Charts(sum) + plain.Page(long, nil, manySteps(long), ""); strings.ContainsFunc(shown, func(r rune) bool { return r > 0x7e && r != '目' && r != '录' }) {
		t.Error("it is not all ASCII")
	}
}

// What was left to a client is not said to be done: whether the person there said yes is
// in no record.
func TestOutcomeOfAHook(t *testing.T) {
	t.Parallel()
	left := call("run_command", `{"command":"rm notes.txt"}`)
	left.Caller.Frontend = "hook"
	asks, told, ours := left, left, left
	asks.ApprovedBy, told.Tool, ours.Caller.Frontend = "whoever claude-code asks", "outcome", "mcp"
	for want, r := range map[string]toolcrib.Record{"left to client": left, "client asks": asks} {
		if got := Outcome(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if Outcome(told) != "done" || Outcome(ours) != "done" {
		t.Error(Outcome(told), Outcome(ours))
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	sum := &Tally{Since: at.Add(-24 * time.Hour)}
	asked := call("write_file", `{"path":"a"}`)
	asked.Verdicts = []toolcrib.Verdict{{Decision: toolcrib.Ask}, {Decision: toolcrib.Deny, Note: true}}
	asked.ApprovedBy = "ann"
	refused := asked
	refused.ApprovedBy, refused.Outcome = "", toolcrib.Outcome(toolcrib.CodeDenied)
	refused.Verdicts = append(slices.Clone(asked.Verdicts), toolcrib.Verdict{Decision: toolcrib.Deny, Guard: "person", Rule: "ann"}) // as the crib writes it
	late := asked
	late.ApprovedBy, late.Outcome = "", toolcrib.Outcome(toolcrib.CodeTimeout)
	ruled := refused
	ruled.Verdicts = []toolcrib.Verdict{{Decision: toolcrib.Ask}, {Decision: toolcrib.Deny}}
	running := call("run_command", `{}`)
	running.Outcome = ""
	model := call("ask_model", `{"model":"m"}`)
	model.Box, model.Result = "model", json.RawMessage(`{"value":{"model":"m","input_tokens":100,"output_tokens":7,"cost":0.25}}`)
	for _, r := range []toolcrib.Record{asked, refused, late, ruled, running, model, model} {
		sum.Add(r)
	}
	sum.Sum(at.Add(time.Minute))
	if sum.Calls != 7 || sum.Open != 1 || sum.Approvals != (Approvals{3, 1, 1, 1}) {
		t.Errorf("%+v", sum)
	}
	if len(sum.Models) != 1 || sum.Models[0] != (ModelUse{"m", 2, 200, 14, 0.5, false}) {
		t.Errorf("%+v", sum.Models)
	}
	if sum.Span != "hour" || len(sum.Over) != 25 || sum.Over[24].N != 7 {
		t.Errorf("%s %+v", sum.Span, sum.Over)
	}
	if shown := (Look{Wide: 80, Now: at}).Charts(sum); !strings.Contains(shown, "3 asked: 1 approved, 1 refused, 1 without an answer") {
		t.Error(shown)
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	r := call("edit_file", `{"path":"a.txt","old_text":"two","new_text":"TWO"}`)
	r.Box = "files"
	r.Verdicts = []toolcrib.Verdict{{Decision: toolcrib.Ask, Guard: "mode", Reason: "it writes"}}
	r.ApprovedBy = "ann"
	r.Result = json.RawMessage(`{"value":{"path":"/x/a.txt","diff":"--- a.txt\n-two\n+TWO\n"}}`)
	shown := (Look{Wide: 80, Now: at}).Page(r, []Link{{ID: "above", Tool: "run_script"}}, nil, "Take it back with: x")
	for _, want := range []string{"edit_file  a.txt", "ann as coder via mcp, editor 1.0", "Made for     run_script  above", "Judged: ask", "approved by ann", "    +TWO", "Take it back with: x"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	r.ApprovedBy = "grant g-1 by ann"
	if shown := (Look{Wide: 80, Now: at}).Page(r, nil, nil, ""); !strings.Contains(shown, "approved by the remembered answer g-1 by ann") {
		t.Error(shown)
	}
}

func manySteps(r toolcrib.Record) []Step {
	var many []Step
	for i := range 3 * maxSteps {
		many = append(many, Step{r.Start.Add(time.Duration(i) * time.Millisecond), "something"})
	}
	return Steps(r, many, nil)
}

// A page tells what happened during a call, in order and counted from its begin.
func TestPageTellsSteps(t *testing.T) {
	r := call("run_script", `{}`)
	r.Start, r.Duration, r.Outcome = time.Date(2026, 11, 18, 9, 0, 0, 0, time.UTC), 5*time.Second, toolcrib.Done
	made := call("read_file", `{}`)
	made.Start, made.Duration, made.Outcome = r.Start.Add(4500*time.Millisecond), 3*time.Millisecond, toolcrib.Done
	asked := []Step{{r.Start.Add(20 * time.Millisecond), "a person was asked (q-1)"}, {r.Start.Add(4 * time.Second), "answered by ann: allow-once, after 4s"}}
	shown := (Look{Wide: 80, Now: r.Start}).Page(r, nil, Steps(r, asked, []toolcrib.Record{made}), "")
	want := "\nSteps\n  +0s    begun\n  +20ms  a person was asked (q-1)\n  +4s    answered by ann: allow-once, after 4s\n  +4.5s  called read_file: done after 3ms\n  +5s    ended: done\n"
	if !strings.Contains(shown, want) {
		t.Errorf("the page has no such steps:\n%s\nwant:%s", shown, want)
	}
	if shown := (Look{Wide: 80, Now: r.Start}).Page(r, nil, Steps(r, nil, nil), ""); strings.Contains(shown, "Steps") {
		t.Errorf("begin and end are told twice:\n%s", shown)
	}
	if shown := (Look{Wide: 80, Now: r.Start}).Page(r, nil, manySteps(r), ""); strings.Count(shown, "something") > maxSteps || !strings.Contains(shown, "ended: done") {
		t.Errorf("too many steps:\n%s", shown)
	}
}
