package openapi

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// judge is a server that holds every request against the document, by a library that knows
// nothing of ours. It answers 200 if the request is valid, and says what is wrong otherwise.
type judge struct {
	*httptest.Server
	doc  string
	last *http.Request // with its body read
	body string
}

func newJudge(t testing.TB) *judge {
	j := &judge{}
	j.Server = serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		j.last, j.body = r, string(body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if err := j.check(r); err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"ok":true}`))
	})
	return j
}

func (j *judge) check(r *http.Request) error {
	doc, err := openapi3.NewLoader().LoadFromData([]byte(j.doc))
	if err != nil {
		return fmt.Errorf("loading: %w", err)
	}
	// The judge's own routers take %2F for a slash; there is one path, so that none is needed.
	var route routers.Route
	params := map[string]string{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			route = routers.Route{Spec: doc, Server: doc.Servers[0], Path: path, PathItem: item, Method: method, Operation: op}
		}
		if strings.Contains(path, "{p}") {
			segment := strings.Split(r.URL.EscapedPath(), "/")[2]
			if params["p"], err = url.PathUnescape(segment); err != nil {
				return err
			}
		}
	}
	if r.Method != route.Method {
		return fmt.Errorf("the method is %s", r.Method)
	}
	return openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: &route, Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	})
}

// TestStyles: every style, with its value as an enum of the document: the judge accepts a request
// only if it reads exactly that value out of it.
func TestStyles(t *testing.T) {
	const (
		list   = `["b, &c","d/e?f#g","é%2F=+;"]`
		simple = `["blue","black","brown"]`
		object = `{"G":"2 0&0","R":"1=00","Z":"é"}`
		plain  = `{"G":"200","R":"100"}`
	)
	j := newJudge(t)
	env := newEnv(t, nil)
	for _, c := range []struct {
		in, style string
		explode   bool
		kind      string
		value     string
		wire      string // of the path, the query, the header or the cookie; empty: not looked at
	}{
		{"path", "simple", false, "string", `"a/b?c#d%2f é"`, "/x/a%2Fb%3Fc%23d%252f%20%C3%A9/y"},
		{"path", "simple", false, "array", simple, "/x/blue,black,brown/y"},
		{"path", "simple", false, "object", plain, "/x/G,200,R,100/y"},
		{"path", "simple", true, "object", plain, "/x/G=200,R=100/y"},
		{"path", "label", false, "string", `"blue"`, "/x/.blue/y"},
		{"path", "label", false, "array", simple, "/x/.blue,black,brown/y"},
		{"path", "label", true, "array", simple, "/x/.blue.black.brown/y"},
		{"path", "label", true, "object", plain, "/x/.G=200.R=100/y"},
		{"path", "matrix", false, "string", `"blue"`, "/x/;p=blue/y"},
		{"path", "matrix", false, "array", simple, "/x/;p=blue,black,brown/y"},
		{"path", "matrix", true, "array", simple, "/x/;p=blue;p=black;p=brown/y"},
		{"path", "matrix", true, "object", plain, "/x/;G=200;R=100/y"},
		{"path", "simple", false, "integer", `9007199254740993`, "/x/9007199254740993/y"},
		{"query", "form", true, "string", `"a&b=c#d+e%20 f"`, "p=a%26b%3Dc%23d%2Be%2520%20f"},
		{"query", "form", true, "array", list, "p=b%2C%20%26c&p=d%2Fe%3Ff%23g&p=%C3%A9%252F%3D%2B%3B"},
		{"query", "form", false, "array", simple, "p=blue,black,brown"},
		{"query", "form", false, "object", plain, "p=G,200,R,100"},
		{"query", "form", true, "object", object, "G=2%200%260&R=1%3D00&Z=%C3%A9"},
		{"query", "spaceDelimited", false, "array", simple, "p=blue%20black%20brown"},
		{"query", "pipeDelimited", false, "array", simple, "p=blue%7Cblack%7Cbrown"},
		{"query", "deepObject", true, "object", object, "p%5BG%5D=2%200%260&p%5BR%5D=1%3D00&p%5BZ%5D=%C3%A9"},
		{"query", "form", true, "boolean", `true`, "p=true"},
		{"query", "form", true, "number", `1.50`, "p=1.50"},
		{"header", "simple", false, "string", `"a, b; c=d"`, "a, b; c=d"},
		{"header", "simple", false, "array", simple, "blue,black,brown"},
		{"header", "simple", false, "object", plain, "G,200,R,100"},
		{"header", "simple", true, "object", plain, "G=200,R=100"},
		{"cookie", "form", true, "string", `"a=b&c"`, "p=a=b&c"},
		{"cookie", "form", false, "array", simple, "p=blue,black,brown"},
		{"cookie", "form", false, "object", plain, "p=G,200,R,100"},
	} {
		name := fmt.Sprintf("%s %s %v %s", c.in, c.style, c.explode, c.kind)
		schema := `{"type":"` + c.kind + `","enum":[` + c.value + `]}`
		if c.kind == "array" {
			schema = `{"type":"array","items":{"type":"string"},"enum":[` + c.value + `]}`
		}
		if c.kind == "object" {
			schema = `{"type":"object","properties":{"G":{"type":"string"},"R":{"type":"string"},"Z":{"type":"string"}},"enum":[` + c.value + `]}`
		}
		path := "/x"
		if c.in == "path" {
			path = "/x/{p}/y"
		}
		param := fmt.Sprintf(`,"parameters":[{"name":"p","in":%q,"required":true,"style":%q,"explode":%v,"schema":%s}]`, c.in, c.style, c.explode, schema)
		j.doc = oneOp(j.URL, "get", path, param)
		b := newBox(t, j.doc, Config{})
		r, err := use(t, b, env, "op", `{"p":`+c.value+`}`)
		if err != nil || r.Failed {
			t.Errorf("%s: %v %v (sent %s %v)", name, err, r, j.last.RequestURI, j.last.Header)
			continue
		}
		got := map[string]string{"path": j.last.URL.EscapedPath(), "query": j.last.URL.RawQuery, "header": j.last.Header.Get("p"), "cookie": j.last.Header.Get("Cookie")}[c.in]
		if got != c.wire {
			t.Errorf("%s: sent %s, want %s", name, got, c.wire)
		}
	}
}

// TestBodies: every kind of body, judged in the same way.
func TestBodies(t *testing.T) {
	j := newJudge(t)
	dir := t.TempDir()
	writeFile(t, dir, "cat.png", "\x89PNG\r\n\x1a\n picture")
	env := granted(t, newEnv(t, nil), dir)
	body := func(media, schema string) string {
		return `,"requestBody":{"required":true,"content":{` + string(jsontext.Quote(media)) + `:` + schema + `}}`
	}
	object := `{"schema":{"type":"object","required":["name"],"properties":{"name":{"type":"string","enum":["a&b=c é"]},"n":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}}}}}`
	for name, c := range map[string]struct{ rest, input, media, wire string }{
		"json":              {body("application/json", object), `{"name":"a&b=c é","n":12345678901234567890,"tags":["x"]}`, "application/json", `{"n":12345678901234567890,"name":"a&b=c é","tags":["x"]}`},
		"json of a version": {body("application/vnd.x+json", object), `{"name":"a&b=c é"}`, "application/vnd.x+json", `{"name":"a&b=c é"}`},
		"form":              {body("application/x-www-form-urlencoded", object), `{"name":"a&b=c é","n":3,"tags":["x","y z"]}`, "application/x-www-form-urlencoded", "n=3&name=a%26b%3Dc%20%C3%A9&tags=x&tags=y%20z"},
		"form, deep": {body("application/x-www-form-urlencoded", `{"schema":{"type":"object","properties":{"card":{"type":"object","properties":{"no":{"type":"string"}}}}},"encoding":{"card":{"style":"deepObject","explode":true}}}`),
			`{"card":{"no":"4 2"}}`, "application/x-www-form-urlencoded", "card%5Bno%5D=4%202"},
		"root array":   {body("application/json", `{"schema":{"type":"array","items":{"type":"integer"},"enum":[[1,2]]}}`), `{"body":[1,2]}`, "application/json", "[1,2]"},
		"root number":  {body("application/json", `{"schema":{"type":"integer","enum":[7]}}`), `{"body":7}`, "application/json", "7"},
		"root string":  {body("application/json", `{"schema":{"type":"string"}}`), `{"body":"x\"y"}`, "application/json", `"x\"y"`},
		"text":         {body("text/plain", `{"schema":{"type":"string"}}`), `{"body":"a\nb"}`, "text/plain", "a\nb"},
		"a map":        {body("application/json", `{"schema":{"type":"object","additionalProperties":{"type":"integer"}}}`), `{"body":{"k":1}}`, "application/json", `{"k":1}`},
		"one of":       {body("application/json", `{"schema":{"oneOf":[{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}},{"type":"array","items":{}}]}}`), `{"body":{"a":"b"}}`, "application/json", `{"a":"b"}`},
		"all of":       {body("application/json", `{"schema":{"allOf":[{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"integer"}}}]}}`), `{"a":"x","b":1}`, "application/json", `{"a":"x","b":1}`},
		"null":         {body("application/json", `{"schema":{"type":"object","properties":{"a":{"type":"string","nullable":true}}}}`), `{"a":null}`, "application/json", `{"a":null}`},
		"clash":        {`,"parameters":[{"name":"name","in":"query","schema":{"type":"string"}}]` + body("application/json", object), `{"query":{"name":"q"},"body":{"name":"a&b=c é"}}`, "application/json", `{"name":"a&b=c é"}`},
		"a body clash": {`,"parameters":[{"name":"body","in":"query","schema":{"type":"string"}}]` + body("application/json", `{"schema":{"type":"array","items":{}}}`), `{"query":{"body":"q"},"body":[1]}`, "application/json", `[1]`},
		"octets":       {body("application/octet-stream", `{"schema":{"type":"string","format":"binary"}}`), `{"body":"cat.png"}`, "application/octet-stream", "\x89PNG\r\n\x1a\n picture"},
		"nothing":      {body("application/json", `{"schema":{"type":"object","properties":{"a":{"type":"string"}}}}`), `{}`, "application/json", `{}`},
		"optional":     {`,"requestBody":{"content":{"application/json":{"schema":{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}}}}`, `{}`, "", ""},
	} {
		j.doc = oneOp(j.URL, "post", "/x", c.rest)
		b := newBox(t, j.doc, Config{})
		r, err := use(t, b, env, "op", c.input)
		if err != nil || r.Failed {
			t.Errorf("%s: %v %v (sent %q)", name, err, r, j.body)
			continue
		}
		if got := j.last.Header.Get("Content-Type"); got != c.media || j.body != c.wire {
			t.Errorf("%s: sent %s %q, want %s %q", name, got, j.body, c.media, c.wire)
		}
	}
}

// TestMultipart: files come from granted directories, and from nowhere else.
func TestMultipart(t *testing.T) {
	j := newJudge(t)
	dir := t.TempDir()
	writeFile(t, dir, "cat.png", "\x89PNG\r\n\x1a\n picture")
	env := granted(t, newEnv(t, nil), dir)
	j.doc = oneOp(j.URL, "post", "/x", `,"requestBody":{"required":true,"content":{"multipart/form-data":{"schema":{"type":"object","required":["file"],"properties":{
		"file":{"type":"string","format":"binary"},"more":{"type":"array","items":{"type":"string","format":"binary"}},"title":{"type":"string"},"meta":{"type":"object","properties":{"a":{"type":"integer"}}}}}}}}`)
	b := newBox(t, j.doc, Config{})
	mustUse(t, b, env, "op", `{"file":"cat.png","more":["cat.png","cat.png"],"title":"a \"b\"\r\nc","meta":{"a":1}}`)
	for _, want := range []string{`name="file"; filename="cat.png"`, "Content-Type: image/png", "\x89PNG\r\n\x1a\n picture", "Content-Type: application/json\r\n\r\n{\"a\":1}", "\r\n\r\na \"b\"\r\nc\r\n"} {
		if !strings.Contains(j.body, want) {
			t.Errorf("%q is not in %q", want, j.body)
		}
	}
	if n := strings.Count(j.body, `name="more"`); n != 2 {
		t.Errorf("%d parts", n)
	}
	for _, bad := range []string{`"../secret"`, `"/etc/passwd"`, `"missing"`, `7`, `""`} {
		if r, err := use(t, b, env, "op", `{"file":`+bad+`}`); err == nil {
			t.Errorf("%s was sent: %v", bad, r)
		}
	}
	if _, err := use(t, b, newEnv(t, nil), "op", `{"file":"cat.png"}`); err == nil || !strings.Contains(err.Error(), "grant.read") {
		t.Errorf("without a directory: %v", err)
	}
}
