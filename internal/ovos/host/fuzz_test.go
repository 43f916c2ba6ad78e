package host_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
)

// sayBox has a tool that answers with whatever text it is given, as JSON, as
// text, and as the text of a failure.
func sayBox() toolcrib.Toolbox {
	given := func(input json.RawMessage) string {
		var in struct{ Text string }
		if json.Unmarshal(input, &in) != nil {
			return ""
		}
		return in.Text
	}
	return toolcrib.NewBox("say",
		tool("json", func(_ context.Context, in json.RawMessage) (*toolcrib.Result, error) {
			return &toolcrib.Result{Value: json.RawMessage(given(in))}, nil
		}),
		tool("words", func(_ context.Context, in json.RawMessage) (*toolcrib.Result, error) {
			return toolcrib.Text(given(in)), nil
		}),
		tool("fail", func(_ context.Context, in json.RawMessage) (*toolcrib.Result, error) {
			return toolcrib.Failed(given(in)), nil
		}))
}

// harmless is an opinion on a frame that owes nothing to the package that
// wrote it: three keys, objects where objects belong, a session with an id,
// finite numbers, integers of 64 bits, whole surrogate pairs.
func harmless(t *testing.T, frame []byte) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(frame))
	dec.UseNumber()
	var top map[string]any
	if err := dec.Decode(&top); err != nil || !utf8.Valid(frame) || dec.More() {
		t.Errorf("not JSON in UTF-8: %q, %v", frame, err)
		return
	}
	context, _ := top["context"].(map[string]any)
	session, _ := context["session"].(map[string]any)
	_, typed := top["type"].(string)
	_, data := top["data"].(map[string]any)
	if _, named := session["session_id"].(string); !named || !typed || !data || len(top) != 3 {
		t.Errorf("not a message: %q", frame)
	}
	sane(t, top)
	for rest := string(frame); ; {
		i := strings.Index(rest, `\`)
		if i < 0 {
			return
		}
		if rest = rest[i+1:]; rest[0] != 'u' {
			rest = rest[1:]
			continue
		}
		r, _ := strconv.ParseUint(rest[1:5], 16, 32) // it is JSON
		if rest = rest[5:]; r < 0xD800 || r > 0xDFFF {
			continue
		}
		low := uint64(0)
		if strings.HasPrefix(rest, `\u`) {
			low, _ = strconv.ParseUint(rest[2:6], 16, 32)
			rest = rest[6:]
		}
		if r > 0xDBFF || low < 0xDC00 || low > 0xDFFF {
			t.Errorf("half a pair: %q", frame)
			return
		}
	}
}

func sane(t *testing.T, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			sane(t, inner)
		}
	case []any:
		for _, inner := range v {
			sane(t, inner)
		}
	case json.Number:
		f, _ := v.Float64()
		_, signed := strconv.ParseInt(v.String(), 10, 64)
		_, unsigned := strconv.ParseUint(v.String(), 10, 64)
		if math.IsInf(f, 0) || signed != nil && unsigned != nil && !strings.ContainsAny(v.String(), ".eE") {
			t.Errorf("the number %s", v)
		}
	}
}

// FuzzTheHostPoisonsNothing sends whatever there is, on a bus that passes
// everything on, and looks at all that the host sends.
func FuzzTheHostPoisonsNothing(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"ovos.tools.list","data":{},"context":{}}`, `{}`},
		{`{"type":"ovos.tools.invoke","data":{"name":123456789012345678901234567890}}`, `{"n":123456789012345678901234567890}`},
		{`{"type":"ovos.tools.invoke","data":{"name":"\ud800"},"context":{"x":"\udc00","session":{"session_id":"\ud800"}}}`, `{"text":"\ud800"}`},
		{`{"type":"ovos.persona.tools.say.call","data":{"name":"words","kwargs":{"text":"\u0000"}},"context":{"session":{}}}`, `{"n":1e999}`},
		{`{"type":"ovos.persona.tools.discover","context":{"source":123456789012345678901234567890,"destination":[1e5]}}`, "\xff"},
		{`{"type":"ovos.tools.get","data":{"name":1e400},"context":{"session":null}}`, `[NaN]`},
		{`{"type":"ovos.tools.invoke","data":{"name":"n","name":["x"]},"context":{"a":1,"a":{"b":"\ud83d\ude00\ud83d"}}}`, `"\ud83d\ude00\ud83d"`},
		{`{"type":"ovos.persona.tools.call","data":{"toolbox_id":"say","name":"json","kwargs":{"text":"{\"a\":1e999}"}}}`, strings.Repeat(`[`, 600) + strings.Repeat(`]`, 600)},
		{`{"type":"ovos.tools.reload","data":{},"context":{"session":{"session_id":7,"x":99999999999999999999}}}`, ``},
	} {
		f.Add([]byte(seed[0]), seed[1])
	}
	b := newBus(f)
	r := furnish(f, setup{more: []toolcrib.Toolbox{sayBox()}})
	cfg := r.config()
	cfg.Serve, cfg.Bus.URL = nil, b.url
	serve(f, cfg)
	s := ready(f, b.url)
	f.Fuzz(func(t *testing.T, frame []byte, text string) {
		s.t = t
		if err := s.write(1, frame); err != nil {
			t.Fatal(err)
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		mark := rand.Text()
		marked := `"mark":"` + mark + `"`
		for _, name := range []string{"json", "words", "fail"} {
			s.send(request(invoke, `{"name":"`+name+`","args":{"text":`+string(quoted)+`}}`, marked))
		}
		s.send(request("ovos.tools.get", `{"name":`+string(quoted)+`}`, marked))
		for answers := 0; answers < 4; {
			got, err := s.read()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(got, []byte(`"source":"toolcrib"`)) { // all that the host sends has it
				continue
			}
			if bytes.Equal(got, frame) {
				continue // somebody pretends to be the host
			}
			harmless(t, got)
			if bytes.Contains(got, []byte(mark)) {
				answers++
			}
		}
	})
}
