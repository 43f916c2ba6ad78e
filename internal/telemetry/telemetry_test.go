package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/trace"
)

type box struct{ tools []toolcrib.Tool }

func (box) Name() string                                     { return "test" }
func (b box) Tools(context.Context) ([]toolcrib.Tool, error) { return b.tools, nil }
func (box) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	switch r.Spec.Native {
	case "forbidden":
		return &toolcrib.Verdict{Decision: toolcrib.Deny, Guard: "rules", Rule: "no-forbidden", Reason: "it quotes hunter2"}, nil
	case "asked":
		return &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "rules"}, nil
	case "unjudged":
		return nil, nil
	}
	return &toolcrib.Verdict{Decision: toolcrib.Allow, Guard: "rules"}, nil
}

func (box) Approve(_ context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	if strings.Contains(string(q.Input), "no") {
		return toolcrib.Answer{By: "Mallory", Message: "no"}, nil
	}
	return toolcrib.Answer{Decision: toolcrib.Allow, By: "Mallory"}, nil
}

func tool(name string, run func(ctx context.Context, env *toolcrib.Env) (*toolcrib.Result, error)) toolcrib.Tool {
	return toolcrib.Tool{Spec: toolcrib.Spec{Name: name, Input: json.RawMessage(`{"type":"object"}`), Effects: toolcrib.Reads},
		Run: func(ctx context.Context, env *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			return run(ctx, env)
		}}
}

// watched is a crib with everything on.
func watched(t *testing.T, cfg Config) (*toolcrib.Crib, *Telemetry, *collector) {
	t.Helper()
	c := newCollector(t, nil)
	if cfg.Sample == 0 {
		cfg.Sample = 1
	}
	w := New(NewMetrics(Sources{}), NewExporter(c.target(quiet())), cfg)
	b := box{}
	crib := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{b}, Approver: b, Log: quiet()}
	plain := func(context.Context, *toolcrib.Env) (*toolcrib.Result, error) {
		return toolcrib.Text("answer-text"), nil
	}
	b.tools = []toolcrib.Tool{
		tool("plain", plain), tool("forbidden", plain), tool("asked", plain), tool("unjudged", plain),
		tool("fails", func(context.Context, *toolcrib.Env) (*toolcrib.Result, error) { return nil, errors.New("broken") }),
		tool("nested", func(ctx context.Context, env *toolcrib.Env) (*toolcrib.Result, error) {
			return env.Use(ctx, "plain", nil)
		}),
		tool("remote", func(ctx context.Context, _ *toolcrib.Env) (*toolcrib.Result, error) {
			ctx, end := w.Begin(ctx, mcp.Operation{Server: "far", Method: mcp.MethodToolsCall, Target: "remote", Address: "x.example:443"})
			at, _ := trace.Of(ctx)
			end(nil, nil)
			return toolcrib.Text(at.Parent()), nil
		}),
	}
	if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{b}}); faults != nil {
		t.Fatal(faults)
	}
	w.Watch(crib, func(toolcrib.Vetter) string { return "" })
	return crib, w, c
}

func call(ctx context.Context, c *toolcrib.Crib, name, input string) (*toolcrib.Result, error) {
	return c.Call(ctx, toolcrib.Call{Tool: name, Input: json.RawMessage(input), Caller: toolcrib.Caller{Subject: "Alice", Session: "s1", Frontend: "mcp"}})
}

func byName(t *testing.T, spans []otlpSpan) map[string]otlpSpan {
	t.Helper()
	out := map[string]otlpSpan{}
	for _, s := range spans {
		if _, twice := out[s.Name]; twice {
			t.Errorf("%s is there twice", s.Name)
		}
		out[s.Name] = s
	}
	return out
}

func attrOf(s otlpSpan, key string) string {
	for _, a := range s.Attributes {
		switch {
		case a.Key != key:
		case a.Value.Text != nil:
			return *a.Value.Text
		case a.Value.Int != nil:
			return *a.Value.Int
		}
	}
	return ""
}

// Everything that one request causes is one trace, and each span hangs on what
// caused it.
func TestOneTrace(t *testing.T) {
	crib, w, c := watched(t, Config{Known: func(name string) bool { return name == "nested" }})
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	ctx, end := w.Begin(t.Context(), mcp.Operation{Method: mcp.MethodToolsCall, Target: "nested", ID: json.RawMessage(`7`), Version: mcp.Legacy, Session: "sess", Trace: [2]string{parent, "a=b"}, Ambient: [2]string{"00-11111111111111111111111111111111-2222222222222222-01", ""}})
	if _, err := call(ctx, crib, "nested", `{}`); err != nil {
		t.Fatal(err)
	}
	if _, err := call(ctx, crib, "asked", `{}`); err != nil {
		t.Fatal(err)
	}
	sent, err := call(ctx, crib, "remote", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	end(json.RawMessage(`{"isError":true}`), nil)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	all := byName(t, c.all())
	for child, of := range map[string]string{
		"execute_tool nested": "tools/call nested", "execute_tool plain": "execute_tool nested", "execute_tool asked": "tools/call nested",
		"toolcrib.ask_person": "execute_tool asked", "execute_tool remote": "tools/call nested", "tools/call remote": "execute_tool remote",
	} {
		if all[child].Name == "" || all[child].Parent != all[of].Span || all[child].Trace != parent[3:35] {
			t.Errorf("%s hangs on %s of %s, want %s (%s)", child, all[child].Parent, all[child].Trace, of, all[of].Span)
		}
	}
	server := all["tools/call nested"]
	if server.Parent != parent[36:52] || server.Kind != kindServer || server.State != "a=b" || len(server.Links) != 1 || attrOf(server, "error.type") != toolError ||
		attrOf(server, "jsonrpc.request.id") != "7" || attrOf(server, "mcp.session.id") != "sess" || attrOf(server, "network.transport") != "pipe" {
		t.Errorf("the span of the server: %+v", server)
	}
	far := all["tools/call remote"]
	if far.Kind != kindClient || attrOf(far, "server.port") != "443" || !strings.Contains(sent.String(), far.Span) {
		t.Errorf("the span of the client: %+v, sent on %s", far, sent)
	}
}

// A call that comes from nowhere begins a trace, and the same ID of two people is
// not one span.
func TestCallsBeginTraces(t *testing.T) {
	p := newPlaces(1)
	a, _ := p.ofCall(t.Context(), "id", &toolcrib.Caller{Subject: "a"})
	b, _ := p.ofCall(t.Context(), "id", &toolcrib.Caller{Subject: "b"})
	again, _ := p.ofCall(t.Context(), "id", &toolcrib.Caller{Subject: "a"})
	if !a.Valid() || a.Trace == b.Trace || a.Span == b.Span || a != again {
		t.Errorf("%+v %+v %+v", a, b, again)
	}
	p.sample = 0.25
	n := 0
	for i := range 4000 {
		if at, _ := p.ofCall(t.Context(), fmt.Sprint(i), &toolcrib.Caller{}); at.Sampled {
			n++
		}
	}
	if n < 800 || n > 1200 {
		t.Errorf("%d of 4000 traces are recorded, want a quarter", n)
	}
}

// No name of a person, no argument and no result is anywhere, unless that was
// asked for; and then nobody's secret while the vault is locked.
func TestNothingPrivateIsTold(t *testing.T) {
	locked := errors.New("locked")
	for _, c := range []struct {
		name     string
		cfg      Config
		contents bool
	}{
		{"off", Config{}, false},
		{"on", Config{Content: true}, true},
		{"on with a locked vault", Config{Content: true, Locked: func() error { return locked }}, false},
	} {
		crib, w, col := watched(t, c.cfg)
		for _, name := range []string{"plain", "forbidden", "asked", "unjudged", "fails", "made-up-argument-name"} {
			_, _ = call(t.Context(), crib, name, `{"q":"argument-text"}`) // refusals are wanted too
		}
		_, _ = call(t.Context(), crib, "asked", `{"q":"no"}`)
		_, end := w.Begin(t.Context(), mcp.Operation{Method: "argument/method", Target: "argument-name"})
		end(nil, mcp.Errorf(mcp.CodeMethodNotFound, "argument-text"))
		_, end = w.Begin(t.Context(), mcp.Operation{Method: mcp.MethodResourcesRead, Target: "argument://uri"})
		end(nil, nil)
		numbers := string(w.metrics.Text())
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		spans, err := json.Marshal(col.all())
		if err != nil {
			t.Fatal(err)
		}
		for _, never := range []string{"Alice", "Mallory", "made-up"} {
			if strings.Contains(numbers, never) || strings.Contains(string(spans), never) {
				t.Errorf("%s: %s is told", c.name, never)
			}
		}
		for _, text := range []string{"argument", "answer-text", "hunter2"} {
			if strings.Contains(numbers, text) {
				t.Errorf("%s: %s is in the numbers", c.name, text)
			}
			if strings.Contains(string(spans), text) != c.contents {
				t.Errorf("%s: that %s is in the spans is %v", c.name, text, !c.contents)
			}
		}
		for _, want := range []string{
			`toolcrib_calls_total{toolbox="test",tool="plain",outcome="done"} 1`, `toolcrib_calls_total{toolbox="other",tool="other",outcome="not_found"} 1`,
			`toolcrib_calls_total{toolbox="test",tool="fails",outcome="failed"} 1`, `toolcrib_refusals_total{guard="rules"} 1`, `toolcrib_refusals_total{guard="person"} 1`, `toolcrib_refusals_total{guard="default"} 1`,
			`toolcrib_questions_total{answer="allowed"} 1`, `toolcrib_questions_total{answer="denied"} 1`, `toolcrib_mcp_requests_total{method="other",error="-32601"} 1`,
			`toolcrib_journal_append_duration_seconds_count{record="begin"} 7`,
		} {
			if !strings.Contains(numbers, want+"\n") {
				t.Errorf("%s: %s is missing in\n%s", c.name, want, numbers)
			}
		}
	}
}

// The page has every number, in the words of the program.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, r := range NewMetrics(Sources{}).Rows() {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", r[0], r[1], r[2], r[3])
	}
	if !strings.Contains(string(page), table.String()) {
		t.Errorf("docs/telemetry.md does not have the table of the metrics. It is:\n%s", table.String())
	}
}
