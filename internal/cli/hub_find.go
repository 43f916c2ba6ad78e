package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/setup"
	"github.com/toolcrib/toolcrib/internal/text"
)

// machine says where the files of other clients lie.
func (c *command) machine() setup.Machine {
	m := setup.Machine{GOOS: runtime.GOOS, Home: c.home(), Dir: c.dir, Env: c.getenv}
	if exe, err := os.Executable(); err == nil {
		m.Exe = exe
		if at, err := filepath.EvalSymlinks(exe); err == nil {
			m.Exe = at // as connect writes it
		}
	}
	return m
}

func (c *command) codec() clientfiles.Codec { return c.machine().Codec() }

// find reads the files of an import. A file that was not asked for by name and
// cannot be read is told and left.
func (c *command) find(files []string, from string) ([]setup.Taken, error) {
	if from != "" && !slices.Contains(clientfiles.Clients(), from) {
		return nil, usagef("--from is %q: want one of %s", from, strings.Join(clientfiles.Clients(), ", "))
	}
	m, found := c.machine(), &setup.Survey{}
	if len(files) == 0 {
		found = m.Survey(from)
	}
	for _, path := range files {
		if err := m.Named(found, from, path); err != nil {
			return nil, usage(err)
		}
	}
	for _, l := range found.Left {
		c.leftOut("%s: %s", l.File, l.Text)
	}
	for _, line := range found.ElsewhereText() {
		c.leftOut("%s", line)
	}
	return found.Servers, nil
}

// leftOut names what an import does not take over.
func (c *command) leftOut(format string, args ...any) {
	fmt.Fprintf(c.err, "toolcrib: warning: left out: %s\n", text.ShowLine(fmt.Sprintf(format, args...)))
}
