package pyhost_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Whatever comes as a line, the host answers or ignores it, writes nothing but
// messages, and stays.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `{}`, `[]`, `null`, `[[]]`, `"x"`, `{"id":1}`, `{"method":"ping","id":1.5}`, `{"method":"ping","id":true}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":5}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"x":"\ud800"}}}`,
		`{"jsonrpc":"2.0","id":"\udc00","method":"tools/call","params":{"name":"echo","arguments":{"x":NaN},"_meta":{"progressToken":[]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"x":1e999,"y":{}}}}`,
		`[{"method":"ping","id":"a"},{"method":"notifications/cancelled","params":{"requestId":"a"}},3]`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1e309}}`,
		"\xff", "{\"id\":\"\xed\xa0\x80\",\"method\":\"ping\"}", `{"id":NaN,"method":"ping"}`, `{"id":-Infinity,"method":"\u0000"}`,
		strings.Repeat(`{"a":`, 3000), `{"id":1,"method":"` + strings.Repeat("m", 5000) + `"}`, `{"id":` + strings.Repeat("9", 5000) + `,"method":"ping"}`,
	} {
		f.Add([]byte(seed))
	}
	p := serve(f, `
import typing
def echo(x: typing.Any = None, y: typing.Optional[int] = None) -> dict:
    return {"x": x, "y": y}
`)
	count := 0
	f.Fuzz(func(t *testing.T, line []byte) {
		if strings.ContainsAny(string(line), "\n") {
			return // that would be two
		}
		p.t = t
		count++
		mine := fmt.Sprintf("mine-%d", count)
		p.line(string(line))
		p.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"ping"}`, mine))
		want, _ := json.Marshal(mine)
		for {
			m := p.receive()
			if strings.HasPrefix(m.Method, "not the protocol") {
				t.Fatalf("%q: %s", line, m.Method)
			}
			if string(m.ID) == string(want) {
				return
			}
		}
	})
}
