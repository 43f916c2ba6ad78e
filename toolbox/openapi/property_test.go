package openapi

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// TestValuesArrive: whatever is in a value, the judge reads the same value out of the request.
// It takes delimited lists apart after it has unescaped them, so that the elements of those have
// no delimiter in them here.
func TestValuesArrive(t *testing.T) {
	j := newJudge(t)
	env := newEnv(t, nil)
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.SampledFrom([]struct {
			in, style, kind string
			explode         bool
			without         string
		}{
			{"path", "simple", "string", false, ""},
			{"path", "label", "string", false, ""},
			{"path", "matrix", "string", false, ""},
			{"path", "simple", "array", false, ","},
			{"path", "label", "array", true, ".,"},
			{"path", "matrix", "array", true, ";,="},
			{"query", "form", "string", true, ""},
			{"query", "form", "array", true, ""},
			{"query", "form", "array", false, ","},
			{"query", "spaceDelimited", "array", false, " "},
			{"query", "pipeDelimited", "array", false, "|"},
			{"query", "deepObject", "object", true, ""},
			{"query", "form", "object", true, ""},
			{"query", "form", "object", false, ","},
			{"header", "simple", "string", false, "\r\n\t"},
			{"header", "simple", "array", false, ",\r\n\t"},
			{"cookie", "form", "string", true, "\"; ,\\%\r\n\t"},
		}).Draw(rt, "case")
		word := rapid.StringOfN(rapid.RuneFrom([]rune("aZ09-._~ !#$&'()*+,/:;=?@[]%<>\"\\^`{|}\n\té世😀\u0301")), 1, 12, -1).Filter(func(s string) bool {
			if c.in == "header" || c.in == "cookie" { // blanks at the ends of a header are nobody's, and cookies are ASCII
				for _, r := range s {
					if r < ' ' || r > '~' {
						return false
					}
				}
				s2 := strings.TrimSpace(s)
				return !strings.ContainsAny(s, c.without) && s2 == s
			}
			if c.in == "path" && strings.Trim(s, "./\\") == "" { // refused, see TestPathValues
				return false
			}
			if c.in == "path" && (strings.Contains("/"+s+"/", "/../") || strings.Contains("/"+s+"/", "/./") || strings.Contains(s, `\`)) {
				return false
			}
			return !strings.ContainsAny(s, c.without)
		})
		var value, schema string
		switch c.kind {
		case "string":
			value = string(jsontext.Quote(word.Draw(rt, "word")))
			schema = `{"type":"string","enum":[` + value + `]}`
		case "array":
			var parts []string
			for _, w := range rapid.SliceOfN(word, 1, 4).Draw(rt, "words") {
				parts = append(parts, string(jsontext.Quote(w)))
			}
			value = "[" + strings.Join(parts, ",") + "]"
			schema = `{"type":"array","items":{"type":"string"},"enum":[` + value + `]}`
		default:
			value = `{"G":` + string(jsontext.Quote(word.Draw(rt, "G"))) + `,"R":` + string(jsontext.Quote(word.Draw(rt, "R"))) + `}`
			schema = `{"type":"object","properties":{"G":{"type":"string"},"R":{"type":"string"}},"enum":[` + value + `]}`
		}
		path := "/x"
		if c.in == "path" {
			path = "/x/{p}/y"
		}
		j.doc = oneOp(j.URL, "get", path, fmt.Sprintf(`,"parameters":[{"name":"p","in":%q,"required":true,"style":%q,"explode":%v,"schema":%s}]`, c.in, c.style, c.explode, schema))
		r, err := use(t, newBox(t, j.doc, Config{}), env, "op", `{"p":`+value+`}`)
		if err != nil || r.Failed {
			rt.Fatalf("%v: %s: %v %v (sent %s %v)", c, value, err, r, j.last.RequestURI, j.last.Header)
		}
	})
}

// TestJudgeCanFail: another value than that of the document is refused.
func TestJudgeCanFail(t *testing.T) {
	j := newJudge(t)
	j.doc = oneOp(j.URL, "get", "/x", `,"parameters":[{"name":"p","in":"query","schema":{"type":"array","items":{"type":"string"},"enum":[["a","b"]]}}]`)
	b := newBox(t, j.doc, Config{})
	if r, err := use(t, b, newEnv(t, nil), "op", `{"p":["b","a"]}`); err != nil || !r.Failed {
		t.Errorf("%v %v", r, err)
	}
}

// TestPathValues: no value of a path leads to another operation.
func TestPathValues(t *testing.T) {
	j := newJudge(t)
	j.doc = oneOp(j.URL+"/base", "get", "/x/{p}/y", `,"parameters":[{"name":"p","in":"path","required":true,"schema":{}}]`)
	b := newBox(t, j.doc, Config{})
	env := newEnv(t, nil)
	for _, bad := range []string{`""`, `".."`, `"."`, `"../admin"`, `"a/../../b"`, `"..\\admin"`, `"a/.."`, `[]`, `{}`, `[""]`, `null`, `"/.."`} {
		j.last = nil
		if r, err := use(t, b, env, "op", `{"p":`+bad+`}`); err == nil || j.last != nil {
			t.Errorf("%s was sent: %v", bad, r)
		}
	}
	for value, want := range map[string]string{
		`"a/b"`: "/base/x/a%2Fb/y", `"a?b=c"`: "/base/x/a%3Fb%3Dc/y", `"a#b"`: "/base/x/a%23b/y", `"%2e%2e"`: "/base/x/%252e%252e/y", `"%2f"`: "/base/x/%252f/y",
		`"..."`: "/base/x/.../y", `"..a"`: "/base/x/..a/y", `"//evil.example"`: "/base/x/%2F%2Fevil.example/y", `"@evil.example"`: "/base/x/%40evil.example/y",
		`"a\u0000b"`: "/base/x/a%00b/y", `"a\r\nHost: x"`: "/base/x/a%0D%0AHost%3A%20x/y", `7`: "/base/x/7/y", `true`: "/base/x/true/y",
	} {
		if _, err := use(t, b, env, "op", `{"p":`+value+`}`); err != nil || j.last.URL.EscapedPath() != want || j.last.URL.RawQuery != "" {
			t.Errorf("%s: %v, sent %s", value, err, j.last.RequestURI)
		}
	}
	if _, err := use(t, b, env, "op", `{}`); err == nil || !strings.Contains(err.Error(), `"p" is missing`) {
		t.Errorf("missing: %v", err)
	}
	if _, err := use(t, b, env, "op", `{"p":"a","q":1}`); err == nil || !strings.Contains(err.Error(), `no argument "q"`) {
		t.Errorf("unknown: %v", err)
	}
}

// TestNotGiven: what was not given is not sent, and a default of the document is not either.
func TestNotGiven(t *testing.T) {
	j := newJudge(t)
	j.doc = oneOp(j.URL, "post", "/x", `,"parameters":[{"name":"a","in":"query","schema":{"type":"string","default":"x"}},{"name":"H","in":"header","schema":{"type":"string"}},
		{"name":"c","in":"cookie","schema":{"type":"string"}},{"name":"l","in":"query","schema":{"type":"array","items":{}}}],
		"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"b":{"type":"string","default":"y"}}}}}}`)
	b := newBox(t, j.doc, Config{})
	for _, input := range []string{`{}`, `{"a":null,"l":[]}`} {
		mustUse(t, b, newEnv(t, nil), "op", input)
		if j.last.RequestURI != "/x" || j.body != "" || j.last.Header.Get("H") != "" || j.last.Header.Get("Cookie") != "" || j.last.Header.Get("Content-Type") != "" {
			t.Errorf("sent %s %q %v", j.last.RequestURI, j.body, j.last.Header)
		}
	}
	if r, err := use(t, b, newEnv(t, nil), "op", `{"H":"a\r\nX-Evil: 1"}`); err == nil {
		t.Errorf("a header with a line end was sent: %v", r)
	}
}
