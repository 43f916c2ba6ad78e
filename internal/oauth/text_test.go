package oauth

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"pgregory.net/rapid"
)

func TestParseDemand(t *testing.T) {
	for _, c := range []struct {
		name    string
		headers []string
		want    demand
	}{
		{"nothing", nil, demand{}},
		{"bare", []string{"Bearer"}, demand{}},
		{"all", []string{`Bearer realm="x", resource_metadata="https://a/b", scope="a b", error="insufficient_scope"`}, demand{"https://a/b", []string{"a", "b"}, "insufficient_scope"}},
		{"small letters and words", []string{`bearer Scope=a,ERROR=invalid_token`}, demand{"", []string{"a"}, "invalid_token"}},
		{"spaces", []string{"Bearer  scope = \"a\" ,\terror = x"}, demand{"", []string{"a"}, "x"}},
		{"escapes", []string{`Bearer realm="a\"b, scope=\"no\"", scope="yes"`}, demand{"", []string{"yes"}, ""}},
		{"empty value", []string{`Bearer realm="", scope="a"`}, demand{"", []string{"a"}, ""}},
		{"after another", []string{`Basic realm="x", Bearer scope="a"`}, demand{"", []string{"a"}, ""}},
		{"before another", []string{`Bearer scope="a", Basic scope="b"`}, demand{"", []string{"a"}, ""}},
		{"after a blob", []string{`Negotiate YII/+=, Bearer scope="a"`}, demand{"", []string{"a"}, ""}},
		{"two headers", []string{`Basic realm="x"`, `Bearer scope="a"`}, demand{"", []string{"a"}, ""}},
		{"of another scheme", []string{`DPoP scope="a"`}, demand{}},
		{"first counts", []string{`Bearer scope="a", scope="b"`}, demand{"", []string{"a"}, ""}},
		{"no end", []string{`Bearer error=x, scope="a`}, demand{"", nil, "x"}},
		{"no scheme", []string{`scope="a"`}, demand{}},
		{"no scopes", []string{`Bearer scope="a` + "\x01" + ` ü b"`}, demand{"", []string{"b"}, ""}},
		{"too long", []string{`Bearer scope="` + strings.Repeat("x", maxChallenge) + `"`}, demand{}},
	} {
		if diff := cmp.Diff(c.want, parseDemand(http.Header{"Www-Authenticate": c.headers}), cmp.AllowUnexported(demand{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestParseLikeTheSDK: what is well formed is read as the official SDK reads it.
func TestParseLikeTheSDK(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z][a-z0-9_]{0,8}`)
		var b strings.Builder
		for i := range rapid.IntRange(1, 3).Draw(t, "challenges") {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(rapid.SampledFrom([]string{"Bearer", "Basic", "DPoP"}).Draw(t, "scheme"))
			for j, name := range rapid.SliceOfNDistinct(word, 1, 4, rapid.ID[string]).Draw(t, "names") {
				if j > 0 {
					b.WriteByte(',')
				}
				value := rapid.StringMatching(`[a-z0-9:/?. ,]{1,12}`).Draw(t, "value")
				if rapid.Bool().Draw(t, "quoted") {
					fmt.Fprintf(&b, ` %s="%s"`, name, value)
				} else {
					fmt.Fprintf(&b, ` %s=%s`, name, strings.Map(func(r rune) rune {
						if r == ' ' || r == ',' {
							return '.'
						}
						return r
					}, value))
				}
			}
		}
		theirs, err := oauthex.ParseWWWAuthenticate([]string{b.String()})
		if err != nil {
			t.Fatal(err)
		}
		var want []challenge
		for _, c := range theirs {
			want = append(want, challenge{c.Scheme, c.Params})
		}
		if diff := cmp.Diff(want, parseChallenges(b.String()), cmp.AllowUnexported(challenge{})); diff != "" {
			t.Fatalf("%s\n(-theirs +ours):\n%s", b.String(), diff)
		}
	})
}

func FuzzParseChallenges(f *testing.F) {
	for _, s := range []string{`Bearer a="b", c=d, Basic`, `Negotiate ab==, Bearer x = "\""`, `=`, `Bearer "`, `a b=c`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range parseChallenges(text) {
			if c.scheme == "" || c.scheme != strings.ToLower(c.scheme) || len(c.scheme) > len(text) {
				t.Errorf("a scheme is %q", c.scheme)
			}
			for name, value := range c.params {
				if name == "" || name != strings.ToLower(name) || len(value) > len(text) {
					t.Errorf("a parameter is %q=%q", name, value)
				}
			}
		}
		for _, s := range parseScopes(text) {
			if !isScope(s) {
				t.Errorf("%q is no scope", s)
			}
		}
	})
}

func TestKindOf(t *testing.T) {
	for host, want := range map[string]kind{
		"example.com": public, "EXAMPLE.com.": public, "8.8.8.8": public, "2606:4700::1": public, "xn--bcher-kva.example": public,
		"127.0.0.1": loopback, "127.9.9.9": loopback, "::1": loopback, "localhost": loopback, "LocalHost.": loopback, "a.localhost": loopback, "::ffff:127.0.0.1": loopback,
		"10.0.0.1": private, "172.31.0.1": private, "192.168.0.1": private, "fd00::1": private, "::ffff:10.0.0.1": private,
		"printer": private, "nas.local": private, "vault.internal": private, "box.lan": private, "x.home.arpa": private,
		"0.0.0.0": odd, "0.1.2.3": odd, "169.254.169.254": odd, "100.64.0.1": odd, "168.63.129.16": odd, "224.0.0.1": odd, "255.255.255.255": odd,
		"::": odd, "fe80::1": odd, "fe80::1%eth0": odd, "::1%lo": odd, "64:ff9b::a00:1": odd, "2002:a00:1::": odd, "::10.0.0.1": odd, "192.0.0.192": odd,
		"127.1": odd, "2130706433": odd, "0x7f.1": odd, "0x7f000001": odd, "0177.0.0.1": odd, "1.2.3.4.5": odd, "": odd, ".": odd, "a b": odd,
	} {
		if got := kindOf(host); got != want {
			t.Errorf("%q is %d, want %d", host, got, want)
		}
	}
}

func TestZone(t *testing.T) {
	for _, c := range []struct {
		server, address string
		good            bool
	}{
		{"https://mcp.example/x", "https://auth.example/token", true},
		{"https://mcp.example/x", "https://auth.example:8443/token?x=1", true},
		{"https://mcp.example/x", "http://auth.example/token", false},
		{"https://mcp.example/x", "http://127.0.0.1/token", false},
		{"https://mcp.example/x", "https://localhost/token", false},
		{"https://mcp.example/x", "https://10.0.0.1/token", false},
		{"https://mcp.example/x", "https://intranet/token", false},
		{"https://mcp.example/x", "https://u:p@auth.example/token", false},
		{"https://mcp.example/x", "https://auth.example/token#f", false},
		{"https://mcp.example/x", "//auth.example/token", false},
		{"https://mcp.example/x", "/token", false},
		{"https://mcp.example/x", "https:auth.example", false},
		{"https://mcp.example/x", "", false},
		{"http://localhost:1/x", "http://127.0.0.1:2/token", true},
		{"http://localhost:1/x", "https://auth.example/token", true},
		{"http://localhost:1/x", "https://192.168.0.1/token", false},
		{"http://localhost:1/x", "https://169.254.169.254/token", false},
		{"https://192.168.0.1/x", "https://192.168.0.2/token", true},
		{"https://192.168.0.1/x", "http://192.168.0.2/token", false},
		{"https://192.168.0.1/x", "http://127.0.0.1/token", false},
		{"https://100.64.0.1/x", "https://100.64.0.1:444/token", true},
		{"https://100.64.0.1/x", "https://100.64.0.2/token", false},
	} {
		z, err := newZone(c.server)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.check(c.address); (err == nil) != c.good {
			t.Errorf("from %s to %s: %v", c.server, c.address, err)
		}
	}
	for _, bad := range []string{"http://mcp.example/", "http://192.168.0.1/", "ftp://a.example", "https://", "https://u@a.example/", "://", "https://a.example/#x"} {
		if _, err := newZone(bad); err == nil {
			t.Errorf("%q can be a server", bad)
		}
	}
}

func TestCovers(t *testing.T) {
	server := must(url.Parse("https://a.example/team/mcp?x=1"))(t)
	for resource, want := range map[string]bool{
		"https://a.example/team/mcp?x=1": true, "https://a.example/team/mcp": true, "https://a.example/team/mcp/": true, "https://a.example/team": true,
		"https://a.example": true, "https://a.example/": true, "https://A.example:443/team": true,
		"https://a.example/te": false, "https://a.example/team/mcp/x": false, "https://a.example/other": false, "http://a.example/team/mcp": false,
		"https://a.example:444/": false, "https://b.example/team/mcp": false, "https://a.example.evil/": false, "https://u@a.example/": false,
		"https://a.example/team/mcp?x=2": false, "https://a.example/#f": false, "": false, "a.example": false, "https://a.example/team/../team": false,
		"https://a.example/%2e%2e/team": false,
	} {
		if got := covers(resource, server); got != want {
			t.Errorf("%s covers: %t", resource, got)
		}
	}
}

// FuzzZone: whatever is let through is https, or http to this machine for a
// server on this machine.
func FuzzZone(f *testing.F) {
	for _, s := range []string{"https://a.example/x", "http://127.0.0.1:1/", "https://[::1]/", "https://10.0.0.1", "javascript:alert(1)", "https://a@b"} {
		f.Add(s)
	}
	far, near := must(newZone("https://mcp.example/"))(f), must(newZone("http://127.0.0.1:1/"))(f)
	f.Fuzz(func(t *testing.T, text string) {
		if u, err := far.check(text); err == nil && (u.Scheme != "https" || kindOf(u.Hostname()) != public || u.User != nil) {
			t.Errorf("%q was let through", text)
		}
		if u, err := near.check(text); err == nil {
			if k := kindOf(u.Hostname()); k != public && k != loopback || u.Scheme != "https" && k != loopback {
				t.Errorf("%q was let through", text)
			}
		}
	})
}
