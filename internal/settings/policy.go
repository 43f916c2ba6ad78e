package settings

import (
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/policy"
)

// Profile is a profile of the user's own.
type Profile struct {
	Include []string `yaml:"include" doc:"The tools in it: any name of a tool or a pattern such as read_*, box/tool, group:fs, effect:reads, mcp__server."`
	Exclude []string `yaml:"exclude" doc:"Tools that are not in it after all."`
}

// Agent is a named preset.
type Agent struct {
	Profile      string             `yaml:"profile" doc:"In place of the profile above."`
	Mode         string             `yaml:"mode" enum:"plan,default,auto-edit,yolo" doc:"In place of the mode above."`
	Permissions  policy.Permissions `yaml:"permissions" doc:"Rules for this agent, besides those for everybody. What they allow runs unasked for this agent, within what the system's file allows."`
	Instructions string             `yaml:"instructions" doc:"What its model is told. MCP clients are shown it as a prompt."`
	Tools        []string           `yaml:"assigned_tools" doc:"Tools that exist for this agent, and for others only if they are assigned them too."`

	Role          string      `yaml:"role" doc:"What it is for, in a few words, for agents that may put it to work."`
	Model         string      `yaml:"model" doc:"The model that it thinks with, by its name under models. Empty: the one that is used where none is named."`
	Skills        []string    `yaml:"skills" doc:"Skills that its model is told of from the start, by name; * for all."`
	Memory        bool        `yaml:"memory" doc:"Have its model look into its memory first, and write down what should be known next time (toolboxes.memory)."`
	MaxIterations int         `yaml:"max_iterations" min:"0" max:"1000" doc:"How often its model is asked for one task before it has to answer. 0: 50."`
	Delegates     []string    `yaml:"delegates" doc:"The agents that it may put to work (delegate_to_avatar and its like). They never have more than both of them may. Empty: it has no such tools."`
	Budget        AgentBudget `yaml:"budget" doc:"The most that one run of it uses, together with those it puts to work."`
}

// AgentBudget bounds one run of an agent. Zero is no bound.
type AgentBudget struct {
	Calls  int           `yaml:"calls" min:"0" doc:"Calls of tools. 0: no bound."`
	Tokens int           `yaml:"tokens" min:"0" doc:"Tokens that its models read and write. 0: no bound."`
	Time   time.Duration `yaml:"time" min:"0s" doc:"How long it works. 0: no bound."`
}

// Delegation is how agents put others to work.
type Delegation struct {
	Delegates []string      `yaml:"delegates" doc:"The agents that one without a preset may put to work. Empty: it has no such tools."`
	AtOnce    int           `yaml:"at_once" min:"1" max:"64" doc:"How many work for one session at once at most."`
	Time      time.Duration `yaml:"time" min:"1s" max:"24h" doc:"How long one of them works at most."`
}

// DefaultDelegation is that of a fresh machine.
func DefaultDelegation() Delegation { return Delegation{AtOnce: 5, Time: 20 * time.Minute} }

// Sessions is what is kept of conversations with agents.
type Sessions struct {
	Keep    bool          `yaml:"keep" project:"off" doc:"Keep what is said with agents, so that it can be gone on with. Secrets are taken out as they are in the journal."`
	MaxAge  time.Duration `yaml:"max_age" set:"own" doc:"A conversation that nothing was said in for longer is removed. 0: kept for ever. Only your own settings file and the system's set it."`
	MaxSize int64         `yaml:"max_size" unit:"bytes" min:"64KiB" doc:"The most that is kept of one conversation. One that is full has to be branched."`
}

// DefaultSessions is that of a fresh machine.
func DefaultSessions() Sessions {
	return Sessions{Keep: true, MaxAge: 90 * 24 * time.Hour, MaxSize: 64 << 20}
}

// Permissions is the rules of one file.
type Permissions = policy.Permissions

// Organisation is a tenant.
type Organisation struct {
	Tools []string `yaml:"tools" doc:"Tools that belong to it: names, box/tool, group:NAME and patterns, as in profiles."`
}

// Token is how a caller over HTTP says who it is.
type Token struct {
	SHA256       string   `yaml:"sha256" doc:"The SHA-256 of the token in hexadecimal. The token itself is sent as Authorization: Bearer."`
	Profile      string   `yaml:"profile" doc:"Which tools exist for its caller. Empty: those of the profile above. If its agent has a profile too, those that both have."`
	Agent        string   `yaml:"agent" doc:"The preset its caller runs under."`
	Agents       []string `yaml:"agents" doc:"Further presets that its caller may choose in a chat (POST /v1/chat/completions), as the model agent/… with its name; * for all. What such a preset allows, this caller may then do unasked. Empty: none but agent."`
	Organisation string   `yaml:"organisation" doc:"The organisation its caller belongs to."`
	Dialect      string   `yaml:"dialect" enum:"native,ovos,agenticx,owl" doc:"Whose names and shapes the tools have for it. Unset: native, our own."`
	Approves     bool     `yaml:"approves" doc:"Its holder is a person: a client that can ask them may answer for its own calls. Else such calls wait for somebody else."`
	ApprovesFor  string   `yaml:"approves_for" enum:"once,session,project,always" doc:"The longest that its holder may allow things, if approves is set. Unset: session. What should hold for longer is said with toolcrib approvals."`
	Watches      bool     `yaml:"watches" doc:"Its holder watches over this server: they may read /metrics, which names every tool that was called, and are told by /healthz what is wrong with the settings."`
	EnabledTools []string `yaml:"enabled_tools" doc:"The only tools that exist for it. Empty: all of its profile."`
	Made         string   `yaml:"made" doc:"When it was made, for people who read it. toolcrib token new writes it."`
}

// Speaks is its dialect as callers have it. One that does not exist was refused
// with the settings, and is ours.
func (t Token) Speaks() string {
	d, err := dialect.Parse(t.Dialect)
	if err != nil {
		return ""
	}
	return d
}

// Layers is the configuration by who wrote it, for what no layer may take the
// place of: each is what that one says by itself, over nothing.
type Layers struct {
	Admin   Config
	User    Config             // its files, the environment, flags, and a project that was trusted
	Project Config             // a project that was not
	Outer   []Config           // of projects around it, each by itself
	Broken  bool               // its file has mistakes
	Fault   error              // what is wrong with it, for who reads settings anew
	Session policy.Permissions // of this run of the program
	Grant   *Grant             // as it was before the project narrowed it; nil: nothing did
	// Most is the mode that the environment or a flag of this run gives: no agent
	// gets more. MostBy says which of them it was. Empty: neither.
	Most, MostBy string
	// Chosen is asked what a person has chosen for a session. Nil: nobody has.
	Chosen Chooser
}

// Chooser knows the mode and the profile that a person has chosen for the session of a
// caller, in place of those of the settings; empty: none. The bounds of the machine, the
// project and this run of the program hold all the same, and for an agent that works for
// another it only takes away.
type Chooser interface {
	Chosen(caller toolcrib.Caller) (mode, profile string)
}

// chosen asks the Chooser. Takes says that the answer may only take away.
func (l *Layers) chosen(c toolcrib.Caller) (mode, profile string, takes bool) {
	if l.Chosen == nil {
		return "", "", false
	}
	mode, profile = l.Chosen.Chosen(c)
	return mode, profile, strings.Contains(c.Session, lineage.Sign)
}

// agent gives a preset. The user's own is taken before one of the machine, which
// bounds it: see mode and profiles.
func (l *Layers) agent(name string) (Agent, bool) {
	if a, ok := l.User.Agents[name]; ok {
		return a, true
	}
	a, ok := l.Admin.Agents[name]
	return a, ok
}
