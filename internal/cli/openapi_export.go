package cli

import (
	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
)

func (c *command) openapiExportCmd() *cobra.Command {
	var server string
	cmd := &cobra.Command{
		Use: "export", Short: "Write Toolcrib's own tools as an OpenAPI 3.1 document",
		Long: `Write the tools that exist for you as an OpenAPI 3.1 document, for programs that do
not speak MCP. 'toolcrib serve' answers it, and gives it out at /openapi.json: a tool
is called by POST /v1/tools/NAME with its arguments as JSON, and with the token that
MCP over HTTP needs too.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, _, err := c.load()
			if err != nil {
				return err
			}
			caller, err := c.caller(app.APIFrontend, dialect.Native)
			if err != nil {
				return err
			}
			a, err := c.openFor(cmd.Context(), app.ToList, nil)
			if err != nil {
				return err
			}
			defer c.closeApp(cmd.Context(), a)
			if server == "" {
				server = baseURL(loaded.Value.Serve, loaded.Value.Serve.Listen)
			}
			text, err := a.ToolDocument(caller, server, version())
			if err != nil {
				return err
			}
			_, err = c.out.Write(text)
			return err
		},
	}
	cmd.Flags().StringVar(&server, "server", "", "the address that it is served at (default from serve.listen)")
	return cmd
}
