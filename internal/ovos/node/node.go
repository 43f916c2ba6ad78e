// Package node is this program on a message bus, as its settings say: how it joins
// a bus or brings one along, what it hosts there, which tools it finds there, and
// what it takes over of a mycroft.conf. Nothing that comes over a bus says who
// calls. The wiring in internal/app imports it.
package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// expander puts secrets in place of ${secret:NAME}.
type expander func(ctx context.Context, text string) (string, error)

func Client(ctx context.Context, b settings.Bus, expand expander) (bus.ClientConfig, error) {
	token, err := expand(ctx, b.Token)
	if err != nil {
		return bus.ClientConfig{}, fmt.Errorf("bus.token: %w", err)
	}
	c := bus.ClientConfig{URL: b.URL, Token: token, MaxFrame: int(b.MaxMessage)}
	if b.TLS.CA != "" {
		text, err := os.ReadFile(b.TLS.CA)
		if err != nil {
			return c, settings.Bad(fmt.Errorf("bus.tls.ca: %w", err))
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return c, settings.Bad(fmt.Errorf("bus.tls.ca: %s holds no certificate", b.TLS.CA))
		}
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	}
	return c, nil
}

// around says how this program gets along with other hosts on a bus.
func around(b settings.Bus) (host.Service, time.Duration) {
	wait := b.AskAround
	if wait == 0 {
		wait = -1 // nobody is asked
	}
	switch b.Service {
	case "on":
		return host.ServiceOn, wait
	case "off":
		return host.ServiceOff, wait
	}
	return host.ServiceAuto, wait
}

// server says how a bus of our own is served; nil: not at all.
func server(b settings.Bus, token string) (*bus.ServerConfig, error) {
	if !b.Serve {
		return nil, nil
	}
	s := &bus.ServerConfig{Addr: b.Listen, Remote: b.Remote, Token: token, MaxFrame: int(b.MaxMessage)}
	if b.TLS.Cert == "" && b.TLS.Key == "" {
		return s, nil
	}
	pair, err := tls.LoadX509KeyPair(b.TLS.Cert, b.TLS.Key)
	if err != nil {
		return nil, settings.Bad(fmt.Errorf("bus.tls: %w", err))
	}
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	return s, nil
}
