package policy

import (
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// FuzzRule: whatever is written, a rule that is taken can be held against any
// call; and what it gives as an allow it takes as a deny.
func FuzzRule(f *testing.F) {
	for _, rule := range slices.Concat(rulePool(), []string{"read_file(**/*.{a,b})", "write_file(~/x)", "x(k:v*)", "run_command(rm -rf *)", "run_command(a* b)", "list_files(/)", "group:fs+effect:writes(./a)"}) {
		for _, value := range []string{"src/a", "../x", "git push -f", "npm run x && $Y", "https://a.example.com:1/"} {
			f.Add(rule, value)
		}
	}
	machine := shelltest.NewMachine()
	opt := testOptions()
	opt.Shell = shellOn(f, machine)
	f.Fuzz(func(t *testing.T, rule, value string) {
		gives, err := NewRules([]Layer{{Rank: RankUser, Permissions: Permissions{Allow: []string{rule}}}}, opt)
		if err != nil {
			gives = nil
		}
		takes, err := NewRules([]Layer{{Rank: RankUser, Permissions: Permissions{Deny: []string{rule}}}}, opt)
		if err != nil {
			if gives != nil {
				t.Fatalf("%q is taken as an allow and not as a deny: %v", rule, err)
			}
			return
		}
		for _, spec := range []toolcrib.Entry{fileTool("write_file"), fileTool("search_files"), shellTool("run_command"), {Box: "web", Native: "web_fetch"}, {Spec: toolcrib.Spec{Group: "mcp"}, Box: "github", Native: "x"}} {
			r := toolcrib.Review{Spec: spec, Input: mustJSON(t, map[string]string{"path": value, "command": value, "url": value, "k": value})}
			said := takes.judge(&r, nil)
			if gives == nil {
				continue
			}
			if given := gives.judge(&r, nil); given.rule != nil && said.rule == nil {
				t.Errorf("%q allows %s %q and does not deny it", rule, spec.Native, value)
			}
		}
	})
}

// FuzzPath: no spelling of a path that a file system would take for one in the
// directory slips past its deny, and none that leads out gets its allow.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"src/a", "src/../b", "./src//x", "SRC/a", "/home/ann/proj/src/x", "link-out/x", "s\u200brc/a", "src", "src/.", "~/x", "a/./../src/b"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, given string) {
		at := places{base: work, home: home, resolve: shelltest.NewMachine().EvalSymlinks}
		gives, err := parsePathSpec("./src/**", at, true)
		if err != nil {
			t.Fatal(err)
		}
		takes, err := parsePathSpec("./src/**", at, false)
		if err != nil {
			t.Fatal(err)
		}
		forms := formsOf(given, &at)
		if gives.matches(forms) && (!takes.mayMatch(forms) || len(pathglob.Elements(given)) == 0) {
			t.Errorf("%q is allowed and not denied", given)
		}
		found, err := at.real(inWork(given))
		if err == nil && pathglob.Within(found, []string{work + "/src"}) {
			if !takes.mayMatch(forms) {
				t.Errorf("%q is in src and not denied", given)
			}
		} else if gives.matches(forms) {
			t.Errorf("%q is not in src and allowed", given)
		}
	})
}

func inWork(given string) string {
	if given != "" && given[0] == '/' {
		return given
	}
	return work + "/" + given
}
