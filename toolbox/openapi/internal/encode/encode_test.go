package encode

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/toolbox/openapi/internal/spec"
)

func operation(t testing.TB, doc string) *spec.Operation {
	t.Helper()
	d, err := spec.Parse(spec.Source{Text: []byte(doc)})
	if err != nil {
		t.Fatal(err)
	}
	d.Load(spec.Addressing{Base: "https://x.example"}, nil, nil)
	if len(d.Operations) != 1 {
		t.Fatalf("%v", d.Faults)
	}
	return d.Operations[0]
}

func encoded(t testing.TB, o *spec.Operation, input string) (*Request, error) {
	t.Helper()
	var args map[string]json.RawMessage
	if err := json.Unmarshal([]byte(input), &args); err != nil {
		t.Fatal(err)
	}
	return Encode(o, args, func(string) (File, error) {
		return File{Size: 4, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("file")), nil }}, nil
	})
}

// TestWire: forms that the judge of the other tests does not know.
func TestWire(t *testing.T) {
	param := func(rest string) string {
		return `{"openapi":"3.0.0","paths":{"/x":{"get":{"parameters":[{"name":"p","in":"query",` + rest + `}]}}}}`
	}
	legacy := func(rest string) string {
		return `{"swagger":"2.0","host":"h","paths":{"/x":{"post":{"parameters":[{"name":"p",` + rest + `}]}}}}`
	}
	for name, c := range map[string]struct{ doc, input, query, body string }{
		"content":          {param(`"content":{"application/json":{"schema":{"type":"object"}}}`), `{"p":{"a":[1,"&"]}}`, `p=%7B%22a%22%3A%5B1%2C%22%26%22%5D%7D`, ""},
		"reserved":         {param(`"allowReserved":true,"schema":{}`), `{"p":"a/b?c:d&e=f#g+h%20,[i]"}`, "p=a/b?c:d%26e%3Df%23g%2Bh%2520%2C%5Bi%5D", ""},
		"deep, deeper":     {param(`"style":"deepObject","schema":{}`), `{"p":{"a":{"b":1},"c":[1,2],"d":null}}`, "p%5Ba%5D%5Bb%5D=1&p%5Bc%5D=1&p%5Bc%5D=2", ""},
		"objects in lists": {param(`"schema":{}`), `{"p":[{"a":1}]}`, "p=%7B%22a%22%3A1%7D", ""},
		"spaces, exploded": {param(`"style":"spaceDelimited","explode":true,"schema":{}`), `{"p":["a","b"]}`, "p=a&p=b", ""},
		"an empty text":    {param(`"schema":{}`), `{"p":""}`, "p=", ""},
		"csv":              {legacy(`"in":"query","type":"array","items":{"type":"string"}`), `{"p":["a,b","c"]}`, "p=a%2Cb,c", ""},
		"tabs":             {legacy(`"in":"query","type":"array","items":{"type":"string"},"collectionFormat":"tsv"`), `{"p":["a","b"]}`, "p=a%09b", ""},
		"multi":            {legacy(`"in":"query","type":"array","items":{"type":"string"},"collectionFormat":"multi"`), `{"p":["a","b"]}`, "p=a&p=b", ""},
		"form, csv":        {legacy(`"in":"formData","type":"array","items":{"type":"string"}`), `{"p":["a","b"]}`, "", "p=a,b"},
		"form, multi":      {legacy(`"in":"formData","type":"array","items":{"type":"string"},"collectionFormat":"multi"`), `{"p":["a","b"]}`, "", "p=a&p=b"},
	} {
		r, err := encoded(t, operation(t, c.doc), c.input)
		if err != nil || r.Query != c.query || string(r.Body) != c.body {
			t.Errorf("%s: %v, %q %q", name, err, r.Query, r.Body)
		}
	}
	fixed := operation(t, `{"openapi":"3.0.0","paths":{"/x?Action=List#frag":{"get":{"parameters":[{"name":"p","in":"query","schema":{}}]}}}}`)
	if r, err := encoded(t, fixed, `{"p":1}`); err != nil || r.Path != "/x" || r.Query != "Action=List&p=1" {
		t.Errorf("%v %+v", err, r)
	}
}

// TestSeveral: {+name} takes slashes, and nothing that leads upwards.
func TestSeveral(t *testing.T) {
	o := operation(t, `{"openapi":"3.0.0","paths":{"/v1/{+name}:stop":{"get":{"parameters":[{"name":"name","in":"path","required":true,"schema":{}}]}}}}`)
	if r, err := encoded(t, o, `{"name":"projects/a?b/c"}`); err != nil || r.Path != "/v1/projects/a%3Fb/c:stop" {
		t.Errorf("%+v %v", r, err)
	}
	for _, bad := range []string{`"a/../b"`, `".."`, `"/"`, `"%2e%2e/../x"`} {
		if r, err := encoded(t, o, `{"name":`+bad+`}`); err == nil && (strings.Contains(r.Path, "..") || r.Path == "/v1/:stop") {
			t.Errorf("%s: %s", bad, r.Path)
		}
	}
}

// TestShadow: an object that is sent as parameters of its own does not set those of others.
func TestShadow(t *testing.T) {
	o := operation(t, `{"openapi":"3.0.0","paths":{"/x?Action=List":{"get":{"parameters":[{"name":"p","in":"query","schema":{"type":"object"}},{"name":"q","in":"query","schema":{}}]}}}}`)
	for _, bad := range []string{`{"p":{"Action":"Delete"}}`, `{"p":{"q":1}}`} {
		if r, err := encoded(t, o, bad); err == nil {
			t.Errorf("%s: %s", bad, r.Query)
		}
	}
	if r, err := encoded(t, o, `{"p":{"a":1,"p":2}}`); err != nil || r.Query != "Action=List&a=1&p=2" {
		t.Errorf("%v %v", r, err)
	}
}

// FuzzValues: whatever a value is, it stays in its place.
func FuzzValues(f *testing.F) {
	o := operation(f, `{"openapi":"3.0.0","paths":{"/a/{p}/b":{"post":{"parameters":[{"name":"p","in":"path","required":true,"schema":{}},{"name":"q","in":"query","schema":{}},{"name":"d","in":"query","style":"deepObject","schema":{}},
		{"name":"l","in":"query","explode":false,"allowReserved":true,"schema":{}},{"name":"H","in":"header","schema":{}},{"name":"c","in":"cookie","explode":false,"schema":{}}],
		"requestBody":{"content":{"application/x-www-form-urlencoded":{"schema":{"type":"object","properties":{"f":{}}}}}}}}}}`)
	for _, s := range []string{`"x"`, `"a&b=c"`, `"../.."`, `["a",{"b":"c"}]`, `{"k&":"v="}`, `"a\r\nb: c"`, `"a; b=c"`, `7`, `null`, `[[1]]`, `"\u0000"`, `{"":""}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if !json.Valid([]byte(value)) {
			return
		}
		raw := json.RawMessage(value)
		r, err := Encode(o, map[string]json.RawMessage{"p": raw, "d": raw, "l": raw, "H": raw, "c": raw, "f": raw}, nil)
		if err != nil {
			return
		}
		u, err := url.Parse("https://x.example" + r.Path)
		if err != nil || u.Host != "x.example" || u.RawQuery != "" || u.Fragment != "" {
			t.Fatalf("%s: the path is %q", value, r.Path)
		}
		segments := strings.Split(r.Path, "/")
		if len(segments) != 4 || segments[1] != "a" || segments[3] != "b" || segments[2] == "" {
			t.Fatalf("%s: the path is %q", value, r.Path)
		}
		for _, q := range []string{r.Query, string(r.Body)} {
			for part := range strings.SplitSeq(q, "&") {
				name, _, _ := strings.Cut(part, "=")
				if strings.ContainsAny(part, "# \r\n\x00+") || name != "" && name != "l" && name != "d" && name != "f" && !strings.HasPrefix(name, "d%5B") {
					t.Fatalf("%s: %q", value, q)
				}
			}
		}
		for _, cookie := range r.Cookies {
			if strings.ContainsAny(cookie, "; \r\n\x00\"") {
				t.Fatalf("%s: the cookie is %q", value, cookie)
			}
		}
		if strings.ContainsAny(r.Header.Get("H"), "\r\n\x00") || len(r.Header) > 2 {
			t.Fatalf("%s: the header is %v", value, r.Header)
		}
		req, err := http.NewRequest(http.MethodPost, u.String(), strings.NewReader(string(r.Body)))
		if err != nil || req.URL.Host != "x.example" {
			t.Fatalf("%s: %v", value, err)
		}
	})
}
