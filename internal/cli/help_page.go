package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcrib/toolcrib/internal/text"
)

// helpWidth is how wide a help page is at most: that of a terminal as it opens.
const helpWidth = 80

// helpPages has the pages of all commands written by this program: what is longer than
// a line of a terminal is wrapped where it is readable, which a terminal does not do.
func helpPages(root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		long := cmd.Long
		if long == "" {
			long = cmd.Short
		}
		fmt.Fprint(cmd.OutOrStdout(), wrapProse(strings.TrimSpace(long))+"\n\n"+usagePage(cmd))
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprint(cmd.OutOrStderr(), usagePage(cmd))
		return err
	})
}

func usagePage(cmd *cobra.Command) string {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Runnable() {
		b.WriteString(wrapLine("  "+cmd.UseLine(), 6) + "\n")
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("  " + cmd.CommandPath() + " [command]\n")
	}
	if len(cmd.Aliases) > 0 {
		b.WriteString("\nAliases:\n" + wrapLine("  "+cmd.NameAndAliases(), 2) + "\n")
	}
	if cmd.HasExample() {
		b.WriteString("\nExamples:\n" + wrapExamples(strings.TrimRight(cmd.Example, "\n")) + "\n")
	}
	b.WriteString(commandLists(cmd))
	b.WriteString(flagList("Flags", cmd.LocalFlags()) + flagList("Global Flags", cmd.InheritedFlags()))
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n" + wrapLine(fmt.Sprintf("Use %q for more information about a command.", cmd.CommandPath()+" [command] --help"), 0) + "\n")
	}
	return b.String()
}

// commandLists are the commands below one, in the groups that they are sorted into.
func commandLists(cmd *cobra.Command) string {
	var b strings.Builder
	groups := append(slices.Clone(cmd.Groups()), &cobra.Group{Title: "Available Commands:"}) // for those in none
	if len(groups) > 1 {
		groups[len(groups)-1] = &cobra.Group{Title: "Additional Commands:"}
	}
	for _, g := range groups {
		title := "\n" + g.Title + "\n"
		for _, sub := range cmd.Commands() {
			if sub.GroupID == g.ID && (sub.IsAvailableCommand() || sub.Name() == "help") {
				name := "  " + text.Pad(sub.Name(), sub.NamePadding()) + " "
				b.WriteString(title + wrapLine(name+sub.Short, len(name)) + "\n")
				title = ""
			}
		}
	}
	return b.String()
}

// flagList is a list of flags under its title; empty: there is none to show.
func flagList(title string, flags *pflag.FlagSet) string {
	var names, says []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "      --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		kind, say := pflag.UnquoteUsage(f)
		switch kind {
		case "":
		case "stringArray", "strings": // it may be given more than once
			name += " string…"
		default:
			name += " " + kind
		}
		if d := f.DefValue; d != "" && !slices.Contains([]string{"false", "0", "0s", "[]"}, d) {
			if f.Value.Type() == "string" {
				d = fmt.Sprintf("%q", d)
			}
			say += " (default " + d + ")"
		}
		names, says = append(names, name), append(says, say)
	})
	if len(names) == 0 {
		return ""
	}
	column := 0
	for _, name := range names {
		column = max(column, text.Width(name)+3)
	}
	var b strings.Builder
	b.WriteString("\n" + title + ":\n")
	for i, name := range names {
		b.WriteString(wrapLine(text.Pad(name, column)+says[i], column) + "\n")
	}
	return b.String()
}

// wrapProse wraps the paragraphs that have a line too long. What is indented, a list
// or a table, keeps its lines.
func wrapProse(s string) string {
	paragraphs := strings.Split(s, "\n\n")
	for i, p := range paragraphs {
		lines := strings.Split(p, "\n")
		if !slices.ContainsFunc(lines, func(l string) bool { return text.Width(l) > helpWidth }) {
			continue
		}
		if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, " ") || strings.HasPrefix(l, "\t") }) {
			for j, l := range lines {
				indent := len(l) - len(strings.TrimLeft(l, " "))
				if gap := strings.Index(strings.TrimSpace(l), "  "); gap > 0 { // a word and what it means
					rest := l[indent+gap:]
					indent += gap + len(rest) - len(strings.TrimLeft(rest, " "))
				}
				lines[j] = wrapLine(l, indent)
			}
			paragraphs[i] = strings.Join(lines, "\n")
			continue
		}
		paragraphs[i] = wrapLine(strings.Join(lines, " "), 0)
	}
	return strings.Join(paragraphs, "\n\n")
}

// wrapLine parts a line of a help page at spaces; what follows stands below column indent.
func wrapLine(s string, indent int) string { return wrapTo(s, indent, helpWidth) }

func wrapTo(s string, indent, wide int) string {
	var b strings.Builder
	for text.Width(s) > wide {
		at := -1
		for i := range s {
			if s[i] == ' ' && strings.TrimSpace(s[:i]) != "" && i > indent && (at < 0 || text.Width(s[:i]) <= wide) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		b.WriteString(strings.TrimRight(s[:at], " ") + "\n")
		s = strings.Repeat(" ", indent) + strings.TrimLeft(s[at:], " ")
	}
	return b.String() + s
}

// wrapExamples keeps examples that fit. In others the explanations move to the left,
// and a command that is too long by itself goes on in the next line, as in a shell.
func wrapExamples(s string) string {
	lines := strings.Split(s, "\n")
	if !slices.ContainsFunc(lines, func(l string) bool { return text.Width(l) > helpWidth }) {
		return s
	}
	const farthest = 46 // a column further to the right leaves an explanation no room
	column := 0
	commands, says := make([]string, len(lines)), make([]string, len(lines))
	for i, l := range lines {
		commands[i] = l
		if gap := strings.Index(strings.TrimSpace(l), "  "); gap > 0 {
			gap += len(l) - len(strings.TrimLeft(l, " "))
			commands[i], says[i] = l[:gap], strings.TrimSpace(l[gap:])
			if w := text.Width(commands[i]) + 2; w <= farthest {
				column = max(column, w)
			}
		}
	}
	column = max(column, 6)
	for i := range lines {
		switch c := wrapCommand(commands[i]); {
		case says[i] == "":
			lines[i] = c
		case text.Width(commands[i])+2 > column:
			lines[i] = c + "\n" + wrapLine(strings.Repeat(" ", column)+says[i], column)
		default:
			lines[i] = wrapLine(text.Pad(c, column)+says[i], column)
		}
	}
	return strings.Join(lines, "\n")
}

// wrapCommand parts a command line where a shell lets it go on: at a space between
// words. One that has no such place stays as it is.
func wrapCommand(s string) string {
	var b strings.Builder
	for text.Width(s) > helpWidth {
		at, quote := -1, byte(0)
		for i := range len(s) {
			switch c := s[i]; {
			case quote != 0 && c == quote:
				quote = 0
			case quote == 0 && (c == '\'' || c == '"'):
				quote = c
			case quote == 0 && c == ' ' && strings.TrimSpace(s[:i]) != "" && (at < 0 || i <= helpWidth-2) && !belongsTogether(s[:i], s[i+1:]):
				at = i
			}
		}
		if at < 0 {
			break
		}
		b.WriteString(s[:at] + " \\\n")
		s = "      " + strings.TrimLeft(s[at:], " ")
	}
	return b.String() + s
}

// belongsTogether reports whether the last word before a space and what follows are
// read as one: a flag and its value, a sign of the shell and its file.
func belongsTogether(before, after string) bool {
	words := strings.Fields(before)
	last := words[len(words)-1]
	return last == "<" || last == ">" || last == "|" || strings.HasPrefix(last, "-") && last != "--" && !strings.HasPrefix(after, "-")
}
