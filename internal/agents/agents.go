// Package agents is the joint of what an agent is made of: a preset of the settings, a
// model, the loop over a crib, and a stored session. It opens agents for the command
// line, the chat and the endpoints, and has one agent put another to work.
//
// It decides nothing about what is allowed: calls go through the crib as everybody's
// do. What it adds only takes away: a delegate has a lineage for a name (see
// internal/lineage) and is judged as each of those in it.
//
// The invariant: a caller with a lineage acts only while the program itself has a
// delegate of that name at work.
package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/sessions"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
)

// Needs is what agents are made of besides their presets.
type Needs struct {
	Crib *toolcrib.Crib
	// Settings are those that hold now.
	Settings func() settings.Config
	// Model gives a model by its name in the settings; an empty name is the one that is
	// used where none is named. Its requests are made as this caller, for the parent
	// call. Nil: there are none.
	Model func(ctx context.Context, name string, caller toolcrib.Caller, parent string) (Model, error)
	// Shown are the tools that a caller's model is shown. Nil: all that the crib shows.
	Shown func(toolcrib.Caller) []toolcrib.Entry
	// Told is what every model is told of this place. Nil: nothing.
	Told func(toolcrib.Caller) string
	// Lenient says of a dialect whether its callers expect coercion. Nil: none does.
	Lenient func(dialect string) bool
	// Skills are those there are. Nil: none.
	Skills func(ctx context.Context) []Skill
	// Questions tells of what people are asked in a session, until stop is called. Nil:
	// nobody knows.
	Questions func(ctx context.Context, session string, asked func(agent.Question)) (stop func())
	// Load tells how busy this machine is, in percent; 0: not known. Nil: nobody knows.
	Load func() (cpu, memory float64)
	// Read tells which tool first brought private data and content from outside into the
	// conversation of a caller, and Carry has that count for one that is gone on with. Nil:
	// nobody knows.
	Read     func(toolcrib.Caller) (private, untrusted string)
	Carry    func(caller toolcrib.Caller, private, untrusted string)
	Sessions *sessions.Store // nil: nothing is kept
	Project  string          // the directory that sessions are about
	Now      func() time.Time
	Log      *slog.Logger
}

// Skill is a skill, as its file tells of it.
type Skill struct {
	Name, Description string
	// Own: it is the person's, and not one that a project brings.
	Own bool
}

// Model is a model that knows what it costs.
type Model interface {
	model.Model
	Name() string // in the settings
	Cost(model.Usage) float64
}

// Agents opens agents and knows those that are at work.
type Agents struct {
	needs Needs

	definitions agent.Definitions
	sweep       sync.Once // of sessions that are too old

	mu     sync.Mutex
	live   map[string]*work // by the session of their callers
	guests []*work          // of them, agents of others that have put some of ours to work
}

// New makes the joint. It opens nothing yet.
func New(needs Needs) *Agents {
	if needs.Now == nil {
		needs.Now = time.Now
	}
	needs.Log = cmp.Or(needs.Log, slog.Default())
	return &Agents{needs: needs, live: map[string]*work{}}
}

// Names are the presets there are.
func (a *Agents) Names() []string { return slices.Sorted(maps.Keys(a.needs.Settings().Agents)) }

// Options says which agent is opened, and for whom.
type Options struct {
	// Caller is who has it work; Caller.Agent is the preset, empty for none. Its session
	// is that of the agent, unless there is one.
	Caller toolcrib.Caller
	Model  string // in place of the preset's
	// Resume is the stored session that is gone on with: its ID, the beginning of it, or last.
	Resume string
	// Name is the ID of the session: it is gone on with if there is one, else begun.
	Name          string
	MaxIterations int    // in place of the preset's, if it is less
	Loop          string // in place of what the model can do
	// Forget keeps nothing of what is said, for a caller who keeps it itself.
	Forget bool
	// Extra is what its model is told besides the instructions of the preset.
	Extra string

	tools []string // the only ones it has; nil: all
}

// Agent makes the loop for a caller, with no session of ours: who runs it keeps what is
// said.
func (a *Agents) Agent(ctx context.Context, o Options) (*agent.Agent, error) {
	if lineage.Delegate(o.Caller.Agent) {
		return nil, errors.New("a delegate is opened by who puts it to work")
	}
	made, _, err := a.agent(ctx, o, "")
	return made, err
}

func (a *Agents) agent(ctx context.Context, o Options, parent string) (*agent.Agent, Model, error) {
	preset, err := a.preset(o.Caller.Agent)
	if err != nil {
		return nil, nil, err
	}
	if a.needs.Model == nil {
		return nil, nil, errNoModel
	}
	m, err := a.needs.Model(ctx, cmp.Or(o.Model, preset.Model), o.Caller, parent)
	if err != nil {
		return nil, nil, err
	}
	most := preset.MaxIterations
	if o.MaxIterations > 0 && (most == 0 || o.MaxIterations < most) {
		most = o.MaxIterations
	}
	made := &agent.Agent{
		Crib: a.needs.Crib, Model: m, Caller: o.Caller, Instructions: a.instructions(ctx, o, preset),
		Cost: func(answer model.Answer) float64 { return m.Cost(answer.Usage) }, Loop: o.Loop, MaxIterations: most, Shown: a.needs.Shown, Parent: parent, Definitions: &a.definitions,
		Lenient: a.needs.Lenient != nil && a.needs.Lenient(o.Caller.Dialect),
	}
	if o.tools != nil {
		made.Shown = func(c toolcrib.Caller) []toolcrib.Entry { return given(a.shown(c), o.tools) }
	}
	if a.needs.Questions != nil {
		made.Questions = func(ctx context.Context, asked func(agent.Question)) func() {
			return a.needs.Questions(ctx, o.Caller.Session, asked)
		}
	}
	return made, m, nil
}

// shown are the tools that a caller's model is shown.
func (a *Agents) shown(c toolcrib.Caller) []toolcrib.Entry {
	if a.needs.Shown != nil {
		return a.needs.Shown(c)
	}
	return slices.Collect(a.needs.Crib.Tools(c))
}

// given leaves of a list what has one of these names.
func given(list []toolcrib.Entry, names []string) []toolcrib.Entry {
	return slices.DeleteFunc(list, func(e toolcrib.Entry) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(e.Names(), name) })
	})
}

// preset gives the last of a lineage, which is who works.
func (a *Agents) preset(name string) (settings.Agent, error) {
	names := lineage.Names(name)
	last := names[len(names)-1]
	if last == "" {
		return settings.Agent{}, nil
	}
	all := a.needs.Settings().Agents
	preset, ok := all[last]
	if !ok {
		err := fmt.Errorf("there is no agent %q in the configuration", last)
		if near := text.Nearest(last, slices.Collect(maps.Keys(all))); near != "" {
			err = fmt.Errorf("%w; did you mean %s?", err, near)
		}
		return preset, err
	}
	return preset, nil
}
