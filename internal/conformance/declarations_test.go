package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/find"
	"github.com/toolcrib/toolcrib/internal/tsdecl"
	"github.com/toolcrib/toolcrib/toolbox/openapi"
)

// TestGenuineDeclarations: the TypeScript compiler takes the declarations of every tool of GitHub's document and of our own, whole and short, and
// a program that uses them rightly; and it finds the mistake in one that does not.
func TestGenuineDeclarations(t *testing.T) {
	dir := t.TempDir()
	if err := eachFile(fetchPackage(t, typescriptPackage), func(name string) bool { return strings.HasPrefix(name, "lib/") && strings.Count(name, "/") == 1 }, func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o600); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	api, err := openapi.Open(t.Context(), openapi.Config{Name: "github", BaseURL: "https://forge.test"}, openapi.Needs{Document: githubDocument(t)})
	if err != nil {
		t.Fatal(err)
	}
	specs, err := api.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var tools []tsdecl.Tool
	schemas := 0
	for _, s := range specs {
		tools = append(tools, tsdecl.Tool{Name: s.Name, Description: s.Description, Input: s.Input, Output: s.Output})
		schemas += find.Tokens(s.Name) + find.Tokens(s.Description) + find.Tokens(string(s.Input)) + find.Tokens(string(s.Output))
	}
	own, err := filepath.Glob("../../toolbox/*/testdata/specs/*.json")
	if err != nil || len(own) < 10 {
		t.Fatal(own, err)
	}
	for _, file := range own {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list []toolcrib.Spec
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			tools = append(tools, tsdecl.Tool{Name: s.Name, Description: s.Description, Input: s.Input, Output: s.Output})
			schemas += find.Tokens(s.Name) + find.Tokens(s.Description) + find.Tokens(string(s.Input)) + find.Tokens(string(s.Output))
		}
	}
	evil := "*/ }\nevil(): any\r\u2028evil()\u2029\u202e \\"
	for _, name := range []string{evil, "new", "get", "set", "readonly", "constructor", "static", "async", "in", "__proto__", "0", "a-b", "", "type"} {
		tools = append(tools, tsdecl.Tool{Name: name, Description: evil, Input: json.RawMessage(`{"type":"object","properties":{"new":{"type":"string"},"get":{},"readonly":{"const":"\u2028"},"a-b":{"enum":[1,-2.5,null]},"":{"type":"array","prefixItems":[{"type":"string"},{"anyOf":[{"type":"null"},{"$ref":"#"}]}]}},"required":["get"]}`)})
	}
	for _, tokens := range []int{1500, 200, 60} {
		begun := time.Now()
		text := tsdecl.Declare(tools, tokens)
		t.Logf("%d tools: the schemas %d tokens a tool, declarations within %d: %d, in %v", len(tools), schemas/len(tools), tokens, find.Tokens(text)/len(tools), time.Since(begun).Round(time.Millisecond))
		if tokens == 1500 {
			text += "export const ok = (tools[\"issues_list-for-repo\"]({owner: \"a\", repo: \"b\", state: \"open\"}).result ?? []).map(i => i?.number ?? 0)\n" +
				"// @ts-expect-error\nexport const bad = tools[\"issues_list-for-repo\"]({owner: 1, repo: \"b\"})\n" +
				"// @ts-expect-error\nexport const missing = tools[\"issues_list-for-repo\"]({owner: \"a\"})\n"
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("tools%d.ts", tokens)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	begun := time.Now()
	cmd := exec.CommandContext(ctx, "node", filepath.Join(dir, "tsc.js"), "--noEmit", "--strict", "--target", "es2022", "--moduleDetection", "force", "--lib", "es2022",
		filepath.Join(dir, "tools1500.ts"), filepath.Join(dir, "tools200.ts"), filepath.Join(dir, "tools60.ts"))
	cmd.WaitDelay = 10 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out[:min(len(out), 4000)])
	}
	t.Logf("the compiler took %v", time.Since(begun).Round(time.Millisecond))
}
