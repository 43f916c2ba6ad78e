package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/openapis"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) openapiGrantCmd() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "grant NAME [HOST...]", Short: "Let a document's tools reach hosts; without HOST, the public ones that it names",
		Args: usageArgs(cobra.MinimumNArgs(1)), ValidArgsFunction: c.completeAPI,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.openapiGrant(cmd.Context(), args[0], args[1:], yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "grant what is shown without being asked")
	return cmd
}

func (c *command) openapiGrant(ctx context.Context, name string, hosts []string, yes bool) error {
	a, err := c.apis(ctx, name, looking)
	if err != nil {
		return err
	}
	defer c.closeAPIs(a)
	api, _ := a.Get(name)
	missing := openapis.Ungranted(api.Box().Hosts(), api.Hosts())
	if len(hosts) == 0 {
		var withheld []string
		hosts, withheld = openapis.Propose(missing, api.Where())
		for _, host := range withheld {
			fmt.Fprintf(c.out, "%s is not public, so that you have to name it: toolcrib openapi grant %s %s\n", text.ShowLine(host), name, text.ShellWord(text.ShowLine(host)))
		}
		if len(hosts) == 0 {
			if len(withheld) == 0 {
				fmt.Fprintf(c.out, "All hosts that %s calls are granted.\n", name)
			}
			return nil
		}
	}
	if _, err := openapis.Config(name, settings.OpenAPI{Hosts: hosts}); err != nil {
		return usage(err)
	}
	if !yes {
		if ok, err := c.confirm(fmt.Sprintf("Let the tools of %s reach %s?", name, text.ShowLine(strings.Join(hosts, ", ")))); err != nil || !ok {
			return err
		}
	}
	file, err := c.editConfig(func(text []byte) ([]byte, error) {
		value, there, err := config.Entry(text, "openapi", name)
		entry, ok := value.(map[string]any)
		if err != nil || !there || !ok {
			return nil, fmt.Errorf("the file does not have the document %s (%w)", name, err)
		}
		list, _ := entry["hosts"].([]any)
		all := make([]string, 0, len(list)+len(hosts))
		for _, h := range list {
			all = append(all, fmt.Sprint(h))
		}
		for _, h := range hosts {
			if !slices.Contains(all, h) {
				all = append(all, h)
			}
		}
		entry["hosts"] = all
		return config.SetEntry(text, "openapi", name, entry)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Its tools reach %s now, by %s.\n", text.ShowLine(strings.Join(hosts, ", ")), file)
	return nil
}
