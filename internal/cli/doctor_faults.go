package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/remedy"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

// toolFaults tells of what was left out: files of tools, plugins, servers, toolboxes.
func (c *command) toolFaults(a *app.App) (out []finding) {
	for _, f := range a.Faults {
		if errors.Is(f.Err, toolfile.ErrUntrusted) { // all of them at once, below
			continue
		}
		status := "problem"
		if app.Unlisted(f) && strings.Contains(f.Error(), " does it") {
			status = "warning" // it was not tried yet
		}
		detail := "left out: " + f.Error()
		if why, server := unlistedServer(a, f); server && why != "" {
			detail = "the MCP server " + f.Box + " is down: " + why
		}
		if fault, ok := errors.AsType[toolfile.Fault](f.Err); ok {
			detail += " ('toolcrib tools check " + text.ShellWord(fault.File) + "' tells all that is wrong with it)"
		}
		out = append(out, finding{faultCheck(a, f), status, detail, c.faultFix(a, f)})
	}
	if said := c.untrustedTools(); said != "" {
		out = append(out, finding{"tools", "warning", said, "toolcrib trust"})
	}
	return out
}

// unlistedServer reports whether what was left out is an MCP server that has not said yet
// what it offers, and why it failed. Empty: it was not started yet.
func unlistedServer(a *app.App, f toolcrib.LoadError) (why string, ok bool) {
	b, there := a.Hub.Box(f.Box)
	if !there || !app.Unlisted(f) || b.Server().Shown != "" {
		return "", false
	}
	return b.Status().Err, true
}

// faultCheck is the part of the program that something was left out of.
func faultCheck(a *app.App, f toolcrib.LoadError) string {
	if strings.HasPrefix(f.Box, "python.") || app.Unlisted(f) && functionsOf(a, f.Box) == "" {
		return "plugins"
	}
	return "tools"
}

// functionsOf is the file of functions that a box is made of; empty: it is made of none.
func functionsOf(a *app.App, box string) string {
	if b, ok := a.Hub.Box(box); ok && b.Server().Own && filepath.IsAbs(b.Server().Shown) {
		return b.Server().Shown
	}
	return ""
}

// faultFix is the one command that mends what was left out.
func (c *command) faultFix(a *app.App, f toolcrib.LoadError) string {
	if command := remedy.Of(f.Err); command != "" {
		return command
	}
	if fault, ok := errors.AsType[toolfile.Fault](f.Err); ok {
		if info, err := os.Stat(fault.File); err == nil && info.Mode().Perm()&0o111 == 0 && strings.Contains(fault.Error(), "not executable") {
			return "chmod +x " + text.ShellWord(fault.File)
		}
		return c.editorWords() + " " + text.ShellWord(fault.File)
	}
	if file := functionsOf(a, f.Box); file != "" && app.Unlisted(f) {
		return c.editorWords() + " " + text.ShellWord(file)
	}
	if b, ok := a.Hub.Box(f.Box); ok && f.Tool != "" && b.Status().Held > 0 && strings.HasPrefix(f.Err.Error(), "it is kept back") {
		return "toolcrib hub approve " + text.ShellWord(f.Box)
	}
	if app.Unlisted(f) {
		if strings.HasPrefix(f.Box, "python.") {
			return "toolcrib hub test --all"
		}
		return "toolcrib hub test " + text.ShellWord(f.Box)
	}
	return c.editSettings()
}

// editorWords is what the person changes files with; vi is there on nearly every system.
func (c *command) editorWords() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words := c.getenv(name); strings.TrimSpace(words) != "" {
			return words
		}
	}
	for _, name := range []string{"vi", "nano", "notepad"} {
		if _, err := exec.LookPath(name); err == nil {
			return name
		}
	}
	return "vi"
}

// editSettings is the command that opens the settings in an editor.
func (c *command) editSettings() string {
	if strings.TrimSpace(c.getenv("VISUAL")+c.getenv("EDITOR")) != "" {
		return "toolcrib config edit"
	}
	return "EDITOR=" + c.editorWords() + " toolcrib config edit"
}

// pluginFindings say of the plugins in the folder, and of MCP servers, what keeps them
// from being used.
func pluginFindings(a *app.App) (out []finding) {
	rows, dir, err := pluginRows(a)
	if err != nil {
		out = append(out, finding{"plugins", "problem", err.Error(), "ls -la " + text.ShellWord(dir)})
	}
	good := 0
	for _, r := range rows {
		if r.State == "listed" {
			good++
		}
	}
	for _, b := range a.Hub.Boxes() {
		if held := b.Status().Held; held > 0 {
			out = append(out, finding{"plugins", "warning", fmt.Sprintf("%s of %s kept back, because what %s says about itself has changed or was never approved", counted(held, "tool"), b.Name()+areOrIs(held), b.Name()), "toolcrib hub approve " + text.ShellWord(b.Name())})
		}
	}
	if good > 0 {
		out = append(out, finding{"plugins", "ok", counted(good, "plugin") + " in " + dir, ""})
	}
	return out
}

func areOrIs(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}

// brokenFix opens the file of the project that has mistakes.
func (c *command) brokenFix() string {
	if c.broken.edit == "" {
		return "toolcrib config check"
	}
	return c.editorWords() + " " + text.ShellWord(c.broken.edit)
}

// homeFix is the command after which it is known where things are kept.
func (c *command) homeFix() string {
	if c.getenv("TOOLCRIB_HOME") != "" {
		return "unset TOOLCRIB_HOME"
	}
	return "export HOME=~"
}

// aside is the command that puts something out of the way, so that it is made anew.
func aside(path string) string {
	return "mv " + text.ShellWord(path) + " " + text.ShellWord(path+".old")
}

// ownFix is the command after which this account can write a directory. Of one that is
// missing only that one is made: what lies around it belongs to others.
func ownFix(dir string) string {
	word, own := text.ShellWord(dir), "\"$(id -un)\" "
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "sudo mkdir -p " + word + " && sudo chown " + own + word
	case info.Mode().Perm()&0o200 == 0:
		return "chmod u+rwx " + word
	}
	return "sudo chown -R " + own + word
}
