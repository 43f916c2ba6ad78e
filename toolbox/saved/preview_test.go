package saved

import (
	"context"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// TestNobodyIsAskedAboutAScriptWithoutItsTools: a kept script whose tools are gone, or
// can do more than when a person saw it, is refused before anybody is asked.
func TestNobodyIsAskedAboutAScriptWithoutItsTools(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*world)
		asked  int
		want   string
	}{
		"as it was":          {func(*world) {}, 1, ""},
		"its tool is gone":   {func(w *world) { delete(w.tools, "close_issue") }, 0, "save the script without it (script_save)"},
		"its tool does more": {func(w *world) { w.tools["close_issue"] = toolcrib.Writes | toolcrib.Destroys }, 0, "script_save"},
		"nothing runs it":    {func(w *world) { w.box.needs.Run = nil }, 0, "nothing here that runs scripts"},
	} {
		p := willing()
		w := open(t, p, nil)
		if err := w.shelf.Put(t.Context(), Script{Name: "tidy", Description: "Tidies.", Code: "@close_issue", Calls: []Called{{Name: "close_issue", Box: "gh", Native: "close_issue", Effects: toolcrib.Writes}}}); err != nil {
			t.Fatal(err)
		}
		tt.change(w)
		w.load()
		w.Guards = []toolcrib.Guard{askFor("tidy")}
		_, err := w.call(t, "tidy", args{})
		if len(p.asked) != tt.asked || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: asked %d times, %v", name, len(p.asked), err)
		}
	}
}

// askFor has a person asked about one tool, and allows the others.
func askFor(tool string) toolcrib.Guard {
	return cribtest.GuardFunc(func(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
		v := &toolcrib.Verdict{Decision: toolcrib.Allow, Guard: "fake"}
		if r.Spec.Name == tool {
			v.Decision = toolcrib.Ask
		}
		return v, nil
	})
}
