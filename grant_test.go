package toolcrib

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// touches lists everything a grant gives among a small world, so that two
// grants can be compared by what they allow and not by how they are written.
func touches(g Grant) []string {
	var out []string
	for _, path := range []string{"/", "/a", "/a/b", "/a/b/c", "/ab", "/x"} {
		for _, d := range g.Dirs {
			denied, err := pathglob.NewSet(g.Denied)
			fixed, ferr := pathglob.NewSet(g.Fixed)
			if inside(path, d.Path) && err == nil && ferr == nil && !denied.Has(elements(path)) {
				out = append(out, "read "+path)
				if d.Write && !fixed.Has(elements(path)) {
					out = append(out, "write "+path)
				}
			}
		}
	}
	hosts := parseHosts(g.Hosts)
	for _, text := range []string{"8.8.8.8", "9.0.0.1", "10.0.0.1", "10.1.0.1", "11.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "2606::1", "fd00::1", "64:ff9b::808:808", "64:ff9b::a00:1"} {
		addr := netip.MustParseAddr(text)
		if hosts.reaches(addr) {
			out = append(out, "address "+text)
		}
		for _, host := range []string{"example.com", "api.example.com", "v1.api.example.com", "example.org", "notexample.com", "localhost", "a.localhost", "metadata.google.internal"} {
			if hosts.hasName(host) && hosts.leads(host, addr) {
				out = append(out, "host "+host+" at "+text)
			}
		}
	}
	for _, p := range []string{"/bin/ls", "/bin/sh"} {
		if allowed(g.Programs, p) {
			out = append(out, "program "+p)
		}
	}
	for _, s := range []string{"one", "two"} {
		if allowed(g.Secrets, s) {
			out = append(out, "secret "+s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func someGrant() *rapid.Generator[Grant] {
	return rapid.Custom(func(t *rapid.T) Grant {
		dir := rapid.Custom(func(t *rapid.T) Dir {
			return Dir{rapid.SampledFrom([]string{"/", "/a", "/a/b", "/a/b/c", "/ab", "/x"}).Draw(t, "path"), rapid.Bool().Draw(t, "write")}
		})
		words := func(from ...string) []string {
			return rapid.SliceOfN(rapid.SampledFrom(from), 0, 3).Draw(t, "words")
		}
		return Grant{
			Dirs: rapid.SliceOfN(dir, 0, 3).Draw(t, "dirs"),
			Hosts: words("*", "*.example.com", "*.api.example.com", "api.example.com", "example.com", "Example.org", "localhost", "metadata.google.internal", "*.google.internal",
				"0.0.0.0/0", "8.0.0.0/6", "8.8.8.8", "10.0.0.0/8", "10.1.2.3/16", "10.0.0.1", "::ffff:10.0.0.1", "127.0.0.1", "169.254.0.0/16", "::/0", "::1", "2000::/3", "64:ff9b::/96",
				"*example.com", "example.com:80", "010.0.0.1", "fe80::1%eth0"),
			Programs: words("*", "/bin/ls", "/bin/sh"),
			Secrets:  words("*", "one", "two"),
			Denied:   words("/a/b/**", "/**/c", "/x", "/A"),
			Fixed:    words("/a/**", "/**/b", "/ab"),
			Time:     time.Duration(rapid.IntRange(0, 3).Draw(t, "time")),
			Bounds:   Bounds(rapid.IntRange(0, 31).Draw(t, "bounds")),
		}
	})
}

func TestGrantMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, h, k := someGrant().Draw(t, "g"), someGrant().Draw(t, "h"), someGrant().Draw(t, "k")
		m := g.Meet(h)
		if diff := cmp.Diff(m, h.Meet(g)); diff != "" {
			t.Fatalf("not commutative:\n%s", diff)
		}
		if diff := cmp.Diff(m.Meet(k), g.Meet(h.Meet(k))); diff != "" {
			t.Fatalf("not associative:\n%s", diff)
		}
		have, one, two := touches(m), touches(g), touches(h)
		for _, x := range have {
			if !slices.Contains(one, x) || !slices.Contains(two, x) {
				t.Fatalf("wider than a part: %s is in %v of %+v and %+v", x, m, g, h)
			}
		}
		for _, x := range one { // and nothing is lost that both give
			if slices.Contains(two, x) && !slices.Contains(have, x) {
				t.Fatalf("both give %s, the meet %+v does not", x, m)
			}
		}
		if m.Time != 0 && ((g.Time != 0 && m.Time > g.Time) || (h.Time != 0 && m.Time > h.Time)) || m.Time == 0 && g.Time+h.Time != 0 {
			t.Fatalf("time %v of %v and %v", m.Time, g.Time, h.Time)
		}
		if m.Bounds != g.Bounds|h.Bounds {
			t.Fatalf("bounds %v", m.Bounds)
		}
	})
}

// TestGrantMeetsHosts: the cases that a property could miss, written down.
func TestGrantMeetsHosts(t *testing.T) {
	for _, s := range []struct{ a, b, want []string }{
		{[]string{"*"}, []string{"127.0.0.1", "localhost", "metadata.goog"}, nil}, // * gives none of these
		{[]string{"*"}, []string{"8.8.8.8", "8.8.0.0/16"}, []string{"8.8.0.0/16"}},
		{[]string{"*"}, []string{"8.0.0.0/6"}, []string{"11.0.0.0/8", "8.0.0.0/7"}}, // without 10.0.0.0/8
		{[]string{"*", "10.0.0.0/8"}, []string{"*", "10.1.0.0/16"}, []string{"*", "10.1.0.0/16"}},
		{[]string{"10.0.0.0/8"}, []string{"11.0.0.0/8"}, nil},
		{[]string{"10.0.0.0/8"}, []string{"::ffff:10.1.0.0/112", "0:0::1"}, []string{"10.1.0.0/16"}},
		{[]string{"::1/128", "10.0.0.9/8"}, []string{"::/0", "10.0.0.9/32"}, []string{"10.0.0.9", "::1"}},
		{[]string{"*.Example.com"}, []string{"API.example.COM", "example.com"}, []string{"api.example.com"}},
		{[]string{"*example.com", "*.", "**", "a..b", "a.", "http://a", "a:80", "a/b", "1.2.3", "0x7f.1", "k\u212a.com", "fe80::1%1", ""}, []string{"*"}, nil},
	} {
		got := Grant{Hosts: s.a}.Meet(Grant{Hosts: s.b}).Hosts
		if diff := cmp.Diff(s.want, got); diff != "" {
			t.Errorf("%v and %v:\n%s", s.a, s.b, diff)
		}
	}
	rapid.Check(t, func(t *rapid.T) { // no limit changes nothing
		g := someGrant().Draw(t, "g")
		if diff := cmp.Diff(touches(Grant{Hosts: g.Hosts}), touches(Grant{Hosts: g.Meet(Grant{Hosts: AllHosts()}).Hosts})); diff != "" {
			t.Fatal(diff)
		}
	})
	if err := CheckHosts([]string{"a.b", "*", "*.c", "10.0.0.0/8", "::1", "localhost"}); err != nil {
		t.Error(err)
	}
	if err := CheckHosts([]string{"a", "http://b", "c:80"}); err == nil || !strings.Contains(err.Error(), "http://b") || !strings.Contains(err.Error(), "c:80") {
		t.Errorf("%v", err)
	}
}

func TestGrantHasWholePathElements(t *testing.T) {
	m := Grant{Dirs: []Dir{{"/home/ann", true}}}.Meet(Grant{Dirs: []Dir{{"/home/ann2", true}}})
	if len(m.Dirs) != 0 {
		t.Errorf("/home/ann2 is taken for a part of /home/ann: %v", m.Dirs)
	}
}

// A directory that is not written as the absolute path it is means nothing:
// /srv/a/../../etc would look like a part of /srv/a.
func TestGrantTakesCleanPathsOnly(t *testing.T) {
	whole := Grant{Dirs: []Dir{{"/", true}, {"/srv/a", true}}}
	for _, path := range []string{"", ".", "srv/a", "/srv/a/../../etc", "/srv/a/", "//srv/a", "/srv/./a"} {
		if m := whole.Meet(Grant{Dirs: []Dir{{path, true}}}); len(m.Dirs) != 0 {
			t.Errorf("%q gives %v", path, m.Dirs)
		}
	}
}

func TestEffects(t *testing.T) {
	for _, tt := range []struct {
		e        Effects
		text     string
		readOnly bool
		within   Effects
		want     bool
	}{
		{0, "undeclared", false, allEffects &^ Runs, false},
		{0, "undeclared", false, allEffects, true},
		{Pure, "pure", true, 0, true},
		{Reads | Network, "reads,network", true, Reads, false},
		{Writes, "writes", false, Writes, true},
		{Pure | Destroys, "pure,destroys", false, Pure, false}, // Pure excuses nothing else
	} {
		if got := tt.e.String(); got != tt.text {
			t.Errorf("String() = %q, want %q", got, tt.text)
		}
		if got := tt.e.ReadOnly(); got != tt.readOnly {
			t.Errorf("%v.ReadOnly() = %v", tt.e, got)
		}
		if got := tt.e.Within(tt.within); got != tt.want {
			t.Errorf("%v.Within(%v) = %v", tt.e, tt.within, got)
		}
		var back Effects
		if err := back.UnmarshalText([]byte(tt.text)); err != nil || back != tt.e {
			t.Errorf("UnmarshalText(%q) = %v, %v", tt.text, back, err)
		}
	}
	var e Effects
	if err := e.UnmarshalText([]byte("reads,harmless")); err == nil || !strings.Contains(err.Error(), "harmless") {
		t.Errorf("an unknown effect is not refused by name: %v", err)
	}
}
