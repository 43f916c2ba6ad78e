package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// talk is a client that can say anything.
type talk struct {
	t   *testing.T
	in  *io.PipeWriter
	out *bufio.Scanner
}

func newTalk(t *testing.T, c *toolcrib.Crib) *talk {
	t.Helper()
	s := New(Config{Crib: c, Version: "1", Log: quiet()}, toolcrib.Caller{Subject: "ann", Frontend: "mcp"})
	t.Cleanup(s.Close)
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	go func() { _ = s.ServeStdio(t.Context(), fromClient, toClient) }()
	scan := bufio.NewScanner(out)
	scan.Buffer(nil, 16<<20)
	t.Cleanup(func() { _ = in.Close() })
	tk := &talk{t, in, scan}
	tk.say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	tk.hear()
	tk.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return tk
}

func (tk *talk) say(line string) {
	tk.t.Helper()
	if _, err := io.WriteString(tk.in, line+"\n"); err != nil {
		tk.t.Fatalf("the server has gone: %v", err)
	}
}

func (tk *talk) hear() map[string]any {
	tk.t.Helper()
	heard := make(chan bool, 1)
	go func() { heard <- tk.out.Scan() }()
	select {
	case ok := <-heard:
		if !ok {
			tk.t.Fatalf("the server hung up: %v", tk.out.Err())
		}
	case <-time.After(30 * time.Second):
		tk.t.Fatal("no answer")
	}
	var m map[string]any
	if err := json.Unmarshal(tk.out.Bytes(), &m); err != nil {
		tk.t.Fatalf("%s: %v", tk.out.Bytes(), err)
	}
	return m
}

// Whatever a client or its model sends, it is answered and the session lives.
func TestGateKeepsTheSession(t *testing.T) {
	c, _ := newCrib(t)
	journal := &cribtest.Memory{}
	c.Journal = journal
	tk := newTalk(t, c)
	nested := func(n int) string { return strings.Repeat(`{"n":`, n) + "1" + strings.Repeat("}", n) }
	call := func(id, name, args string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, name, args)
	}
	for name, line := range map[string]string{
		"garbage":       `hello`,
		"NUL":           "{\x00}",
		"batch":         `[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`,
		"number":        `1`,
		"odd id":        `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`,
		"huge id":       `{"jsonrpc":"2.0","id":` + strings.Repeat("9", 400) + `,"method":"tools/list"}`,
		"no method":     `{"jsonrpc":"2.0","id":5}`,
		"deep list":     `{"jsonrpc":"2.0","id":6,"method":"tools/list","params":` + nested(600) + `}`,
		"deep call":     call("7", "count", nested(9000)),
		"deeper call":   call("8", "count", nested(20000)),
		"deep unknown":  call("9", "nothing", nested(9000)),
		"not an object": call("10", "count", `[1]`),
		"twice":         call("11", "count", `{"n":1,"n":2}`),
		"10 MB":         call("12", "count", `{"n":"`+strings.Repeat("x", 10<<20)+`"}`),
		"odd call id":   `{"jsonrpc":"2.0","id":13,"method":"tools/call","params":{"name":"count","arguments":{"n":1},"_meta":{"toolcrib/callId":7}}}`,
	} {
		tk.say(line)
		m := tk.hear()
		if m["error"] == nil && !strings.Contains(fmt.Sprint(m["result"]), "isError:true") {
			t.Errorf("%s: %.300v", name, m)
		}
	}
	tk.say(call("99", "count", `{"n":4}`))
	if m := tk.hear(); m["id"] != 99.0 || !strings.Contains(fmt.Sprint(m), "map[n:4]") {
		t.Errorf("afterwards: %v", m)
	}
	outcomes := map[toolcrib.Outcome]int{}
	for _, r := range journal.Records() {
		outcomes[r.Outcome]++
	}
	if outcomes["invalid"] < 3 || outcomes["not_found"] != 1 || outcomes["done"] != 1 {
		t.Errorf("recorded %v: refused calls are to be there too", outcomes)
	}
}
