package cli

import "github.com/spf13/cobra"

// aliases lets people write what other programs have taught them: ls for list, rm for
// remove, and --yes after a remove, which does not ask anyway.
func aliases(cmd *cobra.Command) {
	switch cmd.Name() {
	case "list":
		cmd.Aliases = append(cmd.Aliases, "ls")
	case "remove":
		cmd.Aliases = append(cmd.Aliases, "rm")
		if cmd.Flags().Lookup("yes") == nil {
			cmd.Flags().BoolP("yes", "y", false, "")
			cmd.Flags().Lookup("yes").Hidden = true
		}
	}
	for _, sub := range cmd.Commands() {
		aliases(sub)
	}
}
