package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/httpclient"
)

func fetchPage(t testing.TB, cfg Config, in fetchIn) (fetchOut, string, error) {
	t.Helper()
	return call[fetchOut](t, tools(t, cfg)["web_fetch"], local(t), in)
}

// site is a few pages of every kind.
func site(w http.ResponseWriter, r *http.Request) {
	send := func(kind, body string) {
		w.Header()["Content-Type"] = nil
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		_, _ = w.Write([]byte(body))
	}
	switch r.URL.Path {
	case "/page":
		send("text/html; charset=utf-8", "<title>T</title><main><h1>H</h1><p>see <a href=other>it</a></main>")
	case "/other":
		send("text/plain", "plain\r\ntext \x1b[1m")
	case "/json":
		send("application/ld+json", `{"a":[1]}`)
	case "/sniffed":
		send("", "<!doctype html><p>found out")
	case "/octet":
		send("application/octet-stream", "just text after all")
	case "/image":
		send("image/png", "\x89PNG\r\n\x1a\n0000")
	case "/zip":
		send("application/octet-stream", "PK\x03\x04....")
	case "/russian":
		send("text/html; charset=windows-1251", "<p>\xcf\xf0\xe8\xe2\xe5\xf2")
	case "/japanese":
		send("text/html; charset=shift_jis", "<p>\x83n\x83\x8d\x81[")
	case "/klingon":
		send("text/html; charset=x-klingon", "<p>\x83n\x83\x8d\x81[")
	case "/lies":
		send("text/html; charset=utf-8", "<p>caf\xe9")
	case "/wrongtype":
		send("text/html", "\x00\x01\x02\x03binary\xff\xfe")
	case "/broken-type":
		send("text/html; charset", "<p>x")
	case "/teapot":
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("<p>short and stout"))
	case "/empty":
		w.WriteHeader(http.StatusNoContent)
	case "/hop":
		http.Redirect(w, r, "/hop2?x=1", http.StatusMovedPermanently)
	case "/hop2":
		http.Redirect(w, r, "/other", http.StatusFound)
	case "/loop":
		http.Redirect(w, r, "/loop", http.StatusFound)
	case "/todata":
		w.Header().Set("Location", "data:text/html,<p>x")
		w.WriteHeader(http.StatusFound)
	case "/tofile":
		w.Header().Set("Location", "file:///etc/passwd")
		w.WriteHeader(http.StatusFound)
	case "/refresh":
		send("text/html", `<meta http-equiv=refresh content="0;url=/other"><p>moving`)
	case "/brotli":
		w.Header().Set("Content-Encoding", "br")
		send("text/html", "xxxx")
	case "/headers":
		send("text/plain", r.Method+" "+r.URL.RequestURI()+" "+r.UserAgent()+" "+r.Header.Get("Cookie")+r.Header.Get("Authorization"))
	default:
		http.NotFound(w, r)
	}
}

func TestFetch(t *testing.T) {
	home := serve(t, site)
	for _, c := range []struct {
		path   string
		want   fetchOut
		failed string
	}{
		{"/page#part", fetchOut{URL: home + "/page", Status: 200, ContentType: "text/html", Charset: "utf-8", Title: "T", Text: "# H\n\nsee [it](" + home + "/other)"}, ""},
		{"/other", fetchOut{URL: home + "/other", Status: 200, ContentType: "text/plain", Charset: "utf-8", Text: "plain\ntext [1m"}, ""},
		{"/json", fetchOut{URL: home + "/json", Status: 200, ContentType: "application/ld+json", Charset: "utf-8", Text: `{"a":[1]}`}, ""},
		{"/sniffed", fetchOut{URL: home + "/sniffed", Status: 200, ContentType: "text/html", Charset: "utf-8", Text: "found out"}, ""},
		{"/octet", fetchOut{URL: home + "/octet", Status: 200, ContentType: "text/plain", Charset: "utf-8", Text: "just text after all"}, ""},
		{"/image", fetchOut{URL: home + "/image", Status: 200, ContentType: "image/png"}, "it is image/png, 12 bytes, and no text that could be read"},
		{"/zip", fetchOut{URL: home + "/zip", Status: 200, ContentType: "application/zip"}, "it is application/zip, 8 bytes, and no text that could be read"},
		{"/russian", fetchOut{URL: home + "/russian", Status: 200, ContentType: "text/html", Charset: "windows-1251", Text: "Привет"}, ""},
		{"/japanese", fetchOut{URL: home + "/japanese", Status: 200, ContentType: "text/html", Charset: "shift_jis", Text: "ハロー"}, ""},
		{"/klingon", fetchOut{URL: home + "/klingon", Status: 200, ContentType: "text/html"}, `the page is written in "x-klingon", a character set that cannot be read here; look for a version of it in UTF-8`},
		{"/lies", fetchOut{URL: home + "/lies", Status: 200, ContentType: "text/html", Charset: "utf-8", Text: "caf\ufffd"}, ""},
		{"/wrongtype", fetchOut{URL: home + "/wrongtype", Status: 200, ContentType: "text/html", Charset: "windows-1252", Text: "binaryÿþ"}, ""},
		{"/broken-type", fetchOut{URL: home + "/broken-type", Status: 200, ContentType: "text/html", Charset: "utf-8", Text: "x"}, ""},
		{"/teapot", fetchOut{URL: home + "/teapot", Status: 418, ContentType: "text/html", Charset: "utf-8", Text: "short and stout"}, "the server answered 418 I'm a teapot"},
		{"/nowhere", fetchOut{URL: home + "/nowhere", Status: 404, ContentType: "text/plain", Charset: "utf-8", Text: "404 page not found\n"}, "the server answered 404 Not Found"},
		{"/empty", fetchOut{URL: home + "/empty", Status: 204, ContentType: "text/plain", Charset: "utf-8"}, ""},
		{"/hop", fetchOut{URL: home + "/other", Redirects: []string{home + "/hop2?x=1", home + "/other"}, Status: 200, ContentType: "text/plain", Charset: "utf-8", Text: "plain\ntext [1m"}, ""},
		{"/loop", fetchOut{}, "127.0.0.1 cannot be reached: it was redirected more than 10 times"},
		{"/refresh", fetchOut{URL: home + "/refresh", Refresh: home + "/other", Status: 200, ContentType: "text/html", Charset: "utf-8", Text: "moving"}, ""},
		{"/brotli", fetchOut{}, `the answer of 127.0.0.1 is packed as "br", which was not asked for and cannot be read`},
	} {
		got, failed, err := fetchPage(t, Config{}, fetchIn{URL: home + c.path})
		if diff := cmp.Diff(c.want, got); diff != "" || failed != c.failed || err != nil {
			t.Errorf("%s: failed %q, %v\n%s", c.path, failed, err, diff)
		}
	}
	got, _, err := fetchPage(t, Config{UserAgent: "me/1"}, fetchIn{URL: " " + home + "/headers?q=a%20b "})
	if err != nil || got.Text != "GET /headers?q=a%20b me/1 " {
		t.Errorf("the request was %q, %v", got.Text, err)
	}
}

func TestFetchRefuses(t *testing.T) {
	home := serve(t, site)
	for url, want := range map[string]string{
		"data:text/html,<p>x":    "not those of data",
		"file:///etc/passwd":     "not those of file",
		"javascript:alert(1)":    "not those of javascript",
		"example.com":            "lacks http://",
		"https://":               "names no host",
		"http://a b/":            "is not an address",
		"http://a\u202e.example": "is not an address",
		"http://a.example/\x1b":  "is not an address",
		"%":                      "is not an address",
	} {
		_, failed, err := fetchPage(t, Config{}, fetchIn{URL: url})
		if err != nil || !strings.Contains(failed, want) {
			t.Errorf("%q: %q, %v", url, failed, err)
		}
	}
	for _, path := range []string{"/todata", "/tofile"} {
		_, _, err := fetchPage(t, Config{}, fetchIn{URL: home + path})
		if toolcrib.CodeOf(err) != toolcrib.CodeDenied || !strings.Contains(err.Error(), "only http and https") {
			t.Errorf("%s: %v", path, err)
		}
	}
	_, failed, err := fetchPage(t, Config{}, fetchIn{URL: "http://127.0.0.1:1/"})
	if err != nil || !strings.HasPrefix(failed, "127.0.0.1 cannot be reached: ") {
		t.Errorf("nobody there: %q, %v", failed, err)
	}
}

func TestFetchInParts(t *testing.T) {
	var lines strings.Builder
	for i := range 300 {
		fmt.Fprintf(&lines, "line %d of the long täxt\n", i)
	}
	home := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte(lines.String()))
	})
	for _, limit := range []int{1, 2, 100, 1000, 1 << 20} {
		whole, offset := "", 0
		for parts := 0; ; parts++ {
			got, failed, err := fetchPage(t, Config{MaxText: limit}, fetchIn{URL: home, Offset: offset})
			if err != nil || failed != "" || parts > 20_000 {
				t.Fatal(failed, err)
			}
			if len(got.Text) > max(limit, 2) || got.Truncated != (got.NextOffset > 0) {
				t.Fatalf("limit %d: %+v", limit, got)
			}
			whole += got.Text
			if offset = got.NextOffset; offset == 0 || limit < 100 && parts > 50 {
				break
			}
		}
		if !strings.HasPrefix(lines.String(), whole) || limit >= 100 && whole != lines.String() {
			t.Errorf("limit %d: the parts are not the whole", limit)
		}
	}
	got, failed, err := fetchPage(t, Config{}, fetchIn{URL: home, Offset: 1 << 20})
	if err != nil || !strings.Contains(failed, "ends before the offset") || got.Text != "" {
		t.Errorf("beyond the end: %+v, %q, %v", got, failed, err)
	}
}

// Servers that want to keep, fill or blow up the reader.
func TestHostileServers(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 128 { // 32 MiB of it, in 32 KiB
		if _, err := z.Write(bytes.Repeat([]byte("<p>boom "), 32<<10)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/endless":
			for chunk := bytes.Repeat([]byte("<p>more and more "), 1000); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		case "/drip":
			for {
				if _, err := w.Write([]byte("drip ")); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				select {
				case <-r.Context().Done():
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		case "/silent":
			<-r.Context().Done()
		case "/silentbody":
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		case "/notgzip":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("this is no gzip"))
		case "/short":
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("<p>half of "))
		case "/attribute":
			_, _ = fmt.Fprintf(w, "<p>before<a href=\"%s\">link</a> after", strings.Repeat("x", 10<<20))
		case "/nested":
			_, _ = fmt.Fprintf(w, "%stext", strings.Repeat("<div>", 1<<20))
		}
	})
	quick, slow := Config{Timeout: 300 * time.Millisecond}, Config{Timeout: time.Minute, MaxBody: 16 << 20}
	for _, c := range []struct {
		path       string
		cfg        Config
		has, note  string
		failed     string
		truncation bool
	}{
		{"/endless", Config{Timeout: time.Minute, MaxBody: 100_000}, "more and more", "longer than 100000 bytes", "", true},
		{"/drip", quick, "drip", "within 300ms", "", true},
		{"/silent", quick, "", "", "did not answer within 300ms", false},
		{"/silentbody", quick, "", "", "sent nothing: the rest did not come", false},
		{"/bomb", Config{Timeout: time.Minute}, "boom", "longer than 4194304 bytes", "", true},
		{"/notgzip", slow, "", "", "sent nothing: the connection broke: gzip: invalid header", false},
		{"/short", slow, "half of", "the connection broke: unexpected EOF", "", true},
		{"/attribute", slow, "before", "", "", false},
		{"/attribute", Config{Timeout: time.Minute}, "before", "longer than", "", true},
		{"/nested", slow, "text", "", "", false},
	} {
		start := time.Now()
		got, failed, err := fetchPage(t, c.cfg, fetchIn{URL: home + c.path})
		if err != nil || !strings.Contains(got.Text, c.has) || !strings.Contains(got.Note, c.note) || !strings.Contains(failed, c.failed) || (failed == "") != (c.failed == "") || got.Truncated != c.truncation {
			t.Errorf("%s: %.100q, note %q, failed %q, %v, truncated %v", c.path, got.Text, got.Note, failed, err, got.Truncated)
		}
		if len(got.Text) > 48<<10 {
			t.Errorf("%s gives %d bytes", c.path, len(got.Text))
		}
		if took := time.Since(start); took > 40*time.Second {
			t.Errorf("%s took %v", c.path, took)
		}
	}
}

// Who called may go away while a server drips.
func TestCallerGoes(t *testing.T) {
	home := serve(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	box := tools(t, Config{})
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Grant: toolcrib.Grant{Hosts: []string{"127.0.0.1"}, Time: 200 * time.Millisecond},
		Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Reads | toolcrib.Network)},
	}
	crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("web", box["web_fetch"])}})
	_, err := toolcrib.Invoke[fetchOut](t.Context(), crib, "web_fetch", fetchIn{URL: home})
	if toolcrib.CodeOf(err) != toolcrib.CodeTimeout {
		t.Errorf("got %v", err)
	}
}

// TestFetchShowsParts: what may be shown of a part is judged with what stands
// around it.
func TestFetchShowsParts(t *testing.T) {
	text := strings.Repeat("x\n", 100_000) + "key=VALUE\n" + strings.Repeat("y\n", 100_000)
	home := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte(text))
	})
	judged := ""
	shown := func(text string, from, to int) (string, error) {
		judged = text
		return text[from:to], nil
	}
	offset := strings.Index(text, "ALUE")
	got, failed, err := fetchPage(t, Config{MaxText: 100, Shown: shown}, fetchIn{URL: home, Offset: offset})
	if err != nil || failed != "" || !strings.HasPrefix(got.Text, "ALUE\ny") || !strings.Contains(judged, "key=VALUE") || len(judged) > 2*around+100 {
		t.Errorf("%+v, %q, %v, judged %d", got, failed, err, len(judged))
	}
}

// A rule about a domain, a question and the guard on flows look at the address
// of the call. So a redirect must not lead to a host that none of them saw,
// even if it is granted.
func TestFetchStaysAtItsHost(t *testing.T) {
	var mu sync.Mutex
	var reached []string
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		reached = append(reached, r.Host)
		mu.Unlock()
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("the page"))
	})
	env := local(t)
	env.HTTP = httpclient.New([]string{"127.0.0.1", "localhost"}, httpclient.Options{})
	t.Cleanup(env.HTTP.CloseIdleConnections)
	other := strings.Replace(home, "127.0.0.1", "localhost", 1) + "/evil"
	for _, to := range []string{other, strings.TrimPrefix(other, "http:"), "/?to=" + other} {
		got, failed, err := call[fetchOut](t, tools(t, Config{})["web_fetch"], env, fetchIn{URL: home + "/?to=" + url.QueryEscape(to)})
		if got.Next != other || got.Text != "" || failed != "" || err != nil {
			t.Errorf("to %s: %+v %q %v", to, got, failed, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, host := range reached {
		if !strings.HasPrefix(host, "127.0.0.1") {
			t.Errorf("%s was reached", host)
		}
	}
}

func TestElsewhere(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"http://a.example/x", "http://a.example/y", false},
		{"http://a.example/x", "https://a.example/x", false},
		{"http://a.example:80/x", "https://A.example.:443/x", false},
		{"https://a.example/x", "https://a.example:443/y", false},
		{"https://a.example/x", "http://a.example/x", true},
		{"http://a.example/", "http://a.example:8080/", true},
		{"http://a.example:8080/", "https://a.example/", true},
		{"http://a.example:8080/", "http://a.example/", true},
		{"https://a.example/", "https://www.a.example/", true},
		{"https://a.example/", "https://a.example@evil.example/", true},
	} {
		from, err := url.Parse(c.from)
		to, err2 := url.Parse(c.to)
		if err != nil || err2 != nil || elsewhere(from, to) != c.want {
			t.Errorf("%s to %s: want %v, %v %v", c.from, c.to, c.want, err, err2)
		}
	}
}
