package web

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

//go:embed web_fetch.md
var webFetchText string

type fetchIn struct {
	URL    string `json:"url" minlen:"1" maxlen:"4096" doc:"The address, with http:// or https://."`
	Offset int    `json:"offset,omitempty" default:"0" min:"0" max:"4194304" doc:"Where in the text to begin, in bytes: next_offset of the answer before, to read on in a long page."`
}

type fetchOut struct {
	URL         string   `json:"url" doc:"The address the text came from, after redirects."`
	Redirects   []string `json:"redirects,omitempty" doc:"The addresses it was redirected to, in order."`
	Refresh     string   `json:"refresh,omitempty" doc:"Where the page sends its readers on by itself. This was not followed."`
	Next        string   `json:"next,omitempty" doc:"Where the server sends its readers on to, at another host. This was not followed: fetch that address to read it."`
	Status      int      `json:"status" doc:"The HTTP status."`
	ContentType string   `json:"content_type" doc:"What the server sent, such as text/html."`
	Charset     string   `json:"charset,omitempty" doc:"The character set it was read in."`
	Title       string   `json:"title,omitempty" doc:"The title of the page."`
	Text        string   `json:"text" doc:"The readable text: of an HTML page its content as Markdown, anything else as it is."`
	Truncated   bool     `json:"truncated" doc:"Whether there is more than this."`
	NextOffset  int      `json:"next_offset,omitempty" doc:"The offset to read on from, if there is more."`
	Note        string   `json:"note,omitempty" doc:"Why a part is missing, if it cannot be had by reading on."`
}

func (b box) webFetch() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "web_fetch", Title: "Read a web page", Description: webFetchText, Group: "web",
		Effects: toolcrib.Reads | toolcrib.Network, Idempotent: true,
		Timeout: 3 * b.cfg.Timeout, // the answer has its own deadline; this one only catches what hangs beyond it
	}, func(ctx context.Context, env *toolcrib.Env, in fetchIn) (fetchOut, error) {
		u, err := address(in.URL)
		if err != nil {
			return fetchOut{}, err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return fetchOut{}, err
		}
		req.Header.Set("Accept", "text/html,application/xhtml+xml,text/plain;q=0.9,text/markdown;q=0.9,*/*;q=0.5")
		a, err := b.fetch(ctx, env, req, true)
		if err != nil {
			return fetchOut{}, err
		}
		return b.readable(a, in.Offset)
	})
}

// address checks an address that somebody wrote.
func address(given string) (*url.URL, error) {
	given = strings.TrimSpace(given)
	u, err := url.Parse(given)
	if err != nil || plain(given) != given || strings.ContainsAny(given, "\n\t") {
		return nil, fmt.Errorf("%q is not an address: want one such as https://example.com/page", text.Clip(line(given), 100))
	}
	switch {
	case u.Scheme == "":
		return nil, fmt.Errorf("the address %q lacks http:// or https:// before it", text.Clip(line(given), 100))
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("only http and https addresses can be read, not those of %s", text.Clip(line(u.Scheme), 40))
	case u.Host == "":
		return nil, fmt.Errorf("the address %q names no host", text.Clip(line(given), 100))
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// readable turns an answer into text.
func (b box) readable(a *answer, offset int) (fetchOut, error) {
	out := fetchOut{URL: shown(a.url), Redirects: a.redirects, Status: a.status, ContentType: text.Clip(line(a.mediaType), 100)}
	if a.cut != "" {
		out.Truncated, out.Note = true, "the answer was not read to its end: "+a.cut
	}
	if a.next != "" { // the words of a redirect itself are for nobody
		out.Next, out.Note = a.next, "the server redirects to another host, and web_fetch does not follow that: call web_fetch with the address in next to read it"
		return out, nil
	}
	if !a.isText() {
		return out, errors.Join(a.failure(), fmt.Errorf("it is %s, %d bytes, and no text that could be read", out.ContentType, len(a.body)))
	}
	text, charset, err := decode(a.body, a.charset, a.isHTML())
	if err != nil {
		return out, err
	}
	out.Charset = charset
	if a.isHTML() {
		p := readPage(text, a.url)
		text, out.Title, out.Refresh = p.Text, p.Title, p.Refresh
		if p.Cut && out.Note == "" {
			out.Truncated, out.Note = true, "the page is too long to be read to its end"
		}
	} else {
		text = plain(text)
	}
	if err := out.part(text, offset, b.cfg.MaxText, b.cfg.Shown); err != nil {
		return out, err
	}
	if offset > 0 && offset >= len(text) {
		return out, fmt.Errorf("the text ends before the offset %d: it has %d bytes", offset, len(text))
	}
	return out, a.failure()
}

// failure is why a status is no success; nil for one that is.
func (a *answer) failure() error {
	if a.status >= 200 && a.status < 300 {
		return nil
	}
	return fmt.Errorf("the server answered %s", strings.TrimSpace(fmt.Sprintf("%d %s", a.status, http.StatusText(a.status))))
}

// part keeps one piece of a text, at whole letters, and if it can be at the
// end of a line.
func (o *fetchOut) part(text string, offset, limit int, shown func(text string, from, to int) (string, error)) error {
	offset = min(offset, len(text))
	for offset < len(text) && !utf8.RuneStart(text[offset]) {
		offset++
	}
	end := len(text)
	if end-offset > limit {
		end = offset + limit
		for end > offset && !utf8.RuneStart(text[end]) {
			end--
		}
		if i := strings.LastIndexByte(text[offset:end], '\n'); i > limit/2 {
			end = offset + i + 1
		}
		if end == offset { // the limit is less than a letter
			_, n := utf8.DecodeRuneInString(text[offset:])
			end += n
		}
		o.Truncated, o.NextOffset = true, end
	}
	o.Text = text[offset:end]
	if shown == nil {
		return nil
	}
	start := max(0, offset-around)
	text = text[start:min(len(text), end+around)]
	var err error
	o.Text, err = shown(text, offset-start, end-start)
	return err
}

// around is how far around a part is looked for what must not be shown.
const around = 64 << 10
