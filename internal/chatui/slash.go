package chatui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// slashCommand is a word that is for the chat itself and not for the agent.
type slashCommand struct {
	name, args, help string
	kind             Kind // what its argument chooses; empty: nothing
	idle             bool // it cannot be done while a turn runs
}

// slashCommands are all of them, as /help lists them.
func slashCommands() []slashCommand {
	return []slashCommand{
		{name: "help", help: "what can be typed"},
		{name: "tools", args: "[minimal|coding|full]", help: "the tools there are, or another profile of them", kind: Profile, idle: true},
		{name: "mode", args: "[safe|auto|plan|yolo]", help: "when you are asked", kind: Mode, idle: true},
		{name: "profile", args: "[NAME]", help: "which tools exist", kind: Profile, idle: true},
		{name: "agent", args: "[NAME]", help: "who answers", kind: Agent, idle: true},
		{name: "model", args: "[NAME]", help: "which model answers", kind: Model, idle: true},
		{name: "sessions", help: "the conversations that are kept"},
		{name: "resume", args: "[ID]", help: "go on with one of them", kind: Session, idle: true},
		{name: "new", help: "begin a new conversation", idle: true},
		{name: "branch", help: "go on in a copy of this conversation", idle: true},
		{name: "todos", help: "what the agent has on its list"},
		{name: "cost", help: "tokens and cost so far"},
		{name: "clear", help: "clear the screen"},
		{name: "quit", help: "leave; ctrl-d does too"},
	}
}

// slash reads a command: a / and a word. Paths, which have another / in them, are none.
func slash(given string) (name, rest string, ok bool) {
	after, ok := strings.CutPrefix(strings.TrimSpace(given), "/")
	if !ok {
		return "", "", false
	}
	name, rest, _ = strings.Cut(after, " ")
	if name == "" || strings.ContainsAny(name, "/\n.") {
		return "", "", false
	}
	return name, strings.TrimSpace(rest), true
}

// command does what a slash command says.
func (c *chat) command(ctx context.Context, name, rest string) {
	if name == "exit" {
		name = "quit"
	}
	all := slashCommands()
	at := slices.IndexFunc(all, func(s slashCommand) bool { return s.name == name })
	c.last = max(c.last, blockNote)
	switch {
	case at < 0:
		c.unknown(name)
		return
	case c.turn != nil && all[at].idle && (rest != "" || all[at].kind == ""):
		c.note(notice, "/"+name+" has to wait until the agent has answered; ctrl-c stops it.")
		return
	}
	c.last = blockInput
	switch name {
	case "help":
		c.help()
	case "tools":
		if rest != "" {
			c.choose(ctx, Profile, rest)
			return
		}
		c.list("Tools", c.b.Tools(), "There are no tools.")
	case "mode", "profile", "agent", "model":
		c.choose(ctx, all[at].kind, rest)
	case "sessions":
		c.choices(ctx, Session)
	case "resume":
		if rest == "" {
			c.choices(ctx, Session)
			return
		}
		c.resume(ctx, rest)
	case "new":
		c.resume(ctx, "")
	case "branch":
		c.branch(ctx)
	case "todos":
		c.todos(ctx)
	case "cost":
		c.cost()
	case "clear":
		c.wipe = true
	case "quit":
		c.quit = true
	}
}

func (c *chat) unknown(name string) {
	var names []string
	for _, s := range slashCommands() {
		names = append(names, s.name)
	}
	said := "There is no command /" + name + "."
	if near := text.Nearest(name, names); near != "" {
		said += " Did you mean /" + near + "?"
	}
	c.note(notice, said+" /help lists them.")
}

func (c *chat) help() {
	var rows []Choice
	for _, s := range slashCommands() {
		rows = append(rows, Choice{Name: strings.TrimSpace("/" + s.name + " " + s.args), Text: s.help})
	}
	c.list("Commands", rows, "")
	if c.lines {
		return
	}
	c.last = blockInput
	c.list("Keys", []Choice{
		{Name: "enter", Text: "send"}, {Name: "alt-enter, \\ enter", Text: "a new line; pasted lines are one input"},
		{Name: "up, down", Text: "what was typed before"}, {Name: "tab", Text: "complete a command"},
		{Name: "ctrl-o", Text: "the last result in full; again: the one before"},
		{Name: "ctrl-c", Text: "stop the agent; twice: leave"}, {Name: "ctrl-d", Text: "leave"},
	}, "")
}

// list prints names and what they are, in two columns where there is room.
func (c *chat) list(heading string, all []Choice, none string) {
	if len(all) == 0 {
		c.note(plain, none)
		return
	}
	column := 0
	for _, one := range all {
		column = max(column, min(width(visible(one.Name)), 28))
	}
	if c.wide < 60 {
		column = min(column, max(c.wide/2-4, 4))
	}
	rows := []line{say(bold, heading)}
	for _, one := range all {
		sign := "  "
		if one.Now {
			sign = c.signs.done + " "
		}
		l := say(good, sign).and(say(plain, one.Name))
		if one.Text != "" {
			l = l.and(line{{plain, strings.Repeat(" ", max(column+2-width(visible(one.Name)), 2))}}, say(dim, one.Text))
		}
		rows = append(rows, l.wrap(c.wide, line{{plain, strings.Repeat(" ", min(column+4, c.wide/2))}})...)
	}
	c.put(blockNote, rows...)
}

// choices lists what can be chosen.
func (c *chat) choices(ctx context.Context, what Kind) {
	all, err := c.b.Choices(ctx, what)
	if err != nil {
		c.note(bad, c.signs.fail+" "+err.Error())
		return
	}
	heading := map[Kind]string{Model: "Models", Agent: "Agents", Mode: "Modes", Profile: "Profiles", Session: "Sessions"}[what]
	none := "There are none."
	if what == Session {
		none = "No conversation is kept yet."
	}
	c.list(heading, all, none)
}

// choose changes to another one; without a name it lists them.
func (c *chat) choose(ctx context.Context, what Kind, name string) {
	if name == "" {
		c.choices(ctx, what)
		return
	}
	said, err := c.b.Choose(ctx, what, name)
	if err != nil {
		c.note(bad, c.signs.fail+" "+err.Error())
		return
	}
	c.note(good, c.signs.done+" "+said)
}

func (c *chat) resume(ctx context.Context, id string) {
	past, err := c.b.Resume(ctx, id)
	if err != nil {
		c.note(bad, c.signs.fail+" "+err.Error())
		return
	}
	c.kept, c.seen = nil, 0
	if id == "" {
		c.note(good, c.signs.done+" A new conversation.")
		return
	}
	c.note(good, c.signs.done+" Going on with "+c.b.Status().Session+".")
	c.past(past)
}

func (c *chat) branch(ctx context.Context) {
	id, err := c.b.Branch(ctx)
	if err != nil {
		c.note(bad, c.signs.fail+" "+err.Error())
		return
	}
	c.note(good, c.signs.done+" Going on in a copy, "+id+". The other one stays as it is.")
}

func (c *chat) todos(ctx context.Context) {
	all, err := c.b.Todos(ctx)
	if err != nil {
		c.note(bad, c.signs.fail+" "+err.Error())
		return
	}
	if len(all) == 0 {
		c.note(plain, "The agent has nothing on its list.")
		return
	}
	var rows []line
	for _, t := range all {
		sign, st := "[ ] ", plain
		switch t.Status {
		case "in_progress":
			sign, st = "[>] ", bold
		case "completed":
			sign, st = "[x] ", dim
		}
		rows = append(rows, line{{plain, "  "}}.and(say(st, sign+t.Text)).wrap(c.wide, line{{plain, "      "}})...)
	}
	c.put(blockNote, rows...)
}

func (c *chat) cost() {
	s := c.b.Status()
	rows := []Choice{{Name: "model", Text: orNone(s.Model, "none")}, {Name: "input", Text: fmt.Sprintf("%d tokens", s.Usage.Input)}}
	if s.Usage.CacheRead > 0 {
		rows = append(rows, Choice{Name: "of it from a cache", Text: fmt.Sprintf("%d tokens", s.Usage.CacheRead)})
	}
	rows = append(rows, Choice{Name: "output", Text: fmt.Sprintf("%d tokens", s.Usage.Output)})
	if r := room(s); r != "" {
		rows = append(rows, Choice{Name: "context", Text: r})
	}
	price := cost(s)
	if price == "" {
		price = "not known: the model has no price in the settings"
	}
	c.list("So far", append(rows, Choice{Name: "cost", Text: price}), "")
}
