package bundle

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// entry is a server as most formats write it.
type entry struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	Dir     string            `json:"cwd"`
	URL     string            `json:"url"`
	HTTPURL string            `json:"httpUrl"` // Gemini's word for the newer transport
	Headers map[string]string `json:"headers"`
}

// maxServer is how many bytes all texts of a server have at most: a person has to read them.
const maxServer = 16 << 10

func (e entry) size() int {
	n := len(e.Command) + len(e.Dir) + len(e.URL) + len(e.HTTPURL)
	for _, a := range e.Args {
		n += len(a) + 1
	}
	for _, pairs := range []map[string]string{e.Env, e.Headers} {
		for key, value := range pairs {
			n += len(key) + len(value)
		}
	}
	return n
}

// variables says what the variables of a format stand for.
type variables map[string]string

var variable = pattern.Of(`\$\{([^{}]*)\}`)

// expand puts our words in place of a format's variables. One that is not known is the
// person's to give: it is asked for, and never taken from the environment.
func (r *reader) expand(text string, vars variables) string {
	return variable.Regexp().ReplaceAllStringFunc(text, func(v string) string {
		name := v[2 : len(v)-1]
		if ours, ok := vars[name]; ok {
			return ours
		}
		if key, ok := strings.CutPrefix(name, "user_config."); ok {
			name = key
		}
		name, fallback, without := strings.Cut(name, ":-") // also an empty one: it can do without
		name = askName(name)
		r.ask(Ask{Name: name, Default: fallback, Required: !without, Secret: looksSecret(name)})
		return "${ask:" + name + "}"
	})
}

// ask adds something to be asked for, once.
func (r *reader) ask(a Ask) {
	if len(r.Asks) < maxParts && !slices.ContainsFunc(r.Asks, func(b Ask) bool { return b.Name == a.Name }) {
		a.Description, a.Default = shown(a.Description, 500), shown(a.Default, 500)
		r.Asks = append(r.Asks, a)
	}
}

// askName makes a name of a variable that can be typed.
func askName(name string) string {
	name = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' {
			return c
		}
		return '_'
	}, name)
	return strings.Trim(name[:min(len(name), maxName)], ".-")
}

// looksSecret: names that people give to what must not be shown.
func looksSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"key", "token", "secret", "password", "passwd", "credential", "auth"}, func(w string) bool { return strings.Contains(name, w) })
}

// addServers adds the servers of a map of entries, in the order of their names.
func (r *reader) addServers(at string, entries map[string]json.RawMessage, vars variables) {
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		var e entry
		if err := json.Unmarshal(entries[name], &e); err != nil {
			r.note(at, "the server %s is left out: %v", name, err)
			continue
		}
		s, err := r.server(name, e, vars)
		if err != nil {
			r.note(at, "the server %s is left out: %v", name, err)
			continue
		}
		r.Servers = append(r.Servers, s)
	}
}

func (r *reader) server(name string, e entry, vars variables) (Server, error) {
	s := Server{Name: name, SSE: e.Type == "sse"}
	if e.size() > maxServer {
		return s, fmt.Errorf("its texts have more than %d KiB, which nobody reads before saying yes", maxServer>>10)
	}
	address := e.URL
	if e.HTTPURL != "" {
		address = e.HTTPURL
	}
	switch {
	case e.Command != "" && address != "":
		return s, fmt.Errorf("it has both a command and an address")
	case e.Command != "":
		return s, r.command(&s, e, vars)
	case address != "":
		return s, r.address(&s, address, e, vars)
	}
	return s, fmt.Errorf("it has neither a command nor an address")
}

func (r *reader) command(s *Server, e entry, vars variables) error {
	for _, word := range append([]string{e.Command, e.Dir}, e.Args...) {
		if strings.ContainsRune(word, 0) {
			return fmt.Errorf("a NUL stands in its command")
		}
	}
	s.Command = r.expand(e.Command, vars)
	if strings.Contains(s.Command, "${ask:") {
		return fmt.Errorf("which program it starts is left open (%s)", e.Command)
	}
	var err error
	if strings.ContainsAny(s.Command, `/\`) && !path.IsAbs(s.Command) && !drive.MatchString(s.Command) {
		// A path, and not a name that is looked for: one below the package, wherever the
		// program that starts it stands.
		if s.Command, err = inside(s.Command); err != nil {
			return err
		}
	}
	for _, arg := range e.Args {
		s.Args = append(s.Args, r.expand(arg, vars))
	}
	if e.Dir != "" {
		if s.Dir, err = inside(r.expand(e.Dir, vars)); err != nil {
			return err
		}
	}
	s.Env, err = r.values(e.Env, vars, "variable")
	return err
}

var drive = pattern.Of(`^[A-Za-z]:[\\/]`)

// inside is a path below the package or below the folder of its own; one that says neither
// is below the package.
func inside(given string) (string, error) {
	base, rest := Root, given
	for _, b := range []string{Root, Data} {
		if after, is := strings.CutPrefix(given, b); is && (after == "" || after[0] == '/') {
			base, rest = b, strings.TrimPrefix(after, "/")
			if rest == "" {
				return base, nil
			}
		}
	}
	at, err := CheckPath(rest)
	if err != nil || at == "." {
		return base, err
	}
	return base + "/" + at, nil
}

func (r *reader) address(s *Server, address string, e entry, vars variables) error {
	s.URL = r.expand(address, vars)
	u, err := url.Parse(strings.NewReplacer("${ask:", "ask-", "}", "").Replace(s.URL))
	switch {
	case err != nil:
		return fmt.Errorf("its address cannot be read")
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		return fmt.Errorf("its address is not https")
	case u.Host == "" || u.User != nil || u.Fragment != "":
		return fmt.Errorf("its address has no host, or has more in it than an address")
	case strings.Contains(s.URL, "${ask:") && strings.Contains(u.Host, "ask-"):
		return fmt.Errorf("which host it speaks to is left open")
	}
	s.Headers, err = r.values(e.Headers, vars, "header")
	return err
}

func loopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

var plainKey = pattern.Of(`^[A-Za-z_][A-Za-z0-9_-]{0,127}$`)

func (r *reader) values(in map[string]string, vars variables, what string) (map[string]string, error) {
	if len(in) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(in)) {
		if !plainKey.MatchString(key) {
			return nil, fmt.Errorf("%q is no name of a %s", key, what)
		}
		if strings.ContainsAny(in[key], "\x00\r\n") {
			return nil, fmt.Errorf("the %s %s has more than one line", what, key)
		}
		out[key] = r.expand(in[key], vars)
	}
	return out, nil
}
