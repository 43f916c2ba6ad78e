package openapis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/text"
)

const (
	mostDocument = 32 << 20 // bytes of one file
	fetchTime    = time.Minute
)

// source is where a document is.
type source struct {
	inline string
	file   string
	url    *url.URL
}

// readSource says what a text of the settings means.
func readSource(document, config, home string) (source, error) {
	scheme, _, hasScheme := strings.Cut(document, "://")
	switch lower := strings.ToLower(scheme); {
	case strings.TrimSpace(document) == "":
		return source{}, errors.New("document: write a file or an address")
	case strings.ContainsAny(document, "\n{"):
		return source{inline: document}, nil
	case hasScheme && (lower == "http" || lower == "https"):
		u, err := url.Parse(document)
		if err != nil || u.Host == "" {
			return source{}, errors.New("document: this is no address of the form https://host/path")
		}
		if u.User != nil {
			return source{}, errors.New("document: an address with a password in it would be kept and shown; fetch the document to a file and name that")
		}
		u.Fragment = ""
		return source{url: u}, nil
	case hasScheme || strings.HasPrefix(strings.ToLower(document), "file:"):
		return source{}, fmt.Errorf("document: %s is neither http nor https; a file is written as its path", text.ShowLine(text.Clip(document, 80)))
	}
	file := document
	if rest, ok := strings.CutPrefix(file, "~/"); ok && home != "" {
		file = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(config, file)
	}
	return source{file: file}, nil
}

// String is how the source is shown.
func (s source) String() string {
	switch {
	case s.url != nil:
		return s.url.Redacted()
	case s.file != "":
		return s.file
	}
	return "in the settings"
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// siblings reads the files beside a document, and remembers what they held.
type siblings struct {
	dir  string
	sums map[string]string
}

func (s *siblings) read(name string) ([]byte, error) {
	content, err := readBeside(s.dir, name)
	if err == nil {
		s.sums[name] = sumOf(content)
	}
	return content, err
}

// readBeside reads a file of a directory; links do not lead out of it.
func readBeside(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	content, err := readBounded(root, filepath.FromSlash(name))
	return content, errors.Join(err, root.Close())
}

// readBounded reads a plain file of at most the bound.
func readBounded(root *os.Root, name string) ([]byte, error) {
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, func() error {
			if err == nil {
				return fmt.Errorf("%s is no plain file", name)
			}
			return nil
		}())
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(f, mostDocument+1))
	if err = errors.Join(err, f.Close()); err == nil && len(content) > mostDocument {
		err = fmt.Errorf("%s is longer than %d MiB", name, mostDocument>>20)
	}
	return content, err
}

// meta is what is known of a document that was fetched.
type meta struct {
	URL  string    `json:"url"`
	Sum  string    `json:"sum"` // of the document
	ETag string    `json:"etag,omitempty"`
	At   time.Time `json:"at"` // when it was last fetched, or found unchanged
}

// fetched is an answer of a server of documents.
type fetched struct {
	same bool // it is the one that is known
	body []byte
	etag string
}

// fetch asks for a document. The person wrote the address, so that it may be a private one; it
// leads to no other host.
func (a *APIs) fetch(ctx context.Context, u *url.URL, etag string) (fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	gate := httpclient.NewGate([]string{hostWord(u)}, a.needs.HTTP)
	defer gate.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return fetched{}, err
	}
	req.Header.Set("Accept", "application/json, application/yaml;q=0.9, */*;q=0.5")
	req.Header.Set("User-Agent", "toolcrib")
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	resp, err := gate.Client().Do(req)
	if err != nil {
		return fetched{}, unfetched(u, err)
	}
	defer func() { _ = resp.Body.Close() }() // nothing more is wanted of it
	switch {
	case resp.StatusCode == http.StatusNotModified && etag != "":
		return fetched{same: true, etag: etag}, nil
	case resp.StatusCode != http.StatusOK:
		return fetched{}, fmt.Errorf("the document could not be fetched: %s answers %s", u.Host, text.ShowLine(text.Clip(resp.Status, 80)))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostDocument+1))
	if err != nil {
		return fetched{}, unfetched(u, err)
	}
	if len(body) > mostDocument {
		return fetched{}, fmt.Errorf("the document at %s is longer than %d MiB", u.Host, mostDocument>>20)
	}
	return fetched{body: body, etag: text.Clip(resp.Header.Get("ETag"), 512)}, nil
}

// unfetched words why a document was not fetched.
func unfetched(u *url.URL, err error) error {
	if refused, ok := toolcrib.AsError(err); ok {
		return fmt.Errorf("the document could not be fetched: %s (an address that leads to another host has to be written as it is there)", strings.ReplaceAll(refused.Message, "; to allow it, add it to grant.hosts", ""))
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err
	}
	return fmt.Errorf("the document could not be fetched from %s: %w", u.Host, err)
}
