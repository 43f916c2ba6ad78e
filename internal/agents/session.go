package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/sessions"
	"github.com/toolcrib/toolcrib/model"
)

// Session is a conversation with an agent, stored as it goes. One turn is taken at a
// time; everything else may be asked meanwhile.
type Session struct {
	of     *Agents
	parent string // the call that has it work; empty: a person does
	work   *work
	turn   sync.Mutex         // held for a turn
	talk   agent.Conversation // of whoever holds turn
	calls  map[string]string  // of the turn: the model's ID of a call to the journal's

	mu      sync.Mutex
	options Options
	agent   *agent.Agent
	model   string // in the settings
	id      string
	info    sessions.Info
	said    []model.Message
	read    sessions.Taint   // what had been read in the session that is gone on with
	writer  *sessions.Writer // nil: nothing was said yet, or nothing is kept
	unkept  error            // why nothing is kept
}

// Open opens an agent with a session, new or gone on with. Close ends it.
func (a *Agents) Open(ctx context.Context, o Options) (*Session, error) {
	if lineage.Delegate(o.Caller.Agent) {
		return nil, errors.New("a delegate is opened by who puts it to work")
	}
	s := &Session{of: a, options: o}
	if name := cmp.Or(o.Resume, o.Name); name != "" {
		err := s.resume(name)
		if err != nil && (o.Resume != "" || !errors.Is(err, sessions.ErrNotFound)) {
			return nil, err
		}
		if err != nil {
			if !sessions.ValidID(name) {
				return nil, fmt.Errorf("%q is no name of a session: it has small letters, digits, - and . only", name)
			}
			s.id = name
		}
	}
	if s.id == "" {
		s.id = sessions.NewID(a.needs.Now())
	}
	if s.options.Caller.Session == "" {
		s.options.Caller.Session = s.id
	}
	if a.needs.Carry != nil && s.read != (sessions.Taint{}) {
		a.needs.Carry(s.options.Caller, s.read.Private, s.read.Untrusted)
	}
	s.work = newWork(s.options.Caller, nil, nil)
	s.work.forget = o.Forget
	if err := s.make(ctx); err != nil {
		return nil, errors.Join(err, s.closeWriter())
	}
	a.enter(s.work)
	return s, nil
}

// resume reads the stored session. Its agent and model are taken up again, unless others
// are asked for.
func (s *Session) resume(name string) error {
	store := s.of.needs.Sessions
	if store == nil {
		return errors.New("no sessions are kept here (sessions.keep)")
	}
	who := Owner(s.options.Caller)
	id, err := name, error(nil)
	if s.options.Resume != "" { // else it is the whole name
		id, err = store.Find(who, name, s.of.needs.Project)
	}
	if err != nil {
		return err
	}
	w, was, err := store.Resume(who, id)
	if err != nil {
		return err
	}
	if was.Info.Delegated() { // what it may do is bound to who put it to work
		return errors.Join(fmt.Errorf("the session %s is one of a delegate; branch it to go on with what was said", id), w.Close())
	}
	if s.options.Caller.Agent == "" && lineage.Delegate(was.Info.Agent) { // a branch of such a session
		return errors.Join(fmt.Errorf("the agent of the session %s worked for another one: say which agent goes on with it (--agent)", id), w.Close())
	}
	s.id, s.info, s.writer, s.said, s.read = id, was.Info, w, was.Messages(), was.Taint()
	s.talk.Messages = slices.Clone(s.said)
	if s.options.Caller.Agent == "" {
		s.options.Caller.Agent = was.Info.Agent
	}
	if s.options.Model == "" {
		s.options.Model = was.Info.Model
	}
	return nil
}

// make makes the loop of the options.
func (s *Session) make(ctx context.Context) error {
	made, m, err := s.of.agent(ctx, s.options, s.parent)
	if err != nil {
		return err
	}
	preset, err := s.of.preset(s.options.Caller.Agent)
	if err != nil {
		return err
	}
	s.work.become(s.options.Caller, s.options.Model, preset.Budget)
	made.Model, made.Keep, made.Timeout = metered{m, s.work}, s.keep, preset.Budget.Time
	s.model = m.Name()
	s.agent = made
	return nil
}

// Owner is whose the sessions of a caller are.
func Owner(c toolcrib.Caller) sessions.Owner {
	return sessions.Owner{Subject: c.Subject, Organisation: c.Organisation}
}

// ID names the session.
func (s *Session) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// Caller is as whom the agent calls.
func (s *Session) Caller() toolcrib.Caller {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.options.Caller
}

// Model is what the model can do that answers.
func (s *Session) Model() model.Traits {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agent.Model.Traits()
}

// Messages is what was said so far.
func (s *Session) Messages() []model.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said)
}

// Unkept says why what is said is not stored; nil: it is, or nothing was to be.
func (s *Session) Unkept() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unkept
}

// Turn says something and runs the loop until there is an answer. Ending ctx aborts it,
// with those that were put to work, and the session can be gone on with.
func (s *Session) Turn(ctx context.Context, input model.Message, emit func(agent.Event)) (*agent.Outcome, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.mu.Lock()
	loop := s.agent
	s.mu.Unlock()
	s.calls = map[string]string{}
	if s.parent == "" {
		s.work.begin()
	}
	out, err := loop.Run(ctx, &s.talk, input, s.watch(emit))
	if ctx.Err() != nil {
		s.work.end()
	}
	return out, err
}

// SetModel has another model answer from the next turn on.
func (s *Session) SetModel(ctx context.Context, name string) error {
	return s.change(ctx, func(o *Options) { o.Model = name })
}

// SetAgent has another preset work from the next turn on, with its own model.
func (s *Session) SetAgent(ctx context.Context, name string) error {
	if lineage.Delegate(name) {
		return fmt.Errorf("there is no agent %q", name)
	}
	return s.change(ctx, func(o *Options) { o.Caller.Agent, o.Model = name, "" })
}

// SetMode has calls of this session judged by another mode, which a person chose. What
// the machine, the project and this run of the program allow still bounds it. Empty: the
// one of the settings.
func (s *Session) SetMode(mode string) error {
	if mode != "" {
		m, err := policy.ParseMode(mode)
		if err != nil {
			return err
		}
		mode = m.String()
	}
	s.work.mu.Lock()
	defer s.work.mu.Unlock()
	s.work.mode = mode
	return nil
}

// SetProfile has other tools exist in this session, which a person chose, within the
// bounds of the machine. Empty: those of the settings. One that is not known shows none.
func (s *Session) SetProfile(profile string) {
	s.work.mu.Lock()
	defer s.work.mu.Unlock()
	s.work.profile = profile
}

func (s *Session) change(ctx context.Context, what func(*Options)) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	was, loop, name := s.options, s.agent, s.model
	what(&s.options)
	if err := s.make(ctx); err != nil {
		s.options, s.agent, s.model = was, loop, name
		return err
	}
	return nil
}

// Close ends the session: what was put to work in it is ended too.
func (s *Session) Close() error {
	s.of.leave(s.work)
	err := s.closeWriter()
	if store := s.of.needs.Sessions; store != nil {
		s.of.sweep.Do(func() {
			_, failed := store.Sweep(Owner(s.options.Caller))
			err = errors.Join(err, failed)
		})
	}
	return err
}

func (s *Session) closeWriter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer == nil {
		return nil
	}
	w := s.writer
	s.writer = nil
	return w.Close()
}

// keep stores a message. A session is made by the first one, so that one in which
// nothing was said leaves nothing. What cannot be kept counts all the same: who shows
// the session tells it.
func (s *Session) keep(m model.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, m)
	store := s.of.needs.Sessions
	if s.options.Forget || store == nil || s.unkept != nil {
		return
	}
	if s.writer == nil {
		w, err := s.begin(store, m)
		if err != nil {
			s.unkept = err
			return
		}
		s.writer, s.info = w, w.Info()
	}
	var read sessions.Taint
	if s.of.needs.Read != nil {
		read.Private, read.Untrusted = s.of.needs.Read(s.options.Caller)
	}
	s.unkept = s.writer.AddRead(m, s.calls[m.CallID], "", read)
}

// begin makes the stored session, or takes one up again that was put aside.
func (s *Session) begin(store *sessions.Store, first model.Message) (*sessions.Writer, error) {
	if s.info.Created != (time.Time{}) {
		w, _, err := store.Resume(s.info.Owner, s.id)
		return w, err
	}
	byDefault := ""
	if s.options.Model == "" {
		byDefault = s.model
	}
	return store.Create(sessions.Info{
		DefaultModel: byDefault, ID: s.id, Title: first.Said(), Agent: s.options.Caller.Agent, Model: s.options.Model, Owner: Owner(s.options.Caller), Project: s.of.needs.Project,
		Parent: s.info.Parent, Call: s.info.Call,
	})
}

// watch remembers which record of the journal a call of the model's is.
func (s *Session) watch(emit func(agent.Event)) func(agent.Event) {
	return func(e agent.Event) {
		if e.Kind == agent.CallResult && e.Call != nil && e.Agent == s.agent.Caller.Agent {
			s.calls[e.Call.ID] = e.ID
		}
		if emit != nil {
			emit(e)
		}
	}
}
