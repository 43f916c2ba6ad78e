package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/agents"
	"github.com/toolcrib/toolcrib/internal/exposed"
	"github.com/toolcrib/toolcrib/internal/httpauth"
	"github.com/toolcrib/toolcrib/internal/mcp/server"
	"github.com/toolcrib/toolcrib/internal/mcp/shelf"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/ovos/node"
	"github.com/toolcrib/toolcrib/internal/ovos/voice"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/serve/toolapi"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault/keeper"
)

// BusClient says how a program joins the bus.
func BusClient(ctx context.Context, cfg settings.Config, on settings.Bus, needs Needs) (bus.ClientConfig, error) {
	k, err := keeper.Open(&toolcrib.Crib{}, cfg.Vault, needs.State, needs.Keys)
	if err != nil {
		return bus.ClientConfig{}, settings.Bad(err)
	}
	return node.Client(ctx, on, k.Expand)
}

// TakeMycroft says what the settings of a voice assistant give for those that are
// unset in ours, and which files that stands in.
func TakeMycroft(on settings.Bus, getenv func(string) string, home string, unset func(key string) bool) ([]node.Taken, []string, error) {
	return node.TakeMycroft(on.Mycroft, getenv, home, unset)
}

// ServeBus hosts the tools on a bus until ctx ends. Who calls is what the
// settings say and nothing that comes over the bus; the organisation is the one
// that callers of this machine belong to.
func (a *App) ServeBus(ctx context.Context, cfg settings.Config, on settings.Bus, organisation string, started func(url string)) error {
	if a.keeper == nil {
		return errors.New("serving on a bus: this crib cannot be called")
	}
	return a.hosted.Serve(ctx, cfg, on, node.HostNeeds{
		Crib: a.Crib, Desk: a.Desk, Organisation: organisation, Expand: a.keeper.Expand,
		Boxes: a.ownOnBus, Field: a.hosts.ID, Sections: a.hosts.Sections, Load: a.reloadOwn, Reload: a.Reload, Started: started,
		Talk: func(ctx context.Context, caller toolcrib.Caller, told string) (voice.Talker, error) {
			return a.Agents.Open(ctx, agents.Options{Caller: caller, Extra: told, Forget: true})
		},
	})
}

// reloadOwn reads every box again but those of a bus. Toolboxes in other languages
// that run are asked, as those of a voice assistant are at a discovery.
func (a *App) reloadOwn(ctx context.Context) (toolcrib.Diff, []toolcrib.LoadError) {
	if a.Hub != nil {
		a.Hub.Relist(ctx, a.persons)
	}
	shelving := a.shelving
	shelving.Boxes = node.Listed(shelving.Boxes)
	return a.load(ctx, shelving)
}

// ownOnBus lists the boxes of this program that belong on a bus, as they are
// now: a reload may bring others.
func (a *App) ownOnBus() []string {
	var own []string
	for _, box := range a.hosted.StandIns(a.hubShelving(a.shelving)).Boxes {
		if box.Name() != node.BoxName {
			own = append(own, box.Name())
		}
	}
	return own
}

// ServeStdio serves one MCP client on a pair of streams, until it hangs up or ctx
// ends.
func (a *App) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser, caller toolcrib.Caller, version string) error {
	cfg := a.MCP(version)
	cfg.Lenient, cfg.Desk = dialect.Lenient(caller.Dialect), a.Desk
	s := server.New(cfg, caller)
	defer s.Close()
	err := s.ServeStdio(ctx, in, out)
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil // the client hung up, or we were asked to stop
	}
	return err
}

// MCP is what the MCP frontend needs of the crib.
func (a *App) MCP(version string) server.Config {
	cfg := server.Config{
		Harmless: safety.Neutral, HarmlessJSON: safety.NeutralJSON,
		Crib: a.Crib, Version: version, Log: a.Crib.Log, Instructions: a.Instructions(), MoreInstructions: a.serverInstructions,
		Follow: a.events.Follow, Hidden: exposed.Beside, Search: a.Search(), MaxDescription: a.Text,
		Definition: a.definition, Key: a.stateKey,
	}
	if set := a.settings.Load(); set != nil {
		cfg.TextOnly = set.TextOnly
	}
	if t := a.watching.Observer(); t != nil {
		cfg.Observer = t
	}
	if a.Hub != nil {
		cfg.Shelf = shelf.Shelf{Crib: a.Crib, Hub: a.Hub, Skills: a.SkillBox(), Agents: a.agents, MayStart: a.mayStart, Notes: a.Notebook.Shown()}
	}
	return cfg
}

// definition is what a server said of a tool of its own.
func (a *App) definition(s toolcrib.Entry) json.RawMessage {
	if a.Hub == nil {
		return nil
	}
	b, ok := a.Hub.Box(s.Box)
	if !ok {
		return nil
	}
	return b.Definition(s.Native)
}

// listening is where and how the settings have us listen.
func listening(cfg settings.Serve, log *slog.Logger) (httpapi.Listening, error) {
	secure, err := httpapi.LoadCertificate(cfg.TLS.Cert, cfg.TLS.Key, log)
	return httpapi.Listening{Address: cfg.Listen, Remote: cfg.Remote, Open: cfg.Open, Hosts: cfg.Hosts, Secure: secure}, err
}

// Listen opens the address of the settings, with TLS if they ask for it.
func Listen(ctx context.Context, cfg settings.Serve, log *slog.Logger) (net.Listener, error) {
	on, err := listening(cfg, log)
	if err != nil {
		return nil, err
	}
	return httpapi.Listen(ctx, on)
}

// CheckServe says what would keep the settings from being served, or people who log
// in from coming in. Nothing is opened; the issuer is asked for its keys.
func (a *App) CheckServe(ctx context.Context, cfg settings.Serve) error {
	on, err := listening(cfg, nil)
	if err == nil {
		err = on.Check()
	}
	guests := a.policy.guests.Load()
	if err != nil || guests == nil || guests.Issuer == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return guests.Issuer.Verifier.Try(ctx)
}

// Serve answers HTTP on the listener until ctx ends. Calls under way get a few
// seconds to finish.
func (a *App) Serve(ctx context.Context, ln net.Listener, version string) error {
	api, err := a.newAPI(version)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer api.Close()
	return api.Serve(ctx, ln)
}

// ToolDocument describes the tools of a caller as newAPI serves them.
func (a *App) ToolDocument(caller toolcrib.Caller, server, version string) ([]byte, error) {
	return toolapi.Document(a.Shown(caller), toolapi.Options{Server: server, Version: version})
}

// newAPI is the way in over HTTP: MCP at /mcp, where each caller has a server of
// their own, single tools at /v1/tools and what describes them at /openapi.json, agents
// at /v1/chat/completions, the server's health at /healthz, and numbers at /metrics.
func (a *App) newAPI(version string) (*httpapi.API, error) {
	api, err := httpapi.New(httpapi.Config{
		State: a.state, Log: a.Crib.Log, Access: a.guestsNow, Names: a.names,
	})
	if err != nil {
		return nil, err
	}
	api.HandleEach("/mcp", HTTPFrontend, func(holder httpapi.Holder) httpapi.Frontend {
		cfg := a.MCP(version)
		cfg.Lenient = dialect.Lenient(holder.Caller.Dialect)
		if answers := httpauth.Answers(holder); answers != nil {
			cfg.Desk, cfg.Answers = a.Desk, answers
		}
		return server.New(cfg, holder.Caller)
	})
	toolapi.Config{Crib: a.Crib, Tools: a.Shown, Version: version, Most: a.Crib.Limits.Input + 1<<10, Lenient: dialect.Lenient, Judge: a.Judge}.Mount(api)
	a.chat().Mount(api)
	api.HandlePublic("GET /healthz", a.health(version))
	api.Handle("GET /metrics", a.watching.Metrics(func() bool { return a.guestsNow().Alone() }))
	return api, nil
}

// HTTPFrontend is what callers of MCP over HTTP come by (caller.via), and APIFrontend those of /v1/tools.
const (
	HTTPFrontend = "mcp-http"
	APIFrontend  = toolapi.Via
)
