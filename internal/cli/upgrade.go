package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/release"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/upgrade"
)

// upgrading is what the flags of an upgrade said.
type upgrading struct {
	from                           string
	check, yes, allowOlder, goBack bool
}

func (c *command) upgradeCmd() *cobra.Command {
	var how upgrading
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Put the newest release in the place of this program",
		Long: `Look for a newer release, and install it after you said yes. The list of its
checksums must be signed with the key that is built into this program, the archive
must have the checksum in that list, and the new program is started once before it
takes the place of this one. The old program is kept beside it as toolcrib.old.

A program that a package manager installed is left alone: the command says what to
do instead.`,
		Example: `  toolcrib upgrade --check               is there a newer one?
  toolcrib upgrade
  toolcrib upgrade --from ./dist --yes   from a directory with a release
  toolcrib upgrade --rollback            back to the program before`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if how.goBack && (how.check || how.from != "" || how.allowOlder) {
				return usagef("--rollback goes back to the program that was kept: leave out --from, --check and --allow-older")
			}
			return c.upgrade(cmd.Context(), how)
		},
	}
	cmd.Flags().StringVar(&how.from, "from", "", "a directory or an https address with the files of a release (default the newest of the project)")
	cmd.Flags().BoolVar(&how.check, "check", false, "only say whether there is a newer release; exits with 1 if there is")
	cmd.Flags().BoolVar(&how.yes, "yes", false, "install it without asking")
	cmd.Flags().BoolVar(&how.allowOlder, "allow-older", false, "install a release that is not newer, too")
	cmd.Flags().BoolVar(&how.goBack, "rollback", false, "put the program before the last upgrade back")
	return cmd
}

func (c *command) upgrade(ctx context.Context, how upgrading) error {
	own, err := c.installation()
	if err != nil {
		return err
	}
	cfg := upgrade.Config{Key: own.key, From: how.from, File: own.file, Running: own.version, GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, AllowOlder: how.allowOlder}
	if owner := upgrade.FindOwner(own.root, cfg.File); owner != nil && !how.check {
		return refusedf("%s was installed by %s, which would not know of the change: %s", cfg.File, owner.Name, owner.Upgrade)
	}
	if how.goBack {
		return c.rollback(ctx, cfg, how)
	}
	done := c.progress("looking for a newer release")
	offer, err := upgrade.Look(ctx, cfg)
	done()
	if err != nil {
		return unavailable(err)
	}
	fmt.Fprintf(c.err, "This is %s (%s). The release there is %s, and its signature is good.\n", cfg.Running, cfg.File, offer.Version)
	switch {
	case offer.Same:
		fmt.Fprintln(c.out, "You have this release already.")
		return nil
	case !offer.Newer && !how.allowOlder && how.check:
		fmt.Fprintln(c.out, "There is no newer release.")
		return nil
	case !offer.Newer && !how.allowOlder:
		return refusedf("%s is not known to be newer than %s. Say --allow-older to install it all the same", offer.Version, cfg.Running)
	case how.check:
		fmt.Fprintf(c.out, "%s can be installed with 'toolcrib upgrade'.\n", offer.Version)
		return silent{status: exitFailed}
	}
	if !how.yes {
		if ok, err := c.confirm(fmt.Sprintf("Install %s as %s?", offer.Version, cfg.File)); !ok || err != nil {
			return err
		}
	}
	fmt.Fprintf(c.err, "Getting %s …\n", offer.Archive)
	done = c.progress(fmt.Sprintf("fetching and checking %s", offer.Version))
	old, err := offer.Install(ctx, cfg)
	done()
	if err != nil {
		return unavailable(err)
	}
	fmt.Fprintf(c.out, "%s is %s now. The one before is kept as %s; 'toolcrib upgrade --rollback' puts it back.\nRestart what runs Toolcrib (clients, 'toolcrib serve') to use it.\n", cfg.File, offer.Version, old)
	return nil
}

func (c *command) rollback(ctx context.Context, cfg upgrade.Config, how upgrading) error {
	if err := upgrade.Kept(cfg.File); err != nil {
		return unavailable(err)
	}
	if !how.yes {
		if ok, err := c.confirm(fmt.Sprintf("Put %s back as %s?", upgrade.Old(cfg.File), cfg.File)); !ok || err != nil {
			return err
		}
	}
	now, err := upgrade.Rollback(ctx, cfg)
	if err != nil {
		return unavailable(err)
	}
	fmt.Fprintf(c.out, "%s is %s again; %s is kept as %s.\n", cfg.File, text.ShowLine(now), cfg.Running, upgrade.Old(cfg.File))
	return nil
}

// installation is a program that can be upgraded: where it is, what it is, whose
// releases it takes, and below which directory package managers keep their records.
type installation struct {
	file, version, root string
	key                 release.Key
}

// installation is this program, behind every link.
func (c *command) installation() (installation, error) {
	if c.installed != nil {
		return *c.installed, nil
	}
	i := installation{version: version(), root: "/"}
	exe, err := os.Executable()
	if err == nil {
		i.file, err = filepath.EvalSymlinks(exe)
	}
	if err != nil {
		return i, fmt.Errorf("finding this program: %w", err)
	}
	if i.key, err = release.Trusted(); err != nil {
		return i, unavailable(err)
	}
	return i, nil
}

func refusedf(format string, args ...any) error {
	return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: fmt.Sprintf(format, args...)}
}

func unavailable(err error) error {
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
}
