package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

// projectTool is a file of a project's folder of tools, as it was read once: what is
// shown, what is trusted and what is said of it is the same content.
type projectTool struct {
	config.ToolFile
	parsed toolfile.File
	faults []toolfile.Fault
	state  toolState
}

type toolState int

const (
	toolNew     toolState = iota // nobody trusted it yet
	toolTrusted                  // as it is
	toolChanged                  // it was trusted, and is another one now
	toolBroken                   // it has mistakes, or cannot be read: nothing to trust
	notATool                     // it declares nothing
)

// projectTools reads the tools of a project and what is trusted of them.
func projectTools(list config.Trust, dir string, shelved []toolcrib.Entry) ([]projectTool, error) {
	files, err := config.ReadProjectTools(dir)
	if err != nil {
		return nil, &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: err.Error(), Err: err}
	}
	var tools []projectTool
	names := namesIn(dir)
	for _, f := range files {
		t := projectTool{ToolFile: f}
		if t.Err != nil {
			t.state = toolBroken
			tools = append(tools, t)
			continue
		}
		t.parsed, t.faults = toolfile.Parse(filepath.Base(f.Path), f.Content)
		t.faults = append(t.faults, scriptFaults(t.parsed, f.Mode)...)
		t.faults = slices.Concat(t.faults, toolfile.Foreign(t.parsed), nameFaults(f.Path, t.parsed, names, shelved))
		switch {
		case t.parsed.Kind == toolfile.None:
			t.state = notATool
		case toolfile.Broken(t.faults):
			t.state = toolBroken
		case list.HoldsTool(f.Path, f.Content):
			t.state = toolTrusted
		case list.KnowsTool(f.Path):
			t.state = toolChanged
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// untrustedTools says which files of the project's folder of tools do not count yet, in
// one sentence. Empty: there are none. What is wrong with the folder is told by 'trust'.
func (c *command) untrustedTools() string {
	dir := config.FindProjectTools(c.dir, c.home())
	loaded, paths, err := c.load()
	if dir == "" || err != nil || !loaded.Value.Toolboxes.Tools.Enabled || !loaded.Value.Toolboxes.Tools.Project {
		return ""
	}
	tools, err := projectTools(trustList(paths), dir, nil)
	if err == nil {
		err = trustList(paths).Fault()
	}
	if err != nil {
		return "the tools of the project do not count: " + err.Error()
	}
	var names []string
	for _, t := range tools {
		switch name := filepath.Base(t.Path); t.state {
		case toolNew:
			names = append(names, name)
		case toolChanged:
			names = append(names, name+" (changed since you trusted it)")
		case toolBroken:
			names = append(names, name+" (has mistakes)")
		case toolTrusted, notATool:
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "these files in " + dir + " are not trusted, and no tools: " + strings.Join(names, ", ")
}

// trustTools shows the tools of a project that do not count yet, asks, and lets them
// count.
func (c *command) trustTools(ctx context.Context, list config.Trust, dir string, yes bool) error {
	shelved, err := c.shelved(ctx)
	if err != nil {
		return err
	}
	tools, err := projectTools(list, dir, shelved)
	if err != nil {
		return err
	}
	if len(tools) == 0 {
		fmt.Fprintf(c.out, "There are no files in %s.\n", text.ShowLine(dir))
		return nil
	}
	fmt.Fprintf(c.out, "In %s:\n\n", text.ShowLine(dir))
	var add []config.ToolFile
	var names []string
	for _, t := range tools {
		switch t.state {
		case notATool:
			fmt.Fprintf(c.out, "%s declares no tool, and stays what it is.\n", text.ShowLine(filepath.Base(t.Path)))
		case toolTrusted:
			fmt.Fprintf(c.out, "%s is trusted as it is.\n", text.ShowLine(filepath.Base(t.Path)))
		case toolBroken:
			c.showBroken(t)
		case toolNew, toolChanged:
			c.showUntrusted(t)
			add, names = append(add, t.ToolFile), append(names, t.parsed.Name)
		}
	}
	if len(add) == 0 {
		return nil
	}
	if !yes {
		if ok, err := c.confirm("Let " + text.ShowLine(strings.Join(names, ", ")) + " count as " + map[bool]string{true: "a tool", false: "tools"}[len(add) == 1] + " here?"); err != nil || !ok {
			return err
		}
	}
	if err := list.AddTools(add, time.Now()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "Trusted: %s. A file that changes is out until you have looked again.\n", text.ShowLine(strings.Join(names, ", ")))
	return err
}

func (c *command) showBroken(t projectTool) {
	if t.Err != nil {
		fmt.Fprintf(c.out, "%s cannot be trusted: %s\n", text.ShowLine(filepath.Base(t.Path)), text.ShowLine(t.Err.Error()))
		return
	}
	fmt.Fprintf(c.out, "%s has mistakes, and cannot be trusted until they are mended:\n", text.ShowLine(filepath.Base(t.Path)))
	for _, f := range reportFile(t.parsed, t.faults).Faults {
		fmt.Fprintln(c.out, "  "+faultLine(filepath.Base(t.Path), f))
	}
}

// showUntrusted shows what a file would be, and all of its text: what runs is the text,
// whatever it declares.
func (c *command) showUntrusted(t projectTool) {
	r := reportFile(t.parsed, t.faults)
	printReport(c.out, r)
	if beyond := beyondProject(t.parsed); len(beyond) > 0 {
		fmt.Fprintf(c.out, "  beyond      %s: not in the project, and it may use that without a question if its effects only look\n", text.ShowLine(strings.Join(beyond, ", ")))
	}
	if t.state == toolChanged {
		fmt.Fprintln(c.out, "  changed     you trusted another content of this file before")
	}
	if t.Foreign != "" {
		fmt.Fprintf(c.out, "  owner       %s, and not to you or root\n", text.ShowLine(t.Foreign))
	}
	for _, f := range r.Faults {
		fmt.Fprintln(c.out, "  "+faultLine(filepath.Base(t.Path), f))
	}
	c.showText(t.Content)
}

// beyondProject are the directories of a file that do not lie in the project.
func beyondProject(f toolfile.File) (dirs []string) {
	for _, dir := range slices.Concat(f.Read, f.Write) {
		if strings.HasPrefix(dir, "~") || !filepath.IsLocal(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// showText prints a file of somebody else line by line, with everything that would not
// be seen or would steer the terminal written out.
func (c *command) showText(content []byte) {
	fmt.Fprintf(c.out, "\nThe whole file:\n\n")
	for line := range strings.Lines(string(content)) {
		fmt.Fprintf(c.out, "    %s\n", text.ShowLine(strings.TrimRight(line, "\r\n")))
	}
	fmt.Fprintln(c.out)
}
