package reach

import (
	"bytes"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

func lookupIn(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

func TestPassNames(t *testing.T) {
	env := lookupIn(map[string]string{"HTTPS_PROXY": "http://p", "no_proxy": "x", "SSL_CERT_FILE": "/c", "DISPLAY": ":0", "TOKEN": "t", "EMPTY": ""})
	for _, c := range []struct {
		pass Pass
		want []string
	}{
		{nil, nil},
		{Pass{"proxy"}, []string{"HTTPS_PROXY", "no_proxy"}},
		{Pass{"ca"}, []string{"SSL_CERT_FILE"}},
		{Pass{"display", "TOKEN", "DISPLAY", "EMPTY", "MISSING"}, []string{"DISPLAY", "TOKEN"}},
	} {
		if got := c.pass.Names(env); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.pass, got, c.want)
		}
	}
	for word, good := range map[string]bool{"proxy": true, "MY_VAR": true, "A=B": false, "": false, "*": false, "two words": false} {
		if err := (Pass{word}).Check(); (err == nil) != good {
			t.Errorf("%q: %v", word, err)
		}
	}
}

func TestPassPasswords(t *testing.T) {
	for value, want := range map[string][]string{
		"http://user:hunter2@proxy:3128":  {"user:hunter2", "hunter2"},
		"user:hunter2@proxy:3128":         {"user:hunter2", "hunter2"},
		" http://user:hunter2@proxy:3128": {"user:hunter2", "hunter2"},
		"http://u:p%40ss@proxy":           {"u:p%40ss", "u:p@ss", "p%40ss", "p@ss"},
		"http://bob@proxy":                nil,
		"http://bob:@proxy":               nil,
		"http://0123456789abcdefgh@p":     {"0123456789abcdefgh"},
		"http://0123456789abcdefgh:@p":    {"0123456789abcdefgh"},
		"http://proxy:3128":               nil,
		"http://u:hunter2@proxy/a@b":      {"u:hunter2@proxy/a", "hunter2@proxy/a", "u:hunter2", "hunter2"},
		// What url.Parse refuses, or takes for the end of the host.
		"http://%zz:x@p":                    {"%zz:x", "x"},
		"http://corp:pa%ss9SecretX@p:1":     {"corp:pa%ss9SecretX", "pa%ss9SecretX"},
		"http://corp:pa%ss%41@p:1":          {"corp:pa%ss%41", "corp:pa%ssA", "pa%ss%41", "pa%ssA"},
		"http://corp:pa#ss9Secret@p:1":      {"corp:pa#ss9Secret", "pa#ss9Secret"},
		"http://corp:pa/ss9Secret@p:1":      {"corp:pa/ss9Secret", "pa/ss9Secret"},
		"http://corp:pa?ss9Secret@p:1":      {"corp:pa?ss9Secret", "pa?ss9Secret"},
		"http://corp:pa ss9Secret@p:1":      {"corp:pa ss9Secret", "pa ss9Secret"},
		"socks5h://corp:pa://ss9Secret@p:1": {"corp:pa://ss9Secret", "pa://ss9Secret"},
		"corp:pa://ss9Secret@p:1":           {"corp:pa://ss9Secret", "pa://ss9Secret"},
		"http://corp:a:b@p:1":               {"corp:a:b", "a:b", "corp:a%3Ab", "a%3Ab"},
	} {
		if got := (Pass{"proxy"}).Passwords(lookupIn(map[string]string{"https_proxy": value})); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
}

const oneCertificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"

// TestPassedIntoSandbox: a server in a sandbox gets the certificates of a file and
// no key that lies in it or beside it, and no display.
func TestPassedIntoSandbox(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ca.pem")
	text := "a comment with a word\n-----BEGIN PRIVATE KEY-----\nBBBB\n-----END PRIVATE KEY-----\n" + oneCertificate
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	l := &Launcher{Pass: Pass{"proxy", "ca", "display"}, Dir: dir, Certificates: filepath.Join(dir, "state"), Log: slog.New(slog.NewTextHandler(&log, nil)), Env: lookupIn(map[string]string{
		"HTTPS_PROXY": "http://p", "SSL_CERT_FILE": file, "NODE_EXTRA_CA_CERTS": filepath.Join(dir, "missing"), "SSL_CERT_DIR": dir, "DISPLAY": ":0",
	})}
	env, dirs := l.passed("s", sandbox.Linux)
	if len(env) != 2 || env["HTTPS_PROXY"] != "http://p" || len(dirs) != 1 || dirs[0].Write || filepath.Dir(env["SSL_CERT_FILE"]) != dirs[0].Path {
		t.Fatalf("it gets %q and sees %v", env, dirs)
	}
	if got, err := os.ReadFile(env["SSL_CERT_FILE"]); err != nil || string(got) != oneCertificate {
		t.Errorf("the file has %q (%v)", got, err)
	}
	for _, name := range []string{"NODE_EXTRA_CA_CERTS", "SSL_CERT_DIR", "DISPLAY"} {
		if !strings.Contains(log.String(), "variable="+name) {
			t.Errorf("%s is left out in silence", name)
		}
	}
	if env, dirs = l.passed("s", sandbox.Host); len(env) != 5 || dirs != nil || env["SSL_CERT_FILE"] != file {
		t.Errorf("on the host it gets %q and sees %v", env, dirs)
	}
	if env, _ = l.passed("s", sandbox.MicroVM); len(env) != 1 {
		t.Errorf("in a virtual machine it gets %q", env)
	}
}

// TestCertificatesAreReplaced: who reads the file while another server starts has
// the old one or the new one, as a whole.
func TestCertificatesAreReplaced(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(file, []byte(oneCertificate), 0o600); err != nil {
		t.Fatal(err)
	}
	l := &Launcher{Dir: dir, Certificates: filepath.Join(dir, "state")}
	kept, err := l.certificates(file)
	if err != nil {
		t.Fatal(err)
	}
	path, reader := filepath.Join(kept, certificatesFile), filepath.Join(dir, "reader")
	if err := errors.Join(os.WriteFile(path, []byte("damaged"), 0o600), os.Link(path, reader)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.certificates(file); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != oneCertificate {
		t.Errorf("the file has %q (%v)", got, err)
	}
	if got, err := os.ReadFile(reader); err != nil || string(got) != "damaged" {
		t.Errorf("who had it open reads %q (%v)", got, err)
	}
	if all, err := os.ReadDir(kept); err != nil || len(all) != 1 {
		t.Errorf("beside it are %v (%v)", all, err)
	}
}

func FuzzPassed(f *testing.F) {
	f.Add("http://user:hunter2@proxy:3128", oneCertificate)
	f.Add("@", "-----BEGIN CERTIFICATE-----")
	f.Add("http://corp:pa%ss#9@proxy", "")
	f.Fuzz(func(t *testing.T, address, text string) {
		for _, password := range (Pass{"X_PROXY"}).Passwords(lookupIn(map[string]string{"X_PROXY": address})) {
			if password == "" {
				t.Errorf("%q has an empty password", address)
			}
		}
		only := certificatesOnly([]byte(text))
		if bytes.Contains(only, []byte("PRIVATE KEY")) || !bytes.Equal(certificatesOnly(only), only) {
			t.Errorf("%q became %q", text, only)
		}
	})
}

// FuzzPasswords: what a program sends as the password of an address, however it is
// written, is among those that are hidden, and so is the login as a whole. There are
// few of them, since every text is searched for each.
func FuzzPasswords(f *testing.F) {
	f.Add("user", "hunter2", "http://", "proxy:3128/a")
	f.Add("corp", "pa%ss#9@x", "", "proxy")
	f.Add("a-token-of-some-length", "", "https://", "proxy:1")
	f.Add("domain\\user", "%40%3a%2F?", "SOCKS5H://", "10.0.0.1:1080/#@x")
	f.Add("u", "p/%zz", "http://", "[::1]:3128")
	f.Fuzz(func(t *testing.T, user, password, scheme, host string) {
		if addressScheme.Regexp().FindString(scheme) != scheme || strings.Contains(user, ":") || addressScheme.MatchString(user+":"+password) && scheme == "" ||
			strings.TrimSpace(scheme+user) != scheme+user || strings.TrimSpace(host) != host {
			return // it would be another user, another scheme or another value
		}
		login := user
		if password != "" {
			login += ":" + password
		}
		address := scheme + login + "@" + host
		got := (Pass{"X_PROXY"}).Passwords(lookupIn(map[string]string{"X_PROXY": address}))
		if len(got) > 8 || slices.Contains(got, "") {
			t.Errorf("%q: %q", address, got)
		}
		secret := password
		if secret == "" && len(user) >= tokenLeast {
			secret = user
		}
		if secret == "" {
			return
		}
		if !strings.Contains(host, "@") && (!slices.Contains(got, secret) || !slices.Contains(got, login)) {
			t.Errorf("%q: %q is not among %q", address, secret, got)
		}
		// Where programs of Go see the login end, also if the host has an @ of its own.
		if u, err := url.Parse("http://" + login + "@" + host); err == nil && u.User != nil {
			meant, given := u.User.Password()
			if !given {
				meant = u.User.Username()
			}
			if meant != "" && !slices.Contains(got, meant) && (given || len(meant) >= tokenLeast) {
				t.Errorf("%q: programs of Go send %q, and hidden are %q", address, meant, got)
			}
		}
	})
}

// TestUnpassedVariablesAreNamed: proxies, certificates and registries that are set and not
// passed are known by their words, and a failed start names them with the command.
func TestUnpassedVariablesAreNamed(t *testing.T) {
	env := lookupIn(map[string]string{
		"https_proxy": "http://user:hunter2@proxy:3128", "NO_PROXY": "localhost", "NODE_EXTRA_CA_CERTS": "/c.pem", "PIP_CERT": "/c.pem",
		"npm_config_registry": "https://npm.example.com", "UV_INDEX_URL": "", "DISPLAY": ":0", "GITHUB_TOKEN": "x",
	})
	for _, c := range []struct {
		pass  Pass
		given map[string]string
		want  string
	}{
		{nil, nil, "NO_PROXY, https_proxy, NODE_EXTRA_CA_CERTS, PIP_CERT, npm_config_registry [proxy, ca, registry]"},
		{Pass{"proxy"}, nil, "NODE_EXTRA_CA_CERTS, PIP_CERT, npm_config_registry [proxy, ca, registry]"},
		{Pass{"display", "PIP_CERT", "registry"}, nil, "NO_PROXY, https_proxy, NODE_EXTRA_CA_CERTS [display, PIP_CERT, registry, proxy, ca]"},
		{Pass{"proxy", "ca"}, map[string]string{"npm_config_registry": "y"}, ""},
		{Pass{"proxy", "ca", "registry"}, nil, ""},
	} {
		l := &Launcher{Env: env, Pass: c.pass}
		got := l.Missing(mcphub.Server{Env: c.given})
		names, words, _ := strings.Cut(c.want, " [")
		if c.want == "" && got != "" || c.want != "" && (!strings.Contains(got, ": "+names+"; ") || !strings.Contains(got, `hub.pass_env "[`+words+`"`)) {
			t.Errorf("%q: %q, want %q", c.pass, got, c.want)
		}
		if strings.Contains(got, "hunter2") {
			t.Errorf("a password is told: %s", got)
		}
		if err := c.pass.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, u := range Pass(nil).Unpassed(env, nil) {
		if u.Password != (u.Word == "proxy") {
			t.Errorf("%+v", u)
		}
	}
}

// TestPassPasswordsOfRegistries: the address of a registry may have a password, too.
func TestPassPasswordsOfRegistries(t *testing.T) {
	for name, c := range map[string]struct {
		value string
		want  []string
	}{
		"PIP_INDEX_URL":       {"https://user:hunter2@pypi.example.com/simple", []string{"user:hunter2", "hunter2"}},
		"PIP_EXTRA_INDEX_URL": {"https://a.example.com https://u:hunter3@b.example.com/s", []string{"u:hunter3", "hunter3"}},
		"UV_INDEX":            {"mine=https://u:hunter4@b.example.com", []string{"u:hunter4", "hunter4"}},
		"GOPROXY":             {"https://u:hunter5@go.example.com,direct", []string{"u:hunter5", "hunter5"}},
		"npm_config_registry": {"https://npm.example.com", nil},
		"GOPRIVATE":           {"*.example.com", nil},
	} {
		if got := (Pass{"registry"}).Passwords(lookupIn(map[string]string{name: c.value})); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
