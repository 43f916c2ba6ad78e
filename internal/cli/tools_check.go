package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

func (c *command) toolsCheckCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE|NAME …",
		Short: "Say what a file of tools declares, or what is wrong with it",
		Long: `Read files that declare tools: NAME.yaml, scripts with a comment that begins with
"# toolcrib:", .py and .js files. Every mistake is told with its line and what to
do about it. A file without one is shown as what it will be: its arguments, its
effects, exactly what it may touch, and how it is run. NAME stands for the file of
that name in your folder of tools, or in the project's.

Commands and scripts are not run. The functions of a .py or .js file are asked for
from the process that serves them, where the file is one of your tools already.

Exit status: 0 all of them can be used, 3 one has a mistake.`,
		Example: `  toolcrib tools check word_count
  toolcrib tools check ~/.config/toolcrib/tools/word_count.sh
  toolcrib tools check .toolcrib/tools/*`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.checkTools(cmd.Context(), args) },
	}
}

// maxCheckedFile is more than any file of tools may have, so that it is told that it is too long.
const maxCheckedFile = 8 << 20

func (c *command) checkTools(ctx context.Context, args []string) error {
	reports, bad, names := []fileReport{}, 0, map[string]map[string][]string{}
	shelved, err := c.shelved(ctx)
	if err != nil {
		fmt.Fprintf(c.err, "toolcrib: warning: it is not known which other tools there are: %s\n", text.ShowLine(err.Error()))
	}
	for _, arg := range args {
		arg = c.fileNamed(arg)
		path := c.within(arg)
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			return usagef("%s is a directory: name files, such as %s", arg, filepath.Join(arg, "*"))
		}
		content, err := plainfile.Read(path, maxCheckedFile)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: "there is no file " + arg + "; 'toolcrib new tool NAME' writes one", Err: err}
		case err != nil:
			return &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: err.Error(), Err: err}
		}
		if names[filepath.Dir(path)] == nil {
			names[filepath.Dir(path)] = namesIn(filepath.Dir(path))
		}
		file, faults := toolfile.Parse(arg, content)
		faults = slices.Concat(faults, scriptFaults(file, info.Mode()), nameFaults(path, file, names[filepath.Dir(path)], shelved))
		r := reportFile(file, faults)
		if !toolfile.Broken(faults) {
			c.reportFunctions(ctx, path, file, &r)
		}
		if r.broken() {
			bad++
		}
		reports = append(reports, r)
	}
	if c.asJSON(false) {
		if err := c.printJSON(reports); err != nil {
			return err
		}
	} else {
		c.printReports(reports)
	}
	if bad > 0 {
		return &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: fmt.Sprintf("%d of %s cannot be used", bad, plural(len(reports), "file", "files"))}
	}
	return nil
}

// fileNamed is the file that declares a tool of one's own, where its name is given instead
// of a file. What is neither stays as it is.
func (c *command) fileNamed(arg string) string {
	if _, err := os.Stat(c.within(arg)); err == nil || arg != filepath.Base(arg) {
		return arg
	}
	var dirs []string
	if dir, err := c.toolDir(); err == nil {
		dirs = append(dirs, dir)
	}
	dirs = append(dirs, config.FindProjectTools(c.dir, c.home()))
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if dir == "" || err != nil {
			continue
		}
		for _, e := range entries {
			if name := e.Name(); !e.IsDir() && strings.TrimSuffix(name, filepath.Ext(name)) == arg {
				return filepath.Join(dir, name)
			}
		}
	}
	return arg
}

func plural(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// printReports shows what can be used as what it is, and of the rest what is wrong.
func (c *command) printReports(reports []fileReport) {
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(c.out)
		}
		if !r.broken() || r.Kind == toolfile.None.String() {
			printReport(c.out, r)
		}
		for _, f := range r.Faults {
			fmt.Fprintln(c.out, faultLine(r.File, f))
		}
	}
}

// scriptFaults is what a file lacks besides what stands in it.
func scriptFaults(file toolfile.File, mode fs.FileMode) []toolfile.Fault {
	if file.Kind != toolfile.Script || file.Compiled() || runtime.GOOS == "windows" || mode.Perm()&0o111 != 0 {
		return nil
	}
	return []toolfile.Fault{{File: file.Path, Message: "it declares a tool and is not executable: chmod +x " + text.ShellWord(file.Path)}}
}
