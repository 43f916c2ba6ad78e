package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

func askDuckDuckGo(ctx context.Context, endpoint, _ string, in searchIn) (*http.Request, error) {
	req, err := get(ctx, endpoint, url.Values{"q": {in.Query}})
	if err == nil {
		req.Header.Set("Accept", "text/html")
		req.Header.Set("Accept-Language", "en-US,en;q=0.8")
	}
	return req, err
}

// parseDuckDuckGo reads the page for browsers without scripts. A result is a
// link of the class result__a and, after it, an element of the class
// result__snippet; what is advertised has an address of the engine's own.
func parseDuckDuckGo(a *answer) ([]result, error) {
	text, _, err := decode(a.body, a.charset, true)
	if err != nil {
		return nil, err
	}
	p := resultPage{z: newTokenizer(strings.NewReader(text))}
	p.read()
	switch {
	case len(p.list) > 0:
		return p.list, nil
	case p.robot || a.status == http.StatusAccepted:
		return nil, errors.New("it wants to see that a person is searching; try again later, or set up another search engine")
	case p.none:
		return nil, nil
	case a.cut != "":
		return nil, errors.New("its page was not read to its end: " + a.cut)
	}
	return nil, errors.New("its page has no results in the form known here")
}

type resultPage struct {
	z     tokenizer
	list  []result
	none  bool // it says that there is nothing
	robot bool // it asks for proof of a person
	ad    bool // what follows belongs to an advertisement
}

func (p *resultPage) read() {
	for {
		t, ok := p.z.next()
		if !ok {
			return
		}
		if t.kind != startToken {
			continue
		}
		switch {
		case t.hasClass("result__a"):
			target := target(t.value("href"))
			p.ad = target == ""
			if title := p.content(t.name); !p.ad {
				p.list = append(p.list, result{Title: title, URL: target})
			}
		case t.hasClass("result__snippet") && len(p.list) > 0 && !p.ad:
			if last := &p.list[len(p.list)-1]; last.Snippet == "" {
				last.Snippet = p.content(t.name)
			}
		case t.hasClass("no-results") || t.hasClass("result--no-result"):
			p.none = true
		case t.hasClass("anomaly-modal__title") || t.hasClass("anomaly-modal") || t.value("id") == "challenge-form":
			p.robot = true
		}
	}
}

// content is the text up to the end of the element that was just opened.
func (p *resultPage) content(name string) string {
	var b strings.Builder
	for depth := 1; depth > 0; {
		t, ok := p.z.next()
		if !ok {
			break
		}
		switch {
		case t.kind == textToken && b.Len() < 4*maxSnippet:
			b.WriteString(t.text)
		case t.kind == startToken && t.name == name:
			depth++
		case t.kind == endToken && t.name == name:
			depth--
		}
	}
	return b.String()
}

// target is where a link of the engine leads in the end; empty if that is an
// advertisement or nowhere.
func target(href string) string {
	u, err := url.Parse(strings.TrimSpace(href))
	if err != nil {
		return ""
	}
	if host := u.Hostname(); host == "duckduckgo.com" || strings.HasSuffix(host, ".duckduckgo.com") || host == "" {
		if to := u.Query().Get("uddg"); to != "" && u.Path == "/l/" {
			return target(to)
		}
		if host == "" || u.Path == "/y.js" {
			return ""
		}
	}
	if u.Scheme == "" {
		u.Scheme = "https" // the engine leaves it out
	}
	return u.String()
}
