package desk_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// A question that its screen closes tells the call to come back; it stays open
// and its answer is used then.
func TestDismiss(t *testing.T) {
	bubble(t, nil, func(t *testing.T, d *desk.Desk) {
		p := start(t.Context(), t, d, ask())
		synctest.Wait()
		q := theOne(t, d)
		d.Dismiss("another", "")
		d.Dismiss(q.ID, "")
		d.Dismiss(q.ID, "")
		o := p.got()
		if !errors.Is(o.err, desk.ErrPending) || toolcrib.CodeOf(o.err) != toolcrib.CodeUnavailable || !strings.Contains(o.err.Error(), q.ID) {
			t.Errorf("%+v", o)
		}
		if left := theOne(t, d); left.Waiting != 0 {
			t.Errorf("%d wait", left.Waiting)
		}
		answer(t, d, q.ID, desk.Reply{Choice: desk.AllowOnce})
		unasked(t, d, ask())
	})
}

// What the answer is bound to is looked at again after the person has thought.
func TestBoundThingChangesMeanwhile(t *testing.T) {
	bind := "old"
	bubble(t, func(c *desk.Config) {
		c.Terms = func(toolcrib.Question) desk.Terms { return desk.Terms{Bind: bind} }
	}, func(t *testing.T, d *desk.Desk) {
		p := start(t.Context(), t, d, ask())
		synctest.Wait()
		first := theOne(t, d)
		bind = "new"
		answer(t, d, first.ID, desk.Reply{Choice: desk.AllowOnce})
		synctest.Wait()
		second := theOne(t, d)
		if second.ID == first.ID || second.Replaces != first.ID {
			t.Errorf("%+v", second)
		}
		answer(t, d, second.ID, desk.Reply{Choice: desk.AllowOnce})
		if o := p.got(); o.err != nil || o.answer.Decision != toolcrib.Allow {
			t.Errorf("%+v", o)
		}
		// What never stands still is refused in the end.
		n := 0
		p = start(t.Context(), t, d, ask())
		for range 3 {
			synctest.Wait()
			n++
			bind = strings.Repeat("x", n)
			answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.AllowOnce})
		}
		if o := p.got(); toolcrib.CodeOf(o.err) != toolcrib.CodeDenied || !strings.Contains(o.err.Error(), "changed each time") {
			t.Errorf("%+v", o)
		}
	})
}

// Where no screen sees a question a call waits for a shorter time, and says how
// it can be answered.
func TestAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(&desk.Memory{})
		cfg.Unattended, cfg.Wait, cfg.Alone = desk.Await, 55*time.Second, 20*time.Second
		cfg.How = func(id string, own bool) string { return "'answer " + id + "'" }
		d := newDesk(t, cfg)
		begin := time.Now()
		o := start(t.Context(), t, d, ask()).got()
		if toolcrib.CodeOf(o.err) != toolcrib.CodeTimeout || time.Since(begin) != 20*time.Second ||
			!strings.Contains(o.err.Error(), "nobody answered within 20s: mode: it writes. Question q-") || !strings.Contains(o.err.Error(), "'answer q-") {
			t.Errorf("after %v: %v", time.Since(begin), o.err)
		}
		events, stop, err := d.Watch(t.Context(), desk.Screen{Buffer: 1000})
		if err != nil {
			t.Fatal(err)
		}
		begin = time.Now()
		if o := start(t.Context(), t, d, ask()).got(); toolcrib.CodeOf(o.err) != toolcrib.CodeTimeout || time.Since(begin) != 55*time.Second {
			t.Errorf("after %v: %v", time.Since(begin), o.err)
		}
		stop()
		for range events {
			continue
		}
	})
}

// A caller that comes back has another session: the question becomes that
// call's, so that its screen shows it and a grant for the session is its own.
func TestComesBackInAnotherSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(&desk.Memory{})
		cfg.Unattended = desk.Await
		d := newDesk(t, cfg)
		ctx, cancel := context.WithCancel(t.Context())
		p := start(ctx, t, d, ask())
		synctest.Wait()
		id := theOne(t, d).ID
		cancel()
		p.got()
		back := ask()
		back.Call.ID, back.Call.Caller.Session = "call-2", "s2"
		events, stop, err := d.Watch(t.Context(), desk.Screen{Buffer: 100, Sees: func(q desk.Question) bool { return q.Call == "call-2" }})
		if err != nil {
			t.Fatal(err)
		}
		p = start(t.Context(), t, d, back)
		if ev := <-events; ev.Question.ID != id || ev.Question.Caller.Session != "s2" {
			t.Errorf("%+v", ev)
		}
		answer(t, d, id, desk.Reply{Choice: desk.AllowSession})
		if o := p.got(); o.err != nil {
			t.Error(o.err)
		}
		unasked(t, d, back)
		stop()
		for range events {
			continue
		}
	})
}

func TestDescribe(t *testing.T) {
	bubble(t, func(c *desk.Config) {
		c.Terms = func(toolcrib.Question) desk.Terms {
			return desk.Terms{Parts: []string{"git push: network", "rm \u202e" + secret}, Rules: []string{"run(git push *)"}}
		}
	}, func(t *testing.T, d *desk.Desk) {
		q := ask()
		q.Input = []byte(`{"path":"a\u001b[2J\nfake: line","n":3,"key":"` + secret + `"}`)
		q.Reasons = append(q.Reasons, toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "shell", Reason: "nothing allows it\ngit push: network"},
			toolcrib.Verdict{Note: true, Guard: "inject", Reason: "it was read from a page"})
		p := start(t.Context(), t, d, q)
		synctest.Wait()
		one := theOne(t, d)
		var text strings.Builder
		for _, part := range one.Describe() {
			text.WriteString("# " + part.Title + "\n" + strings.Join(part.Lines, "\n") + "\n")
		}
		want := `# write_file, for coder of alice, by mcp, would run
It can: write
# It would be given
key: [redacted]
n: 3
path: a[U+001B][2J
    fake: line
# It would start
git push: network
rm [U+202E][redacted]
# What would change
-old
+x
# Asked by the mode guard
it writes
# Asked by the shell guard
nothing allows it
# Noted by the inject guard
it was read from a page
# Note
Secrets in the arguments are not shown.
`
		if text.String() != want {
			t.Errorf("got\n%s\nwant\n%s", &text, want)
		}
		var offers []string
		for _, o := range d.Offers(&one) {
			offers = append(offers, string(o.Choice)+": "+o.Text)
		}
		if got := strings.Join(offers, "; "); got != "once: allow it once; session: allow it in this session, for 24 h; project: allow it in /srv/project, for 90 days; always: allow it everywhere, until it is revoked; deny: deny it; edit: change the arguments, and allow that once" {
			t.Error(got)
		}
		if one.Remembers(desk.ByRule) != "whatever run(git push *) means" {
			t.Error(one.Remembers(desk.ByRule))
		}
		answer(t, d, one.ID, desk.Reply{Choice: desk.Deny})
		p.got()
	})
}
