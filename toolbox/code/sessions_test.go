package code

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcrib/toolcrib"
)

// scripted is an interpreter that understands one thing: a cell that is a duration takes so long. It runs until ctx ends.
func scripted(ctx context.Context, p Program) (toolcrib.Exit, error) {
	go func() { // it ends with the pipe
		var hello struct{ Nonce string }
		in := bufio.NewReader(p.Stdin)
		for {
			line, err := in.ReadString('\n')
			words := strings.Fields(line)
			if err != nil || len(words) < 2 || words[0] == "interrupt" {
				return
			}
			var size int
			_, _ = fmt.Sscan(words[len(words)-1], &size) // one that is no number has no data
			data := make([]byte, size)
			if _, err := io.ReadFull(in, data); err != nil {
				return
			}
			if words[0] == "hello" {
				_ = json.Unmarshal(data, &hello) // a test sees that there is no mark
				_, _ = io.WriteString(p.Stdout, "ready 0 2\n{}")
				continue
			}
			if d, err := time.ParseDuration(string(data)); err == nil {
				time.Sleep(d)
			}
			_, _ = io.WriteString(p.Stderr, hello.Nonce)
			_, _ = fmt.Fprintf(p.Stdout, "done %s 2\n{}", words[1])
		}
	}()
	<-ctx.Done()
	return toolcrib.Exit{}, ctx.Err()
}

// runScripted opens a box with such interpreters, in a bubble with a clock of its own. What it gives runs a cell.
func runScripted(t *testing.T, cfg Config, test func(t *testing.T, b *Box, cell func(session, code string) (runOut, error))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b, err := Open(t.Context(), cfg, Needs{
			Languages: []Language{{Name: "python"}}, Run: scripted, Place: func(string, Risk) (string, error) { return "linux", nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		test(t, b, func(session, code string) (runOut, error) {
			env := &toolcrib.Env{Call: toolcrib.Call{Caller: toolcrib.Caller{Subject: "ann"}}, Emit: func(toolcrib.Event) {}}
			out, _, err := b.cell(t.Context(), env, runIn{Language: "python", Code: code, Session: session, Timeout: 86400})
			return out, err
		})
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// running is how many interpreters there are, and how many of them run.
func (b *Box) running() (listed, alive int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.list {
		if listed++; s.alive() {
			alive++
		}
	}
	return listed, alive
}

// TestIdleSessionsEnd: a session ends when nobody has used it for its time, and not before, nor in the middle of a cell.
func TestIdleSessionsEnd(t *testing.T) {
	runScripted(t, Config{Idle: 10 * time.Minute, MaxTimeout: 2 * time.Hour}, func(t *testing.T, b *Box, cell func(session, code string) (runOut, error)) {
		want := func(what string, fresh bool, number int) {
			t.Helper()
			out, err := cell("main", "0s")
			if err != nil || out.Status != "ok" || out.Fresh != fresh || out.Cell != number {
				t.Errorf("%s: %+v, %v", what, out, err)
			}
		}
		want("the first cell", true, 1)
		time.Sleep(9 * time.Minute)
		want("nine minutes later", false, 2)
		time.Sleep(10*time.Minute - time.Second)
		want("a second before its end", false, 3)
		if out, err := cell("main", "1h"); err != nil || out.Status != "ok" || out.Fresh {
			t.Errorf("a cell of an hour: %+v, %v", out, err)
		}
		time.Sleep(10*time.Minute - time.Second)
		want("after a cell of an hour", false, 5)
		b.mu.Lock()
		s := b.list[keyOf(toolcrib.Caller{Subject: "ann"}, "python", "main")]
		b.mu.Unlock()
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		if listed, _ := b.running(); listed != 0 || s.alive() {
			t.Errorf("%d sessions, and its interpreter runs: %v", listed, s.alive())
		}
		want("after its end", true, 1)
	})
}

// TestMostSessions: the one that was not used for the longest time makes room, and none that is in use does.
func TestMostSessions(t *testing.T) {
	runScripted(t, Config{Sessions: 2, MaxTimeout: 2 * time.Hour}, func(t *testing.T, b *Box, cell func(session, code string) (runOut, error)) {
		for i, c := range []struct {
			session string
			fresh   bool
		}{{"a", true}, {"b", true}, {"a", false}, {"c", true}, {"a", false}, {"b", true}, {"c", true}} { // b makes room for c, c for b, a for c
			time.Sleep(time.Second)
			if out, err := cell(c.session, "0s"); err != nil || out.Fresh != c.fresh {
				t.Errorf("call %d: %+v, %v", i, out, err)
			}
			synctest.Wait()
			if listed, alive := b.running(); listed > 2 || alive != listed {
				t.Errorf("call %d: %d sessions, of which %d run", i, listed, alive)
			}
		}
		ends := make(chan error)
		for _, session := range []string{"b", "c"} {
			go func() {
				_, err := cell(session, "1m")
				ends <- err
			}()
		}
		synctest.Wait()
		if out, err := cell("d", "0s"); err == nil || !strings.Contains(err.Error(), "wait for one of them") {
			t.Errorf("while both are in use: %+v, %v", out, err)
		}
		for range 2 {
			if err := <-ends; err != nil {
				t.Error(err)
			}
		}
		if out, err := cell("d", "0s"); err != nil || !out.Fresh {
			t.Errorf("after that: %+v, %v", out, err)
		}
	})
}
