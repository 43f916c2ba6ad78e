package cli

import (
	"cmp"
	"embed"
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
	"github.com/toolcrib/toolcrib/internal/text"
)

//go:embed templates
var templates embed.FS

// language is one in which a tool can be begun.
type language struct {
	template string
	file     string // the name of the file; * is the name of the tool
	mode     fs.FileMode
	code     bool   // the tool is a function, so its name is held to what functions may be called
	try      string // arguments that work at once
}

func languages() map[string]language {
	return map[string]language{
		"sh":     {"tool.sh", "*.sh", 0o755, false, "text='to be or not to be'"},
		"python": {"tool.py", "*.py", 0o644, true, "text='to be or not to be'"},
		"node":   {"tool.mjs", "*.mjs", 0o644, true, "text='to be or not to be'"},
		"go":     {"tool.go.txt", "main.go", 0o644, true, "text='to be or not to be'"},
	}
}

type newTool struct {
	lang, dir string
	project   bool
}

func (c *command) newCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "new", Short: "Begin a tool of your own", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var f newTool
	tool := &cobra.Command{
		Use:   "tool NAME",
		Short: "Write one file that is a tool: a short example that works, to be changed",
		Long: `Write one file into your folder of tools: a short example with comments that
works at once. Change it and save it. A running toolcrib has the change within a
second, and a mistake is told with its line while your other tools stay.

  sh, python, node   a script, or a file of functions, in the folder tools beside
                     your configuration file
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
	names := slices.Sorted(maps.Keys(languages()))
	tool.Flags().StringVar(&f.lang, "lang", "sh", "the language: "+strings.Join(names, ", "))
	tool.Flags().StringVar(&f.dir, "dir", "", "write it into this folder instead")
	tool.Flags().BoolVar(&f.project, "project", false, "write it into .toolcrib/tools of the project")
	_ = tool.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(tool)
	return cmd
}

func (c *command) newTool(cmd *cobra.Command, name string, f newTool) error {
	lang, ok := languages()[f.lang]
	switch {
	case !ok:
		return usagef("--lang is %q: want one of %s", f.lang, strings.Join(slices.Sorted(maps.Keys(languages())), ", "))
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
	file := filepath.Join(dir, strings.ReplaceAll(lang.file, "*", name))
	if err := writeNewTool(file, name, lang); err != nil {
		return err
	}
	return c.tellNewTool(file, name, lang, f)
}

// checkToolName holds a name to what works everywhere: in clients, in rules, as the
// name of a file, and as that of a function where it is one.
func checkToolName(name string, lang language) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	switch {
	case name == "" || len(name) > 48 || strings.Trim(name, letters+"0123456789_-") != "":
		return usagef("%q is no name for a tool: write letters, digits, _ and -, at most 48 of them", name)
	case !strings.ContainsRune(letters, rune(name[0])):
		return usagef("%q is no name for a tool: begin it with a letter", name)
	case strings.Contains(name, "__"):
		return usagef("%q is no name for a tool: two _ stand between a toolbox and its tool", name)
	case lang.code && slices.Contains(reserved(), functionName(name)):
		return usagef("%q is a word of the language, and no function can be called that: take another name", name)
	}
	return nil
}

func functionName(name string) string { return strings.ReplaceAll(name, "-", "_") }

// reserved are words that no function is called in Python or JavaScript.
func reserved() []string {
	return strings.Fields(`and as assert async await break case catch class const continue debugger def default del delete do elif
		else enum except export extends false finally for from function global if implements import in instanceof
		interface is lambda let new nonlocal not null or package pass private protected public raise return static
		super switch this throw true try typeof var void while with yield None True False`)
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
func writeNewTool(file, name string, lang language) error {
	content, err := templates.ReadFile("templates/" + lang.template)
	if err != nil {
		return err
	}
	filled := strings.NewReplacer("{{name}}", name, "{{function}}", functionName(name)).Replace(string(content))
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
	if len(same) > 0 && strings.Contains(lang.file, "*") {
		return taken(same[0])
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, lang.mode)
	if errors.Is(err, fs.ErrExist) {
		return taken(file)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(filled)
	if lang.mode&0o100 != 0 {
		err = errors.Join(err, f.Chmod(lang.mode)) // whatever the mask of the person says
	}
	return errors.Join(err, f.Close())
}

// escapeGlob makes a pattern that means one path.
func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// tellNewTool says what was made and what to do next.
func (c *command) tellNewTool(file, name string, lang language, f newTool) error {
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
			[2]string{"cd " + shellWord(filepath.Dir(file)) + " && go mod init " + name + " && go get github.com/toolcrib/toolcrib@latest", "once; not within another module"},
			[2]string{"mkdir -p " + shellWord(plugins) + " && go build -o " + shellWord(filepath.Join(plugins, name)) + " .", "it is a tool from then on"},
			[2]string{"toolcrib call " + name + "__" + functionName(name) + " " + lang.try, "use it; you are asked, because what a plugin says of its effects is a claim"})
	} else {
		if f.project {
			rows = append(rows, [2]string{"toolcrib trust", "look at it and let it count; after each change again"})
		}
		rows = append(rows, [2]string{"toolcrib tools check " + shellWord(file), "what it is, what it can reach, and what is wrong with it"})
		if f.dir == "" {
			rows = append(rows,
				[2]string{"toolcrib tools try " + functionOr(name, lang) + " " + lang.try, "run it, and see how it ran"},
				[2]string{"toolcrib call " + functionOr(name, lang) + " " + lang.try, "what a client gets"})
		} else {
			rows = append(rows, [2]string{"toolcrib new tool --help", "where a file has to lie to be a tool"})
		}
	}
	for _, row := range rows {
		fmt.Fprintf(c.out, "  %s\n      %s\n", row[0], row[1])
	}
	return nil
}

// functionOr is the name of the tool that the file makes.
func functionOr(name string, lang language) string {
	if lang.code {
		return functionName(name)
	}
	return name
}
