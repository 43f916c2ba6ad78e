package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/hooked"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

// hookTime is the most that a person is waited for at the desk. Clients give up later,
// and some of them let the call pass then.
const hookTime = 50 * time.Second

// exitBlocked is how a hook says no. Clients take every other failure for a yes.
const exitBlocked = 2

// isHook reports whether a command line calls the hook, whatever global flags stand before its
// name. It is asked before anything else is done, so that the watch bounds all of it. A line that
// cannot be read and has that word counts as one: it fails, and a hook has to fail so that it blocks.
func isHook(args []string) bool {
	line := &cobra.Command{Use: "toolcrib"}
	line.Flags().Bool("version", false, "")
	line.InitDefaultHelpFlag()
	new(command).globalFlags(line)
	line.Flags().SetInterspersed(false) // what follows the name of the command is its own
	if line.ParseFlags(args) != nil {
		return slices.Contains(args, "hook")
	}
	return line.Flags().Arg(0) == "hook"
}

// beginHook makes the most of a process that lives for milliseconds, and bounds it.
func (c *command) beginHook() {
	c.boundHook(judgeTime)
	scanner := hooked.Scanner()
	c.warm = func(m *hooked.Message) { m.Scanner = scanner }
}

// hookStatus makes a failure of a hook one that blocks, whatever failed: the command
// line, the keys, the output. That it could not record what was done is no reason
// to hide it.
func (c *command) hookStatus(args []string, status int) int {
	if (c.hooking || isHook(args)) && status != exitDone && status != exitFailed {
		return exitBlocked
	}
	return status
}

func (c *command) hookCmd() *cobra.Command {
	var ask string
	cmd := &cobra.Command{
		Use:   "hook CLIENT",
		Short: "Judge and record what a client does with its own tools; its hooks call this",
		Long: `Clients have tools of their own, which run their commands and edit their files
past Toolcrib. Their hooks call this program before and after each: it reads the
client's message on standard input, judges it by the same rules as calls of our
own tools, and writes it into the journal. 'toolcrib connect CLIENT --hooks' sets
it up.

What is refused, and whatever goes wrong, ends with the exit status 2 and a
sentence on standard error, which the client shows its model. If a person has to
be asked, the client asks them. If it cannot, the question waits at 'toolcrib
approvals', and the call is refused until it is answered.

Clients: ` + strings.Join(hooked.Clients(), ", "),
		Example: `  toolcrib connect claude-code --hooks
  toolcrib hook gemini < message.json     what Gemini CLI would be told`,
		Args:      usageArgs(cobra.ExactArgs(1)),
		ValidArgs: hooked.Clients(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.hooking = true
			if ask != "client" && ask != "desk" {
				return usagef("--ask is %q: want client or desk", ask)
			}
			return c.hook(cmd.Context(), args[0], ask == "desk")
		},
	}
	cmd.Flags().StringVar(&ask, "ask", "client", "who asks the person: the client where it can, or the desk ('toolcrib approvals')")
	return cmd
}

// hook never fails in another way than with the status that blocks.
func (c *command) hook(ctx context.Context, client string, atDesk bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = c.hookFailed(fmt.Errorf("it broke down: %v", p))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	// What stands on standard error a model reads: warnings about settings are not for it.
	c.told, c.err = c.err, io.Discard
	if !slices.Contains(hooked.Clients(), client) {
		return c.hookFailed(fmt.Errorf("it knows no hooks of %q; want one of %s", client, strings.Join(hooked.Clients(), ", ")))
	}
	raw, err := c.hookInput(ctx)
	if err != nil {
		return c.hookFailed(err)
	}
	event, err := hooked.Read(client, raw, c.home(), c.getenv, func(project, tool string) bool { return c.serves(ctx, project, tool) })
	if err != nil {
		return c.hookFailed(err)
	}
	c.watch.recording(event.After)
	if event.Own { // it comes to our server, which judges and records it
		word := hooked.Pass
		if event.Alone { // and asks the person: the client need not ask as well
			word = hooked.Yes
		}
		return c.hookSays(hooked.Answer(client, word, ""))
	}
	c.dir = filepath.Clean(event.Project)
	caller, err := c.caller("hook", "")
	if err != nil {
		return c.hookFailed(notOpened(err))
	}
	ask := hooked.Client
	if atDesk {
		ask = hooked.Desk
	}
	word, reason, err := c.hookJudged(ctx, &hooked.Message{Event: event, Caller: caller, Ask: ask, Asking: c.watch.asking})
	if err == nil && event.After && word == hooked.No {
		err = errors.New(reason)
	}
	if err != nil && event.After {
		// It is done: some clients would hide the result. They show this to the person.
		return c.hookSays("", "Toolcrib could not record what became of it: "+oneLine(err)+"\n", exitFailed)
	}
	if err != nil {
		return c.hookFailed(err)
	}
	return c.hookSays(hooked.Answer(client, word, reason))
}

// serves reports whether our server has a tool of exactly this name for a client that was
// started in a directory. If nobody can say, it has none: the tool is judged as that of
// another server.
func (c *command) serves(ctx context.Context, project, tool string) bool {
	if !filepath.IsAbs(project) {
		return false
	}
	c.dir = filepath.Clean(project)
	a, err := c.openFor(ctx, app.ToList, nil)
	if err != nil {
		return false
	}
	defer c.closeApp(ctx, a)
	return a.Serves(tool)
}

// hookInput reads the client's message, and waits for it no longer than the hook may
// take.
func (c *command) hookInput(ctx context.Context) ([]byte, error) {
	type read struct {
		raw []byte
		err error
	}
	got := make(chan read, 1)
	go func() {
		raw, err := io.ReadAll(io.LimitReader(c.in, hooked.Most+1))
		got <- read{raw, err}
	}()
	select {
	case <-ctx.Done():
		return nil, errors.New("it was ended while it read what the client wants")
	case r := <-got:
		if r.err == nil && len(r.raw) > hooked.Most {
			r.err = fmt.Errorf("the client sent more than %d MiB", hooked.Most>>20)
		}
		return r.raw, r.err
	}
}

// notOpened says no more of what is wrong here than a model may read: no paths.
func notOpened(err error) error {
	if _, ok := errors.AsType[badConfig](err); ok || isUsage(err) {
		return errors.New("its settings cannot be used; 'toolcrib config check' says why")
	}
	return errors.New("its journal or its other files cannot be opened; 'toolcrib doctor' says why")
}

func (c *command) hookFailed(err error) error {
	return c.hookSays("", "Toolcrib cannot judge this call, so it is not made: "+oneLine(err)+"\n", exitBlocked)
}

func oneLine(err error) string {
	message := err.Error()
	if e, ok := toolcrib.AsError(err); ok {
		message = e.Message
	}
	return text.Clip(text.ShowLine(message), 2000)
}

func (c *command) hookSays(stdout, stderr string, status int) error {
	if stdout != "" {
		if _, err := io.WriteString(c.out, stdout); err != nil {
			stderr, status = "Toolcrib cannot answer: its output is closed\n", exitBlocked
		}
	}
	_, _ = io.WriteString(c.told, stderr) // there is nobody else to tell
	if status == exitDone {
		return nil
	}
	return silent{nil, status}
}

// hookJudged opens what it takes to judge one message, and no more.
func (c *command) hookJudged(ctx context.Context, h *hooked.Message) (word hooked.Word, reason string, err error) {
	if c.warm != nil {
		c.warm(h)
	}
	var cfg settings.Config
	var needs app.Needs
	a, err := c.openFor(ctx, app.ToHook, func(of *settings.Config, n *app.Needs) {
		n.Hook, cfg, needs = h, *of, *n
		needs.Hook = h
	})
	if err != nil {
		return hooked.No, "", notOpened(err)
	}
	word, reason = a.Hook(ctx, cfg, needs)
	if err := ctx.Err(); err != nil && word != hooked.No {
		return hooked.No, "", errors.New("it was ended before it was done")
	}
	return word, reason, a.Close(context.WithoutCancel(ctx))
}
