package reach

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// Pass are the variables of this process that MCP servers get besides the plain
// ones: words that stand for several, and names.
type Pass []string

var variableName = pattern.Of(`^[A-Za-z_][A-Za-z0-9_]*$`)

// passWords are the words, and the variables that each stands for.
func passWords() map[string][]string {
	proxy := []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY"}
	for _, name := range slices.Clone(proxy) {
		proxy = append(proxy, strings.ToLower(name))
	}
	return map[string][]string{
		"proxy":   append(proxy, "NODE_USE_ENV_PROXY"),
		"ca":      append(certificateFiles(), "SSL_CERT_DIR", "NODE_USE_SYSTEM_CA", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "DENO_TLS_CA_STORE"),
		"display": {"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"},
	}
}

// certificateFiles name a file of certificates each.
func certificateFiles() []string {
	return []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "AWS_CA_BUNDLE", "PIP_CERT", "DENO_CERT", "NPM_CONFIG_CAFILE", "npm_config_cafile"}
}

// Check refuses what is neither a word nor the name of a variable.
func (p Pass) Check() error {
	for _, word := range p {
		if _, known := passWords()[word]; !known && !variableName.MatchString(word) {
			return fmt.Errorf("%q is neither proxy, ca or display nor the name of a variable", word)
		}
	}
	return nil
}

// Names are the variables, as far as they are set.
func (p Pass) Names(env func(string) (string, bool)) []string {
	var out []string
	for _, word := range p {
		names, known := passWords()[word]
		if !known {
			names = []string{word}
		}
		for _, name := range names {
			if value, ok := env(name); ok && value != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	if runtime.GOOS == "windows" { // there both spellings are one variable
		slices.SortFunc(out, func(a, b string) int { return strings.Compare(strings.ToUpper(a), strings.ToUpper(b)) })
		out = slices.CompactFunc(out, strings.EqualFold)
	}
	return out
}

// tokenLeast is how long a name has to be that may be a token.
const tokenLeast = 16

// addressScheme is what an address of a proxy may begin with.
var addressScheme = pattern.Of(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// escaped is one letter as addresses write it.
var escaped = pattern.Of(`%[0-9A-Fa-f]{2}`)

// Passwords are those in the addresses of proxies that are passed, as they stand
// there and as they are meant, with their names and without. Programs take
// addresses that are none to url.Parse, so they are also read by hand: up to the
// last @, and with every sign in between.
func (p Pass) Passwords(env func(string) (string, bool)) []string {
	var out []string
	add := func(login string) {
		user, password, _ := strings.Cut(login, ":")
		found := []string{login, password}
		if password == "" {
			found = []string{user} // a token alone stands where names do
			if len(user) < tokenLeast {
				return
			}
		}
		for _, written := range found {
			meant := escaped.Regexp().ReplaceAllStringFunc(written, func(code string) string {
				letter, err := hex.DecodeString(code[1:])
				if err != nil {
					return code
				}
				return string(letter)
			})
			for _, text := range []string{written, meant} {
				if !slices.Contains(out, text) {
					out = append(out, text)
				}
			}
		}
	}
	for _, name := range p.Names(env) {
		value, _ := env(name)
		if !strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			continue
		}
		value = strings.TrimSpace(value)
		rest := value[len(addressScheme.Regexp().FindString(value)):]
		end := strings.LastIndexByte(rest, '@')
		if end < 0 {
			continue
		}
		add(rest[:end])
		// An @ after the host ends nothing; and this is how Go's programs write it.
		if u, err := url.Parse("http://" + rest); err == nil && u.User != nil {
			add(u.User.String())
		}
	}
	return out
}

// passed are the variables for a server in a sandbox, or on the host, and the
// directories that they name there. What cannot be had in the sandbox is left out
// and told.
func (l *Launcher) passed(server, box string) (env map[string]string, dirs []files.Dir) {
	env = map[string]string{}
	words := passWords()
	for _, name := range l.Pass.Names(l.Env) {
		value, _ := l.Env(name)
		var err error
		switch {
		case onHost(box):
		case slices.Contains(words["display"], name):
			err = errors.New("the display of this machine cannot be reached from a sandbox")
		case slices.Contains(certificateFiles(), name) && box != sandbox.MicroVM:
			var dir string
			if dir, err = l.certificates(value); err == nil {
				value = filepath.Join(dir, certificatesFile)
				if shown := (files.Dir{Path: dir}); !slices.Contains(dirs, shown) { // several variables may name one file
					dirs = append(dirs, shown)
				}
			}
		case slices.Contains(certificateFiles(), name):
			err = errors.New("a virtual machine has its own files; put the certificates into its image")
		case name == "SSL_CERT_DIR":
			err = errors.New("a directory of certificates is not shown in a sandbox; set SSL_CERT_FILE to a file with them")
		}
		if err != nil {
			if _, again := l.told.LoadOrStore(server+"/"+name, true); !again && l.Log != nil {
				l.Log.Warn("a variable of hub.pass_env is not passed to an MCP server", "server", server, "variable", name, "why", err)
			}
			continue
		}
		env[name] = value
	}
	return env, dirs
}

const (
	certificatesFile = "certificates.pem"
	certificatesMost = 8 << 20
)

// certificates gives a directory with nothing in it but the certificates of a
// file. The directory that the file lies in may hold keys, and so may the file.
func (l *Launcher) certificates(file string) (string, error) {
	if l.Certificates == "" {
		return "", errors.New("there is no home directory to put the certificates into")
	}
	f, err := os.Open(l.place(file))
	if err != nil {
		return "", fmt.Errorf("reading the certificates: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, certificatesMost+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("reading the certificates: %w", err)
	}
	if len(text) > certificatesMost {
		return "", fmt.Errorf("%s has more than %d bytes", file, certificatesMost)
	}
	only := certificatesOnly(text)
	if len(only) == 0 {
		return "", fmt.Errorf("%s has no certificates (as PEM) in it", file)
	}
	sum := sha256.Sum256(only)
	dir := filepath.Join(l.Certificates, hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("keeping the certificates: %w", err)
	}
	path := filepath.Join(dir, certificatesFile)
	if was, err := os.ReadFile(path); err == nil && string(was) == string(only) {
		return dir, nil
	}
	// Another server that starts now may read it, and never half of it.
	if err := durable.Replace(path, only, 0o644); err != nil {
		return "", fmt.Errorf("keeping the certificates: %w", err)
	}
	return dir, nil
}

// certificatesOnly leaves out everything of a PEM file but certificates.
func certificatesOnly(text []byte) []byte {
	var out []byte
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return out
		}
		if block.Type == "CERTIFICATE" || block.Type == "X509 CERTIFICATE" || block.Type == "TRUSTED CERTIFICATE" {
			block.Headers = nil
			out = append(out, pem.EncodeToMemory(block)...)
		}
		text = rest
	}
}
