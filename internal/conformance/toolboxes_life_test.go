package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestGenuineToolboxesLife: a thousand calls at once; the process of a toolbox is
// killed in mid-call; and how fast one caller is.
func TestGenuineToolboxesLife(t *testing.T) {
	f := genuine(t)
	env := f.with(t, f.base, "odd")
	b := battery{dir: t.TempDir(), config: map[string]map[string]any{"odd-tools": {}}}
	vars := b.home(t, map[string]environment{"field": env}, "")
	t.Run("killed", func(t *testing.T) { killed(t, vars) })
	t.Run("inside", func(t *testing.T) { b.inside(t, env, vars) })
}

// wantRate is how fast one caller is to be through Toolcrib, with everything on that a
// fresh machine has, as a part of the rate without us, for a tool that takes a
// millisecond. It is that of a machine with nothing else to do; on one that is busy,
// three processes wait for their turns where the genuine code is one, so that the
// test fails below leastRate only, and tells what it saw.
const wantRate, leastRate = 0.7, 0.4

// inside calls a toolbox from a Go program, and from a client over MCP.
func (b battery) inside(t *testing.T, env environment, vars []string) {
	const calls, rounds = 400, 5
	file := unraced(t)
	lib := startLibrary(t, file, vars)
	if failed := lib.ask(t, libraryAsks{AtOnce: 1000}).Failed; failed != "" {
		t.Errorf("of a thousand calls at once, some failed: %s", failed)
	}
	toolcrib := filepath.Join(t.TempDir(), "toolcrib"+exeSuffix()) // by its name it is the program
	if err := os.Link(file, toolcrib); err != nil {
		t.Fatal(err)
	}
	s, _ := session(t, toolcrib, vars)
	alone := b.alone(t, env)
	best := 0.0
	for range rounds {
		directly := alone(nil, calls).Seconds
		library := lib.ask(t, libraryAsks{Calls: calls}).Seconds
		begin := time.Now()
		for i := range calls {
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "sleep", Arguments: map[string]any{"turn": i}})
			if err != nil || r.IsError {
				t.Fatalf("%v, %+v", err, r)
			}
		}
		overMCP := time.Since(begin).Seconds()
		t.Logf("a call takes %.0f µs by itself, %.0f µs from Go (%.2f of the rate), %.0f µs over MCP (%.2f)",
			directly/calls*1e6, library/calls*1e6, directly/library, overMCP/calls*1e6, directly/overMCP)
		best = max(best, directly/library)
	}
	said := fmt.Sprintf("the best of %d rounds has %.2f of the rate of the genuine code, and is to have %.2f", rounds, best, wantRate)
	if t.Log(said); best < leastRate {
		t.Error(said)
	}
}
