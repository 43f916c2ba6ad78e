package policy

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// TestConditions: over arguments, caller and effects; and a condition that
// fails counts against the call.
func TestConditions(t *testing.T) {
	tool := toolcrib.Entry{Spec: toolcrib.Spec{Group: "mcp", Effects: writes | network}, Box: "github", Native: "merge"}
	huge := `{"list":[` + strings.TrimSuffix(strings.Repeat("1,", 5000), ",") + `]}`
	for _, tt := range []struct {
		when, input string
		holds       bool
		fails       bool
	}{
		{"args.n > 2", `{"n":3}`, true, false},
		{"args.n > 2", `{"n":2}`, false, false},
		{"args.n > 2", `{"n":2.5}`, true, false},
		{"args.n == 9007199254740993", `{"n":9007199254740992}`, false, false},
		{"args.n == 18446744073709551615u", `{"n":18446744073709551615}`, true, false},
		{"args.n > 2", `{}`, false, true},
		{"args.n > 2", `{"n":"x"}`, false, true},
		{"args.n > 2", `[]`, false, true},
		{"args.n > 2", ``, false, true},
		{"has(args.n) && args.n > 2", `{}`, false, false},
		{"args.path.matches('^src/.*\\\\.go$')", `{"path":"src/a.go"}`, true, false},
		{"args.a.b[1].c == 'x'", `{"a":{"b":[0,{"c":"x"}]}}`, true, false},
		{"args.list.exists(x, x == 'b')", `{"list":["a","b"]}`, true, false},
		{"args == {}", `{}`, true, false},
		{"args.x == null", `{"x":null}`, true, false},
		{"'writes' in effects && !('destroys' in effects)", `{}`, true, false},
		{"tool == 'merge' && box == 'github'", `{}`, true, false},
		{"caller.agent == 'bot' && caller.subject == 'ann' && caller.via == 'mcp' && caller.session == '' && caller.dialect == ''", `{}`, true, false},
		{"caller.admin == 'yes'", `{}`, false, true},
		{"args.list.all(x, args.list.all(y, args.list.all(z, x + y + z > 0)))", huge, false, true}, // too dear
		{"(args.s + args.s).matches('(a*)*b')", `{"s":"` + strings.Repeat("a", 100_000) + `"}`, false, false},
	} {
		for _, d := range []toolcrib.Decision{isDeny, isAsk, isAllow} {
			rules, err := NewRules([]Layer{{Rank: RankUser, Permissions: Permissions{Rules: []Condition{{Decision: d.String(), Tool: "mcp__github__merge", When: tt.when}}}}}, testOptions())
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			said := rules.judge(&toolcrib.Review{
				Call: toolcrib.Call{Caller: toolcrib.Caller{Subject: "ann", Agent: "bot", Frontend: "mcp"}}, Spec: tool, Input: []byte(tt.input),
			}, nil)
			if spent := time.Since(start); spent > 5*time.Second {
				t.Errorf("%s took %v", tt.when, spent)
			}
			want := tt.holds || tt.fails && d != isAllow
			if got := said.rule != nil; got != want {
				t.Errorf("%s %s with %.60s: %v", d, tt.when, tt.input, got)
			}
		}
	}
}

func TestConditionsAreBounded(t *testing.T) {
	c := &Conditions{}
	for _, text := range []string{
		strings.Repeat("(", 2000) + "true" + strings.Repeat(")", 2000), strings.Repeat("true || ", 1000) + "true", "'a'.matches('(')", "'a'.matches('" + strings.Repeat("(a{1,50}){1,50}", 4) + "')",
		"", "args", "1", "now()", "args.x = 1", "env('HOME') == ''", "file('x') == ''", "true; false",
	} {
		if _, err := c.compile(text, maxCost); err == nil {
			t.Errorf("%.60s is taken", text)
		}
	}
	if _, err := (*Conditions)(nil).compile("true", maxCost); err == nil {
		t.Error("conditions are taken where none are known")
	}
}

func TestConditionsAtOnce(t *testing.T) {
	c := &Conditions{}
	first, err := c.compile("args.n > 2", maxCost)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			again, err := c.compile("args.n > 2", maxCost)
			if err != nil || again != first {
				t.Errorf("%p, %v, want %p", again, err, first)
			}
			s := newSubject(&toolcrib.Review{Input: []byte(`{"n":3}`)}, &RuleOptions{})
			if ok, err := first.holds(s); !ok || err != nil {
				t.Errorf("%v, %v", ok, err)
			}
		})
	}
	wg.Wait()
}

func TestExamples(t *testing.T) {
	good := []Condition{
		{Decision: "deny", Tool: "run_command(git push *)", Match: []string{"git push", "git push origin", "cd x && git -C y push -f"}, NotMatch: []string{"git status", "git commit -m push"}},
		{Decision: "allow", Tool: "run_command(go test *)", Match: []string{"go test ./..."}, NotMatch: []string{"go run .", "go test -exec=x ./...", "go test ./... && rm x", "$X"}},
		{Decision: "deny", Tool: "read_file(**/.env*)", Match: []string{".env", "a/.ENV.local"}, NotMatch: []string{"env.go"}},
		{Decision: "allow", Tool: "write_file(./src/**)", Match: []string{"src/a"}, NotMatch: []string{"lib/a", "src/../lib/a"}},
		{Decision: "allow", Tool: "web_fetch(domain:example.com)", Match: []string{"https://example.com/x"}, NotMatch: []string{"https://evil.test/example.com"}},
		{Decision: "ask", Tool: "mcp__db__query", When: "args.sql.matches('(?i)drop')", Match: []string{`{"sql":"DROP TABLE x"}`}, NotMatch: []string{`{"sql":"select 1"}`}},
		{Decision: "deny", Tool: "*", When: "'runs' in effects && caller.agent == 'x'", Match: []string{`{"args":{},"effects":"runs","caller":{"agent":"x"}}`}, NotMatch: []string{`{}`, `{"args":{},"effects":"runs"}`}},
		{Decision: "deny", Tool: "mcp__a__b(repo:x/*)", Match: []string{"x/y"}, NotMatch: []string{"y/x"}},
	}
	if _, err := NewRules([]Layer{{Permissions: Permissions{Rules: good}}}, testOptions()); err != nil {
		t.Error(err)
	}
	// Turned round, every single one has to fail.
	for _, c := range good {
		c.Match, c.NotMatch = c.NotMatch, c.Match
		for _, one := range c.Match {
			if _, err := NewRules([]Layer{{Permissions: Permissions{Rules: []Condition{{Decision: c.Decision, Tool: c.Tool, When: c.When, Match: []string{one}}}}}}, testOptions()); err == nil {
				t.Errorf("%s matches %s", c.Tool, one)
			}
		}
		for _, one := range c.NotMatch {
			if _, err := NewRules([]Layer{{Permissions: Permissions{Rules: []Condition{{Decision: c.Decision, Tool: c.Tool, When: c.When, NotMatch: []string{one}}}}}}, testOptions()); err == nil {
				t.Errorf("%s does not match %s", c.Tool, one)
			}
		}
	}
}

// TestConditionsFromElsewhereAreCheap: a project's file must not slow calls down.
func TestConditionsFromElsewhereAreCheap(t *testing.T) {
	many := slices.Repeat([]Condition{{Decision: "deny", Tool: "*", When: "args.s.endsWith('b')"}}, maxWhen)
	for name, tt := range map[string]struct {
		rules []Condition
		input string
		user  bool // the rule of a user means the call
		below bool // that of a project does: it costs too much, and that counts against the call
	}{
		"dear":       {[]Condition{{Decision: "deny", Tool: "*", When: "args.l.exists(x, args.l.exists(y, x + y == 0))"}}, `{"l":[` + strings.Repeat("1,", 99) + `1]}`, false, true},
		"cheap":      {many, `{"s":"aaa"}`, false, false},
		"many, huge": {many, `{"s":"` + strings.Repeat("a", 1<<20) + `"}`, false, true},
	} {
		for _, rank := range []Rank{RankUser, RankProject} {
			rules, err := NewRules([]Layer{{Rank: rank, Permissions: Permissions{Rules: tt.rules}}}, testOptions())
			if err != nil {
				t.Fatal(err)
			}
			want := tt.user
			if rank == RankProject {
				want = tt.below
			}
			said := rules.judge(&toolcrib.Review{Spec: fileTool("write_file"), Input: []byte(tt.input)}, nil)
			if got := said.rule != nil; got != want {
				t.Errorf("%s, %s: %v", name, rank, got)
			}
		}
	}
}

// TestPatternsAreQuick: neither a long path nor a pattern full of stars holds
// calls up.
func TestPatternsAreQuick(t *testing.T) {
	path := strings.Repeat("a/", 2000) + "b"
	rule := "write_file(./" + strings.Repeat("**/a/", 100) + "c)"
	start := time.Now()
	if got := decide(t, Permissions{Deny: []string{rule, "x*(k:" + strings.Repeat("a*", 500) + "b)"}}, fileTool("write_file"), map[string]string{"path": path}); got != "" {
		t.Errorf("%q", got)
	}
	if toolname.Wild(strings.Repeat("a*", 500)+"b", strings.Repeat("a", 20_000)) {
		t.Error("it matches what it must not")
	}
	if spent := time.Since(start); spent > 5*time.Second {
		t.Errorf("it took %v", spent)
	}
}
