package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/codemode"
)

// here starts workers in this process: enough to see what scripts get.
func here(context.Context) (*codemode.Conn, error) {
	in, to := io.Pipe()
	from, out := io.Pipe()
	go func() {
		err := Serve(in, out, Limits{})
		out.CloseWithError(errors.Join(err, io.EOF))
	}()
	return &codemode.Conn{To: to, From: from, End: func() { to.Close(); from.Close() }}, nil
}

func echo(_ context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
	switch tool {
	case "echo", "mcp__x__y-z":
		return args, nil
	case "no":
		return nil, &codemode.Fault{Code: "denied", Message: "a person said no"}
	}
	return nil, &codemode.Fault{Code: "not_found", Message: "there is no tool " + tool}
}

func run(t *testing.T, code, input string) (codemode.Outcome, error) {
	t.Helper()
	p := &codemode.Pool{Start: here}
	defer p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return p.Run(ctx, codemode.Script{Code: code, Input: json.RawMessage(input), Time: 20 * time.Second}, codemode.Host{Call: echo,
		Search:   func(_ context.Context, q string) (json.RawMessage, error) { return json.Marshal([]string{q}) },
		Describe: func(_ context.Context, n string) (json.RawMessage, error) { return json.Marshal("about " + n) }})
}

// TestValues: the value of a script is what it returns, or its last expression.
func TestValues(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"1 + 1", "2"},
		{"return 3", "3"},
		{"const x = 4; x", "4"},
		{"", "null"},
		{"if (input.a) return input.a; return 0", "7"},
		{"const r = tools.echo({a: 1}); r.a", "1"},
		{"const r = await tools.echo({a: 1}); r.a", "1"},
		{"return (await tools.echo({a: 1})).a", "1"},
		{"tools['mcp__x__y-z']({b: [1, 'é']}).b[1]", `"é"`},
		{"async function f() { return tools.echo({a: 5}) } const v = await f(); v.a", "5"},
		{"const main = async () => { const {a, ...rest} = await tools.echo({a: 1, b: 2}); return `${a}-${rest.b}` }; await main()", `"1-2"`},
		{"(async () => { return 9 })()", "9"},
		{"try { tools.no() } catch (e) { [e.code, e.message, e.name, e instanceof Error] }", `["denied","a person said no","ToolError",true]`},
		{"tools.echo", "null"},
		{"search('x y')", `["x y"]`},
		{"await describe('echo')", `"about echo"`},
		{"parallel([() => tools.echo({i: 1}), () => tools.echo({i: 2}).i, 3])", `[{"i":1},2,3]`},
		{"await parallel([1,2,3].map(i => async () => { const r = await tools.echo({i}); return r.i * 2 }))", "[2,4,6]"},
		{"(await Promise.all([1,2].map(i => tools.echo({i})))).map(r => r.i)", "[1,2]"},
		{"let got; try { parallel([() => tools.echo({i: 1}), () => tools.no()]) } catch (e) { got = [e.code, e.results[0].i] }; got", `["denied",1]`},
		{"new Map([['a', new Set([1])]])", `{"a":[1]}`},
		{"[typeof require, typeof process, typeof setTimeout, typeof fetch, typeof std, typeof os, typeof $start, typeof Deno, typeof print, typeof scriptArgs]", "[" + strings.Repeat(`"undefined",`, 9) + `"undefined"]`},
		{"try { await import('std'); 1 } catch (e) { 'no' }", `"no"`},
		{"try { await import('os'); 1 } catch (e) { 'no' }", `"no"`},
		{"for await (const x of [1]) { x }; Object.groupBy([1,2], x => x % 2 ? 'odd' : 'even').odd[0]", "1"},
	} {
		got, err := run(t, c.code, `{"a":7}`)
		if err != nil || string(got.Value) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.code, got.Value, err, c.want)
		}
	}
}

// TestErrors: errors say where in the script they are.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		code         string
		name         string
		line, column int
	}{
		{"const a = 1;\nconst b = ;", "SyntaxError", 2, 11},
		{"const a = 1;\n\nreturn a.b.c", "TypeError", 3, 11},
		{"const a = 1;\na.b.c", "TypeError", 2, 4},
		{"1;\n  tools.no()", "ToolError", 2, 11},
		{"1;\nfunction f() {\n  return tools.no({})\n}\nf()", "ToolError", 3, 3},
		{"return 1;\nconst b = ;", "SyntaxError", 2, 11},
		{"throw new Error('x')", "Error", 1, 16},
		{"throw 'x'", "", 0, 0},
		{"await new Promise(() => {})", "Error", 0, 0},
		{"tools.echo('x')", "TypeError", 1, 11},
		{"1n", "TypeError", 0, 0},
		{"const o = {}; o.o = o; o", "TypeError", 0, 0},
		{"function f() { f() }\nf()", "InternalError", 1, 17},
	} {
		_, err := run(t, c.code, "")
		e, ok := errors.AsType[*codemode.ScriptError](err)
		if !ok || e.Name != c.name || e.Line != c.line || (e.Column != c.column) {
			t.Errorf("%s: %v %+v", c.code, err, e)
		}
		if ok && c.line > 0 && !strings.Contains(e.Around, fmt.Sprintf("%4d | ", c.line)) {
			t.Errorf("%s: %s", c.code, e.Around)
		}
	}
}
