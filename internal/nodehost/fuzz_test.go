package nodehost_test

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzLine: whatever comes as a line, the host answers or ignores it, writes nothing but
// messages, and stays.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `{}`, `[]`, `null`, `[[]]`, `"x"`, `{"id":1}`, `{"method":"ping","id":1.5}`, `{"method":"ping","id":true}`, `{"method":"ping","id":null}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":null}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":5}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"x":"\ud800"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"__proto__","arguments":{"__proto__":{"x":1},"constructor":1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[1],"_meta":{"progressToken":[]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{},"arguments":5}}`,
		`[{"method":"ping","id":"a"},{"method":"notifications/cancelled","params":{"requestId":"a"}},3]`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1e309}}`, `{"method":"toString","id":1}`, `{"method":"constructor","id":"c"}`,
		"\xff", "{\"id\":\"\xed\xa0\x80\",\"method\":\"ping\"}", strings.Repeat(`{"a":`, 3000), `{"id":1,"method":"` + strings.Repeat("m", 5000) + `"}`,
	} {
		f.Add([]byte(seed))
	}
	h := start(f, "echo.mjs", "/** Gives it back. @param {any} x - what */\nexport function echo(x) { return {x} }\n")
	count := 0
	f.Fuzz(func(t *testing.T, line []byte) {
		if strings.ContainsAny(string(line), "\n\r") {
			return // that would be two
		}
		h.t = t
		count++
		mine := fmt.Sprintf(`"mine-%d"`, count)
		h.say(string(line))
		h.say(`{"jsonrpc":"2.0","id":` + mine + `,"method":"ping"}`)
		h.answer(mine)
	})
}
