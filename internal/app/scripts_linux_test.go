package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// openScripts is an app in which scripts run in the real sandbox.
func openScripts(t testing.TB, change func(*settings.Config)) *App {
	t.Helper()
	cfg := settings.Defaults()
	cfg.Toolboxes.Codemode.Enabled = true
	if change != nil {
		change(&cfg)
	}
	return openBusApp(t, cfg, Needs{})
}

func runScript(t testing.TB, a *App, code string) (*toolcrib.Result, error) {
	t.Helper()
	input, err := json.Marshal(map[string]any{"code": code})
	if err != nil {
		t.Fatal(err)
	}
	return a.Crib.Call(t.Context(), toolcrib.Call{Tool: "run_script", Input: input, Caller: toolcrib.Caller{Subject: "ann", Frontend: "test"}})
}

// TestScriptsInTheSandbox: the whole program runs a script, asks about what it wants to
// do, and shows the person which script that is.
func TestScriptsInTheSandbox(t *testing.T) {
	a := openScripts(t, func(cfg *settings.Config) { cfg.Toolboxes.Codemode.Time = time.Second })
	events, stop, err := a.Desk.Watch(t.Context(), desk.Screen{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	asked := make(chan string, 1)
	go func() {
		e := <-events
		var shown strings.Builder
		for _, p := range e.Question.Describe() {
			fmt.Fprintln(&shown, p.Title, p.Lines)
		}
		_, err := a.Desk.Answer(t.Context(), e.Question.ID, desk.Reply{Choice: desk.Deny, Message: "leave it"}, "bob")
		asked <- fmt.Sprintln(shown.String(), err)
	}()
	got, err := runScript(t, a, "const now = tools.get_current_datetime({timezone: 'UTC'});\nlet why;\ntry { tools.write_file({path: 'x.txt', content: 'x'}) } catch (e) { why = e.code }\nreturn [now.timezone, why]")
	if err != nil || !strings.Contains(string(got.Value), `["UTC","denied"]`) {
		t.Fatal(got, err)
	}
	shown := <-asked
	for _, want := range []string{"write_file", "So far it has called: get_current_datetime.", "3 | try { tools.write_file({path: 'x.txt', content: 'x'})"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in\n%s", want, shown)
		}
	}
	for _, code := range []string{"for (;;) ;", "const a = []; for (;;) a.push(new Uint8Array(1e6))"} {
		if got, err := runScript(t, a, code); err != nil || !got.Failed {
			t.Error(got, err)
		}
	}
}

// BenchmarkScriptCall holds a call in a script against the same call by Crib.Call, in
// the same run, with the journal on and the worker in the sandbox. The peer comes after
// a short pause, as calls of a script do: in a loop without any, nobody has to be woken,
// and the processor has everything at hand (hot-ns). It also tells how long a script takes
// whose worker waits for it.
func BenchmarkScriptCall(b *testing.B) {
	a := openScripts(b, func(cfg *settings.Config) { cfg.Safety.Flow.Enabled = false })
	const calls = 200
	code := fmt.Sprintf("for (let i = 0; i < %d; i++) tools.get_current_datetime({timezone: 'UTC'})", calls)
	call := toolcrib.Call{Tool: "get_current_datetime", Input: json.RawMessage(`{"timezone":"UTC"}`), Caller: toolcrib.Caller{Subject: "ann", Frontend: "test"}}
	direct := func(pause time.Duration) (took time.Duration) {
		for range calls {
			time.Sleep(pause)
			began := time.Now()
			if _, err := a.Crib.Call(b.Context(), call); err != nil {
				b.Fatal(err)
			}
			took += time.Since(began)
		}
		return took / calls
	}
	script := func(code string) time.Duration {
		time.Sleep(300 * time.Millisecond) // the worker gets ready, as it does while a model thinks
		began := time.Now()
		if got, err := runScript(b, a, code); err != nil || got.Failed {
			b.Fatal(got, err)
		}
		return time.Since(began)
	}
	script("1")
	var hot, paced, inner, start []time.Duration
	for b.Loop() {
		hot, paced = append(hot, direct(0)), append(paced, direct(50*time.Microsecond))
		start, inner = append(start, script("1")), append(inner, script(code)/calls)
	}
	mid := func(l []time.Duration) float64 { slices.Sort(l); return float64(l[len(l)/2]) }
	b.ReportMetric(mid(hot), "hot-ns")
	b.ReportMetric(mid(paced), "paced-ns")
	b.ReportMetric(mid(inner), "inner-ns")
	b.ReportMetric(mid(inner)/mid(paced), "ratio")
	b.ReportMetric(mid(start)/1e6, "start-ms")
}
