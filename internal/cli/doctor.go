package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/diskspace"
	"github.com/toolcrib/toolcrib/internal/seal"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/text"
)

// finding is one thing the doctor looked at.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warning or problem
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

func (c *command) doctorCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check that everything here works, and say how to mend what does not",
		Args:  usageArgs(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return c.doctor(cmd.Context()) },
	}
}

func (c *command) doctor(ctx context.Context) error {
	done := c.progress("checking")
	findings := c.examine(ctx)
	done()
	c.hush()
	return c.printFindings(findings)
}

// printFindings shows what was found. A problem among them is a failure.
func (c *command) printFindings(findings []finding) error {
	bad := 0
	for _, f := range findings {
		if f.Status == "problem" {
			bad++
		}
	}
	if c.asJSON(false) {
		if err := c.printJSON(findings); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			wide := 0
			if terminal(c.out) {
				wide = c.columns()
			}
			fmt.Fprint(c.out, f.shown(wide))
		}
	}
	if bad > 0 {
		return failed{fmt.Errorf("%d of %d checks found a problem", bad, len(findings))}
	}
	return nil
}

// shown is a finding as it is printed; wide: the columns of the screen, 0 for none. A
// command is never parted: in two lines it would be two, and the second the name of a file.
func (f *finding) shown(wide int) string {
	line := fmt.Sprintf("%-8s %-10s %s", f.Status, f.Check, text.ShowLine(f.Detail)) // servers name their tools as they like
	if wide > 0 {
		line = wrapTo(line, 20, wide)
	}
	if f.Fix != "" {
		line += fmt.Sprintf("\n%-8s %-10s → %s", "", "", text.ShowLine(f.Fix))
	}
	return line + "\n"
}

func (c *command) examine(ctx context.Context) []finding {
	out := []finding{{"version", "ok", version(), ""}}
	paths, _, err := c.paths()
	if err != nil {
		return append(out, finding{"paths", "problem", err.Error(), c.homeFix()})
	}
	loaded, _, err := c.load()
	if err != nil {
		return append(out, finding{"config", "problem", err.Error(), c.editSettings()})
	}
	out = append(out, c.configFinding(paths, loaded), stateFinding(paths.State))
	a, err := c.openFor(ctx, app.ToCheck, nil)
	if bad, ok := errors.AsType[badConfig](err); ok {
		err = bad.error
	}
	if err != nil {
		out = append(out, diskFindings(diskspace.Free, diskPlaces(paths.State, os.TempDir(), nil))...)
		return append(out, finding{"config", "problem", err.Error(), c.editSettings()})
	}
	if c.broken != nil {
		out = append(out, finding{"config", "problem", c.broken.Error(), c.brokenFix()})
	}
	out = append(out, diskFindings(diskspace.Free, diskPlaces(paths.State, os.TempDir(), writableDirs(a)))...)
	out = append(out, grantFinding(a, paths), commandsFinding(ctx, a, loaded.Value))
	for _, f := range a.Coding(ctx, loaded.Value) {
		out = append(out, finding{f.Check, map[bool]string{true: "warning", false: "ok"}[f.Warning], f.Detail, f.Fix})
	}
	out = append(out, c.cacheFindings(a, c.home())...)
	out = append(out, c.serveFinding(ctx, a, loaded.Value.Serve, paths.State))
	out = append(out, tracesFinding(ctx, a)...)
	caller, err := c.caller("cli", "")
	if err != nil {
		return append(out, finding{"config", "problem", err.Error(), c.editSettings()})
	}
	tools := len(a.Shown(caller)) // what 'toolcrib tools' lists
	policy := a.PolicyReport()
	out = append(out, finding{"policy", "ok", fmt.Sprintf("mode %s, profile %s, %d rules", policy.Mode, strings.Join(policy.Profiles, " and "), policy.Rules), ""})
	out = append(out, finding{"tools", "ok", fmt.Sprintf("%d tools on the shelves", tools), ""})
	for _, u := range a.Unmatched(ctx, c.whereIs) {
		if !u.Unknown {
			out = append(out, finding{"policy", "problem", u.String(), c.editSettings()})
		}
	}
	out = append(out, c.toolFaults(a)...)
	out = append(out, pluginFindings(a)...)
	if dir, err := c.toolDir(); err == nil && loaded.Value.Toolboxes.Tools.Enabled {
		out = append(out, finding{"tools", "ok", "your own tools lie in " + dir, ""})
	}
	for _, b := range a.Hub.Boxes() {
		if n := len(b.Unchecked()); n > 0 {
			out = append(out, finding{"tools", "ok", fmt.Sprintf("%d parts of the schemas of %s are left to that server to check: 'toolcrib hub show %s' names them", n, b.Name(), b.Name()), ""})
		}
	}
	out = append(out, placeFindings(ctx, a)...)
	for _, n := range a.OutsideNotes() {
		status := "warning"
		if n.Held {
			status = "ok"
		}
		out = append(out, finding{"programs", status, n.Text, n.Fix})
	}
	out = append(out, c.vaultFindings(ctx, a, loaded.Value)...)
	if err := a.Close(context.WithoutCancel(ctx)); err != nil {
		out = append(out, finding{"tools", "warning", "closing: " + err.Error(), ""})
	}
	machine := c.machine()
	out = append(out, clientFindings(machine.Survey(""))...)
	for _, p := range machine.Plugins() {
		out = append(out, finding{"clients", "warning", "the plugin " + p.Plugin + " starts servers round Toolcrib: " + strings.Join(p.Servers, ", "), p.Stop()})
	}
	out = append(out, c.serviceFindings(ctx)...)
	return append(out, sealsFinding(paths), c.journalFinding(ctx))
}

// sealsFinding says whether what was approved and trusted can be believed.
func sealsFinding(paths config.Paths) finding {
	box, err := seal.OfState(paths.State, false)
	if err != nil {
		return finding{"seals", "problem", err.Error(), aside(filepath.Join(paths.State, "seal"))}
	}
	if err := trustList(paths).Fault(); err != nil {
		return finding{"seals", "problem", err.Error(), "toolcrib trust"}
	}
	if lost := box.Lost(); !lost.IsZero() {
		return finding{"seals", "warning", "the key of the seals, or the list of what is sealed, was gone at " + lost.Format(time.RFC3339) +
			": servers that were not approved since are held back", "toolcrib hub approve --all"}
	}
	return finding{"seals", "ok", "what was approved and trusted is as it was written", ""}
}

// commandsFinding says whether and where command lines are run.
func commandsFinding(ctx context.Context, a *app.App, cfg settings.Config) finding {
	if !cfg.Toolboxes.Shell.AllowShell {
		return finding{"commands", "ok", "off; 'toolcrib config set toolboxes.shell.allow_shell true' switches them on", ""}
	}
	e := a.Sandbox.Explain(ctx, "run_command", 0)
	if e.Refusal != "" {
		return finding{"commands", "problem", e.Refusal, "toolcrib sandbox"}
	}
	if e.Backend == "seatbelt" {
		return finding{"commands", "warning", "run in the sandbox seatbelt, which has not yet been tried on a Mac, held to: " + orNothing(e.Enforces), ""}
	}
	detail := "run in the sandbox " + e.Backend + ", held to: " + orNothing(e.Enforces)
	if !cfg.Toolboxes.Shell.Ask {
		detail += "; toolboxes.shell.ask is false, so what is neither harmless nor allowed is refused"
	}
	return finding{"commands", "ok", detail, ""}
}

// serveFinding says whom toolcrib serve lets in, and whether it could be served.
func (c *command) serveFinding(ctx context.Context, a *app.App, cfg settings.Serve, state string) finding {
	token, err := httpapi.ReadOwnToken(state)
	fix := "toolcrib token new" // yours, in place of one that cannot be used
	if err == nil {
		err, fix = a.CheckServe(ctx, cfg), c.editSettings()
	}
	switch {
	case err != nil:
		return finding{"serve", "problem", err.Error(), fix}
	case cfg.Open:
		return finding{"serve", "warning", "serve.open is set: every account and program of this machine may call without a token", "toolcrib config set serve.open false"}
	case token == "":
		return finding{"serve", "ok", "who has a token is let in; yours is made when it is first needed", ""}
	}
	return finding{"serve", "ok", "who has a token is let in; yours is in " + httpapi.OwnTokenFile(state), ""}
}

// tracesFinding says whether a collector takes the traces, where they are sent.
func tracesFinding(ctx context.Context, a *app.App) []finding {
	where, err := a.CheckTraces(ctx)
	switch {
	case where == "":
		return nil
	case err != nil:
		return []finding{{"traces", "problem", "the collector at " + where + " takes no traces: " + err.Error() + "; calls are not held up, their traces are dropped", "toolcrib config set telemetry.traces.enabled false"}}
	}
	return []finding{{"traces", "ok", "sent to the collector at " + where, ""}}
}

func (c *command) configFinding(paths config.Paths, loaded *config.Loaded[settings.Config]) finding {
	detail := cmp.Or(c.config, paths.ConfigFile)
	if _, err := os.Stat(detail); err != nil {
		detail += " (not there: defaults)"
	}
	if n := len(loaded.Warnings); n > 0 {
		return finding{"config", "warning", fmt.Sprintf("%s; %d warnings, which 'toolcrib config check' names", detail, n), c.editSettings()}
	}
	return finding{"config", "ok", detail, ""}
}

// stateFinding tries to write where the journal will be: what cannot be
// recorded is not done, so a read-only place means that no call works.
func stateFinding(dir string) finding {
	at := dir
	for { // the nearest directory that is there
		if _, err := os.Stat(at); err == nil || filepath.Dir(at) == at {
			break
		}
		at = filepath.Dir(at)
	}
	f, err := os.CreateTemp(at, ".toolcrib-doctor-*")
	if err != nil {
		return finding{"state", "problem", dir + " cannot be written: " + err.Error(), ownFix(dir)}
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return finding{"state", "warning", dir + ": " + err.Error(), ""}
	}
	return finding{"state", "ok", dir, ""}
}

func (c *command) journalFinding(ctx context.Context) finding {
	cfg, needs, err := c.journalOf()
	if err != nil {
		return finding{"journal", "problem", err.Error(), "toolcrib config edit"}
	}
	report, err := app.VerifyJournal(ctx, cfg, needs)
	switch {
	case errors.Is(err, store.ErrNoJournal):
		return finding{"journal", "ok", "empty: no call was made yet", ""}
	case err != nil:
		return finding{"journal", "problem", err.Error(), "toolcrib journal verify"}
	case !report.OK():
		return finding{"journal", "problem", fmt.Sprintf("%d findings, first: %s", len(report.Findings)+report.More, report.Findings[0]) + "; keep a copy before you change anything", "toolcrib journal verify"}
	}
	detail := counted(report.Calls, "call") + ", chain verified"
	if text := report.Removed(); text != "" {
		detail += "; " + text
	}
	if report.Kept != "" {
		return finding{"journal", "warning", detail + "; old entries are not removed: " + report.Kept, "toolcrib journal verify"}
	}
	return finding{"journal", "ok", detail, ""}
}
