package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundles"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) bundleList() error {
	b, err := c.bundles()
	if err != nil {
		return err
	}
	own, project, err := b.List()
	if err != nil {
		return failed{err}
	}
	checked, err := b.Verify("")
	if err != nil {
		return failed{err}
	}
	state := map[[2]string]string{}
	for _, k := range checked {
		state[[2]string{k.Project, k.Name}] = "good"
		if !k.Good {
			state[[2]string{k.Project, k.Name}] = "switched off: " + strings.Join(k.Changed[:min(3, len(k.Changed))], ", ")
		}
	}
	if c.asJSON(false) {
		return c.printJSON(map[string]any{"bundles": orNone(own), "project": orNone(project), "files": append([]bundles.Checked{}, checked...)})
	}
	var rows [][]string
	for _, of := range []struct {
		scope string
		list  map[string]bundles.Installed
	}{{"yours", own}, {"project", project}} {
		for _, name := range slices.Sorted(maps.Keys(of.list)) {
			i := of.list[name]
			said := "good"
			for key, s := range state {
				if key[1] == name && (key[0] == "") == (of.scope == "yours") {
					said = s
				}
			}
			rows = append(rows, []string{name, dash(i.Package.Version), i.Package.Format, of.scope, text.ShowLine(said), text.ShowLine(i.Source)})
		}
	}
	if len(rows) == 0 {
		fmt.Fprintln(c.out, "No bundle is installed. 'toolcrib bundle install SOURCE' installs one.")
		return nil
	}
	return c.table([]string{"NAME", "VERSION", "FORMAT", "SCOPE", "STATE", "SOURCE"}, rows)
}

func orNone(in map[string]bundles.Installed) map[string]bundles.Installed {
	if in == nil {
		return map[string]bundles.Installed{}
	}
	return in
}

func (c *command) bundleVerify(name string) error {
	b, err := c.bundles()
	if err != nil {
		return err
	}
	list, err := b.Verify(name)
	if err != nil {
		return bundleError(err)
	}
	if c.asJSON(false) {
		if err := c.printJSON(append([]bundles.Checked{}, list...)); err != nil {
			return err
		}
	}
	bad := false
	for _, k := range list {
		bad = bad || !k.Good
		switch {
		case c.asJSON(false):
		case k.Good:
			fmt.Fprintf(c.out, "%s is what was installed.\n", k.Name)
		default:
			fmt.Fprintf(c.out, "%s is switched off, because its files are not what was installed:\n", k.Name)
			for _, f := range k.Changed {
				fmt.Fprintf(c.out, "  %s\n", text.ShowLine(f))
			}
			fmt.Fprintf(c.out, "'toolcrib bundle update %s' installs it again, after showing what is different.\n", k.Name)
		}
	}
	if bad {
		return silent{status: exitFailed}
	}
	return nil
}
