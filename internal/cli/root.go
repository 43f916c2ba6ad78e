package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/diskspace"
	"github.com/toolcrib/toolcrib/internal/hooked"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/models"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// command is one run of the program: its streams, its surroundings, and what
// the global flags said.
type command struct {
	in       io.ReadCloser
	out, err io.Writer
	environ  []string
	dir      string // where it runs; a project's toolcrib.yaml is looked for from here

	output string   // --output
	config string   // --config
	set    []string // --set key=value
	agent  string   // --agent
	deny   []string // --deny
	ask    []string // --ask

	project  string                // the project's file that was found at the start
	outer    []string              // files of projects around it, likewise
	warm     func(*hooked.Message) // of a hook: hands on what was begun before it was known what for
	watch    *hookWatch            // of a hook that is a process of its own: refuses in time
	thorough bool                  // it is a command that looks for mistakes: every warning is told
	busy     func()                // ends the line that says that something takes its time; nil: there is none
	asking   *atomic.Bool          // a person is being asked, so that no such line is written; nil: nobody can be
	serving  bool                  // it serves others, who read the log, so no line names the servers that are down
	chatting bool                  // what is logged is read between the lines of a conversation
	hooking  bool                  // a client waits for a word of its hook
	told     io.Writer             // standard error, where a hook keeps everything else from it

	loaded   *config.Loaded[settings.Config] // once load has read it
	broken   *brokenProject                  // what is wrong with the project's file; nil: nothing
	care     care                            // how much of that file counts
	kept     map[string][]byte               // what project files held when they were last without mistakes
	lines    []map[string]string             // where texts stand in the files of settings, once somebody has asked
	programs hostpath.Finder                 // of what is started outside of every sandbox, from then on
	places   []models.Place                  // where programs that serve models are looked for; nil: the usual ones

	startLimit map[string]time.Duration // how long servers may take to start in a setup, in tests; none: as their settings say
	installed  *installation            // another program than this one, in tests; nil: this one
}

// Main runs the program on the process's own streams and gives its exit
// status.
func Main() int {
	c := &command{in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ(), dir: "."}
	if isHook(os.Args[1:]) {
		c.beginHook()
	}
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	if dir, err := os.Getwd(); err == nil {
		c.dir = dir
	}
	if err := hideKeys(vault.KeyConfig{}); err != nil {
		c.complain(err)
		return c.hookStatus(os.Args[1:], exitStatus(err))
	}
	return c.hookStatus(os.Args[1:], c.run(ctx, os.Args[1:]))
}

// endSignals are what ends the program in good order: what programs left has to
// be looked at. A closed terminal is among them, unless whoever started it wants
// it to live on, as nohup does.
func endSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

func (c *command) run(ctx context.Context, args []string) int {
	out := &checkedWriter{Writer: c.out}
	if !terminal(c.out) {
		c.out = out
	}
	root := c.root()
	root.SetArgs(args)
	used, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = out.err // what was not written was not said
	}
	if err == nil {
		return exitDone
	}
	c.complain(err)
	if isUsage(err) && !strings.Contains(err.Error(), "--help'") {
		fmt.Fprintf(c.err, "Run '%s --help' for how to use it.\n", used.CommandPath())
	}
	return exitStatus(err)
}

// checkedWriter remembers that writing failed, so that a full disk is noticed
// whatever was being printed.
type checkedWriter struct {
	io.Writer
	err error
}

func (w *checkedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil && w.err == nil {
		w.err = &toolcrib.Error{Code: toolcrib.CodeInternal, Message: "the output could not be written: " + err.Error(), Err: err}
	}
	return n, err
}

// complain writes an error the one way all of them are written.
func (c *command) complain(err error) {
	if s, ok := errors.AsType[silent](err); ok && s.error == nil {
		return
	}
	message := err.Error()
	if e, ok := toolcrib.AsError(err); ok {
		message = string(e.Code) + ": " + e.Message
	}
	fmt.Fprintln(c.err, "toolcrib: "+text.Show(message))
	if diskspace.Full(err) {
		fmt.Fprintln(c.err, "The disk is full: 'toolcrib doctor' says where, and how to make room.")
	}
}

func (c *command) root() *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:   "toolcrib",
		Short: "The tool crib for AI agents: declare once, govern once, serve everywhere",
		Long: `Toolcrib keeps the tools of AI agents: it hands them out under rules and
writes every use down. List them, call them, serve them to any MCP client,
and look at what was done.`,
		Example: `  toolcrib setup                        bring your AI clients behind Toolcrib
  toolcrib tools                        what there is
  toolcrib call get_current_datetime    use one
  toolcrib run 'What is in this folder?'
                                        have an agent work with them
  toolcrib chat                         talk to one
  toolcrib approvals                    what waits for your word
  toolcrib journal                      what was done
  toolcrib doctor                       does everything work?`,
		SilenceErrors: true, SilenceUsage: true,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if showVersion {
				return c.printVersion()
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(flagError)
	c.globalFlags(root)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		c.prepare(cmd)
		if c.output == "events" && (cmd.Name() == "run" || cmd.Name() == "replay") {
			return nil
		}
		if more := strings.Fields(cmd.Annotations[moreOutputs]); c.output != "" && c.output != "json" && c.output != "text" && !slices.Contains(more, c.output) {
			return usagef("--output is %q: want %s", c.output, strings.Join(append(more, "json or text"), ", "))
		}
		return nil
	}
	// The flags were just defined, so registering cannot fail.
	_ = root.RegisterFlagCompletionFunc("output", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return append([]string{"json", "text"}, strings.Fields(cmd.Annotations[moreOutputs])...), noFiles
	})
	root.AddCommand(c.setupCmd(), c.toolsCmd(), c.newCmd(), c.callCmd(), c.chatCmd(), c.runCmd(), c.sessionsCmd(), c.journalCmd(), c.statsCmd(), c.trashCmd(), c.approvalsCmd(), c.grantsCmd(), c.layersCmd(), c.mcpCmd(), c.serveCmd(), c.serviceCmd(), c.tokenCmd(), c.busCmd(), c.hubCmd(), c.pluginsCmd(), c.openapiCmd(), c.modelsCmd(), c.scriptsCmd(), c.skillsCmd(), c.bundleCmd(), c.marketCmd(), c.connectCmd(), c.hookCmd(), c.sandboxCmd(), c.secretCmd(), c.configCmd(), c.policyCmd(), c.trustCmd(), c.doctorCmd(), c.upgradeCmd(), c.uninstallCmd(), c.versionCmd(), c.manCmd())
	group(root)
	finish(root)
	c.expandPaths(root)
	helpPages(root)
	c.completeAll(root)
	return root
}

// globalFlags are those that may stand before the name of a command as well as after it.
func (c *command) globalFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVarP(&c.output, "output", "o", "", "form of the output: json or text")
	flags.StringVar(&c.config, "config", "", "read this file instead of the user's config.yaml")
	flags.StringArrayVar(&c.set, "set", nil, "set a configuration key for this run, such as limits.timeout=5s")
	flags.StringVar(&c.agent, "agent", "", "run under this preset of agents in the configuration")
	flags.StringArrayVar(&c.deny, "deny", nil, "a rule about what is not done in this run, such as 'write_file(./src/**)'")
	flags.StringArrayVar(&c.ask, "ask", nil, "a rule about what a person is asked in this run")
}

func (c *command) getenv(name string) string {
	for _, v := range slices.Backward(c.environ) {
		if v, ok := strings.CutPrefix(v, name+"="); ok {
			return v
		}
	}
	return ""
}

// paths says where configuration and state lie for this user.
func (c *command) paths() (config.Paths, string, error) {
	p, err := config.Locate(c.getenv, c.home(), runtime.GOOS)
	return p, c.home(), err
}

func (c *command) home() string {
	if runtime.GOOS == "windows" {
		return c.getenv("USERPROFILE")
	}
	home := c.getenv("HOME")
	if info, err := os.Stat(home); filepath.IsAbs(home) && filepath.Dir(home) != home && err == nil && info.IsDir() {
		return home
	}
	// A service may have none, or one that is not there. What is protected at home
	// is protected all the same.
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return home
}

// options says which layers of configuration there are.
func (c *command) options() (config.Options, config.Paths, error) {
	paths, home, err := c.paths()
	if err != nil {
		return config.Options{}, paths, usage(err)
	}
	opt := config.Options{System: paths.SystemFile, User: paths.ConfigFile, Explicit: c.config, Environ: c.environ, Reserved: append(keyVariables(), bundleVariables()...), Flags: map[string]string{}}
	for _, s := range c.set {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			return opt, paths, usagef("--set %s: write key=value", s)
		}
		opt.Flags[key] = value
	}
	found, err := config.FindProject(c.dir, home, func(file string) bool {
		content, err := config.ReadProject(file)
		return err == nil && trustList(paths).Holds(file, content)
	})
	if err != nil {
		return opt, paths, err
	}
	if opt.Project, opt.Outer, opt.Passed = found.Path, found.Outer, found.Passed; opt.Project != "" {
		opt.Trusted = func(content []byte) bool { return trustList(paths).Holds(opt.Project, content) }
	}
	return opt, paths, nil
}

// load reads the configuration and tells its warnings, once.
func (c *command) load() (*config.Loaded[settings.Config], config.Paths, error) {
	opt, paths, err := c.options()
	if err != nil {
		return nil, paths, err
	}
	if c.loaded != nil {
		return c.loaded, paths, nil
	}
	kept := map[string][]byte{}
	opt.Seen = func(file string, content []byte) { kept[file] = content }
	try, err := c.tryProject(opt, asItIs, false, nil, func(try projectAttempt) error {
		if err := hideKeys(try.loaded.Value.Vault.Key); err != nil {
			return settings.Bad(err)
		}
		return settings.Bad(c.tidyPath(try.loaded.Value, paths))
	})
	if err != nil {
		return nil, paths, badConfig{err}
	}
	if try.broken == nil {
		c.kept = kept
	}
	loaded := try.loaded
	c.broken, c.care = try.broken, try.care
	for _, w := range loaded.Warnings {
		c.warn(fmt.Sprint(w))
	}
	if c.broken != nil {
		fmt.Fprintf(c.err, "toolcrib: warning: %v\n", c.broken)
	}
	if opt.Project != "" {
		if err := trustList(paths).Fault(); err != nil {
			c.warn(err.Error())
		}
	}
	c.loaded, c.project, c.outer = loaded, opt.Project, opt.Outer
	return loaded, paths, nil
}

// tidyPath takes the directories that commands can write out of the PATH of this
// process, and with them the variables by which programs would take up code from
// there: no program that it starts by its name, nor one that such a program
// starts, may run what a command has put there. This run has its own copy.
func (c *command) tidyPath(cfg settings.Config, paths config.Paths) error {
	var err error
	if c.programs, err = app.Programs(cfg, app.Needs{Dir: c.dir, Home: c.home(), State: paths.State}, c.getenv("PATH")); err != nil {
		return err
	}
	for _, v := range os.Environ() {
		if name, value, _ := strings.Cut(v, "="); c.programs.Misleads(name, value) {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	was := os.Getenv("PATH")
	if now := c.programs.Path(was); now != was {
		return os.Setenv("PATH", now)
	}
	return nil
}

// layers is the configuration by who wrote it.
func (c *command) layers(l *config.Loaded[settings.Config]) *settings.Layers {
	layers := &settings.Layers{Admin: l.System, User: l.User, Project: l.Project, Outer: l.Outer, Grant: &l.Untightened.Grant}
	layers.Session.Deny, layers.Session.Ask = c.deny, c.ask
	if layers.Most = l.Given.Mode; layers.Most != "" {
		layers.MostBy = "the flag --set mode"
		if o := l.GivenOrigins["mode"]; o.Source == config.SourceEnv {
			layers.MostBy = "the variable " + o.Name
		}
	}
	return layers
}

// closeApp ends what was opened; that it cannot be ended is no reason to fail.
func (c *command) closeApp(ctx context.Context, a *app.App) {
	if err := a.Close(context.WithoutCancel(ctx)); err != nil {
		fmt.Fprintf(c.err, "toolcrib: warning: closing: %v\n", err)
	}
}

// needs is what wiring has to know of this process.
func (c *command) needs(loaded *config.Loaded[settings.Config], paths config.Paths) app.Needs {
	// The files by themselves as well: where one is a link, what it leads to is meant.
	private := []string{paths.Config, paths.State, paths.Data, paths.Cache, paths.ConfigFile, paths.SystemFile}
	if c.config != "" {
		if file, err := filepath.Abs(c.config); err == nil {
			private = append(private, file)
		}
	}
	age, size := retentionFrom(loaded)
	needs := app.Needs{AgeFrom: age, SizeFrom: size, State: paths.State, Subject: subject(), Config: paths.Config, Settings: c.settings(paths), Version: version(), Dir: c.dir, Home: c.home(), Path: c.getenv("PATH"), Getenv: c.getenv, Private: private, Layers: c.bounded(loaded, c.broken), Log: c.logger(loaded.Value.Log), Trusted: trustList(paths).HoldsTool, TellsFailures: !c.serving}
	c.setKeys(&needs)
	return needs
}

// settings is the person's file of settings.
func (c *command) settings(paths config.Paths) string {
	if c.config != "" {
		return c.config
	}
	return paths.ConfigFile
}

func (c *command) tellFaults(a *app.App) {
	var down, never []string
	for _, f := range a.Faults {
		switch why, server := unlistedServer(a, f); {
		case errors.Is(f.Err, toolfile.ErrUntrusted): // all of them at once, below
		case server && why != "":
			down = append(down, f.Box)
		case server:
			never = append(never, f.Box)
		case f.Box == "": // a name in the settings, and no tool
			c.warn(fmt.Sprintf("%s: %v", f.Tool, f.Err))
		default:
			c.warn("left out: " + f.Error())
		}
	}
	if len(down) > 0 {
		c.warn(serverNames(down, "is down", "are down") + ": toolcrib doctor")
	}
	if len(never) > 0 {
		c.warn(serverNames(never, "has not been started yet", "have not been started yet") + ": toolcrib hub test --all")
	}
	if said := c.untrustedTools(); said != "" {
		c.warn(said + "; 'toolcrib trust' shows them")
	}
}

// serverNames counts servers and names the first of them, in a line that fits a screen.
func serverNames(names []string, is, are string) string {
	const most = 5
	if len(names) > 1 {
		is = are
	}
	named := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s %s (%s)", counted(len(names), "server"), is, named)
}

// tellUnmatched warns of rules and settings that name no tool: most often a
// misspelt name, and a deny that denies nothing. What is not known yet is left
// to 'toolcrib config check'.
func (c *command) tellUnmatched(ctx context.Context, a *app.App) {
	for _, u := range a.Unmatched(ctx, c.whereIs) {
		if !u.Unknown {
			c.warn(u.String())
		}
	}
}

func (c *command) logger(cfg settings.Log) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		level = slog.LevelWarn // the configuration was checked; this is for a zero Config
	}
	if c.chatting {
		return slog.New(newPlainLog(c.err, level))
	}
	opt := &slog.HandlerOptions{Level: level}
	if cfg.Format == "json" {
		return slog.New(slog.NewJSONHandler(c.err, opt))
	}
	return slog.New(slog.NewTextHandler(c.err, opt))
}

// caller is who calls from this process: the person at this terminal, under
// the preset that was named.
func (c *command) caller(via, dialect string) (toolcrib.Caller, error) {
	loaded, _, err := c.load()
	if err != nil {
		return toolcrib.Caller{}, err
	}
	if _, ok := loaded.Value.Agents[c.agent]; c.agent != "" && !ok && !c.bundledAgent() {
		return toolcrib.Caller{}, usagef("--agent %s: there is no such agent in the configuration", c.agent)
	}
	return toolcrib.Caller{Subject: subject(), Agent: c.agent, Frontend: via, Dialect: dialect, Organisation: c.layers(loaded).Organisation()}, nil
}

// subject names the person at this terminal.
func subject() string {
	u, err := user.Current()
	if err != nil || u.Username == "" {
		return "local"
	}
	return u.Username
}
