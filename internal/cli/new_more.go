package cli

import (
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
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/scaffold"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) newToolboxCmd() *cobra.Command {
	f := newTool{}
	cmd := &cobra.Command{
		Use: "toolbox NAME", Short: "Write one file with several tools: functions in Python or JavaScript, or a plugin in Go",
		Long: `Write one file with two tools that work, to be changed. In Python and JavaScript the
functions of a file are tools, and the file goes into your folder of tools. In Go it is
a main.go in a new folder here, to be built into a plugin. A file that is there is
never overwritten.`,
		Example: `  toolcrib new toolbox texts
  toolcrib new toolbox texts --lang node
  toolcrib new toolbox texts --lang go`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.newToolbox(cmd, args[0], f) },
	}
	newToolFlags(cmd, &f, "python", slices.Sorted(maps.Keys(scaffold.Toolboxes())))
	return cmd
}

func (c *command) newToolbox(cmd *cobra.Command, name string, f newTool) error {
	lang, ok := scaffold.Toolboxes()[f.lang]
	switch {
	case !ok:
		return usagef("--lang is %q: want one of %s", f.lang, strings.Join(slices.Sorted(maps.Keys(scaffold.Toolboxes())), ", "))
	case f.dir != "" && f.project:
		return usagef("give either --dir or --project, not both")
	case f.project && f.lang == "go":
		return usagef("a Go toolbox is built into your plugins folder, and a project brings none along: leave --project out")
	}
	if err := checkToolName(name, lang); err != nil {
		return err
	}
	first := scaffold.Function(name) + "_words"
	if f.lang != "go" {
		if err := c.nameIsFree(cmd, first); err != nil {
			return err
		}
	}
	dir, err := c.newToolDir(name, f)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, strings.ReplaceAll(lang.File, "*", name))
	if err := writeNewTool(file, name, lang); err != nil {
		return err
	}
	return c.tellNewTool(file, name, lang, f, first)
}

func (c *command) newSkillCmd() *cobra.Command {
	var project bool
	cmd := &cobra.Command{
		Use: "skill NAME", Short: "Begin a skill, in ~/.agents/skills or with --project in .agents/skills here",
		Example: "  toolcrib new skill release-notes\n  toolcrib new skill release-notes --project",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE:    func(_ *cobra.Command, args []string) error { return c.skillsNew(args[0], project) },
	}
	cmd.Flags().BoolVar(&project, "project", false, "write it into .agents/skills here")
	return cmd
}

func (c *command) newBundleCmd() *cobra.Command {
	return &cobra.Command{
		Use: "bundle NAME", Short: "Begin a bundle, an Agent Plugin, in a folder NAME",
		Example: "  toolcrib new bundle my-plugin", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return c.bundleNew(args[0]) },
	}
}

func (c *command) newAgentCmd() *cobra.Command {
	var role, from, mode string
	cmd := &cobra.Command{
		Use: "agent NAME", Short: "Begin an agent: a preset in your settings, with instructions for its model",
		Long: `Write an agent into your settings. It has the tools and the rules of everybody, and
asks as the mode default does, or as --mode says: in the mode plan it only reads, and
all else is refused. 'toolcrib config reference' lists what else a preset can have. With --from it takes its role and its instructions from a file, such as one that
codegen wrote. Nothing else of that file counts. An agent that is there is never changed.`,
		Example: `  toolcrib new agent reviewer --role 'Reviews changes before they are merged.'
  toolcrib new agent reader --mode plan
  toolcrib new agent reviewer --from agents/reviewer.yaml`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(agentModes(), mode) {
				return usagef("--mode is %q: want one of %s", mode, strings.Join(agentModes(), ", "))
			}
			return c.newAgent(args[0], role, from, mode)
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "what it is for, in a few words")
	cmd.Flags().StringVar(&from, "from", "", "a file with its role and its instructions")
	cmd.Flags().StringVar(&mode, "mode", "default", "when a person is asked: default, auto-edit or yolo; plan: it only reads")
	// The flag was just defined, so registering cannot fail.
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(agentModes(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func agentModes() []string { return []string{"default", "auto-edit", "plan", "yolo"} }

// maxAgentFile bounds a file that an agent is taken from.
const maxAgentFile = 256 << 10

func (c *command) newAgent(name, role, from, mode string) error {
	if err := scaffold.CheckName("an agent", name); err != nil {
		return usage(err)
	}
	var content []byte
	var err error
	if from != "" {
		content, err = plainfile.Read(c.within(from), maxAgentFile)
	} else {
		var stub []scaffold.File
		if stub, err = scaffold.Stub("agent", name, role); err == nil {
			content = []byte(stub[0].Text)
		}
	}
	if err != nil {
		return failed{err}
	}
	var in struct {
		Agents map[string]settings.Agent `yaml:"agents"`
	}
	if err := config.Decode(content, &in); err != nil {
		return failed{fmt.Errorf("%s: %w", from, err)}
	}
	preset, ok := in.Agents[name]
	if !ok || strings.TrimSpace(preset.Instructions) == "" {
		return usagef("%s has no agent %s with instructions", from, name)
	}
	if role != "" {
		preset.Role = role
	}
	file, err := c.editConfig(func(text []byte) ([]byte, error) {
		if _, there, err := config.Entry(text, "agents", name); err != nil || there {
			return nil, errors.Join(err, fmt.Errorf("there is an agent %s already, and it was left as it is: take another name", name))
		}
		return config.SetEntry(text, "agents", name, map[string]any{"role": preset.Role, "mode": mode, "instructions": preset.Instructions})
	})
	if err != nil {
		return usage(err)
	}
	if c.asJSON(false) {
		return c.printJSON(map[string]string{"file": file, "agent": name})
	}
	fmt.Fprintf(c.out, "Wrote the agent %s into %s. Next:\n\n", name, text.ShowLine(file))
	return c.tellNext([][2]string{
		{"toolcrib config check", "whether your settings make sense"},
		{"toolcrib run --agent " + name + " 'say what you are for'", "let it do something"},
	})
}

func (c *command) newWorkflowCmd() *cobra.Command {
	var dir, about string
	cmd := &cobra.Command{
		Use: "workflow NAME", Short: "Begin a workflow: a script of code mode that calls tools, in workflows/NAME.js",
		Long: `Write a script that calls tools, for run_script. Every call in it is judged, asked about
and recorded as if it had been made by itself. Run it with its content as the code, or
keep it as a tool of its own with script_save. When it runs is up to you: your own
timer or trigger calls it. A file that is there is never overwritten.`,
		Example: "  toolcrib new workflow tidy_up --about 'Moves old downloads into folders.'",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE:    func(_ *cobra.Command, args []string) error { return c.newWorkflow(args[0], about, dir) },
	}
	cmd.Flags().StringVar(&dir, "dir", "workflows", "the folder to write it into")
	cmd.Flags().StringVar(&about, "about", "", "what it does, in a sentence")
	return cmd
}

func (c *command) newWorkflow(name, about, dir string) error {
	if err := scaffold.CheckName("a workflow", name); err != nil {
		return usage(err)
	}
	stub, err := scaffold.Stub("workflow", name, about)
	if err != nil {
		return failed{err}
	}
	file := filepath.Join(c.within(dir), stub[0].Name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return failed{err}
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: text.ShowLine(file) + " is there already, and nothing was changed: take another name, or change that file"}
	}
	if err != nil {
		return failed{err}
	}
	_, err = f.WriteString(stub[0].Text)
	if err := errors.Join(err, f.Close()); err != nil {
		return failed{err}
	}
	if c.asJSON(false) {
		return c.printJSON(map[string]string{"file": file, "workflow": name})
	}
	fmt.Fprintf(c.out, "Wrote %s. Next:\n\n", text.ShowLine(file))
	return c.tellNext([][2]string{
		{"toolcrib call run_script code=\"$(cat " + text.ShellWord(file) + ")\"", "run it once; this needs toolboxes.codemode.enabled: true in your settings"},
		{"toolcrib call script_save name=" + name + " description='what it does' code=\"$(cat " + text.ShellWord(file) + ")\"", "keep it as a tool of its own, after you have seen it whole"},
	})
}

// tellNext lists commands that come next.
func (c *command) tellNext(rows [][2]string) error {
	for _, row := range rows {
		fmt.Fprintf(c.out, "  %s\n      %s\n", row[0], row[1])
	}
	return nil
}
