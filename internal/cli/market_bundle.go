package cli

import (
	"context"
	"fmt"
)

// installBundle hands a source to the installer of bundles.
func (c *command) installBundle(_ context.Context, source string, _ bool) error {
	fmt.Fprintf(c.out, "Install it with: toolcrib bundle install %s\n", shellWord(source))
	return nil
}
