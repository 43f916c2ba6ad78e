package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sessions"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/delegate"
)

// until polls, with patience for a busy machine.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

// TestToldAtOnce: messages at the same time to one that has ended have it go on once, and
// none of its runs is left when who put it to work has gone.
func TestToldAtOnce(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Delegation: settings.Delegation{Delegates: []string{"helper"}}, Agents: map[string]settings.Agent{"helper": {Model: "helps"}}})
	p.script("")
	var mu sync.Mutex
	asked, ended := 0, 0
	p.think["helps"] = func(ctx context.Context, r model.Request) model.Message {
		if r.Messages[len(r.Messages)-1].Said() == "first" {
			return say("done")
		}
		mu.Lock()
		asked++
		mu.Unlock()
		<-ctx.Done()
		mu.Lock()
		ended++
		mu.Unlock()
		return say("gone")
	}
	for range 20 {
		s := p.session(t, Options{Caller: ann})
		call := toolcrib.Call{ID: "c", Caller: s.Caller()}
		one, err := p.Team().Start(t.Context(), call, delegate.Order{Avatar: "helper", Task: "first"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Team().Status(t.Context(), call, one.ID, time.Minute); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		now := make(chan struct{})
		for i := range 32 {
			all.Go(func() {
				<-now
				if _, err := p.Team().Tell(t.Context(), call, one.ID, fmt.Sprint("more ", i)); err != nil {
					t.Error(err)
				}
			})
		}
		close(now)
		all.Wait()
		until(t, "it goes on", func() bool { mu.Lock(); defer mu.Unlock(); return asked > 0 })
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		if asked != 1 || ended != 1 {
			t.Errorf("%d runs went on, of which %d have ended", asked, ended)
		}
		asked, ended = 0, 0
		mu.Unlock()
		if t.Failed() {
			return
		}
	}
}

// TestAgainHasBounds: who goes on counts as one at work, as who begins does.
func TestAgainHasBounds(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Delegation: settings.Delegation{AtOnce: 2, Time: time.Minute, Delegates: []string{"helper"}}, Agents: map[string]settings.Agent{"helper": {Model: "helps"}}})
	p.script("")
	p.think["helps"] = func(ctx context.Context, r model.Request) model.Message {
		if r.Messages[len(r.Messages)-1].Said() != "first" {
			<-ctx.Done()
		}
		return say("done")
	}
	s := p.session(t, Options{Caller: ann})
	call := toolcrib.Call{ID: "c", Caller: s.Caller()}
	var ids []string
	for range 5 {
		one, err := p.Team().Start(t.Context(), call, delegate.Order{Avatar: "helper", Task: "first"})
		if err == nil {
			_, err = p.Team().Status(t.Context(), call, one.ID, time.Minute)
		}
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, one.ID)
	}
	refused := 0
	for _, id := range ids {
		if _, err := p.Team().Tell(t.Context(), call, id, "go on for ever"); err != nil {
			refused++
		}
	}
	if got := p.Team().Load(s.Caller()).Working; got != 2 || refused != 3 {
		t.Errorf("%d work at once, and %d were refused", got, refused)
	}
}

// TestNobodyBeginsBehindTheEnd: a call that was given up puts nobody to work any more,
// though its tool has not noticed yet.
func TestNobodyBeginsBehindTheEnd(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Delegation: settings.Delegation{Delegates: []string{"helper"}}, Agents: map[string]settings.Agent{"helper": {Model: "helps"}}})
	p.script("")
	p.script("helps")
	s := p.session(t, Options{Caller: ann})
	call := toolcrib.Call{ID: "c", Caller: s.Caller()}
	one, err := p.Team().Start(t.Context(), call, delegate.Order{Avatar: "helper", Task: "first"})
	if err == nil {
		_, err = p.Team().Status(t.Context(), call, one.ID, time.Minute)
	}
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := p.Team().Start(gone, call, delegate.Order{Avatar: "helper", Task: "late"}); err == nil {
		t.Errorf("it began: %+v", got)
	}
	if got, err := p.Team().Tell(gone, call, one.ID, "late"); err == nil {
		t.Errorf("it goes on: %+v", got)
	}
}

// TestManyDelegates: what is remembered of those that have ended has an end too.
func TestManyDelegates(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Delegation: settings.Delegation{Delegates: []string{"helper"}}, Agents: map[string]settings.Agent{"helper": {Model: "helps"}}})
	p.script("")
	p.script("helps")
	s := p.session(t, Options{Caller: ann, Forget: true})
	call := toolcrib.Call{ID: "c", Caller: s.Caller()}
	for range maxTasks + 20 {
		if _, err := p.Team().Start(t.Context(), call, delegate.Order{Avatar: "helper", Task: "first", Forget: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Team().Status(t.Context(), call, "helper", time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := p.Team().Status(t.Context(), call, "", 0); err != nil || len(list) > maxTasks {
		t.Errorf("%d are remembered, %v", len(list), err)
	}
}

// TestCheckHasNoEffect: what is only looked at before a person is asked takes up no session
// and has nobody leave who is at work for somebody else.
func TestCheckHasNoEffect(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Delegation: settings.Delegation{Delegates: []string{"helper"}}, Agents: map[string]settings.Agent{"helper": {Model: "helps"}}})
	p.script("")
	begun, end := make(chan struct{}), make(chan struct{})
	p.think["helps"] = func(ctx context.Context, _ model.Request) model.Message {
		close(begun)
		select {
		case <-end:
		case <-ctx.Done():
		}
		return say("done in peace")
	}
	guest := func(subject, session string) toolcrib.Call {
		return toolcrib.Call{ID: "c", Caller: toolcrib.Caller{Subject: subject, Frontend: "mcp", Session: session}}
	}
	o := delegate.Order{Avatar: "helper", Task: "work"}
	if _, err := p.Team().Start(t.Context(), guest("ann", "ann-1"), o); err != nil {
		t.Fatal(err)
	}
	<-begun
	check := p.Team().(delegate.Checker)
	for i := range maxGuests + 10 {
		if err := check.Check(t.Context(), guest("eve", fmt.Sprint("eve-", i)), o); err != nil {
			t.Fatal(err)
		}
	}
	p.Agents.mu.Lock()
	live := len(p.live)
	p.Agents.mu.Unlock()
	if live > 2 { // ann's, and the one at work for her
		t.Errorf("%d sessions are taken up by looking", live)
	}
	close(end)
	if list, err := p.Team().Status(t.Context(), guest("ann", "ann-1"), "helper", time.Minute); err != nil || len(list) != 1 || !strings.Contains(fmt.Sprintf("%+v", list[0]), "done in peace") {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestWorkerHasTheModelOfItsPreset: whose preset names a model thinks with that one, and
// does not get at another by a worker of its own.
func TestWorkerHasTheModelOfItsPreset(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Agents: map[string]settings.Agent{"lead": {Model: "cheap", Delegates: []string{"helper"}}, "helper": {Model: "cheap"}}})
	p.script("cheap")
	dear := false
	p.think["dear"] = func(context.Context, model.Request) model.Message { dear = true; return say("that was dear") }
	s := p.session(t, Options{Caller: as("lead")})
	call := toolcrib.Call{ID: "c", Caller: s.Caller()}
	for _, o := range []delegate.Order{{Name: "w", Role: "r", Task: "t", Model: "dear"}, {Avatar: "helper", Task: "t", Model: "dear"}} {
		got, err := p.Team().Start(t.Context(), call, o)
		if no, ok := errors.AsType[*delegate.Refusal](err); !ok || no.Word != "model_not_allowed" || !strings.Contains(no.Text, "cheap") {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if _, err := p.Team().Start(t.Context(), call, delegate.Order{Name: "w", Role: "r", Task: "t", Model: "cheap"}); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil || dear {
		t.Errorf("%v, the dear model was asked: %v", err, dear)
	}
}

// TestBudgetAtOnce: calls at the same time take no more from a budget together than
// there is, neither one's own nor that of who put them to work.
func TestBudgetAtOnce(t *testing.T) {
	for range 200 {
		lead := newWork(as("lead"), nil, nil)
		lead.budget.Calls = 5
		var all sync.WaitGroup
		var mu sync.Mutex
		given := 0
		for range 4 {
			helper := newWork(as("lead/helper"), lead, nil)
			helper.budget.Calls = 2
			for range 4 {
				all.Go(func() {
					if helper.take() == "" {
						mu.Lock()
						given++
						mu.Unlock()
					}
				})
			}
		}
		all.Wait()
		if given != 5 {
			t.Fatalf("%d calls of 5 were made", given)
		}
	}
}

// TestForgetsDelegates: where nothing is kept of a run, nothing is kept of those that it
// puts to work.
func TestForgetsDelegates(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Delegation: settings.Delegation{Delegates: []string{"helper"}}, Agents: map[string]settings.Agent{"helper": {Model: "helps"}}})
	p.script("")
	p.script("helps")
	s := p.session(t, Options{Caller: ann, Forget: true})
	call := toolcrib.Call{ID: "c", Caller: s.Caller()}
	one, err := p.Team().Start(t.Context(), call, delegate.Order{Avatar: "helper", Task: "first"})
	if err == nil {
		_, err = p.Team().Status(t.Context(), call, one.ID, time.Minute)
	}
	if err != nil {
		t.Fatal(err)
	}
	if list, err := p.store.List(Owner(ann), sessions.Filter{Delegated: true}); err != nil || len(list) > 0 {
		t.Errorf("kept: %+v, %v", list, err)
	}
}

// TestBranchOfADelegate: what a delegate said can be gone on with by an agent that a
// person names, and by nobody in the delegate's name.
func TestBranchOfADelegate(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Delegation: settings.Delegation{Delegates: []string{"helper"}}, Agents: map[string]settings.Agent{"helper": {Model: "helps"}}})
	p.script("")
	p.script("helps")
	s := p.session(t, Options{Caller: ann})
	call := toolcrib.Call{ID: "c", Caller: s.Caller()}
	one, err := p.Team().Start(t.Context(), call, delegate.Order{Avatar: "helper", Task: "first"})
	if err == nil {
		_, err = p.Team().Status(t.Context(), call, one.ID, time.Minute)
	}
	if err != nil {
		t.Fatal(err)
	}
	branch, err := p.store.Branch(Owner(ann), one.Session, -1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Open(t.Context(), Options{Caller: ann, Resume: branch.ID}); err == nil || !strings.Contains(err.Error(), "--agent") {
		t.Errorf("it is gone on with in the delegate's name: %v", err)
	}
	if said := turn(t, p.session(t, Options{Caller: as("helper"), Resume: branch.ID}), "and now?"); said == "" {
		t.Error("it is not gone on with")
	}
}
