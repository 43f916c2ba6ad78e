package policy

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// thousand is a policy as large as they come, with rules of every kind. None
// of them means the calls of the benchmark, so that all have to be ruled out.
func thousand() Permissions {
	var p Permissions
	for i := range 1000 {
		n := fmt.Sprint(i)
		switch i % 10 {
		case 0, 1:
			p.Deny = append(p.Deny, "write_file(./private"+n+"/**)")
		case 2:
			p.Ask = append(p.Ask, "write_file(~/area"+n+"/*.go)")
		case 3, 4:
			p.Allow = append(p.Allow, "run_command(tool"+n+" sub *)")
		case 5:
			p.Deny = append(p.Deny, "run_command(bad"+n+" *)")
		case 6:
			p.Ask = append(p.Ask, "mcp__server"+n+"__tool")
		case 7:
			p.Deny = append(p.Deny, "web_fetch(domain:host"+n+".example)")
		case 8:
			p.Allow = append(p.Allow, "box"+n+"/get_*")
		case 9:
			if i%20 == 9 {
				p.Deny = append(p.Deny, "read_*"+n)
				continue
			}
			p.Rules = append(p.Rules, Condition{Decision: "deny", Tool: "mcp__db" + n, When: "args.n > " + n})
		}
	}
	return p
}

// BenchmarkRulesAdded is what a thousand rules add to the judging of a call, by
// policy and shell guard together: with and without are asked in turns, and
// the medians compared, so that a busy machine slows both. "named" is the dear
// case: a rule is about a program of the line.
func BenchmarkRulesAdded(b *testing.B) {
	dir := b.TempDir()
	named := thousand()
	named.Deny = append(named.Deny, "run_command(git push *)")
	line := sample{shellTool("run_command"), `{"command":"git log --oneline | head -5"}`, ""}
	for _, c := range []struct {
		name  string
		call  sample
		rules Permissions
	}{
		{"write", sample{fileTool("write_file"), `{"path":"src/a/b/c.go","content":"some text"}`, ""}, thousand()},
		{"command", line, thousand()},
		{"named", line, named},
		{"mcp", sample{toolcrib.Entry{Spec: toolcrib.Spec{Group: "mcp", Effects: reads}, Box: "github", Native: "get_issue"}, `{"n":3}`, ""}, thousand()},
		{"fetch", sample{toolcrib.Entry{Spec: toolcrib.Spec{Group: "web", Effects: reads | network}, Box: "web", Native: "web_fetch"}, `{"url":"https://docs.example.com/x"}`, ""}, thousand()},
	} {
		b.Run(c.name, func(b *testing.B) {
			judge := func(layers ...Layer) func() time.Duration {
				shell := shellOn(b, shelltest.NewMachine())
				rules, err := NewRules(layers, RuleOptions{
					Own: []string{"files", "shell", "web"}, Base: dir, Home: dir, Resolve: RealPath, Shell: shell, Conditions: &Conditions{},
				})
				if err != nil {
					b.Fatal(err)
				}
				shell.Rules = rules.Commands()
				var live Live
				live.Set(&Policy{Rules: rules, Shell: shell})
				review := toolcrib.Review{Spec: c.call.spec, Input: []byte(c.call.input)}
				return func() time.Duration {
					start := time.Now()
					for _, g := range live.Guards() {
						if _, err := g.Judge(context.Background(), review); err != nil {
							b.Fatal(err)
						}
					}
					return time.Since(start)
				}
			}
			without, with := judge(), judge(Layer{Rank: RankUser, Permissions: c.rules})
			var bare, full []time.Duration
			for b.Loop() {
				bare, full = append(bare, without()), append(full, with())
			}
			slices.Sort(bare)
			slices.Sort(full)
			b.ReportMetric(float64(full[len(full)/2]-bare[len(bare)/2])/1e3, "µs-added")
			b.ReportMetric(float64(bare[len(bare)/2])/1e3, "µs-without")
		})
	}
}

// TestExplainIsQuick: with a thousand rules read anew, as the command line does.
func TestExplainIsQuick(t *testing.T) {
	best := time.Hour
	for range 5 { // the best of a few: the machine may be busy
		start := time.Now()
		got := outcome(t, setting{mode: ModeDefault}, samples()[0], Layer{Rank: RankUser, Permissions: thousand()})
		if got.Decision != isAsk {
			t.Fatalf("%+v", got)
		}
		best = min(best, time.Since(start))
	}
	t.Logf("%v", best)
	if best > 2*time.Second {
		t.Errorf("reading a thousand rules and explaining a call took %v", best)
	}
}
