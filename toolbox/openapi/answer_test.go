package openapi

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

func TestAnswers(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		set := func(kind, body string) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(body))
		}
		switch r.URL.Query().Get("q") {
		case "object":
			set("application/json", `{"a":[1,2,{"b":"c"}]}`)
		case "list":
			set("application/json; charset=utf-8", ` [1, 2] `)
		case "problem":
			w.Header().Set("Content-Type", "application/problem+json")
			w.Header().Set("Retry-After", "100")
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{ "title": "slow down" }`))
		case "text":
			set("text/plain", "hello")
		case "sniffed":
			set("text/plain", `{"a":1}`)
		case "empty":
			w.WriteHeader(http.StatusNoContent)
		case "made":
			w.Header().Set("Location", "/x/7")
			w.Header().Set("Link", `</x?page=2>; rel="next"`)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"id":7}`))
		case "image":
			set("image/png", "\x89PNG")
		case "bytes":
			w.Header().Set("Content-Disposition", `attachment; filename="../../x.zip"`)
			set("application/zip", "PK\x00\xff")
		case "broken":
			set("application/json", `{"a":`)
		case "twice":
			set("application/json", `{"a":1,"a":2}`)
		case "html":
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte("<h1>oops</h1>"))
		case "latin":
			set("text/plain; charset=iso-8859-1", "caf\xe9")
		}
	})
	b := newBox(t, oneOp(s.URL, "get", "/x", `,"parameters":[{"name":"q","in":"query","schema":{"type":"string"}}]`), Config{})
	env := newEnv(t, nil)
	get := func(q, cut string) *toolcrib.Result {
		input := fmt.Sprintf(`{"q":%q}`, q)
		if cut != "" {
			input = fmt.Sprintf(`{"q":%q,"_select":%q}`, q, cut)
		}
		r, err := use(t, b, env, "op", input)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		return r
	}
	for q, want := range map[string]string{
		"object": `{"a":[1,2,{"b":"c"}]}`, "list": `{"result":[1, 2]}`, "text": "hello", "sniffed": `{"a":1}`, "empty": "204 No Content, with an empty answer.",
		"made":   "{\"id\":7}\nLink: </x?page=2>; rel=\"next\"\nLocation: /x/7",
		"broken": `{"a":`, "twice": `{"a":1,"a":2}`,
	} {
		if r := get(q, ""); r.Failed || r.String() != want {
			t.Errorf("%s: %q, want %q", q, r.String(), want)
		}
	}
	for q, want := range map[string]string{
		"problem": "The API answered 429 Too Many Requests.\nRetry-After: 100\nX-Ratelimit-Remaining: 0\n\n{\"title\":\"slow down\"}",
		"html":    "The API answered 500 Internal Server Error.\n\n<h1>oops</h1>",
	} {
		if r := get(q, ""); !r.Failed || r.String() != want {
			t.Errorf("%s: %q, want %q", q, r.String(), want)
		}
	}
	if r := get("image", ""); r.Content[0].Type != "image" || r.Content[0].MIME != "image/png" || string(r.Content[0].Data) != "\x89PNG" {
		t.Errorf("image: %+v", r)
	}
	if r := get("bytes", ""); r.Content[0].Type != "resource" || r.Content[0].Name != "x.zip" || !strings.HasSuffix(r.Content[0].URI, "/x") {
		t.Errorf("bytes: %+v", r)
	}
	if r := get("latin", ""); r.Content[0].Type != "resource" {
		t.Errorf("latin: %+v", r)
	}
	if r := get("object", ".a[2].b"); string(r.Value) != `{"selected":"c"}` {
		t.Errorf("select: %s", r.Value)
	}
	if r := get("object", "{n: .a[0]}"); string(r.Value) != `{"selected":{"n":1}}` {
		t.Errorf("select of an object: %s", r.Value)
	}
	if r := get("object", ".a.b"); !r.Failed || !strings.Contains(r.String(), "does not fit") {
		t.Errorf("select that does not fit: %v", r)
	}
	if _, err := use(t, b, env, "op", `{"_select":"env"}`); toolcrib.CodeOf(err) != toolcrib.CodeInvalid {
		t.Errorf("select of more: %v", err)
	}
}

// TestSelectName: an API that has such a parameter keeps it.
func TestSelectName(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"q":%q}`, r.URL.RawQuery)
	})
	b := newBox(t, oneOp(s.URL, "get", "/x", `,"parameters":[{"name":"_select","in":"query","schema":{"type":"string"}}]`), Config{})
	if r := mustUse(t, b, newEnv(t, nil), "op", `{"_select":"z","_select_":".q"}`); string(r.Value) != `{"selected":"_select=z"}` {
		t.Errorf("%s", r.Value)
	}
}

// TestAnswersOtherwise: an API that breaks its document is told once, and never refused.
func TestAnswersOtherwise(t *testing.T) {
	var n atomic.Int32
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if n.Add(1) == 1 {
			_, _ = w.Write([]byte(`{"id":1,"more":true}`))
			return
		}
		_, _ = w.Write([]byte(`{"id":"seven"}`))
	})
	doc := strings.Replace(oneOp(s.URL, "get", "/x", ""), `"description":"ok"`,
		`"description":"ok","content":{"application/json":{"schema":{"type":"object","required":["name"],"properties":{"id":{"type":"integer"},"name":{"type":"string"}},"additionalProperties":false}}}`, 1)
	var log bytes.Buffer
	b, err := Open(t.Context(), Config{Name: "api"}, Needs{Document: []byte(doc), Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	env := newEnv(t, nil)
	if r := mustUse(t, b, env, "op", `{}`); string(r.Value) != `{"id":1,"more":true}` || log.Len() > 0 {
		t.Errorf("%s %s", r.Value, log.String())
	}
	for range 3 {
		if r := mustUse(t, b, env, "op", `{}`); string(r.Value) != `{"answer":{"id":"seven"}}` {
			t.Errorf("%s", r.Value)
		}
	}
	if strings.Count(log.String(), "otherwise") != 1 || strings.Contains(log.String(), "seven") {
		t.Errorf("told: %s", log.String())
	}
}

func TestSave(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		_, _ = w.Write([]byte("PK"))
	})
	doc := strings.Replace(oneOp(s.URL, "get", "/x", ""), `"description":"ok"`, `"description":"ok","content":{"application/zip":{"schema":{"type":"string","format":"binary"}}}`, 1)
	if b := newBox(t, doc, Config{}); strings.Contains(string(b.tools[0].Input), "_save_to") || b.tools[0].Effects != toolcrib.Reads|toolcrib.Network {
		t.Errorf("without Save: %s %s", b.tools[0].Input, b.tools[0].Effects)
	}
	b := newBox(t, doc, Config{Save: true})
	if b.tools[0].Effects&toolcrib.Writes == 0 {
		t.Error("it does not declare to write")
	}
	dir := t.TempDir()
	env := granted(t, newEnv(t, nil), dir)
	mustUse(t, b, env, "op", `{"_save_to":"sub/x.zip"}`)
	if got, err := os.ReadFile(filepath.Join(dir, "sub", "x.zip")); err != nil || string(got) != "PK" {
		t.Errorf("%q %v", got, err)
	}
	for _, bad := range []string{"../x.zip", "/tmp/x.zip", ".env"} {
		if r, err := use(t, b, env, "op", `{"_save_to":"`+bad+`"}`); err == nil {
			t.Errorf("%s was written: %v", bad, r)
		}
	}
}

// TestComesBack: what changes nothing more is tried again when the server says when.
func TestComesBack(t *testing.T) {
	var n atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) < 3 {
			if r.URL.Query().Get("when") != "" {
				w.Header().Set("Retry-After", r.URL.Query().Get("when"))
			}
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	param := `,"parameters":[{"name":"when","in":"query","schema":{"type":"string"}}]`
	for _, c := range []struct {
		method, when string
		tries        int32
	}{{"get", "0", 3}, {"put", "0", 3}, {"post", "0", 1}, {"get", "", 1}, {"get", "3600", 1}, {"get", "soon", 1}, {"delete", "Mon, 02 Jan 2006 15:04:05 GMT", 3}} {
		n.Store(0)
		b := newBox(t, oneOp(s.URL, c.method, "/x", param), Config{})
		if _, err := use(t, b, newEnv(t, nil), "op", `{"when":"`+c.when+`"}`); err != nil || n.Load() != c.tries {
			t.Errorf("%+v: %v after %d tries", c, err, n.Load())
		}
	}
}

// TestHostileServers: whatever a server does, a call ends and is bounded.
func TestHostileServers(t *testing.T) {
	stop := make(chan struct{})
	metadata := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed to where it may not go") })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("q") {
		case "drip":
			for range 1000 {
				_, _ = w.Write([]byte(" "))
				w.(http.Flusher).Flush()
				select {
				case <-stop:
					return
				case <-r.Context().Done():
					return
				case <-time.After(10 * time.Millisecond):
				}
			}
		case "endless":
			chunk := bytes.Repeat([]byte("x"), 1<<16)
			for {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		case "endless json":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("["))
			for {
				if _, err := w.Write([]byte("[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],")); err != nil {
					return
				}
			}
		case "metadata":
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
		case "localhost":
			http.Redirect(w, r, strings.Replace(metadata.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
		case "file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "circle":
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
		case "length":
			w.Header().Set("Content-Length", "1000")
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"a":1}`))
		case "bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			zeros := make([]byte, 1<<20)
			for range 64 {
				_, _ = z.Write(zeros)
			}
			_ = z.Close()
		case "deep":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)))
		case "header":
			for i := range 1000 {
				w.Header().Add("Link", fmt.Sprintf("<%d>; rel=\"next\"", i))
				w.Header().Add(fmt.Sprintf("X-RateLimit-%d", i), strings.Repeat("x", 100))
			}
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	t.Cleanup(func() { close(stop) })
	b := newBox(t, oneOp(s.URL, "get", "/x", `,"parameters":[{"name":"q","in":"query","schema":{"type":"string"}}]`), Config{MaxBody: 1 << 20, MaxRead: 2 << 20, Timeout: time.Second})
	env := newEnv(t, nil)
	for _, q := range []string{"drip", "endless", "endless json", "metadata", "localhost", "file", "circle", "length", "bomb", "deep", "header"} {
		for _, cut := range []string{"", `,"_select":".a"`} {
			start := time.Now()
			r, err := use(t, b, env, "op", `{"q":"`+q+`"`+cut+`}`)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%s took %v", q, took)
			}
			if err == nil && len(r.String()) > 2<<20 {
				t.Errorf("%s gave %d bytes", q, len(r.String()))
			}
			switch q {
			case "metadata", "localhost":
				if toolcrib.CodeOf(err) != toolcrib.CodeDenied {
					t.Errorf("%s: %v %v", q, r, err)
				}
			case "endless json", "circle", "length":
				if err == nil && !r.Failed {
					t.Errorf("%s: %.100s", q, r)
				}
			}
		}
	}
}
