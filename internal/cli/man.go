package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCmd writes the manual pages. It is for whoever makes packages, and hidden.
func (c *command) manCmd() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages into a directory", Hidden: true,
		Long:    "Write a manual page for every command into a directory, for packages.",
		Example: "  toolcrib man ./man1",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.InitDefaultCompletionCmd()
			return writeManuals(root, args[0], thisBuild())
		},
	}
}

// writeManuals writes the page of a command and of those below it.
func writeManuals(cmd *cobra.Command, dir string, b built) error {
	if err := os.WriteFile(filepath.Join(dir, manName(cmd)+".1"), manual(cmd, b), 0o644); err != nil { // manual pages are for everybody
		return err
	}
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if err := writeManuals(sub, dir, b); err != nil {
			return err
		}
	}
	return nil
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manual is the page of one command, in the language of man.
func manual(cmd *cobra.Command, b built) []byte {
	var out bytes.Buffer
	date := ""
	if at, err := time.Parse(time.RFC3339, b.Date); err == nil {
		date = at.UTC().Format(time.DateOnly)
	}
	fmt.Fprintf(&out, ".TH %q 1 %q %q %q\n", strings.ToUpper(manName(cmd)), date, "Toolcrib "+b.Version, "Toolcrib")
	fmt.Fprintf(&out, ".SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	fmt.Fprintf(&out, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	out.WriteString(".SH DESCRIPTION\n")
	for i, paragraph := range strings.Split(strings.TrimSpace(long), "\n\n") {
		if i > 0 {
			out.WriteString(".PP\n")
		}
		if strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ") { // a list or a table
			fmt.Fprintf(&out, ".nf\n%s\n.fi\n", roff(paragraph))
			continue
		}
		fmt.Fprintf(&out, "%s\n", roff(paragraph))
	}
	manualFlags(&out, "OPTIONS", cmd.NonInheritedFlags())
	manualFlags(&out, "OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(&out, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(strings.TrimRight(cmd.Example, "\n")))
	}
	manualOthers(&out, cmd)
	return out.Bytes()
}

func manualFlags(out *bytes.Buffer, head string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(out, ".SH %s\n", head)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if kind != "" {
			name += " " + kind
		}
		fmt.Fprintf(out, ".TP\n.B %s\n%s\n", roff(name), roff(usage))
	})
}

// manualOthers names the command above and those below.
func manualOthers(out *bytes.Buffer, cmd *cobra.Command) {
	var names []string
	if cmd.HasParent() {
		names = append(names, manName(cmd.Parent()))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, manName(sub))
		}
	}
	if len(names) == 0 {
		return
	}
	out.WriteString(".SH SEE ALSO\n")
	for i, name := range names {
		comma := ","
		if i == len(names)-1 {
			comma = ""
		}
		fmt.Fprintf(out, ".BR %s (1)%s\n", roff(name), comma)
	}
}

// roff escapes what man would take for its own: backslashes, dashes, and a dot or
// a quote at the beginning of a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
