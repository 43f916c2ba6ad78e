package nodehost_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/nodehost"
)

const patience = 60 * time.Second // a machine may be busy

// message is what the host says.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Token    string  `json:"progressToken"`
		Progress float64 `json:"progress"`
	} `json:"params"`
	Result struct {
		Version string `json:"protocolVersion"`
		Tools   []struct {
			Name        string
			Description string
			InputSchema json.RawMessage
		}
		Content           []struct{ Type, Text, MimeType string }
		StructuredContent json.RawMessage
		IsError           bool
	} `json:"result"`
	Error struct {
		Code    int
		Message string
	} `json:"error"`
}

func (m message) text() string {
	if len(m.Result.Content) == 0 {
		return ""
	}
	return m.Result.Content[0].Text
}

// host is a running one.
type host struct {
	t      testing.TB
	in     io.WriteCloser
	said   chan message
	ended  chan error
	mu     sync.Mutex
	stderr bytes.Buffer
}

func (h *host) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stderr.Write(p)
}

func (h *host) log() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stderr.String()
}

func command(t testing.TB, name, text string, words ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	program, file := filepath.Join(dir, "host.mjs"), filepath.Join(dir, name)
	for path, text := range map[string]string{program: nodehost.Source(), file: text} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return exec.CommandContext(t.Context(), "node", append(append([]string{program}, words...), "--file", file)...)
}

// start serves a file until the test ends.
func start(t testing.TB, name, text string) *host {
	t.Helper()
	h := &host{t: t, said: make(chan message, 1000), ended: make(chan error, 1)}
	cmd := command(t, name, text, "serve")
	cmd.Stderr = h
	var err error
	if h.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("these tests need Node: %v", err)
	}
	go func() {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var m message
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				m.Method = notMessage + lines.Text()
			}
			h.said <- m
		}
		close(h.said)
		h.ended <- cmd.Wait()
	}()
	t.Cleanup(func() { _ = h.in.Close() })
	return h
}

// notMessage begins what the reader hands on of a line that is none.
const notMessage = "this is no message: "

func (h *host) say(line string) {
	h.t.Helper()
	if _, err := io.WriteString(h.in, line+"\n"); err != nil {
		h.t.Fatalf("%v; it said %s", err, h.log())
	}
}

func (h *host) hear() message {
	h.t.Helper()
	select {
	case m, ok := <-h.said:
		if !ok {
			h.t.Fatalf("it has ended; it said %s", h.log())
		}
		if strings.HasPrefix(m.Method, notMessage) {
			h.t.Errorf("%.200s", m.Method)
		}
		return m
	case <-time.After(patience):
		h.t.Fatalf("nothing is heard; it said %s", h.log())
	}
	return message{}
}

// answer hears until there is an answer to this request.
func (h *host) answer(id string) message {
	h.t.Helper()
	for {
		if m := h.hear(); string(m.ID) == id {
			return m
		}
	}
}

func (h *host) call(id, tool, arguments string) {
	h.t.Helper()
	h.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,"_meta":{"progressToken":"p` + id + `"}}}`)
}

func (h *host) ask(tool, arguments string) message {
	h.t.Helper()
	h.call("77", tool, arguments)
	return h.answer("77")
}

func (h *host) end() error {
	h.t.Helper()
	if err := h.in.Close(); err != nil {
		h.t.Error(err)
	}
	select {
	case err := <-h.ended:
		return err
	case <-time.After(patience):
		h.t.Fatal("it does not end")
	}
	return nil
}

const kinds = `
/**
 * Greets somebody.
 *
 * Kindly.
 * @param {string} name - Who it is.
 * @param {number} [times=2] How often,
 *   at most.
 * @param {'loud'|'soft'} [voice]
 * @returns {string} the words
 */
export function greet(name, times = 2, voice = 'soft') { return (voice + ' ' + name + ' ').repeat(times).trim() }

/** Adds. @param {object} in @param {number} in.a One. @param {number} in.b */
export const add = async ({ a, b = 4 }, { signal }) => ({ sum: a + b, aborted: signal.aborted })

/** @param {string[]} names @param {Record<string, number>} [marks] @param {?boolean} really */
export function many(names, marks, really) { return names.length }

export const search = { title: 'Search', description: 'Finds.', input: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }, run({ q }) { return [q, this.title] } }

export function zodlike({ n }) { return n + 1 }
zodlike.input = { toJSONSchema: () => ({ type: 'object', properties: { n: { type: 'number' } } }), parse: (v) => ({ n: Number(v.n) * 10 }) }
zodlike.description = 'Has a schema of a library.'

export function rest(first, ...others) { return others.length }
export function wordless(a, { deep } = {}, c = [1, "two, three"]) { return typeof a }
export function nothing() {}
export function bytes() { return Buffer.from([0x89, 0x50, 0x4e, 0x47, 1]) }
export async function* pieces() { yield 'one '; yield 'two' }
export const native = () => ({ content: [{ type: 'text', text: 'as it is' }], isError: true })
export const big = () => 2n ** 70n

export const bound = greet.bind(null, 'Ada')
export function regex(text, by = /,/) { return text }
export function odd(größe, \u0024x = "a)b,c", y = (() => [1, { z: 2 }])()) { return größe }
export const N = 5
export class Thing {}
export function _hidden() {}
export const bad = { run() {}, input: { type: 'string' } }
export default function () { return 'the file itself' }
`

func TestContracts(t *testing.T) {
	h := start(t, "kinds.mjs", kinds)
	h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	got := map[string]string{}
	for _, tool := range h.answer("1").Result.Tools {
		var compact bytes.Buffer
		if err := json.Compact(&compact, tool.InputSchema); err != nil {
			t.Error(err)
		}
		got[tool.Name] = tool.Description + " " + compact.String()
	}
	closed := `"additionalProperties":false}`
	for name, want := range map[string]string{
		"greet":    "Greets somebody.\n\nKindly. " + `{"type":"object","properties":{"name":{"type":"string","description":"Who it is."},"times":{"type":"number","description":"How often, at most.","default":2},"voice":{"enum":["loud","soft"],"default":"soft"}},"required":["name"],` + closed,
		"add":      `Adds. {"type":"object","properties":{"a":{"type":"number","description":"One."},"b":{"type":"number","default":4}},"required":["a"],` + closed,
		"many":     ` {"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}},"marks":{"type":"object","additionalProperties":{"type":"number"}},"really":{"anyOf":[{"type":"boolean"},{"type":"null"}]}},"required":["names","really"],` + closed,
		"search":   `Finds. {"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`,
		"zodlike":  `Has a schema of a library. {"type":"object","properties":{"n":{"type":"number"}}}`,
		"rest":     ` {"type":"object","properties":{"first":{},"others":{"type":"array","items":{}}},"required":["first"],` + closed,
		"wordless": ` {"type":"object","properties":{"a":{},"c":{"type":"array","default":[1,"two, three"]}},"required":["a"],` + closed,
		"nothing":  ` {"type":"object","properties":{},` + closed,
		"bytes":    ` {"type":"object","properties":{},` + closed,
		"pieces":   ` {"type":"object","properties":{},` + closed,
		"native":   ` {"type":"object","properties":{},` + closed,
		"big":      ` {"type":"object","properties":{},` + closed,
		"bound":    ` {"type":"object"}`,
		"kinds":    ` {"type":"object","properties":{},` + closed,
	} {
		if got[name] != want {
			t.Errorf("%s: %s\nwant %s", name, got[name], want)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("these are no tools: %v", got)
	}
	for _, c := range []struct{ tool, in, text, value string }{
		{"greet", `{"name":"Ada"}`, "soft Ada soft Ada", ""},
		{"greet", `{"name":"Ada","times":1,"voice":"loud"}`, "loud Ada", ""},
		{"add", `{"a":3}`, `{"sum":7,"aborted":false}`, `{"sum":7,"aborted":false}`},
		{"many", `{"names":["a","b"],"really":null}`, "2", `{"result":2}`},
		{"search", `{"q":"x"}`, `["x","Search"]`, `{"result":["x","Search"]}`},
		{"zodlike", `{"n":4}`, "41", `{"result":41}`},
		{"rest", `{"first":1,"others":[1,2,3]}`, "3", `{"result":3}`},
		{"nothing", `{}`, "", ""},
		{"pieces", `{}`, "one two", ""},
		{"big", `{}`, "1180591620717411303424", `{"result":"1180591620717411303424"}`},
		{"kinds", `{}`, "the file itself", ""},
	} {
		m := h.ask(c.tool, c.in)
		if m.Result.IsError || m.text() != c.text || strings.TrimSpace(string(m.Result.StructuredContent)) != c.value {
			t.Errorf("%s %s: %+v", c.tool, c.in, m)
		}
	}
	if m := h.ask("native", `{}`); !m.Result.IsError || m.text() != "as it is" {
		t.Errorf("a result of the protocol is changed: %+v", m)
	}
	if m := h.ask("bytes", `{}`); m.Result.Content[0].MimeType != "image/png" {
		t.Errorf("a picture: %+v", m)
	}
	for in, want := range map[string]string{
		`{}`:                             "name is missing",
		`{"name":3}`:                     "name must be a string, not a number",
		`{"name":"a","voice":"x"}`:       `voice must be one of "loud", "soft"`,
		`{"name":"a","x":1}`:             "x is not known; there are: name, times, voice",
		`{"times":null,"name":"\u0000"}`: "times must be a number, not null",
	} {
		if m := h.ask("greet", in); !m.Result.IsError || m.text() != want {
			t.Errorf("%s: %q, want %q", in, m.text(), want)
		}
	}
	if err := h.end(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"bad is left out: its schema must be one of an object", "regex is left out: its parameters cannot be read", "odd is left out: its parameters cannot be read"} {
		if !strings.Contains(h.log(), want) {
			t.Errorf("it does not say %q: %s", want, h.log())
		}
	}
}

const loud = `
import fs from 'node:fs'
import { spawnSync } from 'node:child_process'
console.log('at the beginning')
export function prints() {
  console.log('one {"jsonrpc"'); process.stdout.write('two\n'); fs.writeSync(1, 'three\n')
  spawnSync(process.execPath, ['-e', 'console.log("four")'], { stdio: 'inherit' })
  return 'printed'
}
export function exits() { process.exit(0) }
export function throws() { throw new TypeError('bad\nthing') }
export function empty() { throw '' }
export async function timer() { setTimeout(() => { throw new Error('from a timer') }, 5); await new Promise(() => {}) }
export async function lost() { Promise.reject(new Error('nobody waits')); await new Promise((r) => setTimeout(r, 20)); return 'fine' }
export function circle() { const a = {}; a.a = a; return a }
export async function waits(context) {
  context.progress(1, 3, 'begun'); context.progress(1); context.progress(0.5); context.progress(2)
  await new Promise((done) => context.signal.addEventListener('abort', done))
  console.log('heard of the end'); throw context.signal.reason
}
export async function naps(ms) { await new Promise((r) => setTimeout(r, ms)); return 'rested' }
`

// TestNothingBreaksTheProtocol: whatever a tool prints, throws or ends, the others go on.
func TestNothingBreaksTheProtocol(t *testing.T) {
	h := start(t, "loud.mjs", loud)
	h.call("1", "naps", `{"ms":200}`)
	for tool, want := range map[string]string{
		"exits":  "the tool called process.exit(0), which would end all other calls; it should return or throw",
		"throws": "TypeError: bad thing",
		"empty":  "the tool failed and did not say why",
		"timer":  "from a timer",
	} {
		if m := h.ask(tool, `{}`); !m.Result.IsError || m.text() != want {
			t.Errorf("%s: %+v", tool, m)
		}
	}
	if m := h.ask("circle", `{}`); !m.Result.IsError || strings.Contains(m.text(), "\n") || !strings.Contains(m.text(), "circular") {
		t.Errorf("circle: %+v", m)
	}
	if m := h.ask("lost", `{}`); m.Result.IsError || m.text() != "fine" {
		t.Errorf("lost: %+v", m)
	}
	if m := h.ask("prints", `{}`); m.text() != "printed" {
		t.Errorf("prints: %+v", m)
	}
	if m := h.ask("naps", `{"ms":1}`); m.text() != "rested" {
		t.Errorf("afterwards: %+v", m)
	}
	for line, want := range map[string]int{
		`garbage`: -32700, `[]`: -32600, `{"jsonrpc":"2.0","id":5,"method":"nope"}`: -32601, `{"jsonrpc":"2.0","id":5}`: -32600, `{"jsonrpc":"2.0","id":{},"method":"ping"}`: -32600,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"none"}}`:                 -32602,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"naps","arguments":[1]}}`: -32602,
	} {
		h.say(line)
		for {
			if m := h.hear(); m.Error.Code != 0 {
				if m.Error.Code != want {
					t.Errorf("%s: %+v", line, m)
				}
				break
			}
		}
	}
	for asked, want := range map[string]string{"2025-06-18": "2025-06-18", "1999-01-01": "2025-11-25"} {
		h.say(`{"jsonrpc":"2.0","id":"v","method":"initialize","params":{"protocolVersion":"` + asked + `"}}`)
		if m := h.answer(`"v"`); m.Result.Version != want {
			t.Errorf("%s: %+v", asked, m)
		}
	}
	if err := h.end(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"at the beginning", "one", "two", "three", "four", "TypeError: bad\nthing\n", "from a timer", "nobody waits"} {
		if !strings.Contains(h.log(), want) {
			t.Errorf("%q is not in the log: %s", want, h.log())
		}
	}
}

// TestManyAtOnce: calls wait for nobody, and each has its own answer.
func TestManyAtOnce(t *testing.T) {
	h := start(t, "loud.mjs", loud)
	h.call("0", "naps", `{"ms":1}`)
	h.answer("0")
	began := time.Now()
	for i := range 100 {
		h.call(strconv.Itoa(1000+i), "naps", `{"ms":300}`)
	}
	seen := map[string]bool{}
	for range 100 {
		m := h.hear()
		seen[string(m.ID)] = m.text() == "rested"
	}
	if took := time.Since(began); took > 15*time.Second { // one after another: 30 s
		t.Errorf("100 calls took %v", took)
	}
	for i := range 100 {
		if !seen[strconv.Itoa(1000+i)] {
			t.Errorf("call %d is not answered", i)
		}
	}
}

// TestCancelled: who gives up is not answered, the tool hears of it, and progress goes up.
func TestCancelled(t *testing.T) {
	h := start(t, "loud.mjs", loud)
	h.call("5", "waits", `{}`)
	for _, want := range []float64{1, 2} {
		if m := h.hear(); m.Method != "notifications/progress" || m.Params.Token != "p5" || m.Params.Progress != want {
			t.Errorf("want %v: %+v", want, m)
		}
	}
	h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}`)
	h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	h.say(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	if m := h.hear(); string(m.ID) != "9" {
		t.Errorf("the cancelled call is answered: %+v", m)
	}
	h.call("6", "waits", `{}`) // under way when the other side hangs up
	if err := h.end(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(h.log(), "heard of the end"); n != 2 {
		t.Errorf("%d of 2 calls heard of their end: %s", n, h.log())
	}
}

// TestFiles: what cannot be read is one sentence, and old forms are read.
func TestFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"broken.mjs", "export function f( {", "error: broken.mjs: SyntaxError: "},
		{"throws.mjs", "throw new Error('no database')", "error: throws.mjs: no database"},
		{"exits.mjs", "process.exit(1)", "error: exits.mjs: the tool called process.exit(1)"},
		{"missing.mjs", "import 'no-such-package'", "error: missing.mjs: "},
		{"typed.ts", "export const x: number = y", "error: typed.ts: "},
	} {
		cmd := command(t, c.name, c.text, "serve")
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err == nil || len(out) > 0 || !strings.Contains(said.String(), c.want) {
			t.Errorf("%s: %v, %s, %s", c.name, err, out, said.String())
		}
	}
	for name, text := range map[string]string{
		"old.cjs":    "/** Says x. */\nexports.say = (x) => x\nmodule.exports.more = { run() {} }",
		"old.js":     "/** Says x. */\nexports.say = (x) => x\nmodule.exports.more = { run() {} }",
		"new.js":     "import fs from 'node:fs'\n/** Says x. */\nexport function say(x) { return x }\nexport function more() {}",
		"default.js": "export default {\n/** Says x. */\nsay(x) { return x }, more: () => 1 }",
		"list.mjs":   "export default [{ name: 'say', description: 'Says x.', run: (x) => x }, { name: 'more', execute() {} }]",
	} {
		out, err := command(t, name, text, "list").Output()
		var listed struct {
			Tools []struct{ Name, Description string } `json:"tools"`
		}
		if err = errors.Join(err, json.Unmarshal(out, &listed)); err != nil || len(listed.Tools) != 2 || !strings.Contains(string(out), `"Says x."`) {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
	if out, err := command(t, "x.mjs", "", "dance").Output(); err == nil || len(out) > 0 {
		t.Errorf("a word that it does not know: %v, %s", err, out)
	}
}
