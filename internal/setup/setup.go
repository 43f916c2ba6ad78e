package setup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// Setup is one guided setup. What it cannot do itself, because only the whole program
// can, it is given.
type Setup struct {
	Machine
	State    string // the directory of state
	Settings string // the person's file of settings
	VaultDir string
	// Entry is how a client starts Toolcrib, and OwnURL where its server is, for clients
	// that were connected over HTTP.
	Entry  clientfiles.Entry
	OwnURL string

	Looks   func(text string) bool
	Check   func(name string) error
	Servers func() (map[string]settings.MCPServer, error) // of the settings, as they are now
	Vault   func() (*vault.Vault, error)
	// KeyDir is where a key would be kept in a file; empty: the settings or a variable
	// say where the key is. Keyring finds out whether there is one.
	KeyDir  string
	Keyring func(context.Context) error
	// Answered are the servers that have answered through Toolcrib as they are set up now,
	// and Trial starts others.
	Answered func(context.Context) (map[string]bool, error)
	Trial    func(ctx context.Context, servers []string) (*Trial, error)
	// Unpassed are the variables that are set here, and that servers may need and do not get.
	Unpassed func() ([]Variables, error)
	Forget   func(ctx context.Context, servers []string) error
	Service  Service

	Tell   func(Event)
	Ask    func(question string, otherwise bool) (bool, error) // nil: nobody is asked
	Dry    bool
	Strict bool // also what Toolcrib cannot take over goes out of the files

	at func(string) // before each change, for tests

	// What earlier steps found out.
	survey *Survey
	behind map[spot]covered // which entries Toolcrib has
	why    map[spot]string  // why others stay in their files
	// Servers that have answered through Toolcrib, and those that did not start.
	answered map[string]bool
	failed   map[string]*Failure
	soon     []string // with Dry: servers that would be there by now
	joined   []string // with Dry: clients that would have Toolcrib by now
}

// Service starts Toolcrib when the person logs in.
type Service struct {
	What    string // how it would be done; empty: there is none here
	There   bool
	Install func(context.Context) (notes []string, err error)
	Remove  func(context.Context) error
}

// spot is one entry in one file.
type spot struct {
	file, project, name string
}

func spotOf(t Taken) spot { return spot{t.File, t.Server.Project, t.original} }

// covered is an entry of a client's file that Toolcrib has.
type covered struct {
	name  string             // what it is called here
	entry clientfiles.Server // as it was when it was taken over
}

// cover notes that Toolcrib has an entry.
func (s *Setup) cover(t Taken, name string) { s.behind[spotOf(t)] = covered{name, t.entry} }

// Event is something to tell the person.
type Event struct {
	Kind Kind
	Text string
}

// Kind says what an event is.
type Kind int

// The kinds of events, in the order in which a step has them.
const (
	Title   Kind = iota
	Found        // what there is
	Would        // what would be done
	Working      // what is being done, if it takes a while
	Done         // what was done
	Warning      // what was left, and why
	Failed
	Skipped
)

// plan is what a step found and would do.
type plan struct {
	found []string
	warn  []string
	would []string // none: there is nothing to do
	ask   string
	yes   bool // the answer if none is given, and with --yes
	do    func(context.Context) (done, warn []string, err error)
}

// Outcome is what became of a step.
type Outcome struct {
	Step    string   `json:"step"`
	Found   []string `json:"found,omitempty"`
	Would   []string `json:"would,omitempty"`
	Done    []string `json:"done,omitempty"`
	Warn    []string `json:"warnings,omitempty"`
	Skipped bool     `json:"skipped,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// Report is what became of a setup.
type Report struct {
	Steps []Outcome `json:"steps"`
	// Failed are the servers that did not start, and so stay where they are.
	Failed []*Failure `json:"failed,omitempty"`
	// Round are the other servers in the person's own files that still go round Toolcrib.
	Round []string `json:"round,omitempty"`
	// Project are those that the files of this project name: they stay as they are.
	Project []string `json:"project,omitempty"`
	// Plugins are servers that plugins of clients bring: their clients start them, and only
	// switching the plugin off stops that.
	Plugins []PluginServers `json:"plugins,omitempty"`
	Changed bool            `json:"changed"`
	Record  string          `json:"record,omitempty"` // where it is kept how to take it back
}

// step is one part of a setup.
type step struct {
	name, title string
	look        func(context.Context, *book) (plan, error)
}

func (s *Setup) steps() []step {
	return []step{
		{"key", "The key of the vault", s.lookKey},
		{"servers", "MCP servers of your clients", s.lookServers},
		{"credentials", "Credentials of AgenticX", s.lookCredentials},
		{"variables", "Variables that servers may need", s.lookVariables},
		{"passwords", "Variables with a password", s.lookPasswords},
		{"tools", "What their tools may do", s.lookTools},
		{"connect", "Toolcrib in your clients", s.lookConnect},
		{"takeout", "The originals in your clients", s.lookTakeOut},
		{"hooks", "The clients' own tools", s.lookHooks},
		{"rules", "Rules that forbid or ask", s.lookRules},
		{"allow", "Rules that allow", s.lookAllow},
		{"service", "Toolcrib at log-in", s.lookService},
	}
}

// Run goes through the steps. One that fails does not lose the others.
func (s *Setup) Run(ctx context.Context) (*Report, error) {
	b, err := openBook(ctx, s.State, !s.Dry)
	if err != nil {
		return nil, err
	}
	b.at = s.at
	defer b.close() //nolint:errcheck // the lock ends with it
	s.behind, s.why = map[spot]covered{}, map[spot]string{}
	s.answered, s.failed = map[string]bool{}, map[string]*Failure{}
	s.survey = s.Survey("")
	r := &Report{}
	finish := func() { // also where the person stops: what is told must be so
		if !b.empty() {
			r.Record = b.file()
		}
		r.Round, r.Project = s.round()
		r.Failed = s.failures()
		r.Plugins = s.Machine.Plugins()
	}
	var errs []error
	for _, st := range s.steps() {
		o, err := s.step(ctx, b, st)
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, ErrStop) {
				r.Steps = append(r.Steps, o)
				finish()
				return r, err
			}
			o.Error = err.Error()
			s.Tell(Event{Failed, err.Error()})
			errs = append(errs, fmt.Errorf("%s: %w", st.title, err))
		}
		r.Steps = append(r.Steps, o)
		r.Changed = r.Changed || len(o.Done) > 0
	}
	finish()
	return r, errors.Join(errs...)
}

// Overview says in a sentence what there is on this machine.
func (s *Setup) Overview() string {
	s.survey = s.Survey("")
	var titles []string
	for _, client := range Connectable() {
		if s.Present(client) {
			titles = append(titles, clientfiles.Title(client))
		}
	}
	if len(titles) == 0 {
		return "No AI client was found on this machine. Start yours once and run 'toolcrib setup' again, or name it: toolcrib connect claude-code"
	}
	return fmt.Sprintf("Found: %s, with %s.", strings.Join(titles, ", "), counted(len(s.own()), "MCP server"))
}

// ErrStop: the person wants to stop here.
var ErrStop = errors.New("stopped; what was done before stays, 'toolcrib setup --undo' takes it back")

// step does one step.
func (s *Setup) step(ctx context.Context, b *book, st step) (Outcome, error) {
	o := Outcome{Step: st.name}
	if err := ctx.Err(); err != nil {
		return o, err
	}
	p, err := st.look(ctx, b)
	if err != nil || len(p.found)+len(p.warn)+len(p.would) == 0 {
		if err != nil {
			s.Tell(Event{Title, st.title})
		}
		return o, err
	}
	o.Found, o.Would, o.Warn = p.found, p.would, p.warn
	s.Tell(Event{Title, st.title})
	tell := func(kind Kind, lines []string) {
		for _, line := range lines {
			s.Tell(Event{kind, line})
		}
	}
	tell(Found, p.found)
	tell(Would, p.would)
	tell(Warning, p.warn)
	if len(p.would) == 0 || s.Dry {
		return o, nil
	}
	yes := p.yes
	if s.Ask != nil {
		if yes, err = s.Ask(p.ask, p.yes); err != nil {
			return o, err
		}
	}
	if !yes {
		o.Skipped = true
		s.Tell(Event{Skipped, ""})
		return o, nil
	}
	done, warn, err := p.do(ctx)
	o.Done, o.Warn = done, append(o.Warn, warn...)
	tell(Done, done)
	tell(Warning, warn)
	return o, err
}
