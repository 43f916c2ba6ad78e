package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/text"
)

// finish gives every command what all of them have: other names for what people know by
// them, an example, and a word on what may have been meant.
func finish(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	known := examples()
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		aliases(cmd)
		if lines := known[strings.TrimPrefix(cmd.CommandPath(), "toolcrib ")]; cmd.Example == "" && lines != "" {
			cmd.Example = "  " + strings.ReplaceAll(lines, "\n", "\n  ")
		}
		if cmd.HasSubCommands() && !cmd.Runnable() {
			cmd.Args = usageArgs(cobra.NoArgs)
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
		if cmd.HasParent() && cmd.Parent().Name() == "completion" {
			cmd.Args = usageArgs(cobra.NoArgs) // the library's own says it otherwise
		}
		for _, sub := range cmd.Commands() {
			each(sub)
		}
	}
	each(root)
}

// aliases lets people write what other programs have taught them: ls for list, rm for
// remove, and --yes after a remove, which does not ask anyway.
func aliases(cmd *cobra.Command) {
	switch cmd.Name() {
	case "list":
		cmd.Aliases = append(cmd.Aliases, "ls")
	case "rm":
		cmd.Aliases = append(cmd.Aliases, "remove")
	case "remove":
		cmd.Aliases = append(cmd.Aliases, "rm")
		if cmd.Flags().Lookup("yes") == nil {
			cmd.Flags().BoolP("yes", "y", false, "")
			cmd.Flags().Lookup("yes").Hidden = true
		}
	}
}

// meant says which commands of a group may have been meant by a word; empty: none.
func meant(cmd *cobra.Command, word string) string {
	word = strings.ToLower(word)
	byMeaning, byName := sameWord(cmd, word)
	if len(byMeaning) > 0 {
		return chooseFrom(byMeaning) // what is called that in some group is rarely meant by it
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(append(names, sub.Name()), sub.Aliases...)
		}
	}
	if name := text.Nearest(word, names); name != "" {
		return cmd.CommandPath() + " " + name
	}
	if len(word) > 1 {
		for _, name := range names {
			if strings.HasPrefix(name, word) {
				return cmd.CommandPath() + " " + name
			}
		}
	}
	return chooseFrom(byName)
}

// sameWord finds the commands of a group, and from the top those of all groups, that a
// word stands for (SuggestFor) or that have it as their name.
func sameWord(cmd *cobra.Command, word string) (byMeaning, byName []string) {
	all := cmd.Commands()
	if cmd.Parent() == nil {
		for _, group := range cmd.Commands() {
			all = append(all, group.Commands()...)
		}
	}
	for _, sub := range all {
		switch {
		case !sub.IsAvailableCommand():
		case slices.Contains(sub.SuggestFor, word):
			byMeaning = append(byMeaning, sub.CommandPath())
		case sub.Name() == word:
			byName = append(byName, sub.CommandPath())
		}
	}
	return byMeaning, byName
}

// chooseFrom names a few commands to choose from.
func chooseFrom(commands []string) string {
	return strings.Join(commands[:min(len(commands), 3)], ", or ")
}

// unknownCommand says that a group has no such command.
func unknownCommand(cmd *cobra.Command, word string) error {
	if hint := meant(cmd, word); hint != "" {
		return usagef("%s has no command %q. Did you mean: %s", cmd.CommandPath(), word, hint)
	}
	return usagef("%s has no command %q; '%s --help' lists them", cmd.CommandPath(), word, cmd.CommandPath())
}

// expandPaths lets a leading ~/ in an argument that is a path mean the person's home, also
// where no shell has seen to it: within quotes, or on Windows.
func (c *command) expandPaths(cmd *cobra.Command) {
	form, run := formOf(cmd), cmd.RunE
	program := strings.Contains(form, "PROGRAM") // what follows it is the program's own
	if run != nil && (program || strings.Contains(form, "FILE") || strings.Contains(form, "DIR") || strings.Contains(form, "PATH") || strings.Contains(form, "SOURCE")) {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			args = slices.Clone(args)
			for i := range args {
				if i == 0 || !program {
					args[i] = c.expanded(args[i])
				}
			}
			return run(cmd, args)
		}
	}
	for _, sub := range cmd.Commands() {
		c.expandPaths(sub)
	}
}

// prepare is done before any command: a leading ~/ in a flag that is a path means the
// person's home, as it does without the flag's name before it.
func (c *command) prepare(cmd *cobra.Command) {
	for _, name := range [...]string{"config", "cwd", "dir", "file", "from", "key", "python", "to"} {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Value.Type() == "string" && strings.HasPrefix(flag.Value.String(), "~/") {
			_ = flag.Value.Set(c.expanded(flag.Value.String())) // a text takes every text
		}
	}
	top := cmd
	for top.HasParent() && top.Parent().HasParent() {
		top = top.Parent()
	}
	switch top.Name() {
	case "doctor", "config", "policy", "trust":
		c.thorough = true
	case "tools":
		c.thorough = cmd.Name() == "check" || cmd.Name() == "try"
	}
}
