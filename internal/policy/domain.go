package policy

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/internal/plainaddr"
	"github.com/toolcrib/toolcrib/internal/shellguard"
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
	if d.host == "" || strings.ContainsAny(d.host, "*?/@:[]\\ ") || !shellguard.IsPlain(d.host) || strings.Contains(d.host, "..") {
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
	usual bool // http or https, on its own port, and an address in its usual form
	ok    bool
}

func parseAddress(text string) address {
	if text == "" || len(text) > 8<<10 || !shellguard.IsPlain(text) || strings.ContainsAny(text, "\\ \t\n") {
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
	plain := true
	switch a, err := netip.ParseAddr(host); {
	case err == nil: // one machine has one name here, whatever its address is wrapped in
		if name := plainaddr.Machine(a).String(); name != host {
			host, plain = name, false
		}
	case strings.Contains(host, ":") || oddNumber(host):
		return address{}
	}
	port := u.Port()
	usual := plain && u.User == nil && (u.Scheme == "https" && (port == "" || port == "443") || u.Scheme == "http" && (port == "" || port == "80"))
	return address{host: host, usual: usual, ok: true}
}

// oddNumber reports whether some readers take a host for an address in numbers,
// such as 0x7f.1, 2130706433 or 127.1.
func oddNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

func (d *domainSpec) mayMatch(a address) bool {
	return !a.ok || d.any || a.host == d.host || strings.HasSuffix(a.host, "."+d.host)
}

func (d *domainSpec) matches(a address) bool {
	if !a.ok || !a.usual {
		return false
	}
	if d.below {
		return strings.HasSuffix(a.host, "."+d.host)
	}
	return a.host == d.host
}
