package desk_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// TestGrantsAreForTheScriptsAsTheyWere: what was allowed for longer is asked
// again when a script that would run is another, and holds again when it is as
// it was. The person is told which.
func TestGrantsAreForTheScriptsAsTheyWere(t *testing.T) {
	one, two := desk.File{Path: "/srv/project/s.sh", Sum: "1"}, desk.File{Path: "/srv/project/Makefile", Sum: "1"}
	other := desk.File{Path: one.Path, Sum: "2"}
	moved := desk.File{Path: "/srv/project/sub/s.sh", Sum: "1"}
	for name, c := range map[string]struct {
		now           []desk.File
		exact, byRule bool
		tells         string
	}{
		"the same":       {[]desk.File{one, two}, true, true, ""},
		"another order":  {[]desk.File{two, one}, true, true, ""},
		"another text":   {[]desk.File{other, two}, false, false, one.Path},
		"another place":  {[]desk.File{moved, two}, false, false, moved.Path},
		"one more":       {[]desk.File{one, two, moved}, false, false, moved.Path},
		"one is missing": {[]desk.File{one}, false, true, two.Path},
	} {
		for _, choice := range []desk.Choice{desk.AllowSession, desk.AllowProject, desk.AllowAlways} {
			for way, byRule := range map[desk.By]bool{desk.ByArguments: false, desk.ByRule: true} {
				t.Run(name+" "+string(choice), func(t *testing.T) {
					files := []desk.File{one, two}
					bubble(t, func(cfg *desk.Config) {
						cfg.Terms = func(toolcrib.Question) desk.Terms {
							return desk.Terms{Files: files, Rules: []string{"write_file(a.txt)"}}
						}
					}, func(t *testing.T, d *desk.Desk) {
						call := start(t.Context(), t, d, ask())
						synctest.Wait()
						q := theOne(t, d)
						if len(q.Changed) > 0 || !strings.Contains(q.Remembers(way), "as long as "+one.Path+" or "+two.Path+" is not changed") {
							t.Errorf("%q, %q", q.Changed, q.Remembers(way))
						}
						for _, f := range q.Files {
							if f.Sum == "1" {
								t.Error("the fingerprint is kept as it came")
							}
						}
						answer(t, d, q.ID, desk.Reply{Choice: choice, By: way})
						if o := call.got(); o.err != nil || o.answer.Decision != toolcrib.Allow {
							t.Fatalf("%+v", o)
						}
						files = c.now
						if c.exact && !byRule || c.byRule && byRule {
							unasked(t, d, ask())
						} else {
							q := asked(t, d, ask())
							told := ""
							for _, part := range q.Describe() {
								if part.Kind == desk.PartNotes {
									told = strings.Join(part.Lines, "\n")
								}
							}
							if !strings.Contains(told, c.tells+" has changed since") {
								t.Errorf("it does not say that %s changed: %q", c.tells, told)
							}
						}
						files = []desk.File{one, two}
						unasked(t, d, ask())
					})
				})
			}
		}
	}
}

// TestScriptsChangeWhileSomebodyThinks: the answer that lasts is for what was
// shown, and the call that would run something else is asked again.
func TestScriptsChangeWhileSomebodyThinks(t *testing.T) {
	files := []desk.File{{Path: "/s.sh", Sum: "1"}}
	bubble(t, func(cfg *desk.Config) {
		cfg.Terms = func(toolcrib.Question) desk.Terms { return desk.Terms{Files: files} }
	}, func(t *testing.T, d *desk.Desk) {
		call := start(t.Context(), t, d, ask())
		synctest.Wait()
		first := theOne(t, d)
		files = []desk.File{{Path: "/s.sh", Sum: "2"}}
		answer(t, d, first.ID, desk.Reply{Choice: desk.AllowAlways})
		synctest.Wait()
		again := theOne(t, d)
		if again.ID == first.ID || len(again.Changed) != 1 {
			t.Errorf("%+v", again)
		}
		answer(t, d, again.ID, desk.Reply{Choice: desk.Deny})
		if o := call.got(); o.answer.Decision != toolcrib.Deny {
			t.Errorf("%+v", o)
		}
		// An answer for once is for what was shown, too.
		once := start(t.Context(), t, d, ask())
		synctest.Wait()
		q := theOne(t, d)
		files = []desk.File{{Path: "/s.sh", Sum: "3"}}
		answer(t, d, q.ID, desk.Reply{Choice: desk.AllowOnce})
		synctest.Wait()
		answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.Deny})
		if o := once.got(); o.answer.Decision != toolcrib.Deny {
			t.Errorf("%+v", o)
		}
	})
}
