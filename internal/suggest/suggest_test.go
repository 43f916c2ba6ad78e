package suggest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// machine is the real guards on a machine that is made up.
type machine struct {
	*shelltest.Machine
	policy *policy.Policy
	shell  *shellguard.Guard
	base   []string // rules that hold
	deny   []string
	tried  []string
}

func newMachine(t testing.TB, allow, deny []string) *machine {
	t.Helper()
	m := &machine{Machine: shelltest.NewMachine(), base: allow, deny: deny}
	if err := m.Try(nil); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *machine) Try(allow []string) error {
	shell := &shellguard.Guard{
		AllowShell: true, Bounded: true, ReadFile: m.ReadFile, Glob: func(string) ([]string, error) { return nil, nil },
		Options: shellguard.Options{Dir: shelltest.Work, Look: m.Look, EvalSymlinks: m.EvalSymlinks, Stat: m.Stat, Lstat: m.Lstat},
	}
	rules, err := policy.NewRules([]policy.Layer{{Rank: policy.RankUser, Permissions: policy.Permissions{Allow: slices.Concat(m.base, allow), Deny: m.deny}}}, policy.RuleOptions{
		Own: []string{"files", "shell", "web"}, Base: shelltest.Work, Home: shelltest.Home, Resolve: m.EvalSymlinks, Shell: shell, Conditions: &policy.Conditions{},
	})
	if err != nil {
		return err
	}
	p := &policy.Policy{Rules: rules, Mode: func(toolcrib.Call) policy.Mode { return policy.ModeDefault }, Shell: shell}
	shell.Rules, shell.Unasked = rules.Commands(), p.Unasked
	m.policy, m.shell, m.tried = p, shell, allow
	return nil
}

// specs are the tools of the machine, by the names they are called by.
var specs = map[string]toolcrib.Entry{
	"run_command":      {Spec: toolcrib.Spec{Name: "run_command", Group: "exec", Effects: toolcrib.Runs | toolcrib.Writes}, Box: "shell", Native: "run_command"},
	"command_input":    {Spec: toolcrib.Spec{Name: "command_input", Group: "exec"}, Box: "shell", Native: "command_input"},
	"write_file":       {Spec: toolcrib.Spec{Name: "write_file", Group: "fs", Effects: toolcrib.Writes}, Box: "files", Native: "write_file"},
	"delete_file":      {Spec: toolcrib.Spec{Name: "delete_file", Group: "fs", Effects: toolcrib.Writes | toolcrib.Destroys}, Box: "files", Native: "delete_file"},
	"web_fetch":        {Spec: toolcrib.Spec{Name: "web_fetch", Group: "web", Effects: toolcrib.Runs | toolcrib.Network}, Box: "web", Native: "web_fetch"},
	"hub__get_issue":   {Spec: toolcrib.Spec{Name: "hub__get_issue", Group: "mcp"}, Box: "hub", Native: "get_issue"},
	"hub__run_script":  {Spec: toolcrib.Spec{Name: "hub__run_script", Group: "mcp"}, Box: "hub", Native: "run_script"},
	"hub__deleteFile":  {Spec: toolcrib.Spec{Name: "hub__deleteFile", Group: "mcp"}, Box: "hub", Native: "deleteFile"},
	"hub__push_files":  {Spec: toolcrib.Spec{Name: "hub__push_files", Group: "mcp"}, Box: "hub", Native: "push_files"},
	"hub__ask":         {Spec: toolcrib.Spec{Name: "hub__ask", Group: "mcp", Input: json.RawMessage(`{"properties":{"sql":{}}}`)}, Box: "hub", Native: "ask"},
	"hub__forget":      {Spec: toolcrib.Spec{Name: "hub__forget", Group: "mcp", Effects: toolcrib.Destroys}, Box: "hub", Native: "forget"},
	"hub__odd__native": {Spec: toolcrib.Spec{Name: "hub__odd__native", Group: "mcp"}, Box: "hub", Native: "odd__native"},
}

func (m *machine) Judge(ctx context.Context, call toolcrib.Call) (toolcrib.Judgement, error) {
	spec, ok := specs[call.Tool]
	if !ok {
		return toolcrib.Judgement{}, &toolcrib.Error{Code: toolcrib.CodeNotFound}
	}
	r := toolcrib.Review{Call: call, Spec: spec, Input: call.Input}
	decision := toolcrib.Allow
	var verdicts []toolcrib.Verdict
	for _, g := range []toolcrib.Guard{m.policy, m.shell} {
		v, err := g.Judge(ctx, r)
		if err != nil {
			return toolcrib.Judgement{Review: r}, err
		}
		if v != nil {
			verdicts = append(verdicts, *v)
			decision = min(decision, v.Decision)
		}
	}
	return toolcrib.Judgement{Review: r, Decision: decision, Verdicts: verdicts}, nil
}

func (m *machine) Line(r toolcrib.Review) *shellguard.Line { return m.shell.LineOf(r) }
func (m *machine) Own(box string) bool                     { return box != "hub" }
func (m *machine) Base() string                            { return shelltest.Work }

func asking(answer Answer, tool string, input map[string]string, times int) []Call {
	text, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return slices.Repeat([]Call{{Call: toolcrib.Call{Tool: tool, Input: text}, Answer: answer}}, times)
}

func ran(answer Answer, times int, commands ...string) (out []Call) {
	for _, c := range commands {
		out = append(out, asking(answer, "run_command", map[string]string{"command": c}, times)...)
	}
	return out
}

func wrote(answer Answer, paths ...string) (out []Call) {
	for _, p := range paths {
		out = append(out, asking(answer, "write_file", map[string]string{"path": p, "content": "x"}, 1)...)
	}
	return out
}

func rulesOf(t *testing.T, m *machine, calls []Call) (rules []string, report Report) {
	t.Helper()
	report, err := Of(t.Context(), m, calls, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Rules {
		rules = append(rules, r.Rule)
		if r.Spared+r.Together < 2 || len(r.Examples) == 0 {
			t.Errorf("%+v", r)
		}
	}
	if m.tried != nil {
		t.Errorf("what was tried stays in force: %v", m.tried)
	}
	return rules, report
}

func TestSuggest(t *testing.T) {
	for name, tt := range map[string]struct {
		calls []Call
		want  []string
	}{
		"the same":            {ran(Approved, 2, "npm run lint"), []string{"run_command(npm run lint)"}},
		"once":                {ran(Approved, 1, "npm run lint"), nil},
		"different arguments": {ran(Approved, 1, "go test ./...", "go test -run X ./a"), []string{"run_command(go test *)"}},
		"of several":          {ran(Approved, 1, "go vet ./... && go test ./...", "go vet ./a && go test ./a"), []string{"run_command(go test *)", "run_command(go vet *)"}},
		"what reads is free":  {ran(Approved, 1, "go test ./... | tail -5", "go test ./a | head"), []string{"run_command(go test *)"}},
		"commits":             {ran(Approved, 1, "git commit -m one", "git commit -m 'two words'"), []string{"run_command(git commit *)"}},
		"exact removal":       {ran(Approved, 3, "rm -r build"), []string{"run_command(rm -r build)"}},
		"a directory":         {wrote(Approved, "src/a/x.go", "src/b/y.go"), []string{"write_file(./src/**)"}},
		"a lower directory":   {wrote(Approved, "src/a/x.go", "src/a/y.go", shelltest.Work+"/src/a/z.go"), []string{"write_file(./src/a/**)"}},
		"one file":            {wrote(Approved, "src/a/x.go", "src/a/x.go"), []string{"write_file(./src/a/x.go)"}},
		"never the project":   {wrote(Approved, "a.txt", "b.txt", "b.txt"), []string{"write_file(./b.txt)"}},
		"a hidden directory":  {wrote(Approved, ".github/a", ".github/b"), nil},
		"a host":              {slices.Concat(asking(Approved, "web_fetch", map[string]string{"url": "https://example.com/a"}, 1), asking(Approved, "web_fetch", map[string]string{"url": "https://example.com/b"}, 1)), []string{"web_fetch(domain:example.com)"}},
		"a look-alike":        {asking(Approved, "web_fetch", map[string]string{"url": "https://g\u0456thub.com/"}, 5), nil},
		"further goals":       {ran(Approved, 2, "mvn test", "mvn test -q", "gradle test", "gradle test --info"), []string{"run_command(gradle test --info)", "run_command(gradle test)", "run_command(mvn test -q)", "run_command(mvn test)"}}, // not mvn test *, which takes deploy
		"this machine":        {asking(Approved, "web_fetch", map[string]string{"url": "http://localhost:8080/"}, 5), nil},
		"a number":            {asking(Approved, "web_fetch", map[string]string{"url": "http://169.254.169.254/"}, 5), nil},
		"a tool of others":    {asking(Approved, "hub__get_issue", nil, 2), []string{"mcp__hub__get_issue"}},
		"an odd name":         {asking(Approved, "hub__odd__native", nil, 2), []string{"hub/odd__native"}},
		"code by name":        {asking(Approved, "hub__run_script", nil, 5), nil},
		"final by name":       {slices.Concat(asking(Approved, "hub__deleteFile", nil, 5), asking(Approved, "hub__push_files", nil, 5)), nil},
		"code by argument":    {asking(Approved, "hub__ask", nil, 5), nil},
		"what destroys":       {asking(Approved, "hub__forget", nil, 5), nil},
		"removed one by one":  {slices.Concat(asking(Approved, "delete_file", map[string]string{"path": "tmp/a"}, 2), asking(Approved, "delete_file", map[string]string{"path": "tmp/b"}, 1)), []string{"delete_file(./tmp/a)"}},
		"typed in":            {asking(Approved, "command_input", map[string]string{"job": "x", "text": "ls"}, 5), nil},
		"gone":                {asking(Approved, "no_such_tool", nil, 5), nil},
		"declined":            {slices.Concat(ran(Approved, 1, "go test ./a", "go test ./b"), ran(Declined, 1, "go test ./secret")), nil},
		"declined, exact":     {slices.Concat(ran(Approved, 2, "go test ./a", "go test ./b"), ran(Declined, 1, "go test ./secret")), []string{"run_command(go test ./a)", "run_command(go test ./b)"}},
		"declined beside":     {slices.Concat(wrote(Approved, "src/a/x", "src/a/y", "src/b/x"), wrote(Declined, "src/c/x")), []string{"write_file(./src/a/**)"}},
		"declined tool":       {slices.Concat(asking(Approved, "hub__get_issue", nil, 9), asking(Declined, "hub__get_issue", map[string]string{"x": "y"}, 1)), nil},
		"declined together":   {slices.Concat(ran(Approved, 1, "go build ./a", "go build ./b", "npm run lint", "npm run lint"), ran(Declined, 1, "go build ./c && npm run lint")), []string{"run_command(go build *)"}},
		"outside":             {wrote(Approved, "/etc/x", "/etc/y"), nil},
	} {
		got, report := rulesOf(t, newMachine(t, nil, nil), tt.calls)
		slices.Sort(got)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s\n%+v", name, diff, report)
		}
	}
}

// TestSuggestCounts: what is left out is told.
func TestSuggestCounts(t *testing.T) {
	hidden := asking(Approved, "run_command", map[string]string{"command": "curl -H [redacted]"}, 1)
	hidden[0].Hidden = true
	m := newMachine(t, []string{"run_command(make test)"}, []string{"run_command(touch *)"})
	calls := slices.Concat(hidden, ran(Approved, 2, "make test", "touch x", "sudo make install", "npm run lint"), ran(Approved, 1, "npm run once"), ran(Unanswered, 3, "npm run x"), ran(Declined, 1, "npm run no"))
	_, report := rulesOf(t, m, calls)
	others := report.Others
	report.Rules, report.Others = nil, nil
	if diff := cmp.Diff(Report{Asked: 14, Approved: 10, Declined: 1, Unanswered: 3, Hidden: 1, Allowed: 2, Gone: 2, Seldom: 1, Spared: 2}, report); diff != "" {
		t.Error(diff)
	}
	if len(others) != 1 || others[0].Calls != 2 || !strings.Contains(others[0].Why, "as another user") {
		t.Errorf("%+v", others)
	}
}

// TestHiddenDeclined: of what was declined, and is not known in full, nothing is
// allowed that may be it.
func TestHiddenDeclined(t *testing.T) {
	declined := ran(Declined, 1, "git commit -m [redacted]")
	declined[0].Hidden = true
	got, _ := rulesOf(t, newMachine(t, nil, nil), slices.Concat(ran(Approved, 1, "git commit -m a", "git commit -m b", "go test ./a", "go test ./b"), declined))
	if diff := cmp.Diff([]string{"run_command(go test *)"}, got); diff != "" {
		t.Error(diff)
	}
	declined = asking(Declined, "hub__get_issue", map[string]string{"unrecorded": "x"}, 1)
	declined[0].Hidden = true
	if got, _ := rulesOf(t, newMachine(t, nil, nil), slices.Concat(asking(Approved, "hub__get_issue", nil, 3), declined)); got != nil {
		t.Error(got)
	}
}

// TestExampleIsOfTheToolMeant: a server that calls its tool like one of another box is not
// the example of a rule about that box.
func TestExampleIsOfTheToolMeant(t *testing.T) {
	specs := []toolcrib.Entry{
		{Spec: toolcrib.Spec{Name: "evil__files__write_file"}, Box: "evil", Native: "files__write_file"},
		{Spec: toolcrib.Spec{Name: "write_file"}, Box: "files", Native: "write_file"},
	}
	for _, rule := range []string{"files__write_file", "files/write_file", "write_file"} {
		if call, _, ok := Example(rule, "", specs); !ok || call.Tool != "write_file" {
			t.Errorf("%s: %+v, %t", rule, call, ok)
		}
	}
}
