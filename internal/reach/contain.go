package reach

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/image"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// containers gives those of an image. There is no other place for a server that was
// put into one.
func (l *Launcher) containers(ctx context.Context, name string) (toolcrib.Sandbox, error) {
	if l.Images == nil || name == "" {
		return nil, errors.New("no image is known for it: set mcp_servers.NAME.image")
	}
	return l.Images(ctx, name)
}

// The words of mcp_servers.NAME.network besides "granted".
const (
	networkOff = "off"
	networkAll = "all"
)

// network is the grant with what a server reaches from its sandbox.
func (l *Launcher) network(grant toolcrib.Grant, launch mcphub.Launch, box string) (toolcrib.Grant, error) {
	if onHost(box) {
		return grant, nil
	}
	switch launch.Network {
	case networkOff:
		grant.Hosts = nil
	case networkAll:
		grant.Hosts = []string{"*"}
	}
	if box != sandbox.Container {
		return grant, nil
	}
	if _, err := sandbox.WholeNetwork(box, grant.Hosts); err != nil {
		return grant, fmt.Errorf("the MCP server %s is not started: a container has the whole network or none, and grant.hosts names %s; mcp_servers.%s.network: off or all decides it for this server", launch.Server, strings.Join(grant.Hosts, ", "), launch.Server)
	}
	return grant, nil
}

// inContainer gives the variables of a server in a container: those of the image
// come besides, and tell where its programs are. Why is for a person whose server
// fails for lack of a network.
func (l *Launcher) inContainer(listed map[string]string, launch mcphub.Launch, network bool) (env []string, why string) {
	kit, _ := image.For(launch.Command)
	all := map[string]string{"HOME": image.Home}
	if zone, ok := l.Env("TZ"); ok {
		all["TZ"] = zone
	}
	maps.Copy(all, kit.Env)
	if !network {
		maps.Copy(all, kit.Offline)
		if kit.Fetches {
			why = fmt.Sprintf("it has no network, so that %s can fetch nothing: mcp_servers.%s.network: all gives it the whole network, or name an image that has the server in it (mcp_servers.%s.image)", path.Base(launch.Command), launch.Server, launch.Server)
		}
	}
	maps.Copy(all, listed)
	return l.list(all), why
}

// Describe says where the program of a server runs and what it sees there. Empty: on
// the host, or wherever it is decided when it starts.
func (l *Launcher) Describe(name string, s mcphub.Server) string {
	if s.Grant != nil && s.Sandbox == "" {
		s.Sandbox = sandbox.Linux
	}
	if s.URL != "" || onHost(s.Sandbox) {
		return ""
	}
	where := "in the sandbox " + s.Sandbox
	if s.Sandbox == sandbox.Container {
		where = "in a container of " + s.Image
	}
	grant, err := l.network(l.exactly(s.Grant, s.Sandbox), mcphub.Launch{Server: name, Network: s.Network}, s.Sandbox)
	network := "without network"
	switch {
	case err != nil:
		return where + ", but " + err.Error()
	case slices.Contains(grant.Hosts, "*"):
		network = "with the whole network"
	case len(grant.Hosts) > 0:
		network = "with " + strings.Join(grant.Hosts, ", ")
	}
	sees := "; of this machine it sees the granted directories"
	if s.Grant != nil {
		sees = "; of this machine it sees what is declared (" + shownDirs(s.Grant.Dirs) + "), its own code and its interpreter"
	}
	if s.Sandbox == sandbox.Linux { // no image brings its programs
		sees += " and, read-only, those of the system"
	}
	return where + ", " + network + sees
}

// Try looks whether the program of a server could be started, without starting it.
// Nil: it could, as far as one can see, or there is none.
func (l *Launcher) Try(ctx context.Context, name string, s mcphub.Server) error {
	if s.URL != "" || strings.Contains(s.Command+s.Dir, "${") {
		return nil
	}
	return l.Ready(ctx, mcphub.Launch{Server: name, Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Dir, Sandbox: s.Sandbox, Image: s.Image, Network: s.Network, Grant: s.Grant, Tools: s.Tools})
}

// shownDirs names directories for a person.
func shownDirs(dirs []files.Dir) string {
	var out []string
	for _, d := range dirs {
		how := "read"
		if d.Write {
			how = "write"
		}
		out = append(out, how+" "+d.Path)
	}
	if out == nil {
		return "no directory"
	}
	return strings.Join(out, ", ")
}
