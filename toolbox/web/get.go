package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// answer is what a server sent, as much of it as was read.
type answer struct {
	url       *url.URL // where it came from in the end
	redirects []string // every address on the way there, if it was sent on
	status    int
	mediaType string // in lower case; told by the content if the server does not
	charset   string // as declared
	header    http.Header
	body      []byte
	cut       string // why there is no more of it; empty: it is whole
	next      string // where it sends its readers on to, at another host; not followed
}

// fetch sends a request and reads the answer within the bounds. With home it
// stays at the host of the request: rules, questions and the guard on flows
// were about that one, so whoever wants to go on to another asks for it anew.
func (b box) fetch(ctx context.Context, env *toolcrib.Env, req *http.Request, home bool) (*answer, error) {
	if env == nil || env.HTTP == nil {
		return nil, notGranted(req.URL.String())
	}
	ctx, cancel := context.WithTimeoutCause(ctx, b.cfg.Timeout, errSlow)
	defer cancel()
	req = req.WithContext(ctx)
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", b.cfg.UserAgent)
	}
	a := &answer{}
	client := *env.HTTP // a copy: the way is looked at, and judged by what it was granted with
	judge := client.CheckRedirect
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return fmt.Errorf("it was redirected more than %d times", maxRedirects)
		}
		if home && elsewhere(via[0].URL, next.URL) {
			a.next = shown(next.URL)
			return http.ErrUseLastResponse
		}
		if judge != nil {
			if err := judge(next, via); err != nil {
				return err
			}
		}
		a.redirects = append(a.redirects, shown(next.URL))
		return nil
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, b.unreachable(ctx, req, err)
	}
	defer func() { _ = resp.Body.Close() }() // nothing more is wanted of it
	a.url, a.status, a.header = resp.Request.URL, resp.StatusCode, resp.Header
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, fmt.Errorf("the answer of %s is packed as %q, which was not asked for and cannot be read", a.url.Hostname(), text.Clip(line(enc), 40))
	}
	if err := b.read(ctx, a, resp.Body); err != nil {
		return nil, err
	}
	a.media()
	return a, nil
}

const maxRedirects = 10

// elsewhere reports whether a redirect leads to another host or port, or off
// https. From http to https of the same host is the same place.
func elsewhere(from, to *url.URL) bool {
	port, ok := map[string]string{"http": "80", "https": "443"}[to.Scheme]
	if !ok {
		return false // nobody follows it
	}
	host := func(u *url.URL) string { return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") }
	if host(from) != host(to) {
		return true
	}
	if from.Scheme == to.Scheme {
		return cmp.Or(from.Port(), port) != cmp.Or(to.Port(), port)
	}
	return to.Scheme != "https" || cmp.Or(from.Port(), "80") != "80" || cmp.Or(to.Port(), "443") != "443"
}

var errSlow = errors.New("the server took too long")

// unreachable words why there is no answer. A refusal stays one.
func (b box) unreachable(ctx context.Context, req *http.Request, err error) error {
	if refusal, ok := toolcrib.AsError(err); ok {
		return refusal
	}
	host := text.Clip(line(req.URL.Hostname()), 100)
	if errors.Is(context.Cause(ctx), errSlow) {
		return fmt.Errorf("%s did not answer within %v", host, b.cfg.Timeout)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err // it repeats the whole address
	}
	return fmt.Errorf("%s cannot be reached: %s", host, text.Clip(line(err.Error()), 300))
}

// read takes the body until it is whole, too long or too slow. What came
// before it stopped is worth more than nothing.
func (b box) read(ctx context.Context, a *answer, body io.Reader) error {
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(body, int64(b.cfg.MaxBody)+1))
	a.body = buf.Bytes()
	switch {
	case n > int64(b.cfg.MaxBody):
		a.body = a.body[:b.cfg.MaxBody]
		a.cut = fmt.Sprintf("it is longer than %d bytes", b.cfg.MaxBody)
	case err == nil:
	case errors.Is(context.Cause(ctx), errSlow):
		a.cut = fmt.Sprintf("the rest did not come within %v", b.cfg.Timeout)
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		a.cut = "the connection broke: " + text.Clip(line(err.Error()), 200)
	}
	if a.cut != "" && n == 0 {
		return fmt.Errorf("%s sent nothing: %s", text.Clip(line(a.url.Hostname()), 100), a.cut)
	}
	return nil
}

// media finds out what the body is.
func (a *answer) media() {
	kind, params, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err != nil && kind == "" || kind == "application/octet-stream" || kind == "unknown/unknown" {
		kind, params, _ = mime.ParseMediaType(http.DetectContentType(a.body))
		delete(params, "charset") // a guess about it is made better elsewhere
	}
	a.mediaType, a.charset = strings.ToLower(kind), params["charset"]
}

// isHTML reports whether the body is a page to be rendered.
func (a *answer) isHTML() bool {
	return a.mediaType == "text/html" || a.mediaType == "application/xhtml+xml"
}

// isText reports whether the body is something to read.
func (a *answer) isText() bool {
	t := a.mediaType
	switch t {
	case "application/json", "application/xml", "application/javascript", "application/ecmascript", "application/x-javascript", "application/yaml",
		"application/x-yaml", "application/toml", "application/sql", "application/graphql", "application/x-sh", "application/x-ndjson", "application/csv",
		"message/rfc822", "application/x-tex", "application/x-httpd-php", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml")
}

// shown is an address as it is shown: whole, without a password in it, and
// with nothing that cannot be seen.
func shown(u *url.URL) string {
	c := *u
	c.User = nil
	return text.Clip(line(c.String()), maxLink)
}
