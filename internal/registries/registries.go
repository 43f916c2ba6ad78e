// Package registries knows where the package managers of this machine get their
// packages, so that one word in grant.hosts (npm, pip, go, cargo) stands for those
// hosts. Sandboxes, the settings' readers and the wiring import it.
//
// Its one invariant: only the person's and the machine's own configuration counts,
// never that of a project. What a project says about its registries would let it
// choose where the programs of an agent go.
package registries

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// Machine is where configuration is read. The zero value has none.
type Machine struct {
	Home   string                            // of the person
	Getenv func(name string) string          // their variables
	Read   func(path string) ([]byte, error) // nil: files of this machine, if they are not long
}

// ErrWritable is how Machine.Read says that tools can write a file.
var ErrWritable = errors.New("tools can write this file")

// Found is what the words of grant.hosts stand for on a machine.
type Found struct {
	// Hosts are the entries of grant.hosts, without words. A registry that the
	// configuration names may have a private address; a well-known one may not.
	Hosts []string
	// Env are variables by which programs go to the same registries: they see no
	// configuration of the person. Passwords are left out.
	Env map[string]string
	// Means says what each word stands for.
	Means map[string][]string
	// Notes say what of the configuration cannot be used.
	Notes []string
}

// Words are the words that stand for registries. A host of such a name can only be
// granted by a longer name or its address.
func Words() []string { return []string{"cargo", "go", "npm", "pip"} }

// known are the hosts of those who configure nothing.
func known(word string) []string {
	switch word {
	case "npm":
		return []string{"registry.npmjs.org"}
	case "pip":
		return []string{"pypi.org", "files.pythonhosted.org"}
	case "go":
		return []string{"proxy.golang.org", "sum.golang.org"}
	case "cargo":
		return []string{"index.crates.io", "static.crates.io"}
	}
	return nil
}

// WordFor gives the word that stands for a well-known registry; empty: none.
func WordFor(host string) string {
	for _, word := range Words() {
		if slices.Contains(known(word), host) {
			return word
		}
	}
	return ""
}

// Expand puts hosts in the place of words.
func Expand(entries []string, m Machine) Found {
	f := Found{Env: map[string]string{}, Means: map[string][]string{}}
	for _, entry := range entries {
		word := strings.ToLower(entry)
		if !slices.Contains(Words(), word) {
			f.Hosts = append(f.Hosts, entry)
			continue
		}
		if f.Means[word] != nil {
			continue
		}
		r := &reading{Machine: m, word: word, env: map[string]string{}}
		switch word {
		case "npm":
			r.npm()
		case "pip":
			r.pip()
		case "go":
			r.golang()
		case "cargo":
			r.cargo()
		}
		f.Means[word] = r.hosts
		if r.hosts == nil {
			f.Means[word] = []string{}
		}
		maps.Copy(f.Env, r.env)
		f.Hosts, f.Notes = append(f.Hosts, r.hosts...), append(f.Notes, r.notes...)
	}
	f.Hosts = unique(f.Hosts)
	return f
}

func unique(list []string) (out []string) {
	for _, x := range list {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// reading is one word being looked up.
type reading struct {
	Machine
	word  string
	hosts []string
	env   map[string]string
	notes []string
	here  bool // a registry is on this machine, and a well-known one is not the same
}

func (r *reading) note(format string, args ...any) {
	r.notes = append(r.notes, r.word+": "+fmt.Sprintf(format, args...))
}

func (r *reading) variable(name string) string {
	if r.Getenv == nil {
		return ""
	}
	return r.Getenv(name)
}

// file reads a file of the configuration; one that is not there is empty.
func (r *reading) file(path string) string {
	if path == "" || !filepath.IsAbs(path) {
		return ""
	}
	read := r.Read
	if read == nil {
		read = plainfile.Settings
	}
	text, err := read(path)
	if errors.Is(err, ErrWritable) {
		r.note("%s is not read, since tools can write it", path)
	}
	if err != nil || bytes.IndexByte(text, 0) >= 0 { // no file of settings has that byte
		return ""
	}
	return string(text)
}

// home is a file below the person's home; empty: there is none.
func (r *reading) home(parts ...string) string {
	if r.Home == "" {
		return ""
	}
	return filepath.Join(append([]string{r.Home}, parts...)...)
}

// configDir is where the person's configuration lies by the rules of freedesktop.org.
func (r *reading) configDir(parts ...string) string {
	if dir := r.variable("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(append([]string{dir}, parts...)...)
	}
	return r.home(append([]string{".config"}, parts...)...)
}

// wellKnown adds the hosts of those who configure nothing. Where they lead to a
// private address a person has to say so.
func (r *reading) wellKnown(hosts ...string) {
	for _, host := range hosts {
		if !r.here && !slices.Contains(r.hosts, "private:"+host) {
			r.hosts = unique(append(r.hosts, host))
		}
	}
}

// configured adds the host of a registry that the configuration names, and gives the
// address without a password. Empty: it is of no use.
func (r *reading) configured(text string) string {
	if text = strings.Trim(strings.TrimSpace(text), `"'`); text == "" {
		return ""
	}
	plain := strings.TrimPrefix(strings.TrimPrefix(text, "sparse+"), "registry+")
	u, err := url.Parse(plain)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		if err == nil && (u.Scheme == "file" || filepath.IsAbs(plain)) {
			return "" // nothing that a network would be needed for
		}
		r.note("the configuration names a registry that is neither http nor https; it is left out")
		return ""
	}
	host := strings.ToLower(u.Hostname())
	entry := host
	addr, err := netip.ParseAddr(host)
	if err != nil {
		entry = "private:" + host
	}
	// A host is granted with all its ports. What else answers on this machine, or hands
	// out credentials to whoever asks, nobody meant by the name of a package manager.
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && (addr.Unmap().IsLoopback() || addr.Unmap().IsLinkLocalUnicast() || addr.Unmap().IsUnspecified()) {
		r.note("the configuration names a registry on this machine (%s); it is left out, since all of this machine would be reached: grant it by its own name or address if that is meant", host)
		r.here = true
		return ""
	}
	if strings.Contains(host, "*") || httpclient.CheckHosts([]string{entry}) != nil {
		r.note("the configuration names a registry on a host that cannot be read; it is left out")
		return ""
	}
	r.hosts = slices.DeleteFunc(r.hosts, func(h string) bool { return h == host })
	r.hosts = unique(append(r.hosts, entry))
	if u.User == nil {
		return text
	}
	u.User = nil
	kind := strings.TrimSuffix(text, plain) // sparse+
	r.note("the address of %s has a password or token in it, which programs are not given; where it is needed, set it under toolboxes.shell.env", u.Hostname())
	return kind + u.String()
}
