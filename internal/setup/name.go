package setup

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// Naming says how servers are called here.
type Naming struct {
	Looks func(text string) bool  // whether a text has a key or a password in it
	Check func(name string) error // whether a server may be called so
	There map[string]settings.MCPServer
	// Fits reports whether a server is the one that is here under this name, beyond what is
	// started or asked. Nil: it is.
	Fits func(t Taken, name string) bool
}

// Same is a server that is not taken because it is here already, or comes with
// another file of the same import.
type Same struct {
	Taken
	Narrower []string // by which keys it is narrower where it was found
	Yours    bool     // a project's file names one that is the person's own
}

// Name gives every server a name that is free, and takes its secrets out under
// that name. The same server in two files is taken once, with what both allow.
func (n Naming) Name(list []Taken) (out []Taken, same []Same) {
	what := func(command string, args []string, url string) string {
		return serverText(settings.ServerEntry(clientfiles.Server{Command: command, Args: args, URL: url}))
	}
	used := map[string]string{}
	for name, s := range n.There {
		used[name] = what(s.Command, s.Args, s.URL)
	}
	for _, t := range list {
		base, original := n.NameFor(t.Server.Name), t.Server
		t.original, t.Name = t.Server.Name, base
		for i := 2; ; i++ {
			original.Name = t.Name
			t.Server, t.Secrets = clientfiles.Secrets(original, n.Looks)
			is := what(t.Server.Command, t.Server.Args, t.Server.URL)
			was, taken := used[t.Name]
			if !taken {
				used[t.Name] = is
				out = append(out, t)
				break
			}
			// With another token or another variable it is another server.
			if was == is && n.fits(t, out) {
				same = n.again(t, out, same)
				break
			}
			t.Name = fmt.Sprintf("%s-%d", base, i)
		}
	}
	return out, same
}

// fits reports whether a server is the one of its name, here or in this import.
func (n Naming) fits(t Taken, list []Taken) bool {
	if i := slices.IndexFunc(list, func(have Taken) bool { return have.Name == t.Name }); i >= 0 {
		return alike(list[i], t)
	}
	return n.Fits == nil || n.Fits(t, t.Name)
}

// alike reports whether two servers of one import are started with the same
// variables, headers and secrets.
func alike(a, b Taken) bool {
	secrets := func(t Taken) map[string]string {
		out := map[string]string{}
		for _, s := range t.Secrets {
			out[s.Name] = s.Value
		}
		return out
	}
	return maps.Equal(a.Server.Env, b.Server.Env) && maps.Equal(a.Server.Headers, b.Server.Headers) && maps.Equal(secrets(a), secrets(b))
}

// NameFor makes a name that a server may have here of one that it has elsewhere.
func (n Naming) NameFor(name string) string {
	base := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
	for strings.Contains(base, "__") {
		base = strings.ReplaceAll(base, "__", "_")
	}
	base = strings.TrimLeft(base, "-") // it would be a flag in a command
	if base = base[:min(len(base), 40)]; base == "" {
		base = "mcp"
	}
	if base == Name || n.Check(base) != nil { // a toolbox of ours has it, or we do
		base += "-mcp"
	}
	return base
}

func serverText(value map[string]any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// again notes that a server is here already, or narrows the one of the same
// import that it is.
func (n Naming) again(t Taken, list []Taken, same []Same) []Same {
	if have, ok := n.There[t.Name]; ok {
		_, keys := clientfiles.Server{EnabledTools: have.EnabledTools, DisabledTools: have.DisabledTools, Agents: have.Agents, Disabled: have.Disabled, Timeout: have.Timeout}.Narrowed(t.Server)
		return append(same, Same{Taken: t, Narrower: keys})
	}
	i := slices.IndexFunc(list, func(have Taken) bool { return have.Name == t.Name })
	if i < 0 || t.Project && !list[i].Project { // a project has no say in what is yours
		return append(same, Same{Taken: t, Yours: true})
	}
	narrowed, keys := list[i].Server.Narrowed(t.Server)
	narrowed.Also(t.Server.Source, t.File, keys)
	list[i].Server = narrowed
	list[i].also = append(list[i].also, t)
	return same
}
