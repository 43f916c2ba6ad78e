package app

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// Bus is the message bus of a voice assistant: the one that toolcrib bus joins
// or serves. A project file has no say in it.
type Bus struct {
	URL        string       `yaml:"url" doc:"Where the bus is."`
	Serve      bool         `yaml:"serve" doc:"Let toolcrib bus serve bring a bus of its own, at listen, instead of joining the one at url."`
	Listen     string       `yaml:"listen" doc:"Address of a bus of our own."`
	Remote     bool         `yaml:"remote" doc:"Let listen be an address that other machines reach. It needs a token."`
	Token      string       `yaml:"token" secret:"true" doc:"What is shown to the bus, and what clients of a bus of our own have to show: a text, or ${secret:NAME} from the vault. Empty: none."`
	TLS        BusTLS       `yaml:"tls" doc:"Encryption, for wss URLs."`
	MaxMessage int64        `yaml:"max_message" unit:"bytes" min:"64KiB" max:"256MiB" doc:"The largest message."`
	Subject    string       `yaml:"subject" doc:"Who calls over the bus, as rules and the journal see it. A bus does not know its clients, so all of them are one."`
	Agent      string       `yaml:"agent" doc:"The preset of agents under which they call, and with it their profile, mode and rules. Empty: none."`
	Calls      int          `yaml:"calls" min:"1" max:"1024" doc:"How many calls from the bus run at once."`
	Approvals  BusApprovals `yaml:"approvals" doc:"Answers that people give on the bus to what calls from the bus ask. With neither setting, nobody on the bus is asked."`
	Mycroft    []string     `yaml:"mycroft" doc:"Files in the form of mycroft.conf whose settings toolcrib bus serve takes for what the configuration leaves unset; it tells which. The word auto is those of the voice assistant on this machine. Empty: none."`
}

// BusTLS names files in PEM form.
type BusTLS struct {
	Cert string `yaml:"cert" doc:"The certificate that a bus of our own shows."`
	Key  string `yaml:"key" doc:"Its private key."`
	CA   string `yaml:"ca" doc:"Who is trusted to sign the certificate of the bus at url. Empty: whom the system trusts."`
}

// BusApprovals says whose answers on the bus count.
type BusApprovals struct {
	Secret string `yaml:"secret" secret:"true" doc:"Answers count that prove they know this text of 16 bytes or more, or ${secret:NAME} from the vault."`
	Anyone bool   `yaml:"anyone" doc:"Answers count that prove nothing, to what a tool such as ask_user asks; and whatever reaches the bus may refuse a call. To allow one takes the secret: a bus does not tell who calls from who answers."`
}

// DefaultBus is the bus of a fresh machine.
func DefaultBus() Bus {
	return Bus{
		URL: "ws://" + bus.DefaultAddr + bus.DefaultPath, Listen: bus.DefaultAddr,
		MaxMessage: bus.DefaultMaxFrame, Subject: host.Via, Calls: 32,
	}
}

// expander puts secrets in place of ${secret:NAME}.
type expander func(ctx context.Context, text string) (string, error)

// secretsOf is the expander of settings that a person wrote: for them, every
// secret without a scope is there.
func secretsOf(v *vault.Vault) expander {
	return func(ctx context.Context, text string) (string, error) {
		return vault.Expand(ctx, text, v.Granted(vault.Scope{}, []string{"*"}))
	}
}

// closedVault is the expander of a crib that can only be looked at.
func closedVault(ctx context.Context, text string) (string, error) {
	return vault.Expand(ctx, text, func(context.Context, string) (string, error) {
		return "", errors.New("the vault is not opened to list tools")
	})
}

// BusClient says how a program joins the bus.
func BusClient(ctx context.Context, cfg Config, on Bus, needs Needs) (bus.ClientConfig, error) {
	v, err := OpenVault(cfg.Vault, needs.State, needs.Keys)
	if err != nil {
		return bus.ClientConfig{}, BadConfig{err}
	}
	return on.client(ctx, secretsOf(v))
}

func (b Bus) client(ctx context.Context, expand expander) (bus.ClientConfig, error) {
	token, err := expand(ctx, b.Token)
	if err != nil {
		return bus.ClientConfig{}, fmt.Errorf("bus.token: %w", err)
	}
	c := bus.ClientConfig{URL: b.URL, Token: token, MaxFrame: int(b.MaxMessage)}
	if b.TLS.CA != "" {
		text, err := os.ReadFile(b.TLS.CA)
		if err != nil {
			return c, BadConfig{fmt.Errorf("bus.tls.ca: %w", err)}
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return c, BadConfig{fmt.Errorf("bus.tls.ca: %s holds no certificate", b.TLS.CA)}
		}
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	}
	return c, nil
}

// server says how a bus of our own is served; nil: not at all.
func (b Bus) server(token string) (*bus.ServerConfig, error) {
	if !b.Serve {
		return nil, nil
	}
	s := &bus.ServerConfig{Addr: b.Listen, Remote: b.Remote, Token: token, MaxFrame: int(b.MaxMessage)}
	if b.TLS.Cert == "" && b.TLS.Key == "" {
		return s, nil
	}
	pair, err := tls.LoadX509KeyPair(b.TLS.Cert, b.TLS.Key)
	if err != nil {
		return nil, BadConfig{fmt.Errorf("bus.tls: %w", err)}
	}
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	return s, nil
}

// ServeBus hosts the tools on a bus until ctx ends. Who calls is what the
// settings say and nothing that comes over the bus; the organisation is the one
// that callers of this machine belong to.
func (a *App) ServeBus(ctx context.Context, cfg Config, on Bus, organisation string, started func(url string)) error {
	hc, err := a.busHost(ctx, cfg, on, organisation)
	if err != nil {
		return err
	}
	hc.Started = started
	h, err := host.New(hc)
	if err != nil {
		return BadConfig{err}
	}
	defer a.host(ctx, cfg, hc.ID)()
	return h.Serve(ctx)
}

func (a *App) busHost(ctx context.Context, cfg Config, on Bus, organisation string) (host.Config, error) {
	if _, ok := cfg.Agents[on.Agent]; on.Agent != "" && !ok {
		return host.Config{}, BadConfig{fmt.Errorf("bus.agent: there is no agent %q", on.Agent)}
	}
	if a.keeper == nil {
		return host.Config{}, errors.New("serving on a bus: this crib cannot be called")
	}
	expand := secretsOf(a.keeper.vault)
	client, err := on.client(ctx, expand)
	if err != nil {
		return host.Config{}, err
	}
	server, err := on.server(client.Token)
	if err != nil {
		return host.Config{}, err
	}
	secret, err := expand(ctx, on.Approvals.Secret)
	if err != nil {
		return host.Config{}, fmt.Errorf("bus.approvals.secret: %w", err)
	}
	foreign := a.foreignBoxes()
	return host.Config{
		Crib:      a.Crib,
		ID:        "toolcrib-" + strings.ToLower(rand.Text()[:8]), // its own, so that another one on the bus is noticed
		Caller:    toolcrib.Caller{Subject: on.Subject, Agent: on.Agent, Organisation: organisation},
		Contract:  func(s toolcrib.Spec) any { return dialect.Contract(dialect.OVOS, s) },
		ErrorText: func(e *toolcrib.Error, box string) string { return dialect.ErrorText(dialect.OVOS, e, box) },
		BoxID:     dialect.OVOSBox,
		Boxes:     a.ownOnBus,
		Hide:      func(box string) bool { return slices.Contains(foreign, box) },
		Off:       a.hosted.isOff,
		Load:      a.reloadOwn, Reload: a.Reload,
		Bus: client, Serve: server, Calls: on.Calls,
		Approvals: host.Approvals{Desk: a.Desk, Secret: secret, Anyone: on.Approvals.Anyone},
		Log:       a.Crib.Log,
	}, nil
}
