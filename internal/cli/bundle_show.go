package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/bundles"
	"github.com/toolcrib/toolcrib/internal/text"
)

// bundleShow shows an installed bundle, or one that could be.
func (c *command) bundleShow(ctx context.Context, name string) (err error) {
	b, err := c.bundles(bundles.Addresses(name)...)
	if err != nil {
		return err
	}
	own, project, err := b.List()
	if err != nil {
		return failed{err}
	}
	for _, list := range []map[string]bundles.Installed{own, project} {
		i, there := list[name]
		if !there {
			continue
		}
		if c.asJSON(false) {
			return c.printJSON(i)
		}
		return c.showInstalled(b, i)
	}
	if bundle.CheckName(name) == nil { // a directory of this name is written ./NAME
		if _, err := bundles.ParseSource(name, c.dir); err != nil {
			return bundleError(fmt.Errorf("%w: %s; 'toolcrib bundle list' lists those there are", bundles.ErrNone, name))
		}
	}
	found, err := b.Fetch(ctx, name, bundles.Want{})
	if err != nil {
		return bundleError(err)
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	if c.asJSON(false) {
		return c.printJSON(map[string]any{"package": found.Package, "source": found.Source.String(), "tree": found.Tree, "consent": found.Consent, "findings": append([]bundle.Finding{}, found.Findings...), "left_out": found.Left})
	}
	showCandidate(c.out, found)
	return nil
}

// showInstalled shows what an installed bundle has, and whether it counts.
func (c *command) showInstalled(b *bundles.Bundles, i bundles.Installed) error {
	checked, err := b.Verify(i.Package.Name)
	if err != nil {
		return bundleError(err)
	}
	showPackage(c.out, &i.Package, i.Source, i.Tree)
	for _, k := range checked {
		if !k.Good {
			fmt.Fprintf(c.out, "SWITCHED OFF, because its files are not what was installed: %s. 'toolcrib bundle update %s' installs it again.\n", text.ShowLine(strings.Join(k.Changed[:min(3, len(k.Changed))], ", ")), k.Name)
		}
	}
	counts := i.Counting()
	has := bundle.Difference(nil, &counts)
	showList(c.out, "It has:", has.Adds)
	showMeaning(c.out, has)
	if has.Empty() {
		fmt.Fprintln(c.out, "\nNothing of it counts.")
	}
	showLeft(c.out, i.Package.Name, i.Left)
	for _, a := range i.Package.Asks {
		if a.Secret {
			fmt.Fprintf(c.out, "secret %s: 'toolcrib secret set %s' keeps it\n", a.Name, i.Secret(a.Name))
		} else if v, given := i.Values[a.Name]; given {
			fmt.Fprintf(c.out, "value of %s: %s\n", a.Name, text.ShowLine(v))
		}
	}
	showNotes(c.out, i.Package.Notes)
	for _, was := range slices.Backward(i.Before) {
		fmt.Fprintf(c.out, "before: version %s, installed %s\n", dash(was.Package.Version), was.At.Local().Format("2006-01-02 15:04"))
	}
	return nil
}

func dangerous(found *bundles.Candidate) bool {
	return bundle.Worst(found.Findings) == bundle.Dangerous
}

// showCandidate shows all that a person says yes to.
func showCandidate(w io.Writer, found *bundles.Candidate) {
	showPackage(w, found.Package, found.Source.String(), found.Tree)
	if found.Before != nil {
		fmt.Fprintf(w, "\nIt is installed already: version %s of %s.\n", dash(text.ShowLine(found.Before.Package.Version)), found.Before.At.Local().Format("2006-01-02 15:04"))
	}
	showConsent(w, found.Consent)
	if slices.ContainsFunc(found.Package.Servers, func(s bundle.Server) bool { return s.Command != "" && found.Left[s.Name] == "" }) {
		if found.Sandbox != "" {
			fmt.Fprintf(w, "Its servers run in the sandbox %s.\n", found.Sandbox)
		} else {
			fmt.Fprintln(w, "Its servers run as programs of yours, with all your rights, as servers of your settings do. --sandbox linux confines them to what you grant.")
		}
	}
	showLeft(w, found.Package.Name, found.Left)
	showNotes(w, found.Package.Notes)
	if len(found.Findings) > 0 {
		fmt.Fprintf(w, "\nA scan found:\n")
		worst := slices.Clone(found.Findings)
		slices.SortStableFunc(worst, func(a, b bundle.Finding) int { return rankOf(a.Severity) - rankOf(b.Severity) })
		for i, f := range worst {
			if i == mostShown {
				fmt.Fprintf(w, "  and %d more, none of them worse\n", len(worst)-i)
				break
			}
			at := f.Path
			if f.Line > 0 {
				at = fmt.Sprintf("%s:%d", f.Path, f.Line)
			}
			fmt.Fprintf(w, "  %s  %s: %s\n", f.Severity, text.ShowLine(at), text.ShowLine(f.What))
			if f.Text != "" {
				fmt.Fprintf(w, "      %s\n", text.ShowLine(f.Text))
			}
		}
	}
	fmt.Fprintln(w)
}

// rankOf puts the worst first.
func rankOf(s bundle.Severity) int {
	return slices.Index([]bundle.Severity{bundle.Dangerous, bundle.Caution, bundle.Info}, s)
}

func showPackage(w io.Writer, p *bundle.Package, source, tree string) {
	fmt.Fprintf(w, "%s %s (%s)\n", text.ShowLine(p.Name), text.ShowLine(p.Version), p.Format)
	for _, line := range []struct{ what, said string }{
		{"", p.Description}, {"author", p.Author}, {"license", p.License}, {"homepage", p.Homepage}, {"from", source}, {"content", "sha256 " + tree},
	} {
		switch {
		case line.said == "":
		case line.what == "":
			fmt.Fprintln(w, text.ShowLine(line.said))
		default:
			fmt.Fprintf(w, "%s: %s\n", line.what, text.ShowLine(line.said))
		}
	}
}

// showConsent shows sentences in full: what is cut off is where the bad part stands.
func showConsent(w io.Writer, c bundle.Consent) {
	for _, part := range []struct {
		head string
		list []string
	}{{"It adds:", c.Adds}, {"It changes:", c.Changes}, {"It removes:", c.Removes}} {
		showList(w, part.head, part.list)
	}
	showMeaning(w, c)
	if c.Empty() {
		fmt.Fprintln(w, "\nIt adds nothing.")
	}
}

func showList(w io.Writer, head string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", head)
	for _, s := range list {
		fmt.Fprintf(w, "  %s\n", text.ShowLine(s))
	}
}

// showMeaning says what the words in commands stand for that are known only once a bundle is installed.
func showMeaning(w io.Writer, c bundle.Consent) {
	said := strings.Join(slices.Concat(c.Adds, c.Changes), "\n")
	for _, word := range []struct{ sign, meaning string }{
		{bundle.Root, bundle.Root + " is the folder of the installed bundle."},
		{bundle.Data, bundle.Data + " is a folder that the bundle keeps over updates."},
		{"${ask:", "${ask:NAME} is what you give for NAME."},
	} {
		if strings.Contains(said, word.sign) {
			fmt.Fprintln(w, word.meaning)
		}
	}
}

func showLeft(w io.Writer, of string, left map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(left)) {
		fmt.Fprintf(w, "left out: server %s: %s\n", text.ShowLine(bundle.PartName(of, name)), text.ShowLine(left[name]))
	}
}

// mostShown is how much is shown below what a person says yes to: more would push that out
// of sight.
const mostShown = 20

func showNotes(w io.Writer, notes []bundle.Note) {
	for i, n := range notes {
		if i == mostShown {
			fmt.Fprintf(w, "and %d more notes\n", len(notes)-i)
			break
		}
		at := ""
		if n.Path != "" {
			at = n.Path + ": "
		}
		fmt.Fprintf(w, "note: %s%s\n", text.ShowLine(at), text.ShowLine(n.Text))
	}
}
