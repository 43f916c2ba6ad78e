package upgrade

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// DefaultFrom is where releases are looked for: the newest of the repository
// that the module is named after.
const DefaultFrom = "https://github.com/toolcrib/toolcrib/releases/latest/download"

// source is a directory or an address with the files of one release.
type source struct {
	dir    string
	base   *url.URL
	client *http.Client
}

// openSource reads what a person said: a directory, or an https address. Plain
// http is for this machine only, where nobody listens in.
func openSource(from string) (*source, error) {
	if !strings.Contains(from, "://") {
		dir, err := filepath.Abs(from)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("--from %s: want a directory with the files of a release, or an https address of one", from)
		}
		return &source{dir: dir}, nil
	}
	base, err := url.Parse(strings.TrimSuffix(from, "/"))
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" || !mayAsk(base) {
		return nil, fmt.Errorf("--from %s: want an https address of the files of a release (http only for this machine), or a directory with them", from)
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		ResponseHeaderTimeout: 30 * time.Second,
		TLSHandshakeTimeout:   30 * time.Second,
		DisableCompression:    true,
	}
	return &source{base: base, client: &http.Client{Transport: transport, CheckRedirect: redirect}}, nil
}

// mayAsk: over https everywhere, over http on this machine.
func mayAsk(u *url.URL) bool {
	switch u.Scheme {
	case "https":
		return true
	case "http":
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
			return ip.IsLoopback()
		}
		return u.Hostname() == "localhost"
	}
	return false
}

// redirect follows an address to the same host only. The one exception is where
// releases are: GitHub keeps their files on another host of its own.
func redirect(to *http.Request, before []*http.Request) error {
	from := before[len(before)-1].URL
	same := to.URL.Scheme == from.Scheme && to.URL.Host == from.Host
	github := to.URL.Scheme == "https" && isGitHub(from.Host) && isGitHub(to.URL.Host)
	switch {
	case len(before) > 5:
		return errors.New("it was sent on more than five times")
	case !same && !github:
		return fmt.Errorf("%s sends on to another host (%s), which is not followed. If that is right, say --from with its address", from.Host, to.URL.Host)
	}
	return nil
}

func isGitHub(host string) bool {
	return host == "github.com" || strings.HasSuffix(host, ".githubusercontent.com")
}

// open gives a file of the release and at most so many bytes of it: one that is
// longer ends in an error.
func (s *source) open(ctx context.Context, name string, most int64) (io.ReadCloser, error) {
	if s.dir != "" {
		f, err := plainfile.Open(filepath.Join(s.dir, name))
		if err != nil {
			return nil, fmt.Errorf("getting %s: %w", name, err)
		}
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			_ = f.Close() // nothing was read
			return nil, fmt.Errorf("getting %s: it is not a file", name)
		}
		return bounded(f, name, most), nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base.JoinPath(name).String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := s.client.Do(req)
	if err != nil {
		if _, unreachable := errors.AsType[*net.OpError](err); unreachable {
			return nil, fmt.Errorf("getting %s: %w. Is this machine online? --from takes a directory with the files as well", name, err)
		}
		return nil, fmt.Errorf("getting %s: %w", name, err)
	}
	if res.StatusCode != http.StatusOK || res.ContentLength > most {
		_ = res.Body.Close() // nothing was read
		if res.StatusCode == http.StatusOK {
			return nil, fmt.Errorf("getting %s: it is too large (%d bytes)", name, res.ContentLength)
		}
		return nil, fmt.Errorf("getting %s from %s: %s", name, req.URL.Redacted(), res.Status)
	}
	return bounded(res.Body, name, most), nil
}

// read gives a small file of the release.
func (s *source) read(ctx context.Context, name string, most int64) ([]byte, error) {
	r, err := s.open(ctx, name, most)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("getting %s: %w", name, err)
	}
	return text, nil
}

// boundedReader fails where a file goes on after its limit.
type boundedReader struct {
	io.ReadCloser
	name string
	left int64
}

func bounded(r io.ReadCloser, name string, most int64) *boundedReader {
	return &boundedReader{ReadCloser: r, name: name, left: most}
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("%s is too large", b.name)
	}
	return n, err
}
