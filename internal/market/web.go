package market

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/text"
)

const (
	mostList    = 8 << 20  // bytes of an answer that is a list
	mostContent = 64 << 20 // bytes of a package
	contentTime = 2 * time.Minute
	patience    = 10 * time.Second // the longest that is waited because a registry asks for it
	tries       = 3
)

// web asks one host. It follows redirects within that host only, reads bounded answers,
// and comes back when the host asks it to wait.
type web struct {
	base  *url.URL
	gate  *httpclient.Gate
	needs Needs
	pins  *pins
	key   string // what waiting is remembered by: the address
}

// address reads the address of a registry: https, or http on this machine.
func address(given string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(given))
	switch {
	case err != nil || u.Host == "":
		return nil, errors.New("url: write an address such as https://example.com")
	case u.User != nil || u.Fragment != "":
		return nil, errors.New("url: an address has no password and no # in it")
	case u.Scheme != "https" && (u.Scheme != "http" || !thisMachine(u.Hostname())):
		return nil, errors.New("url: the address is not https; http is for this machine only")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

func thisMachine(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// newWeb makes a client for exactly one host. An address that a person wrote may be a
// private one; of those that come with the program, only public ones are asked.
func (m *Market) newWeb(base *url.URL, builtIn bool) *web {
	host := strings.ToLower(base.Hostname())
	if net.ParseIP(host) == nil && !thisMachine(host) && !builtIn {
		host = "private:" + host
	}
	return &web{base: base, gate: httpclient.NewGate([]string{host}, m.needs.HTTP), needs: m.needs, pins: m.pins, key: base.String()}
}

// at is an address below the base. Parts of a path are escaped, so that none leads elsewhere.
func (w *web) at(query url.Values, parts ...string) *url.URL {
	u := *w.base
	all := []string{strings.TrimRight(u.EscapedPath(), "/")}
	for _, p := range parts {
		if p = url.PathEscape(p); p == "." || p == ".." {
			p = strings.ReplaceAll(p, ".", "%2E")
		}
		all = append(all, p)
	}
	escaped := strings.Join(all, "/")
	u.RawPath = escaped
	if plain, err := url.PathUnescape(escaped); err == nil {
		u.Path = plain
	}
	u.RawQuery = query.Encode()
	return &u
}

// sibling reads an address that an index gives, relative to where the index is. It has to
// be of the same host.
func (w *web) sibling(index *url.URL, ref string) (*url.URL, error) {
	u, err := index.Parse(ref)
	if err != nil || u.User != nil {
		return nil, errors.New("its address cannot be read")
	}
	if !sameOrigin(u, w.base) {
		return nil, fmt.Errorf("it lies at %s, and only %s is asked", shown(u.Host, 100), w.base.Host)
	}
	return u, nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// json asks for a value.
func (w *web) json(ctx context.Context, u *url.URL, into any) error {
	body, err := w.get(ctx, u, "application/json", mostList)
	if err != nil {
		return err
	}
	return decode(body, into)
}

func decode(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(into); err != nil {
		return errors.New("its answer is not what such a registry answers: " + shown(err.Error(), 200))
	}
	return nil
}

// get asks for a text of at most so many bytes.
func (w *web) get(ctx context.Context, u *url.URL, accept string, most int64) ([]byte, error) {
	if until := w.pins.wait(w.key); until.After(w.needs.Now()) {
		return nil, fmt.Errorf("it asked not to be asked before %s", until.UTC().Format(time.RFC3339))
	}
	for try := 1; ; try++ {
		body, pause, err := w.once(ctx, u, accept, most)
		if pause == 0 {
			return body, err
		}
		if pause > patience || try == tries {
			until := w.needs.Now().Add(pause)
			return nil, errors.Join(fmt.Errorf("it asks to wait until %s (%w)", until.UTC().Format(time.RFC3339), err), w.pins.setWait(w.key, until))
		}
		if err := w.needs.Wait(ctx, pause); err != nil {
			return nil, fmt.Errorf("it asks to wait %s, which takes too long", pause)
		}
	}
}

// once asks once. A pause says that it should be asked again after it.
func (w *web) once(ctx context.Context, u *url.URL, accept string, most int64) (body []byte, pause time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, 0, errors.New("its address cannot be asked")
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("User-Agent", "toolcrib")
	client := w.gate.Client()
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		switch {
		case len(via) > 3:
			return errors.New("it sends one from address to address")
		case !sameOrigin(next.URL, w.base):
			return fmt.Errorf("it sends one to %s, and only %s is asked", shown(next.URL.Host, 100), w.base.Host)
		}
		return nil
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, 0, unasked(err)
	}
	defer func() { _ = resp.Body.Close() }() // nothing more is wanted of it
	switch {
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
		return nil, pauseOf(resp.Header, w.needs.Now()), errors.New("it answers " + shown(resp.Status, 80))
	case resp.StatusCode == http.StatusNotFound:
		return nil, 0, ErrNotFound
	case resp.StatusCode != http.StatusOK:
		return nil, 0, errors.New("it answers " + shown(resp.Status, 80))
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, 0, unasked(err)
	case int64(len(body)) > most:
		return nil, 0, fmt.Errorf("its answer is longer than %d MiB", most>>20)
	}
	return body, 0, nil
}

// unasked words why there is no answer, without the address, which its caller knows.
func unasked(err error) error {
	if refused, ok := toolcrib.AsError(err); ok {
		why, _, _ := strings.Cut(refused.Message, "; to allow it")
		return errors.New(text.Clip(why, 400))
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("it did not answer in time")
	}
	return err
}

// pauseOf is how long a registry wants to be left alone: Retry-After as seconds or a date,
// or what ClawHub says instead, seconds or a time. An hour at most counts.
func pauseOf(h http.Header, now time.Time) time.Duration {
	pause := 5 * time.Second
	for _, key := range []string{"Retry-After", "RateLimit-Reset", "X-RateLimit-Reset"} {
		said := strings.TrimSpace(h.Get(key))
		if n, err := strconv.ParseInt(said, 10, 64); err == nil {
			if n > 1_000_000_000 {
				pause = time.Unix(n, 0).Sub(now)
			} else {
				pause = time.Duration(n) * time.Second
			}
			break
		}
		if at, err := http.ParseTime(said); err == nil {
			pause = at.Sub(now)
			break
		}
	}
	return min(max(pause, time.Second), time.Hour)
}

// wait waits, unless the context ends first.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
