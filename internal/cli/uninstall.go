package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/upgrade"
)

// uninstalling is what the flags said.
type uninstalling struct{ dry, yes, purge bool }

// removal is one thing that uninstall takes away.
type removal struct {
	what string // said before it is done
	do   func(context.Context) error
	must bool // if it fails, nothing after it is done
}

func (c *command) uninstallCmd() *cobra.Command {
	var how uninstalling
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take Toolcrib out of your clients, and say how to remove the rest",
		Long: `Take Toolcrib out of the files of your MCP clients, take its hooks out of them,
remove its services, and remove the program if it lies in a directory of your own,
such as ~/.local/bin. The files of clients are changed as 'toolcrib connect --undo'
does it: everything else in them stays, and the file before is kept beside it.

Your settings, the vault and the journal stay, and the command says where they are.
With --purge they are removed as well; nothing brings them back.`,
		Example: `  toolcrib uninstall --dry-run     what it would do
  toolcrib uninstall
  toolcrib uninstall --purge       settings, vault and journal too`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.uninstall(cmd.Context(), how) },
	}
	cmd.Flags().BoolVar(&how.dry, "dry-run", false, "only say what would be done")
	cmd.Flags().BoolVar(&how.yes, "yes", false, "do it without asking")
	cmd.Flags().BoolVar(&how.purge, "purge", false, "remove the settings, the vault and the journal, too")
	return cmd
}

func (c *command) uninstall(ctx context.Context, how uninstalling) error {
	paths, home, err := c.paths()
	if err != nil {
		return usage(err)
	}
	list, notes := c.setupRemoval(paths.State)
	clients, more := c.clientRemovals()
	list, notes = append(list, clients...), append(notes, more...)
	services, more := c.serviceRemovals(ctx)
	list, notes = append(list, services...), append(notes, more...)
	if how.purge {
		dirs, err := purgeable(paths, home)
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			list = append(list, removal{what: "remove " + dir + " with everything in it", do: func(context.Context) error { return os.RemoveAll(dir) }})
		}
	}
	program, note, err := c.programRemoval(home)
	if err != nil {
		return err
	}
	if !how.purge {
		notes = append(notes, leftBehind(paths, len(program) > 0 && !how.dry)...)
	}
	list, notes = append(list, program...), append(notes, note...)
	said := uninstalled{Plan: []string{}, Done: []string{}, Notes: notes}
	out := c.out
	if c.asJSON(false) { // what a person reads goes where the question is asked
		c.out = c.err
	}
	err = c.removeAll(ctx, how, list, &said)
	c.out = out
	if c.asJSON(false) {
		return errors.Join(err, c.printJSON(said))
	}
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintln(c.out, n)
	}
	return nil
}

// uninstalled is what was to be done, and was, for programs.
type uninstalled struct {
	Plan  []string `json:"plan"`
	Done  []string `json:"done"`
	Notes []string `json:"notes,omitempty"`
}

// removeAll shows what is to be done, asks, and does it. What fails is told, and the
// rest is done all the same.
func (c *command) removeAll(ctx context.Context, how uninstalling, list []removal, said *uninstalled) error {
	if len(list) == 0 {
		fmt.Fprintln(c.out, "There is nothing to take out: no client and no service of yours knows Toolcrib.")
		return nil
	}
	fmt.Fprintln(c.out, "Uninstalling will:")
	for _, r := range list {
		fmt.Fprintln(c.out, "  - "+r.what)
		said.Plan = append(said.Plan, r.what)
	}
	if how.dry {
		fmt.Fprintln(c.out, "Nothing was done (--dry-run).")
		return nil
	}
	if !how.yes {
		if ok, err := c.confirm("Do it?"); !ok || err != nil {
			return err
		}
	}
	var failures error
	for _, r := range list {
		if err := r.do(ctx); err != nil {
			failures = errors.Join(failures, fmt.Errorf("not done: %s: %w", r.what, err))
			if r.must {
				return errors.Join(failures, errors.New("nothing else was done either"))
			}
			continue
		}
		fmt.Fprintln(c.out, "Done: "+r.what)
		said.Done = append(said.Done, r.what)
	}
	return failures
}

// leftBehind says where settings and state stay, and how to remove them: by hand if the
// program is gone.
func leftBehind(paths config.Paths, gone bool) (notes []string) {
	var there []string
	for _, dir := range ownDirs(paths) {
		if _, err := os.Lstat(dir); err == nil {
			there = append(there, dir)
		}
	}
	if len(there) == 0 {
		return nil
	}
	how := "To remove them too: toolcrib uninstall --purge (before you remove the program), or remove what is named here."
	if gone {
		how = "To remove them too, remove what is named here."
	}
	return []string{
		"Your settings, the vault and the journal stay: " + strings.Join(there, ", ") + ".",
		how + " If the key of the vault is in the keyring of the system, remove the entry \"toolcrib\" there.",
	}
}

// ownDirs are the directories of Toolcrib, without those that lie in another.
func ownDirs(paths config.Paths) (list []string) {
	for _, dir := range []string{paths.Config, paths.State, paths.Data, paths.Cache} {
		inside := false
		for _, other := range list {
			if pathglob.Holds(other, dir) {
				inside = true
			}
		}
		if !inside {
			list = append(list, dir)
		}
	}
	return list
}

// purgeable are the directories that --purge removes. With TOOLCRIB_HOME they may
// be anybody's: a directory that holds a home, or things that are not ours, is not
// removed as a whole.
func purgeable(paths config.Paths, home string) (list []string, err error) {
	for _, dir := range ownDirs(paths) {
		if info, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil || !info.IsDir() {
			return nil, refusedf("--purge: %s is not a directory, so it is not removed: look at it by hand", dir)
		}
		if pathglob.Holds(dir, home) || filepath.Dir(dir) == dir {
			return nil, refusedf("--purge: your home directory lies in %s, so it is not removed: look at it by hand", dir)
		}
		if !ownContents(dir) {
			return nil, refusedf("--purge: %s has neither settings nor state of Toolcrib, or has things of somebody else (.git), so it is not removed: look at it by hand", dir)
		}
		if rel, ok := pathglob.Rel(dir, paths.State); ok && rel == "state" { // TOOLCRIB_HOME: whatever else a person keeps there
			if name := foreign(dir); name != "" {
				return nil, refusedf("--purge: %s has things that are not Toolcrib's (%s), so it is not removed: move them away, or look at it by hand", dir, text.ShowLine(name))
			}
		}
		list = append(list, dir)
	}
	return list, nil
}

// foreign names something in a directory of Toolcrib that Toolcrib did not put there;
// empty: there is nothing.
func foreign(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err.Error()
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, "config.yaml"), strings.HasPrefix(name, ".toolcrib"),
			slices.Contains([]string{"state", "data", "cache", "plugins", "tools", "skills", "agents", "bundles", "toolcrib.lock"}, name):
		default:
			return name
		}
	}
	return ""
}

// ownContents reports whether a directory looks like one of ours: it is called so,
// or the settings or the state lie in it, and no repository does.
func ownContents(dir string) bool {
	is := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	return !is(".git") && (filepath.Base(dir) == "toolcrib" || is("config.yaml") || is("state") || filepath.Base(dir) == "state")
}

// programRemoval removes the program where it lies in a directory of the person's
// own, and says how to remove it elsewhere.
func (c *command) programRemoval(home string) (list []removal, notes []string, err error) {
	own, err := c.installation()
	if err != nil {
		return nil, nil, err
	}
	file := own.file
	if owner := upgrade.FindOwner(own.root, file); owner != nil {
		return nil, []string{fmt.Sprintf("The program was installed by %s. To remove it: %s", owner.Name, owner.Removing)}, nil
	}
	if own := home != "" && pathglob.Holds(home, file) && filepath.Base(filepath.Dir(file)) == "bin"; !own || runtime.GOOS == "windows" {
		return nil, []string{"The program stays. To remove it: " + removeCommand(file)}, nil
	}
	for _, f := range []string{file, upgrade.Old(file)} {
		if _, err := os.Lstat(f); err == nil {
			list = append(list, removal{what: "remove the program " + f, do: func(context.Context) error { return os.Remove(f) }})
		}
	}
	return list, nil, nil
}

// removeCommand is what a person types. On Windows a program that runs cannot
// remove itself.
func removeCommand(file string) string {
	if runtime.GOOS == "windows" {
		return `del "` + file + `"`
	}
	return "rm '" + strings.ReplaceAll(file, "'", `'\''`) + "'"
}
