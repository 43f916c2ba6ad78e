package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) configInitCmd() *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "Begin your file of settings, with comments", Args: usageArgs(cobra.NoArgs),
		Long: `Writes a file with the few settings that one changes first, all of them commented
out. A file that is there is left as it is.`,
		Example: `  toolcrib config init
  toolcrib config init --config ./try.yaml`,
		RunE: func(*cobra.Command, []string) error {
			file, err := c.editConfig(func(old []byte) ([]byte, error) {
				if len(bytes.TrimSpace(old)) > 0 {
					return nil, errThere
				}
				return []byte(settings.Starter), nil
			})
			if errors.Is(err, errThere) {
				return usagef("%s is there already and stays as it is; 'toolcrib config edit' changes it", text.ShowLine(file))
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.out, "Wrote %s. Change it with 'toolcrib config edit' or 'toolcrib config set KEY VALUE'.\n", text.ShowLine(file))
			return err
		},
	}
}

var errThere = errors.New("the file is there")

func (c *command) configSetCmd() *cobra.Command {
	return &cobra.Command{
		Use: "set KEY VALUE | KEY=VALUE…", Short: "Change settings in your file of settings", Args: usageArgs(cobra.MinimumNArgs(1)),
		Long: `Changes a setting in your file of settings, or adds it; with KEY=VALUE several at
once, all of them or none. Comments and everything else stay as they are. The
result is checked before it is written, and the file before stays beside it as a
backup. Write a list as a,b or as YAML on one line: '[a, b]'. An entry with a comma
or a bracket in it needs quotes inside the brackets: '["*.{a,b}"]'.`,
		Example: `  toolcrib config set mode auto-edit
  toolcrib config set permissions.deny delete_file,move_file
  toolcrib config set limits.timeout=2m log.level=info`,
		ValidArgsFunction: c.completeSetting,
		RunE: func(cmd *cobra.Command, args []string) error {
			pairs, err := settingPairs(args)
			if err != nil {
				return err
			}
			return c.configSet(cmd.Context(), pairs)
		},
	}
}

// settingPairs reads KEY VALUE, or KEY=VALUE as often as one likes: --set has taught
// people the second. No key has a = in it.
func settingPairs(args []string) (pairs [][2]string, err error) {
	if !strings.Contains(args[0], "=") {
		if len(args) != 2 {
			return nil, usagef("write it as: toolcrib config set KEY VALUE, or KEY=VALUE as often as you like")
		}
		return [][2]string{{args[0], args[1]}}, nil
	}
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, usagef("%s: write KEY=VALUE, with quotes around it where the value has spaces", text.ShowLine(arg))
		}
		pairs = append(pairs, [2]string{key, value})
	}
	return pairs, nil
}

func (c *command) configSet(ctx context.Context, pairs [][2]string) error {
	same := make([]bool, len(pairs))
	file, err := c.editConfig(func(old []byte) ([]byte, error) {
		for i, pair := range pairs {
			now, err := config.SetValue[settings.Config](old, pair[0], pair[1])
			if err != nil {
				return nil, usage(err)
			}
			same[i], old = bytes.Equal(old, now), now
		}
		return old, c.checkSettings(ctx, old)
	})
	if err != nil {
		return err
	}
	for i, pair := range pairs {
		said := "is set in"
		if same[i] {
			said = "is so already in"
		}
		if _, err := fmt.Fprintf(c.out, "%s %s %s.\n", text.ShowLine(pair[0]), said, text.ShowLine(file)); err != nil {
			return err
		}
	}
	for _, pair := range pairs {
		if err := c.tellOverruled(pair[0]); err != nil {
			return err
		}
	}
	return nil
}

// tellOverruled says that something else sets the same, and counts more.
func (c *command) tellOverruled(key string) error {
	c.loaded = nil
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	if at, ok := loaded.Origins[key]; ok && at.Source != config.SourceUser && at.Source != config.SourceDefault {
		fmt.Fprintf(c.err, "toolcrib: warning: it has no effect here, because %s sets it too\n", text.ShowLine(at.String()))
	}
	return nil
}

// checkSettings puts settings together as the program would, without writing anything,
// to find out whether they can be used.
func (c *command) checkSettings(ctx context.Context, content []byte) (err error) {
	paths, _, err := c.paths()
	if err != nil {
		return usage(err)
	}
	dir, err := os.MkdirTemp("", "toolcrib-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return err
	}
	try := *c
	try.config, try.loaded, try.broken, try.kept, try.lines, try.err = file, nil, nil, nil, nil, io.Discard
	a, err := try.openFor(ctx, app.ToCheck, nil)
	if err != nil {
		said := strings.ReplaceAll(err.Error(), file, c.settings(paths))
		return usage(fmt.Errorf("the change makes no sense, so nothing was written: %s", strings.TrimPrefix(said, "config: ")))
	}
	return a.Close(context.WithoutCancel(ctx))
}

func (c *command) configEditCmd() *cobra.Command {
	return &cobra.Command{
		Use: "edit", Short: "Change your file of settings in your editor", Args: usageArgs(cobra.NoArgs),
		Long: `Opens a copy of your file of settings in the editor that VISUAL or EDITOR names. What
you save is checked first: only a file without mistakes takes the place of the old
one, which stays beside it as a backup.`,
		Example: `  toolcrib config edit
  EDITOR=nano toolcrib config edit`,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.configEdit(cmd.Context()) },
	}
}

func (c *command) configEdit(ctx context.Context) error {
	tty, ok := c.in.(*os.File)
	if !ok || !isTerminal(tty) {
		return usagef("nobody is at a terminal here; use 'toolcrib config set KEY VALUE'")
	}
	paths, _, err := c.paths()
	if err != nil {
		return usage(err)
	}
	file := c.settings(paths)
	old, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		old, err = []byte(settings.Starter), nil
	}
	if err != nil {
		return err
	}
	if err := c.findEditor(paths); err != nil {
		return err
	}
	for now := old; ; {
		if now, err = c.editor(ctx, tty, "config.yaml", now); errors.Is(err, errNoEditor) {
			return usagef("no editor is named: set EDITOR, as in 'EDITOR=nano toolcrib config edit'")
		}
		if err != nil {
			return err
		}
		if bytes.Equal(now, old) {
			_, err := fmt.Fprintln(c.out, "Nothing was changed.")
			return err
		}
		if bad := c.checkSettings(ctx, now); bad != nil {
			fmt.Fprintln(c.err, "toolcrib: "+text.Show(bad.Error()))
			again, err := c.confirm("Go on editing?")
			if err != nil || !again {
				return errors.Join(usagef("%s is as it was", text.ShowLine(file)), err)
			}
			continue
		}
		if _, err := c.editConfig(func(content []byte) ([]byte, error) {
			if !bytes.Equal(content, old) && len(content) > 0 {
				return nil, usagef("%s was changed by somebody else meanwhile, so it stays as it is", text.ShowLine(file))
			}
			return now, nil
		}); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.out, "Wrote %s.\n", text.ShowLine(file))
		return err
	}
}

// findEditor makes ready what finds programs: a file of settings with mistakes, which one
// wants to edit, does not do it.
func (c *command) findEditor(paths config.Paths) error {
	if _, _, err := c.load(); err == nil {
		return nil
	}
	return c.tidyPath(settings.Defaults(), paths)
}

// completeSetting offers the keys of settings to the shell.
func (c *command) completeSetting(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if strings.Contains(begun, "=") || len(args) > 0 && strings.Contains(args[0], "=") {
		return c.completeSet(cmd, args, begun)
	}
	if len(args) == 1 {
		return completeValue(args[0], begun), cobra.ShellCompDirectiveNoFileComp
	}
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return settingsFrom(begun), cobra.ShellCompDirectiveNoFileComp
}

func settingsFrom(begun string) (keys []string) {
	for _, key := range config.Keys[settings.Config]() {
		if strings.HasPrefix(key, begun) && !strings.Contains(key, "NAME") && !strings.Contains(key, "[") { // which stand for any name
			keys = append(keys, key)
		}
	}
	return keys
}
