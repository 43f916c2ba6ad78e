package cli

import (
	"context"
	"html"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/chatui"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
)

// watchAnswering shows questions in the terminal as they come, each to be answered
// with one key. ok is false where this is no terminal for it.
func (c *command) watchAnswering(ctx context.Context, d *desk.Desk) (ok bool, err error) {
	in, isFile := c.in.(*os.File)
	out, _ := c.out.(*os.File)
	if !isFile || out == nil || !isTerminal(in) || !isTerminal(out) || c.asJSON(false) || c.getenv("TERM") == "dumb" || c.getenv("TERM") == "" && !windows() {
		return false, nil
	}
	events, stop, err := d.Watch(ctx, desk.Screen{Name: "approvals --watch"})
	if err != nil {
		return true, err
	}
	defer stop()
	_, paths, err := c.load()
	if err != nil {
		return true, err
	}
	present, leave := context.WithCancel(ctx)
	ended := app.Watching(present, paths.State)
	defer func() { leave(); <-ended }()
	restore, err := rawTerminal(in, out)
	if err != nil {
		return false, nil // the plain list needs less of a terminal
	}
	defer restore()
	resized, unwatch := watchSize(out)
	defer unwatch()
	w := &watchedDesk{Desk: d, events: events, by: subject(), notify: c.notifier(ctx), began: time.Now()}
	return true, chatui.Watch(ctx, chatui.Terminal{
		In: in, Out: out, Resized: resized, Size: func() (int, int) { return terminalSize(out) },
		Colour: c.getenv("NO_COLOR") == "", ASCII: !c.showsUnicode(),
	}, w, chatui.Options{Greeting: []string{"Questions of every agent are shown here as they come."}})
}

// watchedDesk is the desk as the screen of all questions has it.
type watchedDesk struct {
	*desk.Desk
	events <-chan desk.Event
	by     string
	notify func(title, body string) // nil: nobody is told
	began  time.Time
}

func (w *watchedDesk) Questions() <-chan desk.Event { return w.events }

func (w *watchedDesk) Answer(ctx context.Context, id string, r desk.Reply) (desk.Question, error) {
	return w.Desk.Answer(ctx, id, r, w.by)
}

func (w *watchedDesk) Dismiss(string) {} // it stays open for the other screens

func (w *watchedDesk) Line(q *desk.Question) string { return q.ID + "  " + summary(q) }

// Came tells of a question on the desktop, unless it was there before. What an agent
// wrote is not told there: a notice can be read without being looked at.
func (w *watchedDesk) Came(q *desk.Question) {
	if w.notify == nil || q.Asked.Before(w.began) {
		return
	}
	who := q.Caller.Client
	if who == "" {
		who = q.Caller.Agent
	}
	if who == "" {
		who = q.Caller.Subject
	}
	w.notify("Toolcrib asks", text.ShowLine(text.Clip(who, 40))+" wants to use "+text.ShowLine(text.Clip(q.Name(), 60)))
}

// notifier gives what shows a notice on the desktop; nil: there is none.
func (c *command) notifier(ctx context.Context) func(title, body string) {
	var program string
	var args func(title, body string) []string
	switch runtime.GOOS {
	case "linux":
		if c.getenv("DISPLAY") == "" && c.getenv("WAYLAND_DISPLAY") == "" {
			return nil
		}
		program = "notify-send"
		args = func(title, body string) []string {
			return []string{"--app-name=Toolcrib", "--", title, html.EscapeString(body)}
		}
	case "darwin":
		program = "osascript"
		args = func(title, body string) []string { // the texts are arguments, and no part of the script
			return []string{"-e", "on run {title, body}", "-e", "display notification body with title title", "-e", "end run", title, body}
		}
	default:
		return nil
	}
	path, err := c.programs.Look(program)
	if err != nil {
		return nil
	}
	return func(title, body string) {
		go func() {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			_ = exec.CommandContext(ctx, path, args(title, body)...).Run() // a notice is a courtesy: the question is on the screen
		}()
	}
}
