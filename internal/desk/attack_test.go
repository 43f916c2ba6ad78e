package desk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// TestFlood: a caller that asks for everything is stopped, and does not stop
// others.
func TestFlood(t *testing.T) {
	cfg := config(&desk.Memory{})
	cfg.Unattended, cfg.MaxOpen, cfg.MaxSession, cfg.MaxTotal = desk.Leave, 10, 10, 15
	d := newDesk(t, cfg)
	flood := func(subject string) (full int) {
		for i := range 50 {
			q := ask()
			q.Call.Caller.Subject = subject
			q.Input = fmt.Appendf(nil, `{"n":%d}`, i)
			_, err := d.Approve(t.Context(), q)
			switch {
			case errors.Is(err, desk.ErrFull):
				full++
			case !errors.Is(err, desk.ErrPending):
				t.Fatal(err)
			}
		}
		return full
	}
	if n := flood("eve"); n != 40 {
		t.Errorf("%d of 50 questions were refused, want 40", n)
	}
	if n := flood("alice"); n != 45 {
		t.Errorf("%d of 50 questions of another were refused, want 45", n)
	}
	if n := len(open(t, d)); n != 15 {
		t.Errorf("%d questions are open", n)
	}
	one := open(t, d)[0]
	alike, err := d.Alike(t.Context(), one.ID)
	if err != nil || len(alike) != 10 {
		t.Fatalf("%d are alike, %v", len(alike), err)
	}
	answer(t, d, alike[3].ID, desk.Reply{Choice: desk.AllowOnce})
	var ids []string
	for _, q := range alike {
		ids = append(ids, q.ID)
	}
	ids = append(ids, "q-none")
	for i, id := range ids {
		q, err := d.Answer(t.Context(), id, desk.Reply{Choice: desk.Deny}, "bob")
		switch {
		case i == 3 && !errors.Is(err, desk.ErrAnswered), i == 10 && !errors.Is(err, desk.ErrNotFound),
			i != 3 && i != 10 && (err != nil || q.State != desk.Denied):
			t.Errorf("answer %d: %+v, %v", i, q, err)
		}
	}
	if n := len(open(t, d)); n != 5 {
		t.Errorf("%d questions are open", n)
	}
}

// TestEqualFlood: equal calls wait for one answer, but not without end.
func TestEqualFlood(t *testing.T) {
	bubble(t, nil, func(t *testing.T, d *desk.Desk) {
		ctx, cancel := context.WithCancel(t.Context())
		var calls []pending
		for range 300 {
			calls = append(calls, start(ctx, t, d, ask()))
		}
		synctest.Wait()
		if q := theOne(t, d); q.Waiting != 256 {
			t.Errorf("%d wait", q.Waiting)
		}
		cancel()
		full := 0
		for _, p := range calls {
			if errors.Is(p.got().err, desk.ErrFull) {
				full++
			}
		}
		if q := theOne(t, d); full != 44 || q.Waiting != 0 {
			t.Errorf("%d were refused, %d still wait", full, q.Waiting)
		}
	})
}

// TestNoSecrets: what the redactor knows is neither kept nor shown.
func TestNoSecrets(t *testing.T) {
	s := &desk.Memory{}
	cfg := config(s)
	cfg.Unattended = desk.Leave
	cfg.Terms = func(toolcrib.Question) desk.Terms {
		return desk.Terms{Rules: []string{"run_command(login " + secret + ")"}, Bind: secret}
	}
	d := newDesk(t, cfg)
	var told []string
	events, stop, err := d.Watch(t.Context(), desk.Screen{Sees: func(q desk.Question) bool {
		told = append(told, fmt.Sprintf("%+v", q))
		return false
	}})
	if err != nil {
		t.Fatal(err)
	}
	q := ask()
	q.Input = []byte(`{"password":"` + secret + `"}`)
	q.Preview, q.Text, q.Options = "+"+secret, "is it "+secret+"?", []string{secret}
	q.Reasons[0].Reason, q.Reasons[0].Rule = "has "+secret, secret
	if _, err := d.Approve(t.Context(), q); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("the call got %v", err)
	}
	q.Text, q.Options = "", nil
	if _, err := d.Approve(t.Context(), q); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("the call got %v", err)
	}
	list := open(t, d)
	if len(list) != 2 || !list[1].Redacted || len(list[1].Rules) != 0 {
		t.Fatalf("questions: %+v", list)
	}
	edit := desk.Reply{Choice: desk.Edit, Input: list[1].Input}
	if _, err := d.Answer(t.Context(), list[1].ID, edit, "bob"); !errors.Is(err, desk.ErrBadReply) {
		t.Errorf("the mark of what was hidden was taken for an argument: %v", err)
	}
	answer(t, d, list[1].ID, desk.Reply{Choice: desk.AllowAlways})
	unasked(t, d, q)
	stop()
	for range events {
		continue
	}
	err = s.View(t.Context(), func(tx desk.Tx) error {
		questions, err1 := tx.Questions(desk.Filter{})
		grants, err2 := tx.Grants(desk.GrantFilter{})
		text, err3 := json.Marshal([]any{questions, grants, told})
		if strings.Contains(string(text), secret) {
			t.Errorf("the secret is there: %s", text)
		}
		return errors.Join(err1, err2, err3)
	})
	if err != nil {
		t.Error(err)
	}
	other := q
	other.Input = []byte(`{"password":"[redacted]"}`) // reads the same, and is not
	if got, err := d.Approve(t.Context(), other); err == nil {
		t.Errorf("the grant covers another secret: %+v", got)
	}
}

func TestBadReplies(t *testing.T) {
	cfg := config(&desk.Memory{})
	cfg.Unattended, cfg.MaxInput = desk.Leave, 100
	floor := false
	cfg.Terms = func(toolcrib.Question) desk.Terms { return desk.Terms{Floor: floor} }
	d := newDesk(t, cfg)
	leave := func(change func(*toolcrib.Question)) string {
		t.Helper()
		q := ask()
		change(&q)
		before := len(open(t, d))
		if _, err := d.Approve(t.Context(), q); !errors.Is(err, desk.ErrPending) || len(open(t, d)) != before+1 {
			t.Fatalf("no question was left: %v", err)
		}
		return open(t, d)[before].ID
	}
	plain := leave(func(*toolcrib.Question) {})
	nobody := leave(func(q *toolcrib.Question) { q.Call.Caller = toolcrib.Caller{} })
	noSession := leave(func(q *toolcrib.Question) { q.Call.Caller.Session, q.Call.Caller.Subject = "", "carol" })
	own := leave(func(q *toolcrib.Question) { q.Text = "why?" })
	floor = true
	floored := leave(func(q *toolcrib.Question) { q.Input = []byte(`{"rm":"/"}`) })
	for name, c := range map[string]struct {
		id    string
		reply desk.Reply
	}{
		"nothing":          {plain, desk.Reply{}},
		"unknown":          {plain, desk.Reply{Choice: "sure"}},
		"negative":         {plain, desk.Reply{Choice: desk.AllowOnce, Calls: -1}},
		"negative time":    {plain, desk.Reply{Choice: desk.AllowAlways, For: -1}},
		"no arguments":     {plain, desk.Reply{Choice: desk.Edit}},
		"broken arguments": {plain, desk.Reply{Choice: desk.Edit, Input: []byte(`{"a":`)}},
		"list":             {plain, desk.Reply{Choice: desk.Edit, Input: []byte(`[1]`)}},
		"large":            {plain, desk.Reply{Choice: desk.Edit, Input: []byte(`{"a":"` + strings.Repeat("x", 100) + `"}`)}},
		"arguments":        {plain, desk.Reply{Choice: desk.AllowOnce, Input: []byte(`{}`)}},
		"arguments, no":    {plain, desk.Reply{Choice: desk.Deny, Input: []byte(`{}`)}},
		"once for long":    {plain, desk.Reply{Choice: desk.AllowOnce, For: time.Hour}},
		"edit for long":    {plain, desk.Reply{Choice: desk.Edit, Input: []byte(`{}`), For: time.Hour}},
		"no rule":          {plain, desk.Reply{Choice: desk.AllowAlways, By: desk.ByRule}},
		"once by rule":     {plain, desk.Reply{Choice: desk.AllowOnce, By: desk.ByRule}},
		"long message":     {plain, desk.Reply{Choice: desk.Deny, Message: strings.Repeat("x", 16<<10+1)}},
		"nobody":           {nobody, desk.Reply{Choice: desk.AllowAlways}},
		"no session":       {noSession, desk.Reply{Choice: desk.AllowSession}},
		"own, edit":        {own, desk.Reply{Choice: desk.Edit, Input: []byte(`{}`)}},
		"floor, session":   {floored, desk.Reply{Choice: desk.AllowSession}},
		"floor, project":   {floored, desk.Reply{Choice: desk.AllowProject}},
		"floor, always":    {floored, desk.Reply{Choice: desk.AllowAlways}},
	} {
		if _, err := d.Answer(t.Context(), c.id, c.reply, "bob"); !errors.Is(err, desk.ErrBadReply) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.Answer(t.Context(), plain, desk.Reply{Choice: desk.AllowOnce}, ""); !errors.Is(err, desk.ErrBadReply) {
		t.Errorf("an answer by nobody: %v", err)
	}
	if _, err := d.Answer(t.Context(), "q-none", desk.Reply{Choice: desk.AllowOnce}, "bob"); !errors.Is(err, desk.ErrNotFound) {
		t.Errorf("an answer to nothing: %v", err)
	}
	if n := len(open(t, d)); n != 5 {
		t.Errorf("a bad answer has settled something: %d are open", n)
	}
	answer(t, d, plain, desk.Reply{Choice: desk.Deny, Message: strings.Repeat("x", 16<<10)}) // as long as may be
	answer(t, d, floored, desk.Reply{Choice: desk.AllowOnce})
	q := ask()
	q.Input = []byte(`{"rm":"/"}`)
	unasked(t, d, q)
	if got, err := d.Approve(t.Context(), q); err == nil {
		t.Errorf("the floor was walked over: %+v", got)
	}
	many := ask()
	many.Text, many.Options = "which?", make([]string, 101)
	if _, err := d.Approve(t.Context(), many); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || errors.Is(err, desk.ErrPending) {
		t.Errorf("a hundred and one answers were offered: %v", err)
	}
	q.Input = []byte(`{"a":"` + strings.Repeat("x", 100) + `"}`)
	if _, err := d.Approve(t.Context(), q); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || errors.Is(err, desk.ErrPending) {
		t.Errorf("what cannot be shown was asked: %v", err)
	}
}

// TestTimeGoesBy: answers that nobody fetches, and old questions, go.
func TestTimeGoesBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(&desk.Memory{})
		cfg.Unattended = desk.Leave
		d := newDesk(t, cfg)
		if _, err := d.Approve(t.Context(), ask()); err == nil {
			t.Fatal("nobody was asked")
		}
		q := theOne(t, d)
		answer(t, d, q.ID, desk.Reply{Choice: desk.Edit, Input: []byte(`{"path":"typed"}`)})
		time.Sleep(time.Hour + time.Second)
		if got, err := d.Approve(t.Context(), ask()); err == nil {
			t.Errorf("the answer was too old: %+v", got)
		}
		if err := d.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		after, err := d.Question(t.Context(), q.ID)
		if err != nil || after.Live() || after.Reply.Input != nil || after.Reply.By != "bob" {
			t.Errorf("what was typed is still there: %+v, %v", after.Reply, err)
		}
		second := theOne(t, d)
		time.Sleep(time.Hour)
		if err := d.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after, err := d.Question(t.Context(), second.ID); err != nil || after.State != desk.Expired || after.Preview != "" || after.Input != nil {
			t.Errorf("%+v, %v", after, err)
		}
		time.Sleep(9 * 24 * time.Hour)
		if err := d.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if list, err := d.Questions(t.Context(), desk.Filter{}); err != nil || len(list) != 0 {
			t.Errorf("still kept: %+v, %v", list, err)
		}
	})
}

// broken is a store that has failed.
type broken struct{ desk.Memory }

func (*broken) Update(context.Context, func(desk.Tx) error) error {
	return errors.New("disk full: /secret/path")
}

// TestBrokenStore: what cannot be kept is not asked, and not allowed.
func TestBrokenStore(t *testing.T) {
	cfg := config(&broken{})
	cfg.Unattended = desk.Leave
	d := newDesk(t, cfg)
	watch(t, d)
	got, err := d.Approve(t.Context(), ask())
	if toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || got.Decision == toolcrib.Allow || strings.Contains(err.Error(), "/secret/path") {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestNewIsStrict(t *testing.T) {
	for name, change := range map[string]func(*desk.Config){
		"store":      func(c *desk.Config) { c.Store = nil },
		"json":       func(c *desk.Config) { c.RedactJSON = nil },
		"text":       func(c *desk.Config) { c.RedactText = nil },
		"unattended": func(c *desk.Config) { c.Unattended = "allow" },
		"time":       func(c *desk.Config) { c.Expire = -1 },
	} {
		cfg := config(&desk.Memory{})
		change(&cfg)
		if _, err := desk.New(cfg); err == nil {
			t.Errorf("%s: a desk was made", name)
		}
	}
}
