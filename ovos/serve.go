package ovos

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
)

// DefaultURL is where voice assistants have their bus.
const DefaultURL = "ws://" + bus.DefaultAddr + bus.DefaultPath

// ServeConfig says on which bus tools are served, and how.
type ServeConfig struct {
	// URL is the bus; empty: [DefaultURL]. It need not be there yet.
	URL string
	// Listen is an address on which to serve a bus of one's own instead, such as
	// 127.0.0.1:8181; empty: none. Only programs of this machine get in.
	Listen string
	// Token is shown to the bus, or asked from its clients; empty: none.
	Token string
	// TLS is for a wss URL; nil trusts what the system trusts.
	TLS *tls.Config

	// Subject is who calls over this bus, as guards and the journal see it. A
	// bus does not know its clients, so all of them are one. Empty: ovos-bus.
	Subject string
	// Boxes lists the toolboxes, so that one without tools is found too. Nil:
	// those that have tools.
	Boxes []toolcrib.Toolbox
	// Load reads the toolboxes again before somebody is told what there is. Nil:
	// they are told as they were loaded last.
	Load func(context.Context) (toolcrib.Diff, []toolcrib.LoadError)

	// Lang is the language in which callers are told what was refused whose messages
	// name none, such as de-DE; empty: English.
	Lang string
	// Started, if not nil, is told the URL once the host listens to the bus, or
	// waits for it to come.
	Started func(url string)
	Log     *slog.Logger // gets what goes wrong; nil: nowhere
}

// Serve hosts the tools of a crib on a bus until ctx ends. Calls that are under
// way then have a few seconds to come to their end.
func Serve(ctx context.Context, crib *toolcrib.Crib, cfg ServeConfig) error {
	if cfg.Listen != "" && cfg.URL != "" {
		return errors.New("serving on a bus: URL and Listen name two buses; give one of them")
	}
	if cfg.Listen != "" && cfg.TLS != nil {
		return errors.New("serving on a bus: TLS is for the bus of somebody else; one's own is reached from this machine only")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	hc := host.Config{
		Crib: crib, Caller: toolcrib.Caller{Subject: cfg.Subject},
		Contract:  func(s toolcrib.Entry) any { return dialect.Contract(dialect.OVOS, s) },
		ErrorText: func(e *toolcrib.Error, box string) string { return dialect.ErrorText(dialect.OVOS, e, box) },
		BoxID:     dialect.OVOSBox,
		Speech:    host.Speech{Lang: cfg.Lang, Refusal: dialect.OVOSRefusal, Placed: dialect.OVOSPlaced, Failure: dialect.OVOSFailure},
		Load:      cfg.Load,
		Bus:       bus.ClientConfig{URL: cfg.URL, Token: cfg.Token, TLS: cfg.TLS},
		Started:   cfg.Started, Log: cfg.Log,
	}
	if cfg.Boxes != nil {
		var names []string
		for _, box := range cfg.Boxes {
			names = append(names, box.Name())
		}
		hc.Boxes = func() []string { return names }
	}
	if cfg.Listen != "" {
		hc.Serve = &bus.ServerConfig{Addr: cfg.Listen, Token: cfg.Token}
	}
	h, err := host.New(hc)
	if err != nil {
		return err
	}
	return h.Serve(ctx)
}
