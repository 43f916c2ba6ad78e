package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	maxBody   = 1 << 20
	maxHops   = 3
	oneAnswer = 30 * time.Second
)

// errNotThere is metadata that does not lie at one of the places it may lie at.
var errNotThere = errors.New("nothing is there")

// web makes the requests: bounded, and only to where the zone allows.
type web struct {
	client *http.Client
	zone   zone
}

func newWeb(given *http.Client, z zone) *web {
	c := *given // a copy: the given one is not ours to change
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.Jar = nil
	return &web{client: &c, zone: z}
}

// getJSON reads metadata into v. A redirect is followed as far as each place on
// the way would be allowed by itself.
func (w *web) getJSON(ctx context.Context, address string, v any) error {
	for range maxHops + 1 {
		status, header, body, err := w.do(ctx, http.MethodGet, address, http.Header{"Accept": {"application/json"}}, nil)
		switch {
		case err != nil:
			return err
		case status >= 300 && status < 400 && header.Get("Location") != "":
			if address, err = next(address, header.Get("Location")); err != nil {
				return err
			}
			continue
		case status >= 500:
			return fmt.Errorf("%s answered with status %d", hostOf(address), status)
		case status != http.StatusOK || !isJSON(header):
			return errNotThere // a page for people is what many servers send for every path
		}
		if err := json.Unmarshal(body, v); err != nil {
			return fmt.Errorf("the metadata of %s is no JSON of the right form", hostOf(address))
		}
		return nil
	}
	return fmt.Errorf("%s redirects too often", hostOf(address))
}

// post sends a form or JSON. It follows nothing: what it carries is for the one
// it was sent to.
func (w *web) post(ctx context.Context, address string, header http.Header, body []byte) (int, []byte, error) {
	header.Set("Accept", "application/json")
	status, _, answer, err := w.do(ctx, http.MethodPost, address, header, body)
	if err == nil && status >= 300 && status < 400 {
		err = fmt.Errorf("%s redirects a request that carries credentials", hostOf(address))
	}
	return status, answer, err
}

func (w *web) do(ctx context.Context, method, address string, header http.Header, body []byte) (int, http.Header, []byte, error) {
	if _, err := w.zone.check(address); err != nil {
		return 0, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, oneAnswer)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, errors.New("it is no address")
	}
	req.Header = header
	resp, err := w.client.Do(req)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("asking %s: %w", hostOf(address), withoutURL(err))
	}
	defer resp.Body.Close() //nolint:errcheck // it was read; there is nobody to tell
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return 0, nil, nil, fmt.Errorf("reading the answer of %s: %w", hostOf(address), err)
	}
	if len(answer) > maxBody {
		return 0, nil, nil, fmt.Errorf("the answer of %s has more than %d bytes", hostOf(address), maxBody)
	}
	return resp.StatusCode, resp.Header, answer, nil
}

// withoutURL takes the address off an error: its query may carry something.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// next is where a redirect leads. The check of the zone comes with the request.
func next(from, location string) (string, error) {
	base, err := url.Parse(from)
	if err != nil {
		return "", errors.New("it is no address")
	}
	to, err := base.Parse(location)
	if err != nil {
		return "", fmt.Errorf("%s redirects to what is no address", base.Host)
	}
	if base.Scheme == "https" && to.Scheme != "https" {
		return "", fmt.Errorf("%s redirects from https to %s", base.Host, to.Scheme)
	}
	return to.String(), nil
}

func isJSON(h http.Header) bool {
	t, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && (t == "application/json" || strings.HasSuffix(t, "+json"))
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the server"
	}
	return u.Host
}
