package host_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// TestBesideAnotherService: every request has one answer, and it is the right one,
// whoever has the tool.
func TestBesideAnotherService(t *testing.T) {
	b, l := busHere(t), newLedger()
	fieldAt(t, b.url(), l, true, "both", "theirs")
	besides(t, b.url(), "ours", l, "both", "mine")
	c := newCrowd(t, b.url(), l)
	c.until("ours", func() int { return c.persona("mine") })
	want := map[int]string{}
	for range 100 {
		want[c.invoke("theirs")] = "field"
		want[c.invoke("both")] = "field"
		want[c.invoke("mine")] = "" // the service on this bus does not have it
		want[c.persona("theirs")] = "field"
		want[c.persona("both")] = "field"
		want[c.persona("mine")] = "ours"
		want[c.call("ovos.tools.get", "theirs_it", "x")] = ""
	}
	for n := range want {
		c.rest(n)
	}
	time.Sleep(around) // for an answer too many
	l.once(t)
	for n, by := range want {
		if got := l.by(n); got != by {
			t.Errorf("call %d is by %q, not %q: %s", n, got, by, l.answers[n])
		}
	}
}

// TestNobodyIsAnsweredWhatItDidNotAsk: callers of the field take the first message of
// the type that they wait for. While another host is there, what we ask it must bring
// no answer of a type that calls wait for, unless it is as true for them.
func TestNobodyIsAnsweredWhatItDidNotAsk(t *testing.T) {
	b, l := busHere(t), newLedger()
	fieldAt(t, b.url(), l, true, "both")
	besides(t, b.url(), "ours", l, "both", "mine")
	besides(t, b.url(), "other", l, "both", "mine")
	c := newCrowd(t, b.url(), l)
	c.until("field", func() int { return c.persona("both") })
	c.until("field", func() int { return c.invoke("both") })
	c.until("anybody", func() int { return c.persona("mine") }) // they have come
	time.Sleep(4 * around)                                      // those that have just come look around
	strays := c.client.Subscribe(bus.Filter{
		Types: []string{"ovos.persona.tools.both.call.response", "ovos.tools.get.response", "ovos.tools.invoke.response", "ovos.persona.tools.call.response"},
		Match: func(m bus.Message) bool { return m.Context["n"] == nil },
	})
	defer strays.Close()
	var calls []int
	for range 30 {
		calls = append(calls, c.persona("both"), c.call("ovos.tools.get", "both_it", "x"), c.invoke("both"))
		c.rest(calls...)
	}
	time.Sleep(8 * around) // the time that one has that is known to be there
	l.once(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if m, err := strays.Next(ctx); err == nil {
		t.Errorf("a caller can take for its answer what we had asked: %s %s", m.Type, m.Data)
	}
}

// TestFirstAnswerIsTheRightOne: callers of the field take the first answer of the type
// that they wait for, so that an answer to a question of ours must not come before it.
func TestFirstAnswerIsTheRightOne(t *testing.T) {
	b, l := busHere(t), newLedger()
	f := fieldAt(t, b.url(), l, true, "both")
	besides(t, b.url(), "one", l, "both")
	besides(t, b.url(), "two", l, "both", "mine")
	c := newCrowd(t, b.url(), l)
	c.until("two", func() int { return c.persona("mine") })
	c.until("field", func() int { return c.persona("both") })
	time.Sleep(2 * around) // both have found it
	f.slow.Store(int64(around / 2))
	first := c.client.Subscribe(bus.Filter{Types: []string{"ovos.persona.tools.both.call.response"}})
	for range 30 {
		n := c.persona("both")
		m, err := first.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if string(m.Context["n"]) != fmt.Sprint(n) {
			t.Fatalf("call %d is answered by %s %s", n, m.Data, m.Context["toolcrib_probe"])
		}
	}
}

// TestRivalComesAndGoes: a host that comes and goes without a word while calls are
// made has what it answers for, and nothing is carried out twice.
func TestRivalComesAndGoes(t *testing.T) {
	b, l := busHere(t), newLedger()
	besides(t, b.url(), "ours", l, "both", "mine")
	c := newCrowd(t, b.url(), l)
	c.until("ours", func() int { return c.persona("both") })
	for range 2 {
		c.until("ours", func() int { return c.invoke("both") }) // alone it answers everything
		before := l.count("field")
		stop := make(chan struct{})
		ended := make(chan struct{})
		go func() { // calls all the time
			defer close(ended)
			for {
				select {
				case <-stop:
					return
				case <-time.After(2 * time.Millisecond):
				}
				c.invoke("both")
				c.persona("both")
			}
		}()
		f := fieldAt(t, b.url(), l, true, "both")
		for limit := time.Now().Add(patience); l.count("field") < before+20; {
			if time.Now().After(limit) {
				t.Fatal("the other host is never called")
			}
			time.Sleep(time.Millisecond)
		}
		close(stop)
		<-ended
		var calls []int
		for range 20 {
			calls = append(calls, c.invoke("both"), c.persona("both"))
		}
		c.rest(calls...)
		for _, n := range calls {
			if by := l.by(n); by != "field" {
				t.Errorf("call %d is by %q", n, by)
			}
		}
		f.leave()
		c.until("ours", func() int { return c.persona("both") })
	}
	l.once(t)
}

// TestTwoOfAKind: two hosts of this kind agree on who answers, also if both come at
// once, and one takes over from the other.
func TestTwoOfAKind(t *testing.T) {
	for try := range 2 {
		t.Run(fmt.Sprint(try), func(t *testing.T) {
			b, l := busHere(t), newLedger()
			c := newCrowd(t, b.url(), l)
			one := besides(t, b.url(), "one", l, "both")
			two := besides(t, b.url(), "two", l, "both")
			for range 20 {
				c.invoke("both")
				c.persona("both")
				time.Sleep(5 * time.Millisecond)
			}
			by := ""
			for limit := time.Now().Add(patience); by == "" && time.Now().Before(limit); {
				by = c.soon(c.persona("both"))
			}
			switch by {
			case "one":
				one()
				c.until("two", func() int { return c.persona("both") })
				c.until("two", func() int { return c.invoke("both") })
			case "two":
				two()
				c.until("one", func() int { return c.persona("both") })
				c.until("one", func() int { return c.invoke("both") })
			default:
				t.Errorf("nobody answers")
			}
			l.once(t)
		})
	}
}

// TestRestartsUnderCalls: the bus is restarted ten times while calls are made, hosts
// come and go, and two are rivals. No call is carried out twice, none is answered
// twice, and afterwards there is an answer again.
func TestRestartsUnderCalls(t *testing.T) {
	b, l := busHere(t), newLedger()
	besides(t, b.url(), "one", l, "both")
	besides(t, b.url(), "two", l, "both", "mine")
	c := newCrowd(t, b.url(), l)
	c.until("two", func() int { return c.persona("mine") })
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
			c.invoke("both")
			c.persona("both")
			c.persona("mine")
		}
	}()
	var f *fieldHost
	for i := range 10 {
		switch i % 3 {
		case 0:
			f = fieldAt(t, b.url(), l, i%2 == 0, "both")
		case 2:
			f.leave()
		}
		answered := l.total()
		for limit := time.Now().Add(patience); l.total() < answered+10; {
			if time.Now().After(limit) {
				t.Fatalf("nobody answers after restart %d", i)
			}
			time.Sleep(time.Millisecond)
		}
		b.end()
		time.Sleep(time.Duration(i) * time.Millisecond)
		b.begin()
	}
	close(stop)
	<-ended
	f.leave()
	c.until("two", func() int { return c.persona("mine") })
	for _, call := range []func(string) int{c.persona, c.invoke} {
		for limit, by := time.Now().Add(patience), ""; by == ""; by = c.soon(call("both")) {
			if time.Now().After(limit) {
				t.Fatal("nobody answers in the end")
			}
		}
	}
	l.once(t)
}
