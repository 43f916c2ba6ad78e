package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/bundles"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/scaffold"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

func (c *command) skillsCmd() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error { return c.skillsList(cmd.Context()) }
	cmd := &cobra.Command{
		Use:   "skills",
		Short: "Skills, folders with a SKILL.md: list, show, validate, begin",
		Long: `Skills are folders with a SKILL.md that tells a model how to go about something.
Toolcrib finds them where other programs keep them too, and hands them out as
tools. What a skill says of itself allows nothing.`,
		Example: `  toolcrib skills                        what there is, and what is left out and why
  toolcrib skills show pdf-forms         where it lies, what it says of itself
  toolcrib skills validate ./my-skill    what the written format says of it
  toolcrib skills new release-notes      begin one of your own
  toolcrib skills try release-notes      what a model would be given`,
		Args: usageArgs(cobra.NoArgs),
		RunE: list,
	}
	var project bool
	begin := &cobra.Command{
		Use: "new NAME", Short: "Begin a skill of your own, in ~/.agents/skills or with --project in .agents/skills here", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return c.skillsNew(args[0], project) },
	}
	begin.Flags().BoolVar(&project, "project", false, "write it into .agents/skills of this directory")
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List the skills, and what is left out and why", Args: usageArgs(cobra.NoArgs), RunE: list},
		&cobra.Command{
			Use: "show NAME", Short: "Show where a skill lies and what it says of itself", Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeSkill,
			RunE: func(cmd *cobra.Command, args []string) error { return c.skillsShow(cmd.Context(), args[0]) },
		},
		&cobra.Command{
			Use: "validate PATH…", Short: "Check skills against the written format, and show how Toolcrib reads them", Args: usageArgs(cobra.MinimumNArgs(1)),
			RunE: func(cmd *cobra.Command, args []string) error { return c.skillsValidate(cmd.Context(), args) },
		},
		begin,
		&cobra.Command{
			Use: "try NAME", Short: "Show what a model gets when it uses a skill", Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeSkill,
			RunE: func(cmd *cobra.Command, args []string) error { return c.skillsTry(cmd.Context(), args[0]) },
		},
	)
	return cmd
}

// skillBox opens the skills of the settings as the tools see them.
func (c *command) skillBox(ctx context.Context) (*skill.Box, error) {
	a, err := c.openFor(ctx, app.ToCheck, nil)
	if err != nil {
		return nil, err
	}
	if box := a.SkillBox(); box != nil {
		return box, nil
	}
	return nil, usagef("skills are switched off (toolboxes.skill.enabled)")
}

func (c *command) completeSkill(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	seen, err := c.seenSkills(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, s := range seen.Skills {
		names = append(names, s.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (c *command) seenSkills(ctx context.Context) (skill.Seen, error) {
	box, err := c.skillBox(ctx)
	if err != nil {
		return skill.Seen{}, err
	}
	return box.Look(ctx)
}

// shownSkill is a skill in a list for programs.
type shownSkill struct {
	Name          string   `json:"name"`
	Description   string   `json:"description"`
	Scope         string   `json:"scope"`
	Trusted       bool     `json:"trusted"`
	Path          string   `json:"path"`
	AllowedTools  []string `json:"allowed_tools,omitempty"`
	License       string   `json:"license,omitempty"`
	Compatibility string   `json:"compatibility,omitempty"`
}

func shownOf(seen skill.Seen, s skill.Skill) shownSkill {
	return shownSkill{s.Name, s.Description, s.Scope, seen.Trusted[s.Name], s.Path, s.AllowedTools, s.License, s.Compatibility}
}

func (c *command) skillsList(ctx context.Context) error {
	seen, err := c.seenSkills(ctx)
	if err != nil {
		return err
	}
	packages, err := c.bundles()
	if err != nil {
		return err
	}
	off := packages.Load().Off
	if c.asJSON(false) {
		list := make([]shownSkill, len(seen.Skills))
		for i, s := range seen.Skills {
			list[i] = shownOf(seen, s)
		}
		return c.printJSON(map[string]any{"skills": list, "gated": orEmpty(seen.Gated), "skipped": orEmpty(seen.Skipped), "odd": orEmpty(seen.Odd), "disabled": append([]bundles.OffSkill{}, off...)})
	}
	rows := make([][]string, len(seen.Skills))
	for i, s := range seen.Skills {
		rows[i] = []string{s.Name, s.Scope, "ready", firstSentence(s.Description)}
	}
	for _, s := range seen.Gated {
		rows = append(rows, []string{filepath.Base(filepath.Dir(s.Path)), "", s.Reason, s.Path})
	}
	for _, s := range off {
		rows = append(rows, []string{s.Name, "bundle", "disabled with the bundle " + s.Bundle, firstSentence(s.Reason)})
	}
	if len(rows) == 0 {
		fmt.Fprintln(c.out, "There are no skills. 'toolcrib skills new NAME' begins one in ~/.agents/skills.")
	} else if err := c.table([]string{"NAME", "SCOPE", "STATE", "DESCRIPTION"}, rows); err != nil {
		return err
	}
	for _, s := range seen.Skipped {
		fmt.Fprintf(c.err, "toolcrib: left out: %s: %s\n", text.ShowLine(s.Path), text.ShowLine(s.Reason))
	}
	return nil
}

func orEmpty(list []skill.Skipped) []skill.Skipped { return append([]skill.Skipped{}, list...) }

func (c *command) skillsShow(ctx context.Context, name string) error {
	seen, err := c.seenSkills(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(seen.Skills, func(s skill.Skill) bool { return s.Name == name })
	if i < 0 {
		return noSkill(seen, name)
	}
	s := seen.Skills[i]
	if c.asJSON(false) {
		return c.printJSON(shownOf(seen, s))
	}
	fmt.Fprintf(c.out, "%s (%s)\n%s\n\n%s\n", text.ShowLine(s.Name), s.Scope, text.ShowLine(s.Path), text.Show(s.Description))
	for _, line := range []struct{ what, said string }{
		{"for models", map[bool]string{true: "instructions", false: "marked as content from outside"}[seen.Trusted[s.Name]]},
		{"license", s.License}, {"compatibility", s.Compatibility}, {"tools its author expects, which it does not allow", strings.Join(s.AllowedTools, ", ")},
	} {
		if line.said != "" {
			fmt.Fprintf(c.out, "%s: %s\n", line.what, text.ShowLine(line.said))
		}
	}
	for _, odd := range seen.Odd {
		if odd.Path == s.Path {
			fmt.Fprintf(c.out, "odd: %s\n", text.ShowLine(odd.Reason))
		}
	}
	return nil
}

// noSkill says why there is no skill of a name: it may be left out, or misspelt.
func noSkill(seen skill.Seen, name string) error {
	var names []string
	for _, s := range seen.Skills {
		names = append(names, s.Name)
	}
	for _, s := range slices.Concat(seen.Gated, seen.Skipped) {
		if filepath.Base(filepath.Dir(s.Path)) == name {
			return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: fmt.Sprintf("the skill %s is left out: %s", name, s.Reason)}
		}
	}
	message := fmt.Sprintf("there is no skill %q; 'toolcrib skills' lists those there are", name)
	if near := text.Nearest(name, names); near != "" {
		message = fmt.Sprintf("there is no skill %q. Did you mean %s?", name, near)
	}
	return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: message}
}

// maxSkillFile bounds a SKILL.md that is validated.
const maxSkillFile = 1 << 20

func (c *command) skillsValidate(ctx context.Context, paths []string) error {
	box, err := c.skillBox(ctx)
	if err != nil {
		return err
	}
	bad := false
	for _, path := range paths {
		file := c.within(path)
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			file = filepath.Join(file, "SKILL.md")
		}
		data, err := plainfile.Read(file, maxSkillFile)
		if err != nil {
			return failed{err}
		}
		check := box.Validate(filepath.Base(filepath.Dir(file)), data)
		bad = bad || check.Err != nil || len(check.Strict) > 0
		c.printCheck(file, check)
	}
	if bad {
		return silent{status: exitFailed}
	}
	return nil
}

func (c *command) printCheck(file string, check skill.Check) {
	state := "keeps to the written format"
	switch {
	case check.Err != nil:
		state = "is left out here: " + check.Err.Error()
	case check.Needs != "":
		state = "is left out on this machine: needs " + check.Needs
	case len(check.Strict) > 0:
		state = "works here, and other programs may refuse it"
	}
	fmt.Fprintf(c.out, "%s %s\n", text.ShowLine(file), text.ShowLine(state))
	for _, s := range check.Strict {
		fmt.Fprintf(c.out, "  the format: %s\n", text.ShowLine(s))
	}
	for _, s := range check.Notes {
		fmt.Fprintf(c.out, "  here: %s\n", text.ShowLine(s))
	}
}

func (c *command) skillsNew(name string, project bool) error {
	if wrong := skill.NameProblem(name); wrong != "" {
		return usagef("%q is no name for a skill: %s", name, wrong)
	}
	root := c.home()
	if project {
		root = c.dir
	}
	dir := filepath.Join(root, ".agents", "skills", name)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return failed{err}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: text.ShowLine(dir) + " is there already, and was left as it is"}
	}
	begin, err := scaffold.Example(scaffold.Language{Template: "SKILL.md"}, name)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "SKILL.md")
	if err := os.WriteFile(file, []byte(begin), 0o644); err != nil {
		return failed{err}
	}
	fmt.Fprintf(c.out, "Wrote %s.\nSay in it when it is of use, and what to do. 'toolcrib skills validate %s' holds it against the format.\n", file, dir)
	if project {
		fmt.Fprintln(c.out, "Skills of a project count with toolboxes.skill.project: true in your settings.")
	}
	return nil
}

// skillsTry makes the call that a model would make.
func (c *command) skillsTry(ctx context.Context, name string) error {
	seen, err := c.seenSkills(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(seen.Skills, func(s skill.Skill) bool { return s.Name == name }) {
		return noSkill(seen, name)
	}
	return c.call(ctx, "use_skill", []string{"name=" + name}, callFlags{})
}
