package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/agents"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/chatui"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

type chatFlags struct {
	model, resume, mode, profile string
}

func (c *command) chatCmd() *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Talk to an agent that works with the tools",
		Long: `Talk to an agent in the terminal. It answers as it thinks, shows each tool that
it uses, and asks before it changes anything: one key answers, y once, n no, and
others for longer.

Ctrl-C stops the agent, twice it leaves; Ctrl-D leaves. /help lists what else can
be typed. What was said is kept: --resume goes on with it. Without a terminal
each line of standard input is said to the agent, and nobody is asked anything.`,
		Example: `  toolcrib chat
  toolcrib chat --agent coder --mode auto
  toolcrib chat --resume last
  echo 'Which of the files here is the largest?' | toolcrib chat`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.chat(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.model, "model", "", "the model that answers, by its name in the configuration")
	flags.StringVar(&f.resume, "resume", "", "go on with this conversation; last is the one before")
	flags.StringVar(&f.mode, "mode", "", "when you are asked: safe (default), auto (auto-edit), plan or yolo")
	flags.StringVar(&f.profile, "profile", "", "which tools exist, such as minimal, coding or full")
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{"safe", "auto", "plan", "yolo"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (c *command) chat(ctx context.Context, f chatFlags) error {
	caller, err := c.caller("chat", "")
	if err != nil {
		return err
	}
	notes := &noteWriter{out: c.err, lines: make(chan string, 64)}
	c.chatting = true
	c.err = notes // what is logged meanwhile must not run into the rows that are painted
	defer func() { c.err = notes.out }()
	a, err := c.open(ctx, desk.Leave)
	if err != nil {
		return err
	}
	defer c.closeApp(ctx, a)
	defer a.FollowPolicy(c.policyNow)()
	_, paths, err := c.load()
	if err != nil {
		return err
	}
	b := &chatBackend{app: a, cfg: c.loaded.Value, sessions: app.OpenSessions(c.loaded.Value, paths.State), by: subject()}
	if err := b.open(ctx, agents.Options{Caller: caller, Model: f.model, Resume: f.resume}); err != nil {
		return openingError(err)
	}
	defer func() { c.tell(b.close()) }()
	for _, pick := range []struct {
		kind chatui.Kind
		name string
	}{{chatui.Mode, f.mode}, {chatui.Profile, f.profile}} {
		if pick.name != "" {
			if _, err := b.Choose(ctx, pick.kind, pick.name); err != nil {
				return usage(err)
			}
		}
	}
	return c.converse(ctx, b, filepath.Join(paths.State, "chat_history"), notes)
}

// converse holds the conversation in the way that the streams allow.
func (c *command) converse(ctx context.Context, b *chatBackend, file string, notes *noteWriter) error {
	opt := chatui.Options{Past: b.messages(), Greeting: b.greeting()}
	in, isFile := c.in.(*os.File)
	out, _ := c.out.(*os.File)
	person := isFile && out != nil && isTerminal(in) && isTerminal(out)
	if !person {
		return failedTurn(chatui.Lines(ctx, c.in, c.out, false, b, opt))
	}
	stop, err := b.watch(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if c.getenv("TERM") == "dumb" || c.getenv("TERM") == "" && !windows() {
		return failedTurn(chatui.Lines(ctx, in, out, true, b, opt))
	}
	past := history{file: file}
	opt.History, opt.Remember = past.read(), func(s string) { c.tell(past.add(s)) }
	restore, err := rawTerminal(in, out)
	if err != nil {
		return failedTurn(chatui.Lines(ctx, in, out, true, b, opt))
	}
	defer restore()
	resized, unwatch := watchSize(out)
	defer unwatch()
	opt.Notes = notes.begin()
	defer notes.end()
	return chatui.Run(ctx, chatui.Terminal{
		In: in, Out: out, Resized: resized, Size: func() (int, int) { return terminalSize(out) },
		Colour: c.getenv("NO_COLOR") == "", ASCII: !c.showsUnicode(),
	}, b, opt)
}

// tell warns of what is no reason to fail.
func (c *command) tell(err error) {
	if err != nil {
		_, _ = io.WriteString(c.err, "toolcrib: warning: "+text.ShowLine(err.Error())+"\n")
	}
}

// failedTurn makes a turn that failed one that the exit status tells of.
func failedTurn(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	return failed{err}
}

// showsUnicode goes by the locale; where none is set, as in many containers, terminals
// are modern ones.
func (c *command) showsUnicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(c.getenv(name)); v != "" {
			return v != "c" && v != "posix" && (!strings.Contains(v, ".") || strings.Contains(v, "utf"))
		}
	}
	return true
}

// profileNames are the profiles that can be chosen.
func profileNames(cfg settings.Config) []string {
	names := []string{"minimal", "coding", "full"}
	for name := range cfg.Profiles {
		names = append(names, name)
	}
	return names
}
