package bundle

import (
	"cmp"
	"fmt"
	"strings"
)

// registryArgument is an argument or a value as server.json says it.
type registryArgument struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Value    string `json:"value"`
	Hint     string `json:"valueHint"`
	Default  string `json:"default"`
	Required bool   `json:"isRequired"`
	Secret   bool   `json:"isSecret"`
	About    string `json:"description"`
}

type registryPackage struct {
	Registry   string             `json:"registryType"`
	Identifier string             `json:"identifier"`
	Version    string             `json:"version"`
	Digest     string             `json:"fileSha256"`
	Runtime    string             `json:"runtimeHint"`
	Before     []registryArgument `json:"runtimeArguments"`
	After      []registryArgument `json:"packageArguments"`
	Variables  []registryArgument `json:"environmentVariables"`
	Transport  struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	} `json:"transport"`
}

// readServerJSON reads an entry of the registry of MCP servers.
func readServerJSON(r *reader) error {
	const at = "server.json"
	var m struct {
		Name        string            `json:"name"`
		Title       string            `json:"title"`
		Description string            `json:"description"`
		Version     string            `json:"version"`
		Website     string            `json:"websiteUrl"`
		Packages    []registryPackage `json:"packages"`
		Remotes     []struct {
			Type    string             `json:"type"`
			URL     string             `json:"url"`
			Headers []registryArgument `json:"headers"`
		} `json:"remotes"`
	}
	if err := r.json(at, &m); err != nil {
		return err
	}
	_, short, ok := strings.Cut(m.Name, "/")
	if !ok {
		return fmt.Errorf("its name %q has no namespace", shown(m.Name, 80))
	}
	r.Name, r.Version, r.Description, r.Homepage = short, m.Version, m.Description, m.Website
	// A package comes before an address: what runs here can be held here.
	for _, p := range m.Packages {
		s, err := r.registryServer(short, p)
		if err != nil {
			r.note(at, "the package %s is left out: %v", p.Identifier, err)
			continue
		}
		r.Servers = append(r.Servers, s)
		return nil
	}
	for _, remote := range m.Remotes {
		headers := map[string]string{}
		for _, h := range remote.Headers {
			headers[h.Name] = r.registryValue(h)
		}
		s, err := r.server(short, entry{Type: remote.Type, URL: remote.URL, Headers: headers}, r.kept())
		if err != nil {
			r.note(at, "the address %s is left out: %v", remote.URL, err)
			continue
		}
		r.Servers = append(r.Servers, s)
		return nil
	}
	return fmt.Errorf("it names no server that can be used here")
}

// kept leaves what registryValue wrote as it is.
func (r *reader) kept() variables {
	vars := variables{}
	for _, a := range r.Asks {
		vars["ask:"+a.Name] = "${ask:" + a.Name + "}"
	}
	return vars
}

func (r *reader) registryServer(name string, p registryPackage) (Server, error) {
	if p.Transport.Type != "" && p.Transport.Type != "stdio" {
		return Server{}, fmt.Errorf("it is reached by %s, and only programs on standard input are started", shown(p.Transport.Type, 40))
	}
	if p.Identifier == "" || strings.HasPrefix(p.Identifier, "-") || strings.ContainsAny(p.Identifier, " \t\n\x00") {
		return Server{}, fmt.Errorf("its name cannot be that of a package")
	}
	var command string
	var args []string
	switch p.Registry {
	case "npm":
		command, args = "npx", []string{"-y", p.Identifier + "@" + p.Version}
	case "pypi":
		command, args = "uvx", []string{p.Identifier + "==" + p.Version}
	case "oci":
		command, args = "docker", []string{"run", "-i", "--rm", p.Identifier}
	default:
		return Server{}, fmt.Errorf("packages of %s are not started here", shown(cmp.Or(p.Registry, "no registry"), 40))
	}
	switch spec := args[len(args)-1]; {
	case p.Registry != "oci" && !exactVersion.MatchString(p.Version):
		return Server{}, fmt.Errorf("its version %q is not exact", shown(p.Version, 40))
	case p.Registry == "npm" && !exactNPM.MatchString(spec), p.Registry == "pypi" && !exactPip.MatchString(spec):
		// An address or an alias in the place of a name is fetched from wherever it says.
		return Server{}, fmt.Errorf("%q does not name one version of a package", shown(spec, 200))
	}
	if len(p.Before) > 0 {
		return Server{}, fmt.Errorf("it wants options for the program that starts it, which are not passed on")
	}
	for _, a := range p.After {
		value := r.registryValue(a)
		switch {
		case a.Type == "named" && value != "":
			args = append(args, a.Name, value)
		case a.Type == "named":
			args = append(args, a.Name)
		case value != "":
			args = append(args, value)
		}
	}
	env := map[string]string{}
	for _, v := range p.Variables {
		if value := r.registryValue(v); value != "" {
			env[v.Name] = value
		}
	}
	return r.server(name, entry{Command: command, Args: args, Env: env}, r.kept())
}

// registryValue is the value of an argument: what stands there, or something to ask for.
func (r *reader) registryValue(a registryArgument) string {
	if a.Value != "" && !strings.ContainsAny(a.Value, "{}") {
		return a.Value
	}
	if !a.Required && a.Default == "" && !a.Secret {
		return ""
	}
	name := askName(cmp.Or(strings.TrimLeft(a.Name, "-"), a.Hint, "value"))
	r.ask(Ask{Name: name, Description: a.About, Secret: a.Secret || looksSecret(name), Required: a.Required, Default: a.Default})
	return "${ask:" + name + "}"
}
