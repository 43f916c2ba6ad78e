package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/scaffold"
	"github.com/toolcrib/toolcrib/internal/text"
)

type newTool struct {
	lang, dir string
	project   bool
}

func (c *command) newCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "new", Short: "Begin a tool, a toolbox, a skill, a bundle, an agent or a workflow of your own", Args: usageArgs(cobra.NoArgs),
		Example: `  toolcrib new tool word_count                  one file that is a tool
  toolcrib new toolbox texts --lang python      one file with several tools
  toolcrib new skill release-notes              instructions for a model
  toolcrib new bundle my-plugin                 a package of skills, servers and agents
  toolcrib new agent reviewer                   a preset in your settings
  toolcrib new workflow tidy_up                 a script that calls tools`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.newToolCmd(), c.newToolboxCmd(), c.newSkillCmd(), c.newBundleCmd(), c.newAgentCmd(), c.newWorkflowCmd())
	return cmd
}

func (c *command) newToolCmd() *cobra.Command {
	var f newTool
	tool := &cobra.Command{
		Use:   "tool NAME",
		Short: "Write one file that is a tool: a short example that works, to be changed",
		Long: `Write one file into your folder of tools: a short example with comments that
works at once. Change it and save it. A running toolcrib has the change within a
second, and a mistake is told with its line while your other tools stay.

  sh, python, node   a script, or a file of functions, in the folder tools
                     beside your configuration file
  go                 a main.go in a new folder here, to be built into a plugin

With --project the file goes into .toolcrib/tools of the project that you are in,
for everybody who works on it. Each of them looks at it and says 'toolcrib trust'
before it counts. A file that is there is never overwritten.`,
		Example: `  toolcrib new tool word_count
  toolcrib new tool word_count --lang python
  toolcrib new tool release_notes --project
  toolcrib new tool weather --lang go`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.newTool(cmd, args[0], f) },
	}
	newToolFlags(tool, &f, "sh", slices.Sorted(maps.Keys(scaffold.Languages())))
	return tool
}

// newToolFlags are those of a tool and of a toolbox.
func newToolFlags(cmd *cobra.Command, f *newTool, lang string, names []string) {
	cmd.Flags().StringVar(&f.lang, "lang", lang, "the language: "+strings.Join(names, ", "))
	cmd.Flags().StringVar(&f.dir, "dir", "", "write it into this folder instead")
	cmd.Flags().BoolVar(&f.project, "project", false, "write it into .toolcrib/tools of the project")
	_ = cmd.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

func (c *command) newTool(cmd *cobra.Command, name string, f newTool) error {
	lang, ok := scaffold.Languages()[f.lang]
	switch {
	case !ok:
		return usagef("--lang is %q: want one of %s", f.lang, strings.Join(slices.Sorted(maps.Keys(scaffold.Languages())), ", "))
	case f.dir != "" && f.project:
		return usagef("give either --dir or --project, not both")
	case f.project && f.lang == "go":
		return usagef("a Go tool is built into your plugins folder, and a project brings none along: leave --project out")
	}
	if err := checkToolName(name, lang); err != nil {
		return err
	}
	if err := c.nameIsFree(cmd, name); err != nil {
		return err
	}
	dir, err := c.newToolDir(name, f)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, strings.ReplaceAll(lang.File, "*", name))
	if err := writeNewTool(file, name, lang); err != nil {
		return err
	}
	return c.tellNewTool(file, name, lang, f, functionOr(name, lang))
}

// checkToolName holds a name to what works everywhere, and to that of a function where the tool is one.
func checkToolName(name string, lang scaffold.Language) error {
	err := scaffold.CheckName("a tool", name)
	if err == nil && lang.Code {
		err = scaffold.CheckFunction(name)
	}
	if err != nil {
		return usage(err)
	}
	return nil
}

// nameIsFree refuses the name of a tool that is there already: two of one name get
// longer names, which is not what the person typed. It starts nothing.
func (c *command) nameIsFree(cmd *cobra.Command, name string) error {
	shelved, err := c.shelved(cmd.Context())
	if err != nil {
		return err
	}
	for _, s := range shelved {
		if s.Name == name || s.Native == name {
			return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: fmt.Sprintf("there is a tool %s already, in the box %s: take another name, or see 'toolcrib tools show %s'", name, s.Box, name)}
		}
	}
	return nil
}

// newToolDir is where the file goes.
func (c *command) newToolDir(name string, f newTool) (string, error) {
	switch {
	case f.dir != "":
		return c.within(f.dir), nil
	case f.lang == "go":
		return c.within(name), nil
	case f.project:
		return c.newProjectTools()
	}
	return c.toolDir()
}

// toolDir is the person's own folder of tools.
func (c *command) toolDir() (string, error) {
	loaded, paths, err := c.load()
	if err != nil {
		return "", err
	}
	return loaded.Value.Toolboxes.Tools.Folder(paths.Config, c.home()), nil
}

// within makes a path of the command line whole.
func (c *command) within(path string) string {
	path = c.expanded(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(c.dir, path)
}

// newProjectTools is the folder of the project that the person is in: where there is
// one, else beside its toolcrib.yaml, else here.
func (c *command) newProjectTools() (string, error) {
	dir := config.FindProjectTools(c.dir, c.home())
	if dir == "" {
		found, err := config.FindProject(c.dir, c.home(), nil)
		if err != nil {
			return "", err
		}
		dir = config.ProjectToolDir(cmp.Or(dirOf(found.Path), c.dir))
		for _, part := range []string{filepath.Dir(dir), dir} {
			if info, err := os.Lstat(part); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return "", &toolcrib.Error{Code: toolcrib.CodeConflict, Message: text.ShowLine(part) + " is a link, and nothing was written there: the tools of a project lie in the project itself"}
			}
		}
		return dir, nil
	}
	if _, err := config.ReadProjectTools(dir); err != nil {
		return "", &toolcrib.Error{Code: toolcrib.CodeConflict, Message: err.Error(), Err: err}
	}
	return dir, nil
}

func dirOf(file string) string {
	if file == "" {
		return ""
	}
	return filepath.Dir(file)
}

// writeNewTool writes the example, and never over anything.
func writeNewTool(file, name string, lang scaffold.Language) error {
	filled, err := scaffold.Example(lang, name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	same, err := filepath.Glob(filepath.Join(escapeGlob(filepath.Dir(file)), name+".*"))
	if err != nil {
		return err
	}
	taken := func(file string) error {
		return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: text.ShowLine(file) + " is there already, and nothing was changed: take another name, or change that file"}
	}
	if len(same) > 0 && strings.Contains(lang.File, "*") {
		return taken(same[0])
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, lang.Mode)
	if errors.Is(err, fs.ErrExist) {
		return taken(file)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(filled)
	if lang.Mode&0o100 != 0 {
		err = errors.Join(err, f.Chmod(lang.Mode)) // whatever the mask of the person says
	}
	return errors.Join(err, f.Close())
}

// escapeGlob makes a pattern that means one path.
func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// tellNewTool says what was made and what to do next.
func (c *command) tellNewTool(file, name string, lang scaffold.Language, f newTool, first string) error {
	if c.asJSON(false) {
		return c.printJSON(map[string]string{"file": file, "tool": name, "lang": f.lang})
	}
	fmt.Fprintf(c.out, "Wrote %s. Next:\n\n", text.ShowLine(file))
	rows := [][2]string{}
	if f.lang == "go" {
		_, paths, err := c.load()
		if err != nil {
			return err
		}
		plugins := filepath.Join(paths.Config, "plugins")
		rows = append(rows,
			[2]string{"cd " + text.ShellWord(filepath.Dir(file)) + " && go mod init " + name + " && go get github.com/toolcrib/toolcrib@latest", "once; not within another module"},
			[2]string{"mkdir -p " + text.ShellWord(plugins) + " && go build -o " + text.ShellWord(filepath.Join(plugins, name)) + " .", "it is a tool from then on"},
			[2]string{"toolcrib call " + name + "__" + strings.TrimPrefix(first, scaffold.Function(name)+"_") + " " + lang.Try, "use it; you are asked, because what a plugin says of its effects is a claim"})
	} else {
		if f.project {
			rows = append(rows, [2]string{"toolcrib trust", "look at it and let it count; after each change again"})
		}
		rows = append(rows, [2]string{"toolcrib tools check " + text.ShellWord(file), "what it is, what it can reach, and what is wrong with it"})
		if f.dir == "" {
			rows = append(rows,
				[2]string{"toolcrib tools try " + first + " " + lang.Try, "run it, and see how it ran"},
				[2]string{"toolcrib call " + first + " " + lang.Try, "what a client gets"})
		} else {
			rows = append(rows, [2]string{"toolcrib new tool --help", "where a file has to lie to be a tool"})
		}
	}
	return c.tellNext(rows)
}

// functionOr is the name of the tool that the file makes.
func functionOr(name string, lang scaffold.Language) string {
	if lang.Code {
		return scaffold.Function(name)
	}
	return name
}
