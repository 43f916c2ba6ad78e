package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolchains"
)

func (c *command) sandboxDoctorCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Try the tool chains that this project needs, and say what to set",
		Long: `Look at the files of this project (go.mod, package.json, pyproject.toml, Cargo.toml,
pom.xml, Makefile and the like), run the tools that it needs in the sandbox, and
say which work and which setting the others need.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.sandboxDoctor(cmd.Context()) },
	}
}

func (c *command) sandboxDoctor(ctx context.Context) error {
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	off := !loaded.Value.Toolboxes.Shell.AllowShell
	return c.prepared(ctx, func(cfg *settings.Config) { cfg.Toolboxes.Shell.AllowShell = true }, func(a *app.App) error {
		done := c.progress("trying the tools of this project in the sandbox")
		findings, err := chainFindings(ctx, a, loaded.Value, off)
		done()
		if err != nil {
			return err
		}
		return c.printFindings(findings)
	})
}

// chainFindings says how the tool chains of a project do.
func chainFindings(ctx context.Context, a *app.App, cfg settings.Config, off bool) ([]finding, error) {
	var out []finding
	if off {
		out = append(out, finding{"commands", "warning", "commands are switched off", "toolcrib config set toolboxes.shell.allow_shell true"})
	}
	e := a.Sandbox.Explain(ctx, byHand, 0)
	if e.Refusal != "" {
		return append(out, finding{"sandbox", "problem", e.Refusal, "see 'toolcrib sandbox'"}), nil
	}
	report, err := a.CheckToolchains(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if report.Base == "" {
		return []finding{{"project", "warning", "no directory is granted here, so no command runs", "start in a project, or name directories in grant.write"}}, nil
	}
	out = append(out, finding{"sandbox", "ok", "commands run in " + e.Backend + ", in " + report.Base, ""})
	if cfg.Sandbox.Layers {
		out = append(out, layersFinding(ctx, a))
	}
	if len(report.Chains) == 0 {
		out = append(out, finding{"project", "ok", "nothing here names a tool chain (go.mod, package.json, pyproject.toml, Cargo.toml, pom.xml, Makefile, …)", ""})
	}
	for _, check := range report.Chains {
		out = append(out, programFindings(check)...)
		out = append(out, needFindings(check, cfg)...)
	}
	if toolchains.HasRepository(report.Base) {
		out = append(out, commitFinding(report.CommitsAs, cfg))
	}
	if n := report.ProjectPrograms; n > report.Trusted {
		out = append(out, finding{"programs", "ok", fmt.Sprintf("%s in the project (gradlew, node_modules/.bin and the like), and rules hold for %d", counted(n, "program"), report.Trusted), "'toolcrib sandbox trust' shows them, and has rules hold for their content"})
	}
	if report.Cache.Dir != "" {
		out = append(out, cacheFinding(report.Cache))
	}
	return out, nil
}

// layersFinding says whether commands work on layers over what is granted.
func layersFinding(ctx context.Context, a *app.App) finding {
	if err := a.Sandbox.Layers(ctx, byHand, a.Crib.Grant.Dirs); err != nil {
		return finding{"layers", "warning", "commands work on the live files and are judged before they run: " + err.Error(), "see 'toolcrib sandbox probe'"}
	}
	return finding{"layers", "ok", "commands work on layers, and what they change is judged when they have ended", ""}
}

func programFindings(check app.ToolchainCheck) []finding {
	var out []finding
	for _, p := range check.Checks {
		switch {
		case p.Fault == "":
			out = append(out, finding{check.Chain, "ok", p.Name + " works: " + p.Version + " (" + p.Path + ")", ""})
		case check.Entry != "":
			out = append(out, finding{check.Chain, "problem", p.Name + ": " + p.Fault + ", but this machine has it outside the directories of the system; " + check.Because + " needs it", "sandbox.toolchains: [" + check.Entry + "]"})
		case p.Path == "":
			out = append(out, finding{check.Chain, "problem", p.Name + " is not installed, or not where it is looked for; " + check.Because + " needs it", "install it, or name the directory that it lies in under sandbox.toolchains"})
		default:
			out = append(out, finding{check.Chain, "problem", p.Name + " (" + p.Path + ") does not work in the sandbox: " + p.Fault, "'toolcrib sandbox run -- " + text.ShellWord(p.Path) + "' tries it; sandbox.read_only shows programs further directories"})
		}
	}
	return out
}

// needFindings says what else a tool chain needs: packages, and rules.
func needFindings(check app.ToolchainCheck, cfg settings.Config) []finding {
	var out []finding
	if !check.Online {
		out = append(out, finding{check.Chain, "warning", "commands cannot fetch packages", "grant.hosts: [" + check.Registry + "]"})
	}
	var lacking []string
	for _, rule := range check.Rules {
		covers := func(c string) bool { return rule == c || strings.HasPrefix(rule, c+" ") }
		if !slices.ContainsFunc(cfg.Toolboxes.Shell.AllowedCommands, covers) && !slices.ContainsFunc(cfg.Permissions.Allow, func(r string) bool { return covers(commandOf(r)) }) {
			lacking = append(lacking, rule)
		}
	}
	if len(lacking) > 0 && cfg.Mode != "yolo" {
		out = append(out, finding{check.Chain, "ok", "these commands are asked about: " + strings.Join(lacking, ", "), "toolboxes.shell.allowed_commands: [" + strings.Join(lacking, ", ") + "]"})
	}
	return out
}

// commandOf gives the command of a rule about run_command, without its *.
func commandOf(rule string) string {
	_, inner, _ := strings.Cut(rule, "(")
	return strings.TrimRight(strings.TrimSuffix(inner, ")"), " :*")
}

func commitFinding(named bool, cfg settings.Config) finding {
	switch {
	case cfg.Sandbox.Git != "write":
		return finding{"git", "ok", "commands can read the repository, and not commit", "sandbox.git: write lets them (its reference says what that opens)"}
	case !named:
		return finding{"git", "warning", "commands can commit, but git does not know who you are", "git config --global user.name NAME, and user.email"}
	}
	return finding{"git", "ok", "commands can commit", ""}
}

// The size from which a person is told to look, and the most that is counted.
const (
	largeCache   = 5 << 30
	countedFiles = 300_000
)

func cacheFinding(cache toolchains.Cache) finding {
	cache.Measure(countedFiles)
	f := finding{"caches", "ok", fmt.Sprintf("build caches of this project: %s in %s", sizeText(cache.Bytes), cache.Dir), ""}
	if cache.Bytes > largeCache || cache.Entries >= countedFiles {
		f.Status, f.Fix = "warning", "'toolcrib sandbox clean' removes them; the next build fills them again"
	}
	return f
}

// sizeText is a number of bytes as people say it.
func sizeText(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d KiB", (bytes+1023)>>10)
}

func (c *command) sandboxCleanCmd() *cobra.Command {
	var all bool
	var older time.Duration
	cmd := &cobra.Command{
		Use:   "clean [--all] [--unused TIME]",
		Short: "Remove build caches: of this project, of all, or of those long unused",
		Long: `What commands download and compile (Go, npm, pip, cargo, Gradle and the like) is
kept for each project by itself. This removes the caches of this project, or with
--all of every project, or with --unused of those that no command has used for that
time. Builds fill them again.`,
		Example: `  toolcrib sandbox clean                   this project
  toolcrib sandbox clean --unused 720h     projects unused for 30 days`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.cleanCaches(cmd.Context(), all, older) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "the caches of every project")
	cmd.Flags().DurationVar(&older, "unused", 0, "the caches that were not used for this time")
	return cmd
}

func (c *command) cleanCaches(ctx context.Context, all bool, older time.Duration) error {
	paths, _, err := c.paths()
	if err != nil {
		return err
	}
	base := ""
	if !all && older == 0 {
		if err := c.prepared(ctx, unchanged, func(a *app.App) error { base = a.Crib.Files.Base; return nil }); err != nil {
			return err
		}
	}
	caches, err := toolchains.Caches(toolchains.CachesDir(paths.State))
	if err != nil {
		return err
	}
	n, bytes := 0, int64(0)
	for _, cache := range caches {
		switch {
		case older > 0 && time.Since(cache.Used) < older, older == 0 && !all && cache.Project != base:
			continue
		}
		cache.Measure(countedFiles)
		if err := cache.Remove(); err != nil {
			return err
		}
		n, bytes = n+1, bytes+cache.Bytes
	}
	switch n {
	case 0:
		fmt.Fprintln(c.out, "There are no build caches to remove.")
	case 1:
		fmt.Fprintf(c.out, "Removed the build caches of 1 project (%s).\n", sizeText(bytes))
	default:
		fmt.Fprintf(c.out, "Removed the build caches of %d projects (%s).\n", n, sizeText(bytes))
	}
	return nil
}
