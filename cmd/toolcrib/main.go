// Command toolcrib keeps the tools of AI agents: it lists them, calls them,
// serves them over MCP, and shows what was done with them.
package main

import (
	"os"
	_ "time/tzdata" // zones for get_current_datetime on machines that have none

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/cli"
)

func main() {
	app.Shim()
	os.Exit(cli.Main())
}
