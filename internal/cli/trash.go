package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/account"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/undo"
)

func (c *command) trashCmd() *cobra.Command {
	list := func(*cobra.Command, []string) error { return c.listTrash() }
	cmd := &cobra.Command{
		Use:   "trash",
		Short: "Show and put back what tools have deleted",
		Long: `What delete_file removes is moved to a trash that no tool can reach. It stays there
until you put it back or empty the trash.`,
		Example: `  toolcrib trash list
  toolcrib trash restore 4HK7
  toolcrib trash empty --older-than 30d`,
		Args: usageArgs(cobra.NoArgs),
		RunE: list,
	}
	var older string
	var yes bool
	empty := &cobra.Command{
		Use:   "empty [ID …]",
		Short: "Remove what is in the trash for good",
		Example: `  toolcrib trash empty --older-than 30d
  toolcrib trash empty 4HK7 --yes`,
		ValidArgsFunction: c.completeTrash,
		RunE:              func(_ *cobra.Command, args []string) error { return c.emptyTrash(args, older, yes) },
	}
	empty.Flags().StringVar(&older, "older-than", "", "only what was deleted before then: 30d, yesterday, 2026-11-01")
	empty.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List what is in the trash, the newest first", Args: usageArgs(cobra.NoArgs), RunE: list,
		Example: `  toolcrib trash list
  toolcrib trash list -o json`,
	}, &cobra.Command{
		Use:   "restore ID",
		Short: "Put something back where it was",
		Long: `Puts a deleted file back where it was, if nothing is there. ID is the ID in the
trash, a beginning of it, or the file's old path. It is a call as any other: the
rules judge it, you may be asked, and it stands in the journal.`,
		Example: `  toolcrib trash restore 4HK7
  toolcrib trash restore notes/todo.txt`,
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: c.completeTrash,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.restoreTrash(cmd, args[0]) },
	}, empty)
	return cmd
}

func (c *command) listTrash() error {
	_, trash, err := c.changes()
	if err != nil {
		return err
	}
	list, broken, err := trash.List()
	if err != nil {
		return err
	}
	if broken > 0 {
		fmt.Fprintf(c.err, "toolcrib: warning: %d things in %s are not what delete_file puts there, and are skipped\n", broken, text.ShowLine(trash.Dir))
	}
	if c.asJSON(false) {
		if list == nil {
			list = []undo.Removed{}
		}
		return c.printJSON(list)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.out, "the trash is empty")
		return err
	}
	look := c.screen()
	rows := [][]string{{"DELETED", "PATH", "TYPE", "SIZE", "ID"}}
	for _, one := range list {
		size := ""
		if one.Type == "file" {
			size = account.Bytes(one.Size)
		}
		rows = append(rows, []string{one.At.Local().Format("2006-01-02 15:04"), text.ShowLine(one.Path), one.Type, size, shortIn(list, one.ID)})
	}
	_, err = fmt.Fprint(c.out, look.Columns(rows, 1))
	return err
}

// shortIn is the shortest beginning of an ID that no other one has, of four letters or more.
func shortIn(list []undo.Removed, id string) string {
	n := 4
	for _, other := range list {
		for other.ID != id && n < len(id) && strings.HasPrefix(other.ID, id[:n]) {
			n++
		}
	}
	return id[:min(n, len(id))]
}

// removedNamed finds one thing in the trash.
func (c *command) removedNamed(trash undo.Trash, said string) (undo.Removed, error) {
	found, err := trash.Find(said)
	if err != nil {
		return undo.Removed{}, err
	}
	if len(found) == 0 {
		path := c.expanded(said)
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.dir, path)
		}
		if found, err = trash.Find(path); err != nil {
			return undo.Removed{}, err
		}
	}
	switch len(found) {
	case 0:
		return undo.Removed{}, &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: fmt.Sprintf("%q is not in the trash; 'toolcrib trash list' shows what is", said)}
	case 1:
		return found[0], nil
	}
	var b strings.Builder
	for _, one := range found {
		fmt.Fprintf(&b, "\n  %s  %s", one.ID, text.ShowLine(one.Path))
	}
	return undo.Removed{}, usagef("%q is the beginning of several:%s", said, b.String())
}

func (c *command) restoreTrash(cmd *cobra.Command, said string) error {
	kept, trash, err := c.changes()
	if err != nil {
		return err
	}
	one, err := c.removedNamed(trash, said)
	if err != nil {
		return err
	}
	if err := undo.Movable(trash, one); err != nil {
		return cannot("%s is not put back: %v", one.Path, err)
	}
	box := &undo.Box{Change: undo.Change{Path: one.Path, Slot: one.ID, Type: one.Type}, Trash: trash, Keep: kept.Keep}
	box.Shown = fmt.Sprintf("would put back %s, %s, deleted %s\n", one.Path, account.Bytes(one.Size), one.At.Local().Format("2006-01-02 15:04"))
	return c.restoreFile(cmd.Context(), box)
}

func (c *command) emptyTrash(ids []string, older string, yes bool) error {
	_, trash, err := c.changes()
	if err != nil {
		return err
	}
	var list []undo.Removed
	for _, id := range ids {
		one, err := c.removedNamed(trash, id)
		if err != nil {
			return err
		}
		list = append(list, one)
	}
	if len(ids) == 0 {
		if list, _, err = trash.List(); err != nil {
			return err
		}
	}
	if older != "" {
		before, err := account.When(older, time.Now())
		if err != nil {
			return usagef("--older-than: %v", err)
		}
		var old []undo.Removed
		for _, one := range list {
			if one.At.Before(before) {
				old = append(old, one)
			}
		}
		list = old
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.out, "there is nothing to remove")
		return err
	}
	size := int64(0)
	for _, one := range list {
		size += one.Size
	}
	what := fmt.Sprintf("%s, %s", counted(len(list), "thing"), account.Bytes(size))
	if !yes {
		ok, err := c.confirm("Remove " + what + " for good?")
		if err != nil {
			return err
		}
		if !ok {
			return usagef("nothing was removed: --yes says that you mean it")
		}
	}
	for _, one := range list {
		if err := trash.Drop(one.ID); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(c.out, "removed "+what)
	return err
}
