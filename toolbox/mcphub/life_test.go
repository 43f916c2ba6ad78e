package mcphub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// TestNoSecretIsLogged: neither the last words of a program nor an address is
// told with the secret that is in it.
func TestNoSecretIsLogged(t *testing.T) {
	const secret = "hunter2hunter2"
	r := &rogue{stderr: "cannot log in with " + secret}
	r.other = func(method string, say sayFunc, id, _ json.RawMessage) bool {
		if method == "tools/list" {
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"%s is wrong"}}`, id, secret)
			return true
		}
		return false
	}
	d := house(t, t.TempDir(), r, Server{}, func(n *Needs) {
		n.Redact = func(text string) string { return strings.ReplaceAll(text, secret, "[gone]") }
	})
	err := d.box.Refresh(t.Context())
	d.hub.Await(t.Context(), 10*time.Second)
	d.hub.needs.Log.With("a", secret).WithGroup("g").Error("b "+secret, "c", errors.New(secret), slog.Group("d", "e", secret), "f", []string{secret})
	s := d.box.Status()
	if err == nil || !strings.Contains(s.Err, "[gone]") || !strings.Contains(s.Stderr, "[gone]") {
		t.Errorf("%v, %+v", err, s)
	}
	f, _ := d.box.failed()
	for _, text := range []string{err.Error(), s.Err, s.Stderr, f.Err, d.log.String()} {
		if text == "" || strings.Contains(text, secret) {
			t.Errorf("the secret is in %q", text)
		}
	}
	if strings.Count(d.log.String(), "[gone]") < 5 {
		t.Errorf("the log is %s", d.log)
	}
}

// TestNothingIsLeft: a place that was given up starts nothing more; who still had
// it gets another one, which is ended with the hub.
func TestNothingIsLeft(t *testing.T) {
	r := &rogue{tools: echo}
	d := house(t, t.TempDir(), r, Server{Instance: PerSession, Idle: time.Hour})
	i, err := d.box.instance("s1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	i.release()
	until(t, "nobody uses it", func() bool {
		i.endIfUnused() // as its idle clock does
		return i.gone()
	})
	if _, err := i.acquire(t.Context()); !errors.Is(err, errDropped) {
		t.Errorf("it was started again: %v", err)
	}
	next, _, err := d.box.acquire(t.Context(), "s1")
	if err != nil || next == i {
		t.Fatalf("%v, the same: %v", err, next == i)
	}
	next.release()
	if err := d.hub.Close(); err != nil || r.alive.Load() != 0 {
		t.Errorf("%d are left: %v", r.alive.Load(), err)
	}
}

// TestDeadPlaces: servers that have ended take no room.
func TestDeadPlaces(t *testing.T) {
	r := &rogue{tools: echo, diesDone: true}
	d := house(t, t.TempDir(), r, Server{Instance: PerSession})
	d.refresh()
	for n := range instancesMost + 10 {
		var err error
		for range 20 { // some die before others are asked for: that may take a moment
			if _, err = d.call(t.Context(), "echo", `{}`, toolcrib.Caller{Session: fmt.Sprint("s", n)}); err == nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if err != nil {
			t.Fatalf("conversation %d: %v", n, err)
		}
	}
	// Those that live count.
	r = &rogue{tools: echo}
	d = house(t, t.TempDir(), r, Server{Instance: PerSession})
	for n := range instancesMost {
		if _, _, err := d.box.acquire(t.Context(), fmt.Sprint("s", n)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := d.box.acquire(t.Context(), "one more"); err == nil {
		t.Error("there is no bound")
	}
}

// TestHangsOnce: a server that does not come up is waited for once, and not by
// every process after.
func TestHangsOnce(t *testing.T) {
	dir := t.TempDir()
	var works atomic.Bool
	r := &rogue{tools: echo, stays: true}
	r.other = func(method string, _ sayFunc, _, _ json.RawMessage) bool { return !works.Load() }
	now := time.Now()
	at := func(n *Needs) { n.Now = func() time.Time { return now } }
	open := func(s Server) *den { return house(t, dir, r, s, at) }
	await := func(d *den, wait time.Duration) time.Duration {
		began := time.Now()
		d.hub.Await(t.Context(), wait)
		return time.Since(began)
	}
	d := open(Server{})
	if took := await(d, 300*time.Millisecond); took < 300*time.Millisecond {
		t.Errorf("it was not waited for: %v", took)
	}
	if err := d.hub.Close(); err != nil || r.alive.Load() != 0 {
		t.Errorf("%d left: %v", r.alive.Load(), err)
	}
	d = open(Server{})
	if took := await(d, time.Minute); took > 30*time.Second {
		t.Errorf("it was waited for again: %v", took)
	}
	if f, known := d.box.failed(); !known || f.Times != 1 || f.until() != now.Add(unwaitedLeast).Round(0) && !f.until().Equal(now.Add(unwaitedLeast)) {
		t.Errorf("remembered: %+v", f)
	}
	if err := d.hub.Close(); err != nil {
		t.Fatal(err)
	}
	// Set up otherwise it is another one, and so it is after a while.
	d = open(Server{Args: []string{"x"}})
	if took := await(d, 200*time.Millisecond); took < 200*time.Millisecond {
		t.Errorf("another one was not waited for: %v", took)
	}
	d = open(Server{})
	await(d, 200*time.Millisecond)
	now = now.Add(unwaitedLeast + time.Second)
	if took := await(d, 200*time.Millisecond); took < 200*time.Millisecond {
		t.Errorf("it was not waited for later: %v", took)
	}
	if f, _ := d.box.failed(); f.Times != 2 || f.until().Sub(now) < unwaitedLeast+time.Minute {
		t.Errorf("remembered: %+v", f)
	}
	if err := d.hub.Close(); err != nil {
		t.Fatal(err)
	}
	// Not waited for, it is listed all the same.
	works.Store(true)
	d = open(Server{})
	await(d, time.Minute)
	until(t, "its list", d.box.listed)
	if _, known := d.box.failed(); known {
		t.Error("it is remembered as one that failed")
	}
}

// TestOwnIsLate: a person's own server that a busy machine starts too slowly is listed
// when it answers, and the next process does not do without it for long.
func TestOwnIsLate(t *testing.T) {
	dir := t.TempDir()
	var works atomic.Bool
	r := &rogue{tools: echo, stays: true}
	r.other = func(string, sayFunc, json.RawMessage, json.RawMessage) bool { return !works.Load() }
	now := time.Now()
	open := func() *den {
		return house(t, dir, r, Server{Own: true}, func(n *Needs) { n.Now = func() time.Time { return now } })
	}
	d := open()
	d.hub.Await(t.Context(), 100*time.Millisecond)
	if f, known := d.box.failed(); !known || !f.Late || f.until().After(now.Add(unwaitedLate+time.Second)) {
		t.Errorf("remembered: %+v", f)
	}
	if err := d.hub.Close(); err != nil {
		t.Fatal(err)
	}
	works.Store(true)
	d = open()
	d.hub.Await(t.Context(), time.Minute) // it is too early
	until(t, "its list", d.box.listed)
}

// TestEndedAtOnce: who does not come up is not asked to leave when the hub is
// closed, for which it would have 2 seconds.
func TestEndedAtOnce(t *testing.T) {
	r := &rogue{stays: true}
	r.other = func(string, sayFunc, json.RawMessage, json.RawMessage) bool { return true }
	var took time.Duration
	for range 5 { // a slow machine may take long, but not each time
		d := house(t, t.TempDir(), r, Server{})
		d.hub.Await(t.Context(), 50*time.Millisecond)
		began := time.Now()
		if err := d.hub.Close(); err != nil || r.alive.Load() != 0 {
			t.Fatalf("%d left: %v", r.alive.Load(), err)
		}
		if took = time.Since(began); took < 1500*time.Millisecond {
			return
		}
	}
	t.Errorf("it took %v to end it", took)
}

// TestAwaitInVain: who gives up waiting says nothing about a server.
func TestAwaitInVain(t *testing.T) {
	r := &rogue{}
	r.other = func(string, sayFunc, json.RawMessage, json.RawMessage) bool { return true }
	d := house(t, t.TempDir(), r, Server{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	d.hub.Await(ctx, time.Minute)
	if f, known := d.box.failed(); known {
		t.Errorf("remembered: %+v", f)
	}
}
