package settings

import (
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
