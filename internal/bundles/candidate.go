package bundles

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/text"
)

// look reads what was fetched, and says what it would change.
func (c *Candidate) look(ctx context.Context, name string, want Want) error {
	b := c.of
	files := os.DirFS(filepath.Join(c.stage.dir, packageName))
	needs, err := b.needs(name)
	if err != nil {
		return err
	}
	if c.Package, err = bundle.Read(files, needs); err != nil {
		return err
	}
	if want.Name != "" {
		if err := bundle.CheckName(want.Name); err != nil {
			return err
		}
		c.Package.Name = want.Name
	}
	if c.Findings, err = bundle.Scan(files); err != nil {
		return err
	}
	r, err := b.read()
	if err != nil {
		return err
	}
	if i, there := r.of(c.project)[c.Package.Name]; there {
		c.Before = &i
	} else if other := sameName(r.of(c.project), c.Package.Name); other != "" {
		return fmt.Errorf("a bundle %s is installed, which is the same name on some systems: give this one another with --name", other)
	}
	c.vault = vaultName(c.Package.Name, c.project, c.Source.origin())
	if c.Before != nil && c.Before.Tree == c.Tree { // the same, wherever it lies
		c.vault = c.Before.vault()
	}
	if err := c.values(want.Values); err != nil {
		return err
	}
	c.Left = map[string]string{}
	c.Package.Servers = slices.Clone(c.Package.Servers)
	if want.locked != nil {
		if err := c.hold(*want.locked); err != nil {
			return err
		}
	}
	if err := c.pin(ctx, want.Pin); err != nil {
		return err
	}
	c.giveWay(r)
	for _, s := range c.Package.Servers {
		if _, err := expand(s, places{}, c.Package.Asks, c.Values, c.vault); err != nil && c.Left[s.Name] == "" {
			c.Left[s.Name] = err.Error()
		}
	}
	c.Findings = append(c.Findings, bundle.ScanServers(c.Package)...)
	c.compare()
	return nil
}

// compare says what is different from what is installed. A server that is left out is not
// there: if it counts later, that is something new.
func (c *Candidate) compare() {
	now := counting(*c.Package, c.Left)
	if c.Before == nil {
		c.Consent = bundle.Difference(nil, &now)
		return
	}
	before := c.Before.Counting()
	c.Consent = bundle.Difference(&before, &now)
	c.changedValues()
	if c.Before.Tree != c.Tree {
		c.changedFiles()
	}
	if c.Sandbox == "" { // nobody leaves one by an update
		c.Sandbox = c.Before.Sandbox
	}
	if c.Sandbox != c.Before.Sandbox {
		c.Consent.Changes = append(c.Consent.Changes, "its servers run in the sandbox "+c.Sandbox+"; before: "+cmp.Or(c.Before.Sandbox, "as those of the settings"))
	}
	if c.Before.vault() != c.vault {
		c.Consent.Changes = append(c.Consent.Changes, "where it comes from: "+text.ShowLine(c.Source.String())+"; before: "+text.ShowLine(c.Before.Source)+". It is given none of the secrets that it had")
	}
}

// counting is a package without the servers that are left out.
func counting(p bundle.Package, left map[string]string) bundle.Package {
	p.Servers = slices.DeleteFunc(slices.Clone(p.Servers), func(s bundle.Server) bool { return left[s.Name] != "" })
	return p
}

// Counting is what of the package counts: all but the servers that are left out.
func (i *Installed) Counting() bundle.Package { return counting(i.Package, i.Left) }

// changedValues tells which of the values that it asked for are others than before.
func (c *Candidate) changedValues() {
	for _, name := range slices.Sorted(maps.Keys(c.Values)) {
		if was, there := c.Before.Values[name]; !there || was != c.Values[name] {
			c.Consent.Changes = append(c.Consent.Changes, fmt.Sprintf("value of %s: %s; before: %s", name, text.ShowLine(c.Values[name]), cmp.Or(text.ShowLine(was), "none")))
		}
	}
}

// giveWay leaves out what another package has already that is installed: neither what was
// there first nor the rules about it are taken over by a name. It reports whether there
// was something of the kind.
func (c *Candidate) giveWay(r *record) (some bool) {
	has := map[[2]string]string{}
	r.all(func(project, name string, i Installed) {
		if project != "" && project != c.project || project == c.project && name == c.Package.Name {
			return
		}
		for _, s := range i.Package.Servers {
			if i.Left[s.Name] == "" {
				has[[2]string{"server", bundle.PartName(name, s.Name)}] = name
			}
		}
		for _, a := range i.Package.Agents {
			has[[2]string{"agent", bundle.PartName(name, a.Name)}] = name
		}
		for _, s := range i.Package.Skills {
			has[[2]string{"skill", s.Name}] = name
		}
	})
	left := func(kind, part, called string) bool {
		other := has[[2]string{kind, called}]
		if other != "" {
			some = true
			c.Package.Notes = append(c.Package.Notes, bundle.Note{Text: fmt.Sprintf("the %s %s is left out: the bundle %s has one called %s", kind, part, other, called)})
		}
		return other != ""
	}
	for _, s := range c.Package.Servers {
		if called := bundle.PartName(c.Package.Name, s.Name); c.Left[s.Name] == "" && left("server", s.Name, called) {
			c.Left[s.Name] = "another bundle has one called " + called
		}
	}
	c.Package.Agents = slices.DeleteFunc(c.Package.Agents, func(a bundle.Agent) bool { return left("agent", a.Name, bundle.PartName(c.Package.Name, a.Name)) })
	c.Package.Skills = slices.DeleteFunc(c.Package.Skills, func(s bundle.Skill) bool { return left("skill", s.Name, s.Name) })
	return some
}

// changedFiles tells which files are others than before: a program that is started by the
// same words is another one.
func (c *Candidate) changedFiles() {
	was, err := c.of.listing(c.Before.Tree)
	if err != nil {
		c.Consent.Changes = append(c.Consent.Changes, "all files: what is installed now cannot be read ("+err.Error()+")")
		c.Consent.Runs = true
		return
	}
	if said := c.files.unlike(was); said != "" {
		c.Consent.Changes = append(c.Consent.Changes, said)
		for _, s := range c.Package.Servers {
			c.Consent.Runs = c.Consent.Runs || s.Command != ""
		}
	}
}

// unlike names the files that are others than before; empty: there are none.
func (l listing) unlike(was listing) string {
	var names []string
	for name, f := range l {
		if was[name] != f {
			names = append(names, name)
		}
	}
	for name := range was {
		if _, there := l[name]; !there {
			names = append(names, name+" (gone)")
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	more := ""
	if len(names) > 50 {
		more = fmt.Sprintf(" and %d more", len(names)-50)
		names = names[:50]
	}
	return "files: " + text.ShowLine(strings.Join(names, ", ")) + more
}

func sameName(in map[string]Installed, name string) string {
	for other := range in {
		if fold(other) == fold(name) {
			return other
		}
	}
	return ""
}

// values takes what was given before, and now, for what a package asks for.
func (c *Candidate) values(given map[string]string) error {
	c.Values = map[string]string{}
	for _, a := range c.Package.Asks {
		if a.Secret {
			if v := given[a.Name]; v == fromVault {
				c.Values[a.Name] = v
			} else if v != "" {
				return fmt.Errorf("%s is a secret: keep it in the vault as %s ('toolcrib secret set %[2]s')", a.Name, c.Secret(a.Name))
			}
			continue
		}
		if c.Before != nil && !a.Secret {
			if v, there := c.Before.Values[a.Name]; there {
				c.Values[a.Name] = v
			}
		}
		if v, there := given[a.Name]; there {
			c.Values[a.Name] = v
		}
	}
	for name := range given {
		if _, taken := c.Values[name]; !taken {
			return c.noAsk(name)
		}
	}
	return nil
}

// noAsk refuses a value that a package does not ask for, and names those that it does.
func (c *Candidate) noAsk(name string) error {
	var asked []string
	for _, a := range c.Package.Asks {
		asked = append(asked, a.Name)
	}
	if len(asked) == 0 {
		return fmt.Errorf("%s asks for no values: leave --value %s out", c.Package.Name, text.ShowLine(name))
	}
	return fmt.Errorf("%s asks for no %s: what it asks for is called %s", c.Package.Name, text.ShowLine(name), text.ShowLine(strings.Join(asked, ", ")))
}
