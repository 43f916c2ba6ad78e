package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// TestRulesOf: a rule means the tool that was asked about, also where that is called like
// one of ours, as tools of the bus, of a project or of a server can be.
func TestRulesOf(t *testing.T) {
	wide := []desk.By{desk.ByTool, desk.ByServer}
	for _, c := range []struct {
		q    desk.Question
		by   desk.By
		want string
	}{
		{desk.Question{Box: "web", Native: "web_fetch", Wide: wide[:1]}, "", "web/web_fetch"},
		{desk.Question{Box: "ovosbox", Native: "files__write_file", Wide: wide}, "", "ovosbox/files__write_file"},
		{desk.Question{Box: "project", Native: "delete_file", Wide: wide[:1]}, "", "project/delete_file"},
		{desk.Question{Box: "shop", Native: "order", Wide: wide}, "", "shop/order"},
		{desk.Question{Box: "shop", Native: "order", Wide: wide}, desk.ByServer, "shop/*"}, // undeclared: all
		{desk.Question{Box: "shop", Native: "order", Wide: wide, Effects: toolcrib.Reads | toolcrib.Network}, desk.ByServer, "shop/* + effects:reads,network"},
		{desk.Question{Box: "files", Native: "write_file", Wide: []desk.By{desk.ByDirectory}, Dir: "/p/a*"}, "", ""},
		{desk.Question{Box: "shop", Native: "order", Wide: wide, Floor: true}, "", ""},
	} {
		if got := strings.Join(rulesOf(&c.q, c.by), " and "); got != c.want {
			t.Errorf("%s of %s by %q: %q, want %q", c.q.Native, c.q.Box, c.by, got, c.want)
		}
	}
}

// TestRuleForSomebodyElse: what another person's call asked does not become a rule for
// everybody.
func TestRuleForSomebodyElse(t *testing.T) {
	o := newOffice(t)
	id := o.leave("a.txt")
	out, status := o.run("approvals", "allow", id, "--rule")
	if status == 0 || !strings.Contains(out, "somebody else") {
		t.Errorf("%d: %s", status, out)
	}
	list, err := o.desk.Questions(t.Context(), desk.Filter{State: desk.Open})
	if err != nil || !slices.ContainsFunc(list, func(q desk.Question) bool { return q.ID == id }) {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestShownQuestionsCanBeNamed: what a question is shown by picks it with --tool, and
// allows its tool as a rule; so do the other forms of its name pick it. A name that who
// supplies the tool has chosen, and that another tool may have, picks it to be denied only.
func TestShownQuestionsCanBeNamed(t *testing.T) {
	for _, c := range []struct {
		q                    desk.Question
		shown, forms, denies string
	}{
		{desk.Question{Tool: "parrot__echo", Box: "ovosbox", Native: "parrot__echo"}, "ovosbox/parrot__echo", "ovosbox/parrot__echo", "parrot__echo mcp__toolcrib__parrot__echo"},
		{desk.Question{Tool: "shop__order", Box: "shop", Native: "order"}, "shop__order", "shop/order mcp__shop__order", "order"},
		{desk.Question{Tool: "shop__deep__work", Box: "shop", Native: "deep__work"}, "shop/deep__work", "mcp__toolcrib__shop/deep__work", "shop__deep__work mcp__shop__deep__work"},
		{desk.Question{Tool: "deploy", Box: "project", Native: "deploy"}, "project/deploy", "project__deploy", "deploy"},
		{desk.Question{Tool: "bash_exec", Box: "shell", Native: "run_command"}, "bash_exec", "shell/run_command toolcrib/bash_exec", "run_command"},
	} {
		if got := summary(&c.q); got != c.shown {
			t.Errorf("it is shown as %q, want %q", got, c.shown)
		}
		for _, name := range append(strings.Fields(c.forms), c.shown) {
			for _, gives := range []bool{false, true} {
				if m := (&many{tool: name, gives: gives}); !m.fits(&c.q) {
					t.Errorf("--tool %s does not pick %s (%t)", name, c.shown, gives)
				}
			}
		}
		for name := range strings.FieldsSeq(c.denies) {
			if m := (&many{tool: name}); !m.fits(&c.q) {
				t.Errorf("--tool %s does not pick %s", name, c.shown)
			}
			if m := (&many{tool: name, gives: true}); m.fits(&c.q) {
				t.Errorf("--tool %s allows %s", name, c.shown)
			}
		}
		for _, name := range []string{"other/" + c.q.Native, c.q.Box + "/other", "parrot/echo"} {
			if m := (&many{tool: name}); m.fits(&c.q) {
				t.Errorf("--tool %s picks %s", name, c.shown)
			}
		}
	}
}
