package httpclient

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/plainaddr"
)

// hostEntry is one entry of grant.hosts, understood. Either name or prefix
// is set.
type hostEntry struct {
	name   string // lower case; "*", "*.suffix" or a name, each perhaps after privateWord
	prefix netip.Prefix
}

// privateWord stands before a name that may lead to a private address as well:
// the machine of that name is meant, wherever name servers of this network put it.
const privateWord = "private:"

// CheckHosts says which entries of grant.hosts mean nothing. A grant does
// not fail on them, it only does not give what its writer thought: who reads
// entries from a person should ask here.
func CheckHosts(hosts []string) error {
	var all error
	for _, h := range hosts {
		switch e, ok := parseHost(h); {
		case !ok:
			all = errors.Join(all, fmt.Errorf("the host %q is none of a name (in its xn-- form), *.suffix, *, private:NAME, an address and a range such as 10.0.0.0/8, without scheme, port and path", h))
		case e.name == privateWord+"*":
			all = errors.Join(all, fmt.Errorf("the host %q would let every name lead to every private address: write the ranges that are meant, such as 10.0.0.0/8", h))
		}
	}
	return all
}

// AllHosts is the host entries that stand for no limit at all, private
// addresses included: for a guard that narrows something else. A * alone would
// take the private addresses out.
func AllHosts() []string {
	names := apartNames()
	return append([]string{"*", privateWord + "*", "0.0.0.0/0", "::/0"}, names[:]...)
}

// parseHost understands an entry; one that it does not grants nothing.
func parseHost(text string) (hostEntry, bool) {
	if p, ok := parsePrefix(text); ok {
		return hostEntry{prefix: p}, true
	}
	name := lowerASCII(text)
	bare := strings.TrimPrefix(name, privateWord)
	return hostEntry{name: name}, bare == "*" || isHostName(strings.TrimPrefix(bare, "*."))
}

// parsePrefix reads an address or a range. An IPv4 range in IPv6 form is the
// IPv4 range: addresses are compared without that coat.
func parsePrefix(text string) (netip.Prefix, bool) {
	if !looksLikeAddr(text) {
		return netip.Prefix{}, false
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return netip.Prefix{}, false
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), true
}

// looksLikeAddr spares the many that are names the making of an error.
func looksLikeAddr(text string) bool {
	return strings.Contains(text, ":") || text != "" && isDigit(text[len(text)-1])
}

func (e hostEntry) String() string {
	switch {
	case e.name != "":
		return e.name
	case e.prefix.IsSingleIP():
		return e.prefix.Addr().String()
	}
	return e.prefix.String()
}

// isHostName reports whether a text is a host name that every reader takes for
// the same one: lower case, without a dot at its end, and not what some
// resolvers read as an address, such as 0x7f.1 or 2130706433.
func isHostName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	rest, label, more := name, "", true
	for more {
		label, rest, more = strings.Cut(rest, ".")
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i]; !isDigit(c) && (c < 'a' || c > 'z') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return !isNumber(label)
}

// isNumber reports whether the last part of a name makes it an address for
// readers that know the octal, hexadecimal and short forms.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// lowerASCII leaves other letters alone: the lower case of the Kelvin sign is
// a k, and no name of ours may come of it.
func lowerASCII(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return 'A' <= r && r <= 'Z' }) < 0 {
		return text
	}
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// apartNames is the names that * and *.suffix do not hold, because what answers
// there is this machine, or hands out its credentials.
func apartNames() [11]string {
	return [...]string{
		"localhost",
		"metadata", "metadata.internal", "metadata.google.internal", "metadata.goog", "metadata.azure.internal",
		"metadata.tencentyun.com", "metadata.platformequinix.com", "metadata.packet.net",
		"instance-data", "instance-data.ec2.internal",
	}
}

// apart reports whether a name has to be granted by itself.
func apart(name string) bool {
	names := apartNames()
	return slices.Contains(names[:], name)
}

// nameInside reports whether the name or pattern a lies within the pattern b:
// *.example.com holds api.example.com and *.api.example.com, not example.com.
// What may lead to private addresses lies in no pattern that may not.
func nameInside(a, b string) bool {
	a, wide := strings.CutPrefix(a, privateWord)
	b, held := strings.CutPrefix(b, privateWord)
	switch {
	case wide && !held:
		return false
	case a == b:
		return true
	case apart(a):
		return false
	case b == "*":
		return true
	}
	suffix, ok := strings.CutPrefix(b, "*")
	return ok && strings.HasSuffix(strings.TrimPrefix(a, "*"), suffix)
}

// meetName is what two patterns of names have in common.
func meetName(a, b string) (string, bool) {
	x, wide := strings.CutPrefix(a, privateWord)
	y, held := strings.CutPrefix(b, privateWord)
	switch {
	case nameInside(x, y):
	case nameInside(y, x):
		x = y
	default:
		return "", false
	}
	if wide && held {
		x = privateWord + x
	}
	return x, true
}

// hostSet is the entries of a grant, ready to be asked.
type hostSet struct {
	names    []string
	prefixes []netip.Prefix
}

func parseHosts(hosts []string) hostSet {
	var s hostSet
	for _, h := range hosts {
		switch e, ok := parseHost(h); {
		case !ok:
		case e.name != "":
			s.names = append(s.names, e.name)
		default:
			s.prefixes = append(s.prefixes, e.prefix)
		}
	}
	return s
}

// any reports whether * is among them: every name, and every public address.
func (s hostSet) any() bool {
	return slices.Contains(s.names, "*") || slices.Contains(s.names, privateWord+"*")
}

// hasName reports whether a name may be asked for; where it leads is judged
// when that is known.
func (s hostSet) hasName(name string) bool {
	return slices.ContainsFunc(s.names, func(pattern string) bool { return nameInside(name, pattern) })
}

func (s hostSet) hasAddr(a netip.Addr) bool {
	return slices.ContainsFunc(s.prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}

// leads reports whether a name that may be asked for may lead to an address.
func (s hostSet) leads(name string, a netip.Addr) bool {
	a = plainaddr.Of(a)
	if name == "localhost" { // never to another machine, whatever a name server says
		return a.IsLoopback()
	}
	return s.hasAddr(a) || notPublic(a) == "" || s.hasName(privateWord+name) && privateByName(a)
}

// reaches reports whether an address may be asked for by itself.
func (s hostSet) reaches(a netip.Addr) bool {
	a = plainaddr.Of(a)
	return s.hasAddr(a) || s.any() && notPublic(a) == ""
}

// MeetHosts is what two lists of hosts have in common. Names meet names and
// ranges meet ranges; * and a range have the public addresses of the range in
// common, because * gives no others.
func MeetHosts(g, h []string) []string {
	a, b := parseHosts(g), parseHosts(h)
	var m hostSet
	for _, x := range a.names {
		for _, y := range b.names {
			if name, ok := meetName(x, y); ok {
				m.names = append(m.names, name)
			}
		}
	}
	for _, x := range a.prefixes {
		for _, y := range b.prefixes {
			if x.Overlaps(y) {
				m.prefixes = append(m.prefixes, narrower(x, y))
			}
		}
	}
	if !m.any() { // else * has them all
		for _, s := range [][2]hostSet{{a, b}, {b, a}} {
			for _, p := range s[1].prefixes {
				if s[0].any() {
					m.prefixes = append(m.prefixes, publicParts(p)...)
				}
			}
		}
	}
	return m.entries()
}

func narrower(p, q netip.Prefix) netip.Prefix {
	if p.Bits() > q.Bits() {
		return p
	}
	return q
}

// entries writes a set down so that equal sets look equal: sorted, and without
// what another entry gives already.
func (s hostSet) entries() []string {
	var out []string
	for _, n := range s.names {
		if !slices.ContainsFunc(s.names, func(o string) bool { return o != n && nameInside(n, o) }) {
			out = append(out, n)
		}
	}
	for _, p := range s.prefixes {
		given := slices.ContainsFunc(s.prefixes, func(o netip.Prefix) bool { return o.Bits() < p.Bits() && o.Overlaps(p) })
		if !given && s.any() {
			given, _ = publicPrefix(p)
		}
		if !given {
			out = append(out, hostEntry{prefix: p}.String())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
