package worker

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/codemode"
)

// attacks are scripts that want more than there is. Each has to end, well or not, and
// take no worker and nobody else with it. want is part of the value or of the error;
// empty: whatever.
func attacks() []struct{ name, code, want string } {
	return []struct{ name, code, want string }{
		// Time.
		{"loop", "for (;;);", "was stopped"},
		{"loop in a promise", "(function f() { Promise.resolve().then(f) })(); await new Promise(() => {})", "was stopped"},
		{"loop of awaits", "for (;;) await null", "was stopped"},
		{"loop that catches", "for (;;) { try { for (;;); } catch (e) {} finally { for (;;); } }", "was stopped"},
		{"regex", "/^(a+)+$/.test('a'.repeat(40) + 'b')", "was stopped"},
		{"regex that looks back", `/(?:(a*)*)*\1$/.test("a".repeat(5000) + "b")`, ""},
		{"sort that never agrees", "Array.from({length: 3e5}, (_, i) => i).sort(() => Math.random() - 0.5).length; for (;;) [3,2,1].sort(() => { for (;;); })", "was stopped"},
		{"getter", "const o = { get x() { for (;;); } }; o", "was stopped"},
		{"toJSON for ever", "const o = { toJSON() { for (;;); } }; tools.echo(o)", "was stopped"},
		{"toJSON that grows", "function g() { return { toJSON() { return { a: g() } } } } return { a: g() }", ""},
		{"proxy that has everything", "const p = new Proxy({}, { ownKeys() { return Array.from({length: 1e5}, (_, i) => 'k' + i) }, getOwnPropertyDescriptor() { return { enumerable: true, configurable: true, value: p } }, get(_, k) { return k === 'toJSON' ? undefined : p } }); return p", ""},
		{"iterator without end", "[...(function* () { for (;;) yield 1 })()]", ""},
		{"spread of everything", "Math.max(...Array(1e7))", ""},
		{"list that grows while it is worked off", "const l = [() => l.push(l[0])]; parallel(l)", ""},
		{"promise that is its own", "let p; p = new Promise(r => setImmediate_(r)); function setImmediate_(r) { r({ then(f) { f(this) } }) } await p", ""},
		{"thenable without end", "return { then(f) { f({ then: this.then }) } }", ""},
		{"promise that never resolves", "await new Promise(() => {})", "nothing will resolve"},
		{"thousands of promises", "await Promise.all(Array.from({length: 5000}, async (_, i) => { await null; return i })).then(l => l.length)", "5000"},
		{"atomics", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", ""},
		{"date loop", "const end = Date.now() + 1e9; while (Date.now() < end);", "was stopped"},
		{"array with holes", "Array(4294967295).join('x')", ""},
		{"indexOf over nothing", "[].indexOf.call({ length: 9007199254740991 }, 1)", ""},
		{"power", "2n ** (10n ** 9n)", ""},
		{"shift", "1n << 100000000000n", ""},
		{"number text", "(10n ** 200000n).toString().length * BigInt('9'.repeat(2e5)).toString().length", ""},

		// Memory.
		{"arrays", "const a = []; for (;;) a.push([1, 2, 3])", "memory"},
		{"array of its size", "new Array(1e9).fill(0)", ""},
		{"strings", "let s = 's'; for (;;) s += s", ""},
		{"repeat", "'s'.repeat(2 ** 30 - 1)", ""},
		{"repeat kept", "const a = []; for (;;) a.push('s'.repeat(1e6) + a.length)", "memory"},
		{"pad", "''.padEnd(2 ** 30 - 1, 'abc')", ""},
		{"join", "Array(1e5).join('x'.repeat(1e4))", ""},
		{"replaceAll", "'a'.repeat(1e6).replaceAll('a', 'b'.repeat(1e6))", ""},
		{"typed arrays", "const a = []; for (;;) a.push(new Uint8Array(1 << 20))", "memory"},
		{"buffer", "new ArrayBuffer(2 ** 40)", ""},
		{"buffer that grows", "const b = new ArrayBuffer(8, { maxByteLength: 2 ** 40 }); b.resize(2 ** 39)", ""},
		{"shared buffer", "const a = []; for (;;) a.push(new SharedArrayBuffer(1 << 24))", ""},
		{"map", "const m = new Map(); for (let i = 0; ; i++) m.set(i, {})", "memory"},
		{"big numbers", "let b = 3n; for (;;) b *= b", ""},
		{"closures", "let f = () => 0; for (;;) { const g = f; f = () => g }", "memory"},
		{"symbols", "const a = []; for (;;) a.push(Symbol('x'.repeat(100)))", "memory"},
		{"atoms", "const o = {}; for (let i = 0; ; i++) o['key' + i] = i", "memory"},
		{"errors", "const a = []; for (;;) a.push(new Error('x'))", "memory"},
		{"memory that is caught", "for (;;) { try { const a = []; for (;;) a.push('s'.repeat(1e5) + a.length) } catch (e) {} }", "was stopped"},
		{"code", "eval('[' + '1,'.repeat(3e6) + ']').length", ""},
		{"functions", "for (let i = 0; ; i++) new Function('return ' + i)", ""},
		{"json text", "JSON.parse('[' + '[1],'.repeat(5e6) + '1]').length", ""},
		{"json written", "const a = Array(1000).fill('x'.repeat(1e5)); JSON.stringify(a).length", ""},
		{"generators", "const a = []; for (;;) { const g = (function* () { yield 1 })(); g.next(); a.push(g) }", "memory"},
		{"weak", "const r = new FinalizationRegistry(() => {}); const a = []; for (;;) { const o = {}; r.register(o, 'x'.repeat(100)); a.push(o) }", "memory"},

		// The stack.
		{"recursion", "function f() { return f() + 1 } f()", "stack overflow"},
		{"recursion that is caught", "function f() { try { return f() + 1 } catch (e) { return f() } } f()", ""},
		{"deep json", "JSON.parse('['.repeat(1e6))", ""},
		{"deep json that is right", "JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))", ""},
		{"deep value", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a", ""},
		{"deep code", "eval('('.repeat(1e5) + '1' + ')'.repeat(1e5))", ""},
		{"deep arrows", "eval('a=>'.repeat(1e5) + '1')", ""},
		{"deep templates", "eval('`${'.repeat(2e4) + '1' + '}`'.repeat(2e4))", ""},
		{"deep regex", "new RegExp('('.repeat(1e6) + ')'.repeat(1e6))", ""},
		{"deep regex that is tried", "new RegExp('(a|'.repeat(2000) + 'b' + ')*'.repeat(2000)).test('a'.repeat(1000))", ""},
		{"deep proxies", "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x", ""},
		{"deep prototypes", "let o = {}; for (let i = 0; i < 1e6; i++) o = Object.create(o); o.x", ""},
		{"deep bound functions", "let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); f()", ""},
		{"deep promises", "let p = Promise.resolve(1); for (let i = 0; i < 1e5; i++) { const q = p; p = new Promise(r => r(q)) } await p", ""},
		{"deep concatenation", "let s = ''; for (let i = 0; i < 3e5; i++) s = 'x' + s + 'y'; s.length", ""},
		{"deep generators", "function* g(n) { if (n) yield* g(n - 1); yield n } [...g(20000)].length", ""},
		{"deep parallel", "const f = () => parallel([f, f]); f()", ""},
		{"deep comparison", "const a = []; a[0] = a; String(a) + a.flat(Infinity)", ""},
		{"getter that calls itself", "const o = { get x() { return this.x } }; o.x", "stack overflow"},
		{"toString that calls itself", "const o = { toString() { return '' + this } }; log(o); '' + o", ""},
		{"sort within sort", "const f = (n) => [2, 1].sort(() => f(n + 1)); f(0)", "stack overflow"},
		{"replace within replace", "const f = () => 'a'.replace(/a/, f); f()", "stack overflow"},

		// What goes to and from the host.
		{"log lines", "for (let i = 0; i < 1e6; i++) log('line ' + i); 'done'", "done"},
		{"long lines", "for (let i = 0; i < 30; i++) log('x'.repeat(1e6)); 'done'", "done"},
		{"log of a proxy", "log(new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 } })); 'done'", ""},
		{"log of itself", "const o = {}; o.o = o; log(o); 'done'", "done"},
		{"thrown proxy", "throw new Proxy({}, { get() { throw new Error('no') } })", ""},
		{"thrown proxy of functions", "throw new Proxy(function () {}, { get() { return new Proxy(() => { for (;;); }, {}) } })", ""},
		{"thrown getter", "throw { get message() { for (;;); } }", "was stopped"},
		{"thrown stack", "const e = new Error('x'); e.stack = 'x'.repeat(1e6); e.message = 'm'.repeat(1e6); throw e", "mmm"},
		{"stack that lies", "const e = new Error('x'); e.stack = '  at <eval>:999999999999999999999:-5'; throw e", "x"},
		{"prepared stacks", "Error.prepareStackTrace = () => { for (;;); }; null.x", ""},
		{"thrown nothing", "throw undefined", "threw undefined"},
		{"value too long", "'x'.repeat(5e6)", "at most"},
		{"arguments too long", "tools.echo({ a: 'x'.repeat(5e6) })", "too long"},
		{"name too long", "tools['x'.repeat(1e6)]({})", "too long"},
		{"half letters", "[tools.echo({ a: '\\ud800' }).a.length, '\\ud800\\udc00', '\\udfff'].length", "3"},
		{"nul", "tools.echo({ a: '\\0' }).a.length", "1"},
		{"proto in arguments", `tools.echo(JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}')).x === undefined`, "true"},
		{"polluted", "Object.prototype.toJSON = function () { return 1 }; Array.prototype[Symbol.iterator] = null; Object.prototype.then = function (f) { f(3) }; return tools.echo({ a: 1 })", ""},
		{"JSON replaced", "JSON.stringify = JSON.parse = () => { throw 1 }; Object.defineProperty = null; Promise.prototype.then = null; tools.echo({ a: 1 }).a", ""},
		{"everything removed", "for (const k of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[k] } catch (e) {} 1", ""},
		{"tools changed", "tools.x = 1", "cannot be changed"},
		{"tools listed", "Object.keys(tools)", "search"},
		{"tools awaited", "(await tools).echo({ a: 1 }).a", "1"},
		{"tools returned", "return tools", ""},
		{"names of objects", "try { tools.constructor({}) } catch (e) { tools.__proto__; tools.hasOwnProperty; e.code }", "not_found"},
		{"calls in toJSON", "tools.echo({ toJSON() { return tools.echo({ a: 1 }) } }).a", "1"},
		{"calls in toJSON for ever", "const o = { toJSON() { return tools.echo(o) } }; tools.echo(o)", ""},
		{"calls without end", "for (let i = 0; ; i++) try { tools.echo({ i }) } catch (e) { if (e.code === 'denied') return i }", "1000"},
		{"calls at once", "parallel(Array.from({ length: 900 }, (_, i) => () => tools.echo({ i }).i)).length", "900"},
		{"calls at once within each other", "parallel([1, 2, 3].map(i => () => parallel([1, 2, 3, 4, 5].map(j => () => tools.echo({ a: i * j }).a)))).flat().length", "15"},
		{"calls at once that throw", "try { parallel(Array.from({ length: 50 }, () => () => tools.no())) } catch (e) { e.code }", "denied"},
		{"calls at once of a list that lies", "parallel(new Proxy([], { get(t, k) { return k === 'length' ? 1e9 : () => 1 } }))", ""},
		{"calls in promises", "(await Promise.all(Array.from({ length: 500 }, async (_, i) => (await tools.echo({ i })).i))).length", "500"},
		{"modules", "import('/etc/passwd').catch(e => 'none')", ""},
		{"static import", "import x from 'os'; x", "SyntaxError"},
		{"code that ends the wrapper", "}); while (1); (async () => {", "SyntaxError"},
		{"code that ends the wrapper and returns", "return 1 })(); (async () => { for (;;);", ""},
		{"code with a nul", "1\x00; 2", ""},
		{"html comment", "<!-- x\n1", ""},
		{"hashbang", "#!/bin/sh\n1", ""},
	}
}

// TestAttacks: each ends, and no worker is left.
func TestAttacks(t *testing.T) {
	procs := &processes{}
	p := &codemode.Pool{Start: procs.start}
	limit := make(chan struct{}, 3)
	var all sync.WaitGroup
	for _, c := range attacks() {
		limit <- struct{}{}
		all.Go(func() {
			defer func() { <-limit }()
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
			defer cancel()
			began, most := time.Now(), 100*time.Millisecond
			if !strings.Contains(c.want, "stopped") && c.want != "" {
				most = 20 * time.Second // it ends by itself
			}
			got, err := p.Run(ctx, codemode.Script{Code: c.code, Time: most}, codemode.Host{Call: echo})
			said := string(got.Value)
			if e, ok := errors.AsType[*codemode.ScriptError](err); ok {
				said = e.Name + ": " + e.Message
			} else if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if ctx.Err() != nil || said == "" || !strings.Contains(said, c.want) || len(said) > 6000 || len(got.Log) > 1100 {
				t.Errorf("%s: %v, %.300s", c.name, time.Since(began), said)
			}
			if took := time.Since(began); testing.Verbose() {
				t.Logf("%-40s %8s %.100q", c.name, took.Round(time.Millisecond), said)
			}
		})
	}
	all.Wait()
	if got, err := p.Run(t.Context(), codemode.Script{Code: "1 + 1"}, codemode.Host{}); err != nil || string(got.Value) != "2" {
		t.Error(string(got.Value), err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	procs.allGone(t)
	if most := procs.largest(); most > 600<<10 {
		t.Errorf("a worker had %d KiB", most)
	} else {
		t.Logf("the largest worker had %d KiB", most)
	}
}

// TestParallel: calls really run at once, as many as there may be, and no more.
func TestParallel(t *testing.T) {
	p := &codemode.Pool{Start: (&processes{}).start}
	defer p.Close()
	var now, most atomic.Int32
	met := make(chan struct{})
	got, err := p.Run(t.Context(), codemode.Script{Code: "parallel(Array.from({length: 20}, (_, i) => () => tools.x({i}))).map(r => r.i)", Time: time.Minute}, codemode.Host{
		Call: func(ctx context.Context, _ string, args json.RawMessage) (json.RawMessage, error) {
			n := now.Add(1)
			defer now.Add(-1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			if n == codemode.Parallel {
				close(met) // fails the test if it comes to that twice at once
			}
			select {
			case <-met:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return args, nil
		}})
	if err != nil || most.Load() != codemode.Parallel {
		t.Error(string(got.Value), err, most.Load())
	}
	if want := "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]"; string(got.Value) != want {
		t.Error(string(got.Value))
	}
}

// TestWaiting: the time of a script does not run while it waits for a call, and a
// caller that goes away takes the worker along.
func TestWaiting(t *testing.T) {
	procs := &processes{}
	p := &codemode.Pool{Start: procs.start}
	got, err := p.Run(t.Context(), codemode.Script{Code: "let n = 0; try { tools.slow({}) } catch (e) { n = e.code } n", Time: time.Second}, codemode.Host{
		Call: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			time.Sleep(1200 * time.Millisecond) // longer than the script may compute
			return nil, &codemode.Fault{Code: "timeout", Message: "nobody answered"}
		}})
	if err != nil || string(got.Value) != `"timeout"` {
		t.Error(string(got.Value), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = p.Run(ctx, codemode.Script{Code: "tools.slow({})"}, codemode.Host{Call: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	procs.allGone(t)
}

// TestHostsFault: what the host cannot do is told, and values that are too large are refused.
func TestHostsFault(t *testing.T) {
	p := &codemode.Pool{Start: (&processes{}).start}
	defer p.Close()
	large := json.RawMessage(`"` + strings.Repeat("x", codemode.MaxValue) + `"`)
	got, err := p.Run(t.Context(), codemode.Script{Code: "[() => tools.x(), () => search('x'), () => describe('y')].map(f => { try { return f() } catch (e) { return e.code } })"},
		codemode.Host{Call: func(context.Context, string, json.RawMessage) (json.RawMessage, error) { return large, nil }})
	if err != nil || string(got.Value) != `["invalid","unavailable","unavailable"]` {
		t.Error(string(got.Value), err)
	}
}

// TestTooMany: more scripts at once than there may be are refused, not kept waiting.
func TestTooMany(t *testing.T) {
	procs := &processes{}
	p := &codemode.Pool{Start: procs.start, Most: 3}
	begun, end := make(chan struct{}), make(chan struct{})
	wait := codemode.Host{Call: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		begun <- struct{}{}
		<-end
		return json.RawMessage("1"), nil
	}}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if got, err := p.Run(t.Context(), codemode.Script{Code: "tools.x()"}, wait); err != nil || string(got.Value) != "1" {
				t.Error(string(got.Value), err)
			}
		})
	}
	for range 3 {
		select {
		case <-begun:
		case <-time.After(time.Minute):
			t.Fatal("a script did not begin")
		}
	}
	if _, err := p.Run(t.Context(), codemode.Script{Code: "1"}, wait); !errors.Is(err, codemode.ErrNoWorker) {
		t.Error(err)
	}
	close(end)
	all.Wait()
	if got, err := p.Run(t.Context(), codemode.Script{Code: "2"}, wait); err != nil || string(got.Value) != "2" {
		t.Error(string(got.Value), err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	procs.allGone(t)
}
