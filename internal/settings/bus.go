package settings

import (
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// MycroftAuto stands for the files of the voice assistant on this machine.
const MycroftAuto = "auto"

// Bus is the message bus of a voice assistant: the one that toolcrib bus joins
// or serves. A project file has no say in it.
type Bus struct {
	URL        string        `yaml:"url" doc:"Where the bus is."`
	Serve      bool          `yaml:"serve" doc:"Let toolcrib bus serve bring a bus of its own, at listen, instead of joining the one at url."`
	Listen     string        `yaml:"listen" doc:"Address of a bus of our own."`
	Remote     bool          `yaml:"remote" doc:"Let listen be an address that other machines reach. It needs a token."`
	Token      string        `yaml:"token" secret:"true" doc:"What is shown to the bus, and what clients of a bus of our own have to show: a text, or ${secret:NAME} from the vault. Empty: none."`
	TLS        BusTLS        `yaml:"tls" doc:"Encryption, for wss URLs."`
	MaxMessage int64         `yaml:"max_message" unit:"bytes" min:"64KiB" max:"256MiB" doc:"The largest message."`
	Subject    string        `yaml:"subject" doc:"Who calls over the bus, as rules and the journal see it. A bus does not know its clients, so all of them are one."`
	Agent      string        `yaml:"agent" doc:"The preset of agents under which they call, and with it their profile, mode and rules. Empty: none."`
	Service    string        `yaml:"service" enum:"auto,on,off" doc:"Whether to answer ovos.tools.*, which one program on a bus should do. auto: as long as no other program does. on: always. off: never. Calls by ovos.persona.tools.* are answered in any case."`
	AskAround  time.Duration `yaml:"ask_around" min:"0s" max:"1s" doc:"How long to wait, at least, for other hosts on the bus to say that a request is theirs. Every answer comes that much later; on a bus that Toolcrib itself serves only shortly after a client has joined. 0: other hosts are never asked, and if one has the same toolbox, both carry out each call."`
	Calls      int           `yaml:"calls" min:"1" max:"1024" doc:"How many calls from the bus run at once."`
	Approvals  BusApprovals  `yaml:"approvals" doc:"How people can approve calls over the bus. If none of these is set, nobody is asked there."`
	Lang       string        `yaml:"lang" doc:"The language of spoken refusals and failures, such as de-DE, for callers whose messages name none. Empty, or a language without a table of sentences: English."`
	Voice      BusVoice      `yaml:"voice" doc:"An agent that people speak to over the bus: it answers in sentences for a voice, with the tools of this program."`
	Mycroft    []string      `yaml:"mycroft" doc:"Files in the form of mycroft.conf whose settings toolcrib bus serve takes for what the configuration leaves unset; it tells which. The word auto is those of the voice assistant on this machine. Empty: none."`
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
	Anyone bool   `yaml:"anyone" doc:"Let answers without a proof refuse a call and answer what a tool such as ask_user asks. They never allow a call, because a bus cannot tell who answers from who calls: that takes the secret."`
	Voice  string `yaml:"voice" enum:"off,harmless,all" doc:"Which calls to ask about aloud; a spoken yes allows the call once. off: none. harmless: those that read, write what can be undone, or use the network, unless a guard is suspicious. all: also those that run programs or delete. A bus cannot tell who speaks, and a program on it can pretend that somebody did."`
}

// What BusApprovals.Voice lets a spoken yes allow.
const (
	SpokenOff      = "off"
	SpokenHarmless = "harmless"
	SpokenAll      = "all"
)

// BusVoice is an agent that is spoken to.
type BusVoice struct {
	Enabled    bool   `yaml:"enabled" doc:"Answer what is asked of the persona. Its calls are made as bus.subject."`
	Agent      string `yaml:"agent" doc:"The preset of agents that answers, with its model and its rules. Empty: that of bus.agent."`
	Persona    string `yaml:"persona" doc:"The name by which the agent is asked (persona:query, ovos.persona.query)."`
	Utterances string `yaml:"utterances" enum:"none,fallback,all" doc:"Which utterances it answers as well. none: only what is asked of the persona. fallback: those that no skill of the voice assistant wants. all: every one, for a bus without an intent service; where there is one, both would answer."`
}

// What BusVoice.Utterances can be.
const (
	UtterancesNone     = "none"
	UtterancesFallback = "fallback"
	UtterancesAll      = "all"
)

// DefaultBus is the bus of a fresh machine.
func DefaultBus() Bus {
	return Bus{
		URL: "ws://" + bus.DefaultAddr + bus.DefaultPath, Listen: bus.DefaultAddr,
		MaxMessage: bus.DefaultMaxFrame, Subject: "ovos-bus", Calls: 32, Service: "auto", AskAround: 150 * time.Millisecond,
		Approvals: BusApprovals{Voice: SpokenOff},
		Voice:     BusVoice{Persona: "Toolcrib", Utterances: UtterancesNone},
	}
}

// OvosBox sets up toolbox/ovosbox.
type OvosBox struct {
	Enabled    bool                     `yaml:"enabled" project:"off" doc:"Offer the tools that hosts on a bus announce."`
	URL        string                   `yaml:"url" doc:"Where the bus is. Empty: bus.url, with the token and the certificates of bus."`
	Token      string                   `yaml:"token" secret:"true" doc:"What is shown to the bus at url: a text, or ${secret:NAME} from the vault."`
	Only       []string                 `yaml:"only" doc:"Ids of the toolboxes to offer, or patterns such as ovos-*. Empty: all."`
	Skip       []string                 `yaml:"skip" project:"add" entries:"names" doc:"Ids of toolboxes that are left out."`
	Window     time.Duration            `yaml:"window" min:"50ms" max:"1m" doc:"How long hosts have to announce themselves. Each start of the program takes that long."`
	Refresh    time.Duration            `yaml:"refresh" min:"10s" doc:"How often they are asked again."`
	Timeout    time.Duration            `yaml:"timeout" project:"lower" min:"1s" doc:"How long a tool has to answer."`
	MaxTimeout time.Duration            `yaml:"max_timeout" project:"lower" min:"1s" doc:"How long a tool has that takes a timeout of its own as an argument."`
	Timeouts   map[string]time.Duration `yaml:"timeouts" doc:"How long single toolboxes (their id) or tools (id/tool) have."`
	Effects    map[string]string        `yaml:"effects" doc:"What single toolboxes (their id) or tools (id/tool) may do, such as pure or reads,network. Undeclared counts as everything, and what hosts say about it as nothing."`
}

// DefaultOvosBox is the box of a fresh machine.
func DefaultOvosBox() OvosBox {
	return OvosBox{Window: 2 * time.Second, Refresh: 10 * time.Minute, Timeout: time.Minute, MaxTimeout: 10 * time.Minute}
}
