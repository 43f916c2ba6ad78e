package reach

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
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
	return map[string][]string{
		"proxy": append(bothCases("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY", "NPM_CONFIG_PROXY", "NPM_CONFIG_HTTPS_PROXY", "NPM_CONFIG_NOPROXY"), "NODE_USE_ENV_PROXY", "PIP_PROXY"),
		"ca":    append(certificateFiles(), "SSL_CERT_DIR", "NODE_USE_SYSTEM_CA", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "DENO_TLS_CA_STORE"),
		"registry": append(bothCases("NPM_CONFIG_REGISTRY", "NPM_CONFIG_USERCONFIG"), "BUN_CONFIG_REGISTRY", "YARN_NPM_REGISTRY_SERVER", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_TRUSTED_HOST", "PIP_CONFIG_FILE",
			"UV_INDEX", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_CONFIG_FILE", "UV_PYTHON_INSTALL_MIRROR", "GOPROXY", "GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOSUMDB"),
		"display": {"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"},
	}
}

// certificateFiles name a file of certificates each.
func certificateFiles() []string {
	return []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "AWS_CA_BUNDLE", "PIP_CERT", "DENO_CERT", "NPM_CONFIG_CAFILE", "npm_config_cafile",
		"NIX_SSL_CERT_FILE", "HTTPLIB2_CA_CERTS", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE"}
}

// bothCases gives names as they are and in small letters: programs differ in which they
// read.
func bothCases(names ...string) []string {
	for _, name := range slices.Clone(names) {
		names = append(names, strings.ToLower(name))
	}
	return names
}

// Check refuses what is neither a word nor the name of a variable.
func (p Pass) Check() error {
	for _, word := range p {
		if _, known := passWords()[word]; !known && !variableName.MatchString(word) {
			return fmt.Errorf("%q is neither proxy, ca, registry or display nor the name of a variable", word)
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
