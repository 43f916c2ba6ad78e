package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
	"github.com/toolcrib/toolcrib/internal/ovos/voice"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// talk opens a conversation for a caller, whose model is told more than its preset says.
type talk = func(ctx context.Context, caller toolcrib.Caller, told string) (voice.Talker, error)

// speaks makes what speaks to people on the bus; nil: nobody does.
func speaks(cfg settings.Config, on settings.Bus, needs HostNeeds, about func(call string) (bus.Message, bool), id string) (*voice.Config, error) {
	levels := map[string]voice.Spoken{settings.SpokenHarmless: voice.Harmless, settings.SpokenAll: voice.All}
	hears := map[string]voice.Hears{settings.UtterancesFallback: voice.Fallback, settings.UtterancesAll: voice.AllUtterances}
	out := voice.Config{
		ID: id, Log: needs.Crib.Log, Desk: needs.Desk, Spoken: levels[on.Approvals.Voice], About: about,
		Caller:  toolcrib.Caller{Subject: on.Subject, Agent: on.Agent, Organisation: needs.Organisation, Frontend: host.Via},
		Persona: on.Voice.Persona, Lang: on.Lang, Hears: hears[on.Voice.Utterances],
	}
	if out.Caller.Subject == "" {
		out.Caller.Subject = host.Via
	}
	if out.Spoken != voice.Off {
		out.Log.Warn("spoken answers allow calls from the bus, and a bus cannot tell who speaks (bus.approvals.voice)", "allows", on.Approvals.Voice)
	}
	if !on.Voice.Enabled {
		if out.Spoken == voice.Off {
			return nil, nil
		}
		return &out, nil
	}
	if on.Voice.Agent != "" {
		out.Caller.Agent = on.Voice.Agent
	}
	if _, ok := cfg.Agents[out.Caller.Agent]; out.Caller.Agent != "" && !ok {
		return nil, settings.Bad(fmt.Errorf("bus.voice.agent: there is no agent %q", out.Caller.Agent))
	}
	if on.Voice.Persona == "" {
		return nil, settings.Bad(errors.New("bus.voice.persona: an agent that is spoken to needs a name"))
	}
	out.Open = needs.Talk
	return &out, nil
}

// speak speaks on the bus until ctx ends.
func speak(ctx context.Context, cfg voice.Config, client bus.ClientConfig, secure *tls.Config, url string) {
	cfg.Bus = client
	cfg.Bus.URL = url
	if secure != nil && cfg.Bus.TLS == nil {
		cfg.Bus.TLS = host.OwnCertificate(secure)
	}
	v, err := voice.New(cfg)
	if err == nil {
		err = v.Serve(ctx)
	}
	if err != nil {
		cfg.Log.Error("nobody speaks on the bus", "err", err)
	}
}
