package openapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/attempts"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/openapi/internal/encode"
)

const (
	maxRedirects = 5
	maxWait      = 20 * time.Second // that a server may ask for before the next attempt
)

// do sends the request, again if the server says when, and reads the answer.
func (c *call) do(ctx context.Context, r *encode.Request) (*toolcrib.Result, error) {
	fresh := false // the token was asked for anew
	for n := 0; ; n++ {
		a, err := c.send(ctx, r)
		if err != nil {
			return nil, err
		}
		if a.status == http.StatusUnauthorized && !fresh {
			fresh = true
			again := c.usesTokens()
			if again {
				c.box.tokens.forget()
			}
			if c.renewLogins(ctx) || again {
				attempts.Again(ctx)
				continue
			}
		}
		wait, again := c.comeBack(ctx, a, n)
		if !again {
			return c.result(ctx, a)
		}
		if !pause(ctx, wait) {
			return nil, ctx.Err()
		}
		attempts.Again(ctx)
	}
}

func (c *call) usesTokens() bool {
	use, _ := c.box.credentials(c.op)
	for _, name := range use {
		if cred := c.box.cfg.Auth[name]; cred.ClientID != "" && !cred.Login {
			return true
		}
	}
	return false
}

// comeBack reports whether and when a request is tried again: only one that changes nothing
// more, and only if the server says when.
func (c *call) comeBack(ctx context.Context, a *answer, n int) (time.Duration, bool) {
	if n >= c.box.cfg.Retries || !repeatable(c.op.Method) || a.status != http.StatusTooManyRequests && a.status != http.StatusServiceUnavailable {
		return 0, false
	}
	wait, ok := retryAfter(a.header.Get("Retry-After"), c.box.needs.Now())
	if !ok || wait > maxWait {
		return 0, false
	}
	if end, limited := ctx.Deadline(); limited && time.Until(end) <= wait {
		return 0, false
	}
	return wait, true
}

// retryAfter reads the header: seconds, or a date.
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < 1e6 {
		return time.Duration(n) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

func pause(ctx context.Context, wait time.Duration) bool {
	clock := time.NewTimer(wait)
	defer clock.Stop()
	select {
	case <-clock.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// answer is what a server sent, as much of it as was read.
type answer struct {
	status int
	header http.Header
	url    *url.URL
	body   []byte
	cut    string // why there is no more of it; empty: it is whole
	saved  int64  // bytes that were written to a file instead
}

var errSlow = errors.New("the server took too long")

// request makes the HTTP request of a call.
func (c *call) request(ctx context.Context, r *encode.Request) (*http.Request, error) {
	address := c.op.Base + r.Path
	u, err := url.Parse(address)
	if err != nil || hostOf(address) != hostOf(c.op.Base) || u.Fragment != "" || u.RawQuery != "" {
		return nil, invalid("the address of the request cannot be made of these arguments")
	}
	u.RawQuery = r.Query
	var body io.Reader
	switch {
	case r.Files != nil && r.Files.Size > 0:
		body = r.Files.Open()
	case r.Files != nil:
		body = http.NoBody // the length 0 would count as not known
	case r.Body != nil:
		body = bytes.NewReader(r.Body)
	}
	req, err := http.NewRequestWithContext(ctx, c.op.Method, u.String(), body)
	if err != nil {
		return nil, invalid("the request cannot be made of these arguments")
	}
	if r.Files != nil && r.Files.Size > 0 {
		req.ContentLength = r.Files.Size
		req.GetBody = func() (io.ReadCloser, error) { return r.Files.Open(), nil }
	}
	for name, value := range c.box.cfg.Headers {
		req.Header.Set(name, value)
	}
	maps.Copy(req.Header, r.Header)
	if len(r.Cookies) > 0 {
		req.Header.Set("Cookie", strings.Join(r.Cookies, "; "))
	}
	req.Header.Set("Accept", c.op.Accept)
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "toolcrib")
	}
	return req, nil
}

// send sends the request once.
func (c *call) send(ctx context.Context, r *encode.Request) (*answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.box.cfg.Timeout, errSlow)
	defer cancel()
	req, err := c.request(ctx, r)
	if err != nil {
		return nil, err
	}
	if c.secrets, err = c.box.authorise(ctx, c.env, c.op, req); err != nil {
		return nil, err
	}
	c.bearer = strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	client := *c.env.web // a copy: redirects are judged by what it was granted with, and by us
	judge := client.CheckRedirect
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return http.ErrUseLastResponse
		}
		// What changes something goes to the server that it was meant for, and nowhere else.
		if !sameOrigin(via[0].URL, next.URL) && via[0].Method != http.MethodGet && via[0].Method != http.MethodHead {
			return http.ErrUseLastResponse
		}
		// A request that was to change something must not turn into one that reads: it would look done.
		if next.Method != via[0].Method && next.Response != nil && next.Response.StatusCode != http.StatusSeeOther {
			return http.ErrUseLastResponse
		}
		if judge != nil {
			return judge(next, via)
		}
		return nil
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, conceal(c.box.named(unreachable(ctx, req, err, c.box.cfg.Timeout)), c.secrets)
	}
	defer func() { _ = resp.Body.Close() }() // nothing more is wanted of it
	a := &answer{status: resp.StatusCode, header: resp.Header, url: resp.Request.URL}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, fmt.Errorf("the answer of %s is packed as %q, which was not asked for and cannot be read", a.url.Hostname(), text.Clip(text.ShowLine(enc), 40))
	}
	if c.saveTo != "" && a.status >= 200 && a.status < 300 && c.op.Method != http.MethodHead {
		return a, c.save(ctx, a, resp.Body)
	}
	err = c.read(ctx, a, resp.Body)
	a.body = hideBytes(a.body, c.secrets)
	return a, err
}

func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Host, b.Host) && a.Scheme == b.Scheme
}

// read takes the body, within the bounds.
func (c *call) read(ctx context.Context, a *answer, body io.Reader) error {
	most := c.box.cfg.MaxBody
	switch {
	case a.status >= 300:
		most = min(most, 256<<10)
	case c.cut != nil:
		most = c.box.cfg.MaxRead
	}
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(body, int64(most)+1))
	a.body = buf.Bytes()
	if n > int64(most) {
		a.body, a.cut = a.body[:most], fmt.Sprintf("it is longer than %d bytes", most)
		return nil
	}
	return c.broken(ctx, a, err)
}

// broken notes why an answer ended early.
func (c *call) broken(ctx context.Context, a *answer, err error) error {
	switch {
	case err == nil:
	case errors.Is(context.Cause(ctx), errSlow):
		a.cut = fmt.Sprintf("the rest did not come within %v", c.box.cfg.Timeout)
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		a.cut = "the connection broke"
	}
	return nil
}

// named says in the refusal of a host which setting has to list it.
func (b *Box) named(err error) error {
	refused, ok := toolcrib.AsError(err)
	if !ok || b.needs.Hosts == "" || !strings.Contains(refused.Message, "grant.hosts") {
		return err
	}
	other := *refused
	other.Message = strings.ReplaceAll(refused.Message, "grant.hosts", b.needs.Hosts)
	return &other
}

// unreachable words why there is no answer. A refusal stays one. The address is left out: its
// query may hold a key.
func unreachable(ctx context.Context, req *http.Request, err error, timeout time.Duration) error {
	if refusal, ok := toolcrib.AsError(err); ok {
		return refusal
	}
	host := text.Clip(text.ShowLine(req.URL.Hostname()), 100)
	if errors.Is(context.Cause(ctx), errSlow) {
		return &toolcrib.Error{Code: toolcrib.CodeTimeout, Message: fmt.Sprintf("%s did not answer within %v", host, timeout)}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err
	}
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: host + " cannot be reached: " + text.Clip(text.ShowLine(err.Error()), 300), Err: err}
}
