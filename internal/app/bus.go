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

	"github.com/toolcrib/toolcrib/internal/settings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
	"github.com/toolcrib/toolcrib/internal/vault"
)

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
func BusClient(ctx context.Context, cfg settings.Config, on settings.Bus, needs Needs) (bus.ClientConfig, error) {
	v, err := OpenVault(cfg.Vault, needs.State, needs.Keys)
	if err != nil {
		return bus.ClientConfig{}, BadConfig{err}
	}
	return busClient(ctx, on, secretsOf(v))
}

func busClient(ctx context.Context, b settings.Bus, expand expander) (bus.ClientConfig, error) {
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

// busServer says how a bus of our own is served; nil: not at all.
func busServer(b settings.Bus, token string) (*bus.ServerConfig, error) {
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
func (a *App) ServeBus(ctx context.Context, cfg settings.Config, on settings.Bus, organisation string, started func(url string)) error {
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

func (a *App) busHost(ctx context.Context, cfg settings.Config, on settings.Bus, organisation string) (host.Config, error) {
	if _, ok := cfg.Agents[on.Agent]; on.Agent != "" && !ok {
		return host.Config{}, BadConfig{fmt.Errorf("bus.agent: there is no agent %q", on.Agent)}
	}
	if a.keeper == nil {
		return host.Config{}, errors.New("serving on a bus: this crib cannot be called")
	}
	expand := secretsOf(a.keeper.vault)
	client, err := busClient(ctx, on, expand)
	if err != nil {
		return host.Config{}, err
	}
	server, err := busServer(on, client.Token)
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
