package guard

import (
	"errors"
	"net/url"
	"strings"
)

// domainSpec is the specifier domain:example.com of a rule about addresses.
// Where it gives it means that host by http or https on the usual port, and
// *.example.com the hosts below it. Where it takes away it means both, and
// whatever cannot be read.
type domainSpec struct {
	host  string // lower case, without the *.
	below bool   // written with *.
	any   bool   // *
}

func parseDomainSpec(text string, gives bool) (*domainSpec, error) {
	host := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(text)), ".")
	d := &domainSpec{host: host}
	switch {
	case host == "*" && !gives:
		d.any = true
		return d, nil
	case strings.HasPrefix(host, "*."):
		d.host, d.below = host[2:], true
	}
	if d.host == "" || strings.ContainsAny(d.host, "*?/@:[]\\ ") || !isPlain(d.host) || strings.Contains(d.host, "..") {
		return nil, errors.New("want a host such as domain:example.com or domain:*.example.com; names in other scripts in their xn-- form")
	}
	if gives && d.below && !strings.Contains(d.host, ".") {
		return nil, errors.New("*. may not stand before a top-level domain")
	}
	return d, nil
}

// address is the host of a call's address; ok says that it is one that every
// reader takes for the same.
type address struct {
	host  string
	usual bool // http or https, on its own port
	ok    bool
}

func parseAddress(text string) address {
	if text == "" || len(text) > 8<<10 || !isPlain(text) || strings.ContainsAny(text, "\\ \t\n") {
		return address{}
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return address{}
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if host == "" || strings.ContainsAny(host, "%*") {
		return address{}
	}
	port := u.Port()
	usual := u.User == nil && (u.Scheme == "https" && (port == "" || port == "443") || u.Scheme == "http" && (port == "" || port == "80"))
	return address{host: host, usual: usual, ok: true}
}

func (d *domainSpec) may(a address) bool {
	return !a.ok || d.any || a.host == d.host || strings.HasSuffix(a.host, "."+d.host)
}

func (d *domainSpec) is(a address) bool {
	if !a.ok || !a.usual {
		return false
	}
	if d.below {
		return strings.HasSuffix(a.host, "."+d.host)
	}
	return a.host == d.host
}
