package cli

import "github.com/spf13/cobra"

func (c *command) toolsTryCmd() *cobra.Command { return &cobra.Command{Use: "try"} }
