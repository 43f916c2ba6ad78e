package host

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// embedded serves the host's own bus, if it is to have one, and points the
// client at it. broken is called if the bus breaks down; stop gives the reason.
func (h *Host) embedded(ctx context.Context, broken func()) (url string, stop func() error, err error) {
	if h.cfg.Serve == nil {
		return h.cfg.Bus.URL, func() error { return nil }, nil
	}
	cfg := *h.cfg.Serve
	if cfg.Log == nil {
		cfg.Log = h.cfg.Log
	}
	cfg.Joined, cfg.Left = h.rivals.joined, h.rivals.lookNow
	server, err := bus.NewServer(cfg)
	if err != nil {
		return "", nil, fmt.Errorf("serving a bus: %w", err)
	}
	ln, err := server.Listen(ctx)
	if err != nil {
		return "", nil, fmt.Errorf("serving a bus: %w", err)
	}
	// It ends after the host, which has answers to give until then.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() {
		err := server.Serve(life, ln)
		if err != nil {
			err = fmt.Errorf("serving a bus: %w", err)
			broken()
		}
		ended <- err
	}()
	h.cfg.Bus.URL = busURL(ln.Addr(), cfg)
	h.cfg.Bus.Token = cfg.Token
	if h.cfg.Bus.MaxFrame == 0 {
		h.cfg.Bus.MaxFrame = cfg.MaxFrame
	}
	if cfg.TLS != nil && h.cfg.Bus.TLS == nil {
		h.cfg.Bus.TLS = OwnCertificate(cfg.TLS)
	}
	return h.cfg.Bus.URL, func() error {
		end()
		return <-ended
	}, nil
}

// busURL is how this machine reaches a bus of its own.
func busURL(addr net.Addr, cfg bus.ServerConfig) string {
	at := addr.String()
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		at = net.JoinHostPort("localhost", fmt.Sprint(tcp.Port))
	}
	path := bus.DefaultPath
	if cfg.Path != "" {
		path = "/" + strings.TrimPrefix(cfg.Path, "/")
	}
	if cfg.TLS != nil {
		return "wss://" + at + path
	}
	return "ws://" + at + path
}

// OwnCertificate trusts the certificates of the bus itself and no others: they
// are often signed by nobody, and name another host than this address.
func OwnCertificate(server *tls.Config) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection compares instead
		VerifyConnection: func(state tls.ConnectionState) error {
			for _, own := range server.Certificates {
				if len(own.Certificate) > 0 && len(state.PeerCertificates) > 0 && bytes.Equal(own.Certificate[0], state.PeerCertificates[0].Raw) {
					return nil
				}
			}
			return errors.New("the bus shows a certificate that is not its own")
		},
	}
}
