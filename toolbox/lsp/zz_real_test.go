package lsp

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestReal(t *testing.T) {
	root := os.Getenv("REPO")
	r := newRigAt(t, root, Config{}, Needs{Run: plainly, Scan: scanned, Find: exec.LookPath})
	lap := func(what string, do func() any) {
		start := time.Now()
		out := do()
		t.Logf("%s %v %v", what, time.Since(start), out)
	}
	for range 3 {
		lap("def", func() any {
			return ask[definitionOut](r, "lsp_goto_definition", args{"file": "toolbox/lsp/lsp.go", "line": 107, "symbol": "open"})
		})
		lap("refs", func() any {
			return ask[referencesOut](r, "lsp_find_references", args{"file": "toolbox.go", "line": 12, "symbol": "Toolbox"}).Count
		})
		lap("hover", func() any {
			return ask[hoverOut](r, "lsp_hover", args{"file": "toolbox/lsp/lsp.go", "line": 107, "symbol": "open"})
		})
		lap("diag", func() any { return ask[diagnosticsOut](r, "lsp_diagnostics", args{"file": "toolbox/lsp/lsp.go"}) })
		lap("sym", func() any { return ask[symbolsOut](r, "lsp_symbols", args{"file": "toolbox/lsp/lsp.go"}) })
		lap("wsym", func() any { return ask[symbolsOut](r, "lsp_symbols", args{"query": "planRename"}) })
	}
}
