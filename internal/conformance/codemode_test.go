package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/codemode"
	"github.com/toolcrib/toolcrib/internal/codemode/worker"
	"github.com/toolcrib/toolcrib/internal/find"
	box "github.com/toolcrib/toolcrib/toolbox/codemode"
	"github.com/toolcrib/toolcrib/toolbox/finder"
	"github.com/toolcrib/toolcrib/toolbox/math"
	"github.com/toolcrib/toolcrib/toolbox/openapi"
)

// agentCaller is who calls.
func agentCaller() toolcrib.Caller { return toolcrib.Caller{Subject: "agent"} }

// workshop is a crib with the tools of GitHub's document over a forge, the finder and code mode.
type workshop struct {
	*toolcrib.Crib
	examples map[string]json.RawMessage
	forge    atomic.Pointer[forge]
	engine   codemode.Engine
	declarer *finder.Declarer
	all      int // tokens of the definitions of all tools
	few      int // of search_tools, describe_tool and call_tool
	program  int // of run_script
	tools    int
}

func openWorkshop(t *testing.T) *workshop {
	t.Helper()
	document := githubDocument(t)
	w := &workshop{examples: examplesOf(t, document)}
	site := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, req *http.Request) { w.forge.Load().ServeHTTP(out, req) }))
	t.Cleanup(site.Close)
	api, err := openapi.Open(t.Context(), openapi.Config{
		Name: "github", BaseURL: site.URL, NoSelect: true, Tags: []string{"repos", "issues", "pulls", "users", "orgs", "activity", "gists", "git", "search"},
	}, openapi.Needs{Document: document, HTTP: func(*toolcrib.Env) (*http.Client, func()) { return site.Client(), func() {} }})
	if err != nil {
		t.Fatal(err)
	}
	sums, err := math.Open(t.Context(), math.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w.Crib = &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{cribtest.Allow()}}
	search, err := finder.Open(t.Context(), finder.Config{}, finder.Needs{Tools: w.Tools})
	if err != nil {
		t.Fatal(err)
	}
	w.declarer = finder.NewDeclarer(finder.Needs{Tools: w.Tools}, func(e toolcrib.Entry) bool { return e.Box == box.Name })
	pool := &codemode.Pool{Start: workerHere}
	t.Cleanup(func() { pool.Close() })
	w.engine = pool
	scripts, err := box.Open(t.Context(), box.Config{}, box.Needs{Engine: pool, Search: w.declarer.Search, Describe: w.declarer.Describe})
	if err != nil {
		t.Fatal(err)
	}
	if _, faults := w.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{api, sums, search, scripts}}); faults != nil {
		t.Fatal(faults)
	}
	w.few = definitionCost(finder.CallTool())
	for e := range w.Tools(agentCaller()) {
		switch e.Box {
		case finder.Name:
			w.few += definitionCost(e)
		case box.Name:
			w.program += definitionCost(e)
		default:
			w.all += definitionCost(e)
			w.tools++
		}
	}
	return w
}

// workerHere is a worker in this process: what scripts get is the same.
func workerHere(context.Context) (*codemode.Conn, error) {
	in, to := io.Pipe()
	from, out := io.Pipe()
	go func() {
		err := worker.Serve(in, out, worker.Limits{})
		_ = out.CloseWithError(errors.Join(err, io.EOF)) // it never fails
	}()
	return &codemode.Conn{To: to, From: from, End: func() { _, _ = to.Close(), from.Close() }}, nil
}

// definitionCost is what a definition takes in a request. Outputs are not part of one.
func definitionCost(e toolcrib.Entry) int {
	return find.Tokens(e.Name) + find.Tokens(e.Description) + find.Tokens(string(e.Input)) + 12
}

// step is what one model turn of an agent without programs does: calls that are made at once.
type step struct{ calls []made }

type made struct{ tool, args, result string }

// single does a task call by call, and gives what was done.
func (w *workshop) single(t *testing.T, job task) (value json.RawMessage, steps []step, took time.Duration) {
	t.Helper()
	w.forge.Store(newForge(w.examples))
	var mu sync.Mutex
	together := false
	host := codemode.Host{
		Logged: func(line string) {
			mu.Lock()
			defer mu.Unlock()
			if together = line == "<<"; together {
				steps = append(steps, step{})
			}
		},
		Call: func(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
			r, err := w.Call(ctx, toolcrib.Call{Tool: tool, Input: args, Caller: agentCaller()})
			if err != nil {
				return nil, err
			}
			if r.Failed || r.Value == nil {
				return nil, fmt.Errorf("%s: %s", tool, r)
			}
			mu.Lock()
			defer mu.Unlock()
			if !together {
				steps = append(steps, step{})
			}
			last := &steps[len(steps)-1]
			last.calls = append(last.calls, made{tool, string(args), r.String()})
			return r.Value, nil
		},
	}
	input, err := json.Marshal(job.input)
	if err != nil {
		t.Fatal(err)
	}
	code := job.code
	if strings.Contains(code, "parallel(") {
		code = `{ const all = parallel; parallel = list => { log("<<"); const r = all(list); log(">>"); return r } }` + "\n" + code
	}
	begun := time.Now()
	out, err := w.engine.Run(t.Context(), codemode.Script{Code: code, Input: input, Time: time.Minute}, host)
	if err != nil {
		t.Fatalf("%s: %v", job.name, err)
	}
	return out.Value, slices.DeleteFunc(steps, func(s step) bool { return len(s.calls) == 0 }), time.Since(begun)
}

func (w *workshop) use(t *testing.T, tool string, args any) (sent, got string, value json.RawMessage) {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Call(t.Context(), toolcrib.Call{Tool: tool, Input: text, Caller: agentCaller()})
	if err != nil || r.Failed {
		t.Fatalf("%s %s: %v, %v", tool, text, r, err)
	}
	return string(text), r.String(), r.Value
}

const (
	systemTokens = 400 // the instructions every request begins with
	answerTokens = 40  // the agent's last words, besides the answer itself
	callTokens   = 15  // what a protocol puts around a call and its result
)

// ledger adds up what the requests of an agent cost. Every request sends all that went before; a cache counts what the request before
// had already as a tenth.
type ledger struct {
	context, seen, turns, out int
	plain, cached             float64
}

func (l *ledger) turn(answer int) {
	l.turns++
	l.out += answer
	l.plain += float64(l.context + answer)
	l.cached += float64(l.seen)/10 + float64(l.context-l.seen) + float64(answer)
	l.seen = l.context
	l.context += answer
}

// uses is a turn with calls, and what they gave.
func (l *ledger) uses(calls ...made) {
	said, got := 0, 0
	for _, c := range calls {
		said += find.Tokens(c.tool) + find.Tokens(c.args) + callTokens
		got += find.Tokens(c.result) + callTokens
	}
	l.turn(said)
	l.context += got
}

// waits is how long a person waits for a model that begins to answer after a second and writes 60 tokens in one.
func (l *ledger) waits() time.Duration {
	return time.Duration(l.turns)*time.Second + time.Duration(l.out)*time.Second/60
}

func begin(definitions int, request string) *ledger {
	return &ledger{context: systemTokens + definitions + find.Tokens(request)}
}

// searching has the agent find the tools of a task by search_tools: all at once, and by describe_tool what it has to know better.
func (w *workshop) searching(t *testing.T, job task, steps []step) *ledger {
	t.Helper()
	l := begin(w.few, job.request())
	var calls []made
	found := ""
	for _, q := range job.queries {
		sent, got, _ := w.use(t, "search_tools", map[string]any{"query": q})
		calls = append(calls, made{"search_tools", sent, got})
		found += got
	}
	l.uses(calls...)
	var retry []made
	for _, name := range missing(found, toolsOf(steps)) {
		sent, got, _ := w.use(t, "search_tools", map[string]any{"query": cmp.Or(otherWords(name), name)})
		retry = append(retry, made{"search_tools", sent, got})
		found += got
	}
	if len(retry) > 0 {
		t.Logf("%s: calls search again", job.name)
		l.uses(retry...)
	}
	var more []made
	for _, name := range toolsOf(steps) {
		if len(missing(found, []string{name})) > 0 {
			t.Errorf("%s: %q does not find %s", job.name, job.queries, name)
		}
		if !strings.Contains(found, `"name":"`+name+`"`) || w.changes(name) {
			sent, got, _ := w.use(t, "describe_tool", map[string]any{"name": name})
			more = append(more, made{"describe_tool", sent, got})
		}
	}
	if len(more) > 0 {
		l.uses(more...)
	}
	for _, s := range steps {
		var wrapped []made
		for _, c := range s.calls {
			wrapped = append(wrapped, made{finder.CallToolName, fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.tool, c.args), c.result})
		}
		l.uses(wrapped...)
	}
	return l
}

// costOf is what the definitions of some tools take.
func (w *workshop) costOf(names []string) int {
	n := 0
	for e := range w.Tools(agentCaller()) {
		if slices.Contains(names, e.Name) {
			n += definitionCost(e)
		}
	}
	return n
}

func (w *workshop) changes(name string) bool {
	for e := range w.Tools(agentCaller()) {
		if e.Name == name {
			return !e.Effects.ReadOnly()
		}
	}
	return false
}

func toolsOf(steps []step) []string {
	var names []string
	for _, s := range steps {
		for _, c := range s.calls {
			if !slices.Contains(names, c.tool) {
				names = append(names, c.tool)
			}
		}
	}
	return names
}

// programmed does a task by a program. In the second ledger the first program fails and is written anew.
func (w *workshop) programmed(t *testing.T, job task, names []string) (value json.RawMessage, l, again *ledger, took time.Duration) {
	t.Helper()
	w.forge.Store(newForge(w.examples))
	l = begin(w.program, job.request())
	var searches []string
	for _, q := range job.queries {
		searches = append(searches, "search("+strconv.Quote(q)+")")
	}
	look := func(code []string) string {
		all := strings.Join(code, "\n")
		if len(code) > 1 {
			all = "[" + strings.Join(code, ", ") + "].join(\"\\n\")"
		}
		sent, got, value := w.use(t, box.RunScript, map[string]any{"code": all})
		l.uses(made{box.RunScript, sent, got})
		var out struct{ Result string }
		if err := json.Unmarshal(value, &out); err != nil {
			t.Fatal(err)
		}
		return out.Result
	}
	found := look(searches)
	if left := missing(found, names); len(left) > 0 {
		var retry []string
		for _, name := range left {
			retry = append(retry, "search("+strconv.Quote(cmp.Or(otherWords(name), name))+")")
		}
		t.Logf("%s: programs search again", job.name)
		found += look(retry)
	}
	var unknown []string
	for _, name := range names {
		if len(missing(found, []string{name})) > 0 {
			t.Errorf("%s: %q does not find %s", job.name, job.queries, name)
		}
		if !strings.Contains(found, `"`+name+`"(`) && !strings.Contains(found, "\n"+name+"(") {
			unknown = append(unknown, "describe("+strconv.Quote(name)+")")
		}
	}
	if len(unknown) > 0 {
		look(unknown)
	}
	begun := time.Now()
	sent, got, answer := w.use(t, box.RunScript, map[string]any{"code": job.code, "input": job.input})
	took = time.Since(begun)
	failed := *l
	failed.uses(made{box.RunScript, sent, "The script failed. TypeError: cannot read property 'name' of undefined (line 2, column 14)" + job.code})
	failed.uses(made{box.RunScript, sent, got})
	l.uses(made{box.RunScript, sent, got})
	var out struct{ Result json.RawMessage }
	if err := json.Unmarshal(answer, &out); err != nil {
		t.Fatal(err)
	}
	return out.Result, l, &failed, took
}

// missing are the tools whose names do not stand in a text. Many a name begins as another one does.
func missing(text string, names []string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool { return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(words, n) })
}

func same(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// sums are the figures of one way over tasks.
type sums struct {
	turns         int
	plain, cached float64
	model, crib   time.Duration
}

func (s *sums) add(l *ledger, answer json.RawMessage, took time.Duration) (plain, cached float64) {
	l.turn(answerTokens + find.Tokens(string(answer)))
	s.turns += l.turns
	s.plain += l.plain
	s.cached += l.cached
	s.model += l.waits()
	s.crib += took
	return l.plain, l.cached
}

// TestGenuineCodeMode compares programs with single calls over the tools of GitHub's own document: the same decisions, taken by a model
// that never errs, in five ways. The answers are the same, and those that the forge itself gives.
func TestGenuineCodeMode(t *testing.T) {
	w := openWorkshop(t)
	jobs := codeTasks()
	if len(jobs) < 60 || w.tools < 300 {
		t.Fatalf("%d tasks, %d tools", len(jobs), w.tools)
	}
	t.Logf("%d tasks, %d tools; definitions: all %d tokens, three tools that search %d, run_script %d", len(jobs), w.tools, w.all, w.few, w.program)
	ways := []string{"all tools shown", "just the needed tools shown", "search, then calls", "programs", "programs, the first fails"}
	kinds := map[string][]sums{}
	counts := map[string]int{}
	var loses [2][]string // against the needed tools alone, and against search
	slower, slowest := 0, 0
	for _, job := range jobs {
		value, steps, took := w.single(t, job)
		want, err := json.Marshal(job.want(newForge(w.examples), job.input))
		if err != nil {
			t.Fatal(err)
		}
		coded, l3, l4, took3 := w.programmed(t, job, toolsOf(steps))
		if !same(value, want) || !same(coded, want) {
			t.Errorf("%s %v: by calls %s, by a program %s, want %s", job.name, job.input, value, coded, want)
		}
		l1 := begin(w.all, job.request())
		for _, s := range steps {
			l1.uses(s.calls...)
		}
		l0 := begin(w.costOf(toolsOf(steps)), job.request())
		for _, s := range steps {
			l0.uses(s.calls...)
		}
		l2 := w.searching(t, job, steps)
		calls := 0
		for _, s := range steps {
			calls += len(s.calls)
		}
		kind := "1 call"
		switch {
		case calls > 5:
			kind = "6 calls and more"
		case calls > 1:
			kind = "2 to 5 calls"
		}
		var cost [5][2]float64
		for _, k := range []string{kind, "all"} {
			if kinds[k] == nil {
				kinds[k] = make([]sums, len(ways))
			}
			counts[k]++
			for i, l := range []*ledger{l1, l0, l2, l3, l4} {
				l := *l // each is added twice
				cost[i][0], cost[i][1] = kinds[k][i].add(&l, value, []time.Duration{took, took, took, took3, took3}[i])
			}
		}
		about := fmt.Sprintf("%s %v (%d calls)", job.name, job.input, calls)
		for i, other := range []int{1, 2} {
			if cost[3][0] > cost[other][0] {
				loses[i] = append(loses[i], fmt.Sprintf("%s: %.0f tokens against %.0f", about, cost[3][0], cost[other][0]))
			}
		}
		if l3.waits() > l2.waits() {
			slower++
		}
		if l3.waits() > l0.waits() {
			slowest++
		}
	}
	for _, k := range []string{"1 call", "2 to 5 calls", "6 calls and more", "all"} {
		n := float64(counts[k])
		for i, s := range kinds[k] {
			t.Logf("| %s (%d) | %s | %.0f | %.0f | %.1f | %.1f s | %.0f ms |", k, counts[k], ways[i], s.plain/n, s.cached/n, float64(s.turns)/n, s.model.Seconds()/n, s.crib.Seconds()*1000/n)
		}
	}
	t.Logf("of %d tasks programs cost more than calls of just the needed tools in %d, and than search and calls in %d; a person waits longer in %d and %d", len(jobs), len(loses[0]), len(loses[1]), slowest, slower)
	t.Logf("against the needed tools:\n%s\nagainst search:\n%s", strings.Join(loses[0], "\n"), strings.Join(loses[1], "\n"))
	all := kinds["all"]
	if all[3].plain*2 > all[2].plain || all[3].turns > all[2].turns {
		t.Errorf("programs cost %.0f tokens and %d turns, calls %.0f and %d", all[3].plain, all[3].turns, all[2].plain, all[2].turns)
	}
}
