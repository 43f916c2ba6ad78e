// Package hub makes the MCP servers of the settings what toolbox/mcphub takes:
// which servers there are, plugins among them, how one logs in to them, and how
// their entries come from the files of other clients. It starts no server. The
// wiring in internal/app imports it.
package hub

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/image"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/toolname"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Dir is where it is kept what MCP servers offer, and what was approved.
func Dir(state string) string { return filepath.Join(state, "hub") }

// serverNames is what a server may be called. In a command, a name with - before it
// would be a flag: approve --all.
var serverNames = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_-]{0,47}$`)

// CheckName refuses what no MCP server can be called here. Boxes are the names
// that toolboxes of ours have.
func CheckName(name string, boxes []string) error {
	switch {
	case !serverNames.MatchString(name) || strings.Contains(name, "__"):
		return fmt.Errorf("%q cannot be the name of a server: take letters, digits, - and single _, 48 at most, and no - at the beginning", name)
	case name == toolname.OwnServer:
		return fmt.Errorf("%q cannot be the name of a server: clients show Toolcrib's own tools by it (mcp__toolcrib__read_file)", name)
	case slices.Contains(boxes, name):
		return fmt.Errorf("%q cannot be the name of a server: a toolbox of Toolcrib's own has it", name)
	}
	return nil
}

// Servers reads the settings of MCP servers and adds the plugins. What makes no
// sense is left out and told. Boxes are the names that toolboxes of ours have.
func Servers(cfg settings.Config, plugins string, boxes []string) (map[string]mcphub.Server, []toolcrib.LoadError) {
	out := map[string]mcphub.Server{}
	var faults []toolcrib.LoadError
	boxes = slices.AppendSeq(slices.Clone(boxes), maps.Keys(cfg.OpenAPI))
	add := func(name string, s mcphub.Server) {
		if err := CheckName(name, boxes); err != nil { // rules about a box of ours would be about it
			faults = append(faults, toolcrib.LoadError{Box: name, Err: err})
			return
		}
		if s.Instance == "" && cfg.SeveralPeople() { // several people: nothing of one may reach another
			s.Instance = mcphub.PerPerson
		}
		out[name] = s
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.MCPServers)) {
		settings := cfg.MCPServers[name]
		if settings.Disabled {
			continue
		}
		settings.EnabledTools = cfg.Tools.ServerNames(name, settings.EnabledTools)
		settings.DisabledTools = cfg.Tools.ServerNames(name, settings.DisabledTools)
		s, err := server(settings, cfg.Sandbox)
		if err != nil {
			faults = append(faults, toolcrib.LoadError{Box: name, Err: fmt.Errorf("mcp_servers.%s.%w", name, err)})
			continue
		}
		add(name, s)
	}
	found, err := Plugins(plugins)
	if err != nil {
		faults = append(faults, toolcrib.LoadError{Box: "plugins", Err: err})
	}
	for _, p := range found {
		entry, twice := cfg.MCPServers[p.Name]
		if twice && entry.Command == p.Path {
			continue // what the settings say of this plugin
		}
		if twice && p.Err == nil {
			p.Err = fmt.Errorf("%s is called as a server of mcp_servers, which counts; rename one", p.file())
		}
		if p.Err != nil {
			faults = append(faults, toolcrib.LoadError{Box: p.Name, Err: p.Err})
			continue
		}
		add(p.Name, p.server())
	}
	return out, faults
}

// Check says what is wrong with the settings of a server, before they are kept.
func Check(s settings.MCPServer, sandbox settings.Sandbox) error {
	_, err := server(s, sandbox)
	return err
}

// contain says which image a server runs in, and what it reaches. What cannot hold
// is refused: a server for which somebody wrote network: off must not have one.
func contain(out *mcphub.Server, s settings.MCPServer, engine settings.ContainerBox) error {
	boxed := s.Sandbox != "" && s.Sandbox != sandboxHost
	switch {
	case s.URL != "" && (boxed || s.Image != "" || s.Network != ""):
		return errors.New("sandbox, image and network are for a server with a command: one with a url runs elsewhere")
	case s.Image != "" && s.Sandbox != sandboxContainer:
		return errors.New("image: it counts with sandbox: container only; set that too, or leave the image out")
	case s.Network != "" && !boxed:
		return errors.New("network: a server on the host has the whole network; set sandbox: container, linux or microvm too, or leave this out")
	}
	if out.Network = s.Network; s.Sandbox != sandboxContainer {
		return nil
	}
	chosen, err := image.Choose(s.Command, cmp.Or(s.Image, engine.Image))
	if err != nil {
		return fmt.Errorf("image: %w", err)
	}
	out.Image = chosen
	return nil
}

// fetchTime is how long a server has to start whose command may have to fetch packages
// first: npx and the like the first time, and in a container each time.
const fetchTime = 2 * time.Minute

// Fetched is what the command of a server may have to fetch before it runs it, such as
// the package of npx or the image of docker run, with the program that does. Empty: it
// fetches nothing that is known of.
func Fetched(s settings.MCPServer) string {
	launch := bundle.Server{Command: s.Command, Args: s.Args}
	bundle.Launches(&launch)
	return strings.TrimSpace(launch.Launcher + " " + launch.Fetches)
}

// Two of the words that mcp_servers.NAME.sandbox may be.
const (
	sandboxHost      = "host"
	sandboxContainer = "container"
)

// server puts the settings into the hub's words.
func server(s settings.MCPServer, sandbox settings.Sandbox) (mcphub.Server, error) {
	out := mcphub.Server{
		Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Cwd, URL: s.URL, Headers: s.Headers,
		Timeout: s.Timeout, Starting: s.StartTimeout, Idle: s.IdleTimeout, Eager: s.Start == "eager",
		Enabled: s.EnabledTools, Disabled: s.DisabledTools, Sandbox: s.Sandbox, Instance: mcphub.Instance(s.Instance),
		Sampling: mcphub.Consent(s.Sampling), SamplingModel: s.SamplingModel, Elicitation: mcphub.Consent(s.Elicitation),
		Unpinned: s.Pins == "off", Approve: s.Pins == "approve", Bare: s.Names == "bare",
		OAuth: mcphub.OAuth{ClientID: s.OAuth.ClientID, ClientSecret: s.OAuth.ClientSecret, Issuer: s.OAuth.Issuer, Scopes: s.OAuth.Scopes, Redirect: s.OAuth.RedirectURL, ClientCredentials: s.OAuth.Flow == "client_credentials", Off: s.OAuth.Flow == "off"},
	}
	if out.Starting == 0 && Fetched(s) != "" {
		out.Starting = fetchTime
	}
	if err := contain(&out, s, sandbox.Container); err != nil {
		return out, err
	}
	if port := s.OAuth.RedirectPort; port > 0 {
		if s.OAuth.RedirectURL != "" {
			return out, errors.New("oauth: redirect_port and redirect_url say the same thing; set one of them")
		}
		out.OAuth.Redirect = fmt.Sprintf("http://127.0.0.1:%d/callback", port)
	}
	if s.Transport != "auto" {
		out.Transport = s.Transport
	}
	for _, tool := range slices.Sorted(maps.Keys(s.Effects)) {
		var e toolcrib.Effects
		if err := e.UnmarshalText([]byte(s.Effects[tool])); err != nil {
			return out, fmt.Errorf("effects.%s: %w", tool, err)
		}
		if out.Effects == nil {
			out.Effects = map[string]toolcrib.Effects{}
		}
		out.Effects[tool] = e
	}
	return out, nil
}

// HTTP is the client for servers elsewhere. Where they are is what the
// person wrote into the settings, so private addresses are fine; they are never
// followed anywhere else.
func HTTP() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone() // the standard library's own
	t.MaxIdleConnsPerHost = 64
	t.IdleConnTimeout = time.Minute
	t.ResponseHeaderTimeout = 0 // a call may take its time before the first byte
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
