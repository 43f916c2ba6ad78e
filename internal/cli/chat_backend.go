package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/agents"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/chatui"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/sessions"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
)

// chatBackend is what the chat is held with: a session with an agent.
type chatBackend struct {
	app      *app.App
	cfg      settings.Config
	sessions *sessions.Store
	by       string
	asked    <-chan desk.Event // nil: nobody is there to be asked

	mu            sync.Mutex
	session       *agents.Session
	mode, profile string // that were chosen; empty: those of the settings
	usage         model.Usage
	used          int
	cost          float64
}

// open begins or goes on with a session, in place of the one there is.
func (b *chatBackend) open(ctx context.Context, o agents.Options) error {
	s, err := b.app.Agents.Open(ctx, o)
	if err != nil {
		return err
	}
	if err := s.SetMode(b.mode); err != nil {
		return errors.Join(err, s.Close())
	}
	s.SetProfile(b.profile)
	b.mu.Lock()
	was := b.session
	b.session, b.usage, b.used, b.cost = s, model.Usage{}, 0, 0
	b.mu.Unlock()
	if was != nil {
		return was.Close()
	}
	return nil
}

func (b *chatBackend) now() *agents.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.session
}

func (b *chatBackend) close() error { return b.now().Close() }

func (b *chatBackend) messages() []model.Message { return b.now().Messages() }

func (b *chatBackend) greeting() []string {
	s := b.Status()
	who := s.Model
	if s.Agent != "" {
		who = s.Agent + " with " + s.Model
	}
	return []string{"Toolcrib chat with " + who, "/help lists what can be typed, ctrl-d leaves."}
}

// watch makes the chat a screen of the desk, for its own questions.
func (b *chatBackend) watch(ctx context.Context) (stop func(), err error) {
	began := time.Now().Add(-time.Second) // what was left open before is for 'toolcrib approvals'
	b.asked, stop, err = b.app.Desk.Watch(ctx, desk.Screen{Name: "chat", Sees: func(q desk.Question) bool {
		id := b.now().Caller().Session
		return lineage.Root(q.Caller.Session) == id && q.Current(began)
	}})
	return stop, err
}

func (b *chatBackend) Turn(ctx context.Context, input string, emit func(agent.Event)) error {
	s := b.now()
	out, err := s.Turn(ctx, model.Text(model.User, input), emit)
	b.mu.Lock()
	defer b.mu.Unlock()
	if out != nil {
		b.usage = b.usage.Add(out.Usage)
		if out.Iterations > 0 { // the last request is at least as long as they are on average
			b.used = out.Usage.Input/out.Iterations + out.Usage.Output
		}
		b.cost += out.Cost
	}
	if unkept := s.Unkept(); err == nil && unkept != nil {
		return fmt.Errorf("this conversation is not kept: %w", unkept)
	}
	return err
}

func (b *chatBackend) Status() chatui.Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	caller, traits := b.session.Caller(), b.session.Model()
	mode, _ := b.app.ModeOf(caller)
	s := chatui.Status{
		Model: b.session.ModelName(), Agent: caller.Agent, Mode: mode, Profile: b.profile, Session: b.session.ID(),
		Used: b.used, Context: traits.Context, Usage: b.usage, Cost: b.cost,
	}
	if m, err := b.app.Models.Model(s.Model, caller); err == nil {
		s.Priced = m.Priced()
	}
	return s
}

func (b *chatBackend) Choices(_ context.Context, what chatui.Kind) (list []chatui.Choice, err error) {
	s := b.Status()
	pick := func(now string, names ...string) []chatui.Choice {
		for _, name := range names {
			list = append(list, chatui.Choice{Name: name, Now: name == now})
		}
		return list
	}
	switch what {
	case chatui.Model:
		return pick(s.Model, b.app.Models.Names()...), nil
	case chatui.Agent:
		if list = pick(s.Agent, b.app.Agents.Names()...); len(list) > 0 {
			list = append(list, chatui.Choice{Name: noAgent, Text: "no preset", Now: s.Agent == ""})
		}
		return list, nil
	case chatui.Profile:
		return pick(cmp.Or(s.Profile, b.cfg.Profile), profileNames(b.cfg)...), nil
	case chatui.Mode:
		return []chatui.Choice{
			{Name: "safe", Text: "ask before anything is changed, run or sent (default)", Now: s.Mode == "default"},
			{Name: "auto", Text: "do not ask about files (auto-edit)", Now: s.Mode == "auto-edit"},
			{Name: "plan", Text: "look, and change nothing", Now: s.Mode == "plan"},
			{Name: "yolo", Text: "ask about what wipes a disk, and nothing else", Now: s.Mode == "yolo"},
		}, nil
	case chatui.Session:
		kept, fault := b.sessions.List(agents.Owner(b.now().Caller()), sessions.Filter{Limit: 20})
		for _, i := range kept {
			list = append(list, chatui.Choice{Name: i.ID, Text: i.Created.Local().Format("2 Jan 15:04") + "  " + i.Title, Now: i.ID == s.Session})
		}
		if len(list) == 0 {
			return nil, fault
		}
		return list, nil
	}
	return nil, fmt.Errorf("%s cannot be chosen", what)
}

func (b *chatBackend) Choose(ctx context.Context, what chatui.Kind, name string) (string, error) {
	s := b.now()
	switch what {
	case chatui.Model:
		if err := s.SetModel(ctx, name); err != nil {
			return "", err
		}
		return "The model is " + name + " now.", nil
	case chatui.Agent:
		if name == noAgent && !slices.Contains(b.app.Agents.Names(), name) {
			if err := s.SetAgent(ctx, ""); err != nil {
				return "", err
			}
			return "No preset holds now.", nil
		}
		if err := s.SetAgent(ctx, name); err != nil {
			return "", err
		}
		return name + " answers now.", nil
	case chatui.Profile:
		if names := profileNames(b.cfg); !slices.Contains(names, name) {
			return "", fmt.Errorf("there is no profile %s: there are %s", name, strings.Join(names, ", "))
		}
		s.SetProfile(name)
		b.set(&b.profile, name)
		return fmt.Sprintf("The profile is %s now: %d tools.", name, len(b.Tools())), nil
	case chatui.Mode:
		if err := s.SetMode(name); err != nil {
			return "", err
		}
		b.set(&b.mode, name)
		now, why := b.app.ModeOf(s.Caller())
		if why != "" {
			return "The mode is " + now + ": " + why + ".", nil
		}
		return "The mode is " + now + " now.", nil
	}
	return "", fmt.Errorf("%s cannot be chosen", what)
}

// noAgent is what a person types who wants no preset any more.
const noAgent = "none"

func (b *chatBackend) set(field *string, value string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*field = value
}

func (b *chatBackend) Tools() (list []chatui.Choice) {
	for _, e := range b.app.Shown(b.now().Caller()) { // what is for screens alone is not among them
		list = append(list, chatui.Choice{Name: e.Name, Text: firstSentence(e.Description)})
	}
	return list
}

func (b *chatBackend) Todos(ctx context.Context) (list []chatui.Todo, err error) {
	kept, err := b.app.Notebook.Todos(ctx, b.now().Caller())
	for _, t := range kept {
		list = append(list, chatui.Todo{Text: t.Content, Status: t.Status})
	}
	return list, err
}

func (b *chatBackend) Resume(ctx context.Context, id string) ([]model.Message, error) {
	id, err := b.other(id)
	if err != nil {
		return nil, err
	}
	o := b.here(id)
	if id != "" { // its own agent and model are taken up again
		o.Caller.Agent, o.Model = "", ""
	}
	if err := b.open(ctx, o); err != nil {
		return nil, err
	}
	return b.messages(), nil
}

// here is what opens a session with the agent and the model of this one.
func (b *chatBackend) here(id string) agents.Options {
	o := agents.Options{Caller: b.now().Caller(), Model: b.now().ModelName(), Resume: id}
	o.Caller.Session = ""
	return o
}

// other finds the session that a person means who is in one already: the last is the one
// before it, about the same project.
func (b *chatBackend) other(id string) (string, error) {
	owner, now := agents.Owner(b.now().Caller()), b.now().ID()
	kept, err := b.sessions.List(owner, sessions.Filter{})
	at := slices.IndexFunc(kept, func(i sessions.Info) bool { return i.ID == now })
	if id == "" || at < 0 { // nothing was said here yet
		return id, nil
	}
	if id != "last" {
		if found, err := b.sessions.Find(owner, id, ""); err != nil || found != now {
			return found, err
		}
		return "", errors.New("you are in that conversation")
	}
	for _, i := range kept {
		if i.ID != now && i.Project == kept[at].Project {
			return i.ID, nil
		}
	}
	return "", cmp.Or(err, errors.New("there is no other conversation here"))
}

func (b *chatBackend) Branch(ctx context.Context) (string, error) {
	s := b.now()
	info, err := b.sessions.Branch(agents.Owner(s.Caller()), s.ID(), -1)
	if errors.Is(err, sessions.ErrNotFound) {
		return "", errors.New("nothing was said yet that could be copied")
	}
	if err != nil {
		return "", err
	}
	if err := b.open(ctx, b.here(info.ID)); err != nil {
		return "", err
	}
	return text.ShowLine(info.ID), nil
}

func (b *chatBackend) Questions() <-chan desk.Event { return b.asked }

func (b *chatBackend) Offers(q *desk.Question) []desk.Offer { return b.app.Desk.Offers(q) }

func (b *chatBackend) Answer(ctx context.Context, id string, r desk.Reply) (desk.Question, error) {
	return b.app.Desk.Answer(ctx, id, r, b.by)
}

func (b *chatBackend) Dismiss(id string) { b.app.Desk.Dismiss(id, "") }
