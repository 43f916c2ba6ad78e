package toolchains

import (
	"path/filepath"
	"slices"
)

// Certificates are the person's variables that name certificates of the machine:
// behind a company's proxy nothing can be fetched without them. Only those that
// lead to where every sandbox has certificates anyway are taken over.
func (m Machine) Certificates() map[string]string {
	out := map[string]string{}
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO"} {
		path := m.variable(name)
		if path == "" || filepath.Clean(path) != path {
			continue
		}
		if slices.ContainsFunc([]string{"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share", "/usr/lib/ssl", "/usr/local/share/ca-certificates"}, func(dir string) bool { return within(path, dir) }) {
			out[name] = path
		}
	}
	return out
}
