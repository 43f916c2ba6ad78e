package named_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/named"
)

func TestTakenBy(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"npx -y mcp-x", "mcp-x | mcp-x | | |"},
		{"/usr/bin/npx --yes @sc/mcp-y@1.2 --flag z", "@sc/mcp-y | @sc/mcp-y @sc/mcp-y@1.2 mcp-y | | |"},
		{"npx -p pkg@latest cmd a", "cmd pkg | cmd pkg | | |"},
		{"npx --registry http://h --package=pkg -c cmd", "cmd pkg | cmd pkg | | |"},
		{"npx foo@npm:bar@1", "bar foo | bar foo foo@npm:bar@1 | | |"},
		{"npx github:o/r", " | github:o/r | | |"},
		{"npx ../out", " |  | | |"},
		{`cmd /c C:\nodejs\npx.cmd mcp-x`, "mcp-x | mcp-x | | |"},
		{"bunx mcp-x", "mcp-x | mcp-x | | |"},
		{"pnpm dlx mcp-x", "mcp-x | mcp-x | | |"},
		{"npm exec -- mcp-x", "mcp-x | mcp-x | | |"},
		{"npm run x", " |  | | |"},
		{"deno run -A npm:@sc/d@2/bin", "@sc/d | @sc/d d | | |"},
		{"deno run -A npm:@sc/d@2", "@sc/d | @sc/d d | | |"},
		{"python -m mcp_server_git --repo .", " |  | mcp_server_git | | python"},
		{"python3.12 -u -mpkg.sub", " |  | pkg | | python"},
		{"python -um pkg", " |  | pkg | | python"},
		{"python -X dev -W ignore -m pkg", " |  | pkg | | python"},
		{"python -I -m pkg", " |  | | |"},
		{"python -Pm pkg", " |  | | |"},
		{"python x.py -m pkg", " |  | | |"},
		{"uv run -m pkg", " |  | pkg | | python"},
		{"uv run --with mcp python -m pkg", " |  | pkg | | python"},
		{"uvx pkg", " |  | | |"},
		{"pipx run pkg", " |  | | __pypackages__ |"},
		{"env A=b timeout 5 npx mcp-x", "mcp-x | mcp-x | | |"},
	} {
		words := strings.Fields(test.line)
		for _, form := range [][]string{words, {"bash", "-lc", test.line}} {
			got := named.TakenBy("me", form[0], form[1:], nil)
			var parts []string
			for _, list := range []map[string]string{got.Packages, got.Bins, got.Modules, got.Entries} {
				parts = append(parts, strings.Join(slices.Sorted(maps.Keys(list)), " "))
			}
			if got.Python != "" {
				parts = append(parts, "python")
			}
			if diff := cmp.Diff(strings.Fields(test.want), strings.Fields(strings.Join(parts, " | ")+strings.Repeat(" |", 5-len(parts)))); diff != "" {
				t.Errorf("%q: %s", form, diff)
			}
		}
	}
	if named.TakenBy("me", "python", []string{"-m", "x"}, map[string]string{"PYTHONSAFEPATH": "1"}).Any() {
		t.Error("Python was told to look elsewhere")
	}
}

func FuzzTakenBy(f *testing.F) {
	f.Add("npx -y @a/b@1 -p c")
	f.Add("sh -c 'python -um x.y'")
	f.Add("npm exec @ --package= ../..")
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, " ")
		got := named.TakenBy("me", words[0], append(words[1:], line), nil)
		for _, list := range []map[string]string{got.Packages, got.Bins, got.Modules, got.Entries} {
			for name := range list {
				if name == "" || name == "." || strings.HasPrefix(name, "/") || slices.Contains(strings.Split(name, "/"), "..") && strings.HasPrefix(name, "..") {
					t.Errorf("%q of %q", name, line)
				}
			}
		}
	})
}
