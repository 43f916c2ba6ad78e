package httpclient

import (
	"errors"
	"net/http"

	"github.com/toolcrib/toolcrib/internal/refusal"
)

// errRedirects is a fault of the server and no refusal of ours.
var errRedirects = errors.New("it was redirected more than 10 times")

// follow decides what goes along on a redirect. The standard client keeps all
// headers but six, and those too below the same domain, on other ports and from
// https to http; so an API key in a header of its own would go to whoever the
// server names.
func (g *Gate) follow(req *http.Request) (*http.Request, error) {
	here, err := g.target(req.URL)
	if err != nil {
		return nil, err
	}
	// Once a request was elsewhere, nothing makes it trusted again: the client
	// takes the headers from the first one for every hop.
	abroad, first := false, req
	for hops := 0; first.Response != nil && first.Response.Request != nil; hops++ {
		if hops == maxRedirects {
			return nil, errRedirects
		}
		first = first.Response.Request
		from, err := g.target(first.URL)
		if err != nil {
			return nil, err
		}
		if from.secure && !here.secure && (req.Body != nil && req.Body != http.NoBody || !harmless(first.Header)) {
			return nil, g.refuse(refusal.Denied, "the host "+from.host+" redirects from https to http, where everyone on the way could read what the request carries", nil)
		}
		abroad = abroad || from != here && from != here.insecure()
	}
	if !abroad || harmless(req.Header) && req.Header.Get("Referer") == "" {
		return req, nil
	}
	sent := req.WithContext(req.Context()) // a copy: the caller's is not ours to change
	sent.Header = make(http.Header, len(req.Header))
	for name, values := range req.Header {
		if harmlessHeader(name) {
			sent.Header[name] = values
		}
	}
	return sent, nil
}

// redirected tells who led a request to where it may not go.
func redirected(req *http.Request, err error) error {
	e, ok := errors.AsType[*refusal.Error](err)
	if !ok || req.Response == nil || req.Response.Request == nil {
		return err
	}
	told := *e
	told.Message = "it is redirected by " + req.Response.Request.URL.Hostname() + ": " + e.Message
	return &told
}

// insecure is the same host by http, as one that redirects all of it to https.
func (t target) insecure() target {
	if t.secure && t.port == "443" {
		return target{host: t.host, port: "80"}
	}
	return t
}

func harmless(h http.Header) bool {
	for name := range h {
		if !harmlessHeader(name) && name != "Referer" {
			return false
		}
	}
	return true
}

// harmlessHeader lists what cannot carry a credential. A list of those that can
// would be out of date with the next service. The Referer is not here: it is an
// address with all its parameters.
func harmlessHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Cache-Control", "Content-Encoding", "Content-Language",
		"Content-Length", "Content-Type", "Date", "Dnt", "Expect", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range",
		"If-Unmodified-Since", "Pragma", "Range", "Te", "Upgrade-Insecure-Requests", "User-Agent":
		return true
	}
	return false
}
