package market

import (
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/wording"
)

// FuzzReaders gives one text to every reader. Whatever it is, none breaks, and what comes
// out has a name that can be that of a folder or a server, and texts that steer no terminal.
func FuzzReaders(f *testing.F) {
	f.Add(mcpPageOf("x", pdfServer))
	f.Add(`{"items":[{"name":"a","version":"1","checksum":"00","created_at":"2"}],"skills":[{"name":"a","type":"archive","url":"../x.zip","digest":"sha256:0"}]}`)
	f.Add(`{"results":[{"slug":"a","displayName":"b","author":{"name":"c"}}],"plugins":[{"name":"p","source":{"source":"github","repo":"o/r"}},{"name":"q","source":"./x"}]}`)
	f.Add(`{"toolcrib_index":1,"serial":2,"items":[{"name":"a","kind":"skill","file":"a.zip","digest":"sha256:` + sum("x") + `"}]}`)
	f.Add(`{"servers":[{"server":{"name":"a.b/c","remotes":[{"type":"sse","url":"https://x"}]}}]}`)
	f.Add("{\"items\":[{\"name\":\"a\",\"description\":\"\x1b[2J\u202e\"}]}")
	m := &Market{words: sync.OnceValue(wording.New)}
	w := &web{base: &url.URL{Scheme: "https", Host: "x.example"}}
	f.Fuzz(func(t *testing.T, text string) {
		body := []byte(text)
		var lists []listing
		add := func(l listing, err error) {
			if err == nil {
				lists = append(lists, l)
			}
		}
		add(readAgx(body, mostEach))
		add(readClaw(body))
		add((&wellKnown{w}).read(body))
		add((&claude{repo: "https://github.com/o/r.git"}).read(body, ""))
		var l listing
		_, err := readMCP(body, &l)
		add(l, err)
		if in, err := readIndex(body); err == nil {
			var l listing
			for _, item := range in.Items {
				if r, err := (&index{web: w}).result(item); err == nil {
					l.results = append(l.results, *r)
				}
			}
			add(l, nil)
		}
		_, _ = checkSignature(body, body)
		for _, l := range lists {
			for _, r := range m.kept("r", l).results {
				if !IsServerName(r.Name) && bundle.CheckName(r.Name) != nil {
					t.Errorf("%q is a name", r.Name)
				}
				if strings.ContainsAny(r.Name+r.Description+r.Version+r.Author+r.Source, "\x1b\n\x00") {
					t.Errorf("%+v", r)
				}
			}
		}
	})
}

// FuzzUnzip: of whatever archive, exactly the files that have a checksum come out, with
// that checksum, or none do.
func FuzzUnzip(f *testing.F) {
	f.Add([]byte(zipped(f, map[string]string{"SKILL.md": "s", "a/b": "b"})))
	f.Add([]byte(zipped(f, map[string]string{"SKILL.md": "evil", "a/b": "b", "../x": "x"})))
	f.Add([]byte("PK\x03\x04"))
	sums := map[string]string{"SKILL.md": "sha256:" + sum("s"), "a/b": "sha256:" + sum("b")}
	f.Fuzz(func(t *testing.T, body []byte) {
		files, _, err := unzip(body, sums)
		if err == nil && (len(files) != 2 || string(files["SKILL.md"]) != "s" || string(files["a/b"]) != "b") {
			t.Errorf("%q", files)
		}
	})
}
