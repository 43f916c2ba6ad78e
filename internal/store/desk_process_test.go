package store_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/store"
)

// deskRole makes the test binary play a process that uses the desk: its
// words are part, directory, and what the part needs.
const deskRole = "STORE_TEST_DESK"

// TestDeskProcess is no test: it is the other process of those below.
func TestDeskProcess(t *testing.T) {
	role := strings.Split(os.Getenv(deskRole), "|")
	if len(role) < 2 {
		return
	}
	if err := playDesk(role); err != nil {
		t.Fatal(err)
	}
}

func playDesk(role []string) error {
	s, err := store.OpenDesk(context.Background(), store.Config{Dir: role[1], Wait: 20 * time.Second}, deskDriver)
	if err != nil {
		return err
	}
	d, err := deskOver(s)
	if err != nil {
		return err
	}
	switch role[0] {
	case "answer": // ID, name: answers when told to, and says how it went
		fmt.Println("ready")
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
		_, err := d.Answer(context.Background(), role[2], desk.Reply{Choice: desk.AllowAlways}, role[3])
		late, lost := errors.AsType[*desk.AnsweredError](err)
		switch {
		case err == nil:
			fmt.Println("won")
		case lost:
			fmt.Println("lost to", late.By)
		default:
			return err
		}
	case "wait": // asks and waits for the answer
		_, stop, err := d.Watch(context.Background(), desk.Screen{Buffer: 1})
		if err != nil {
			return err
		}
		defer stop()
		fmt.Println("ready")
		got, err := d.Approve(context.Background(), deskQuestion("-a\n+b\n"))
		if err != nil {
			return err
		}
		text, err := json.Marshal(got)
		if err != nil {
			return err
		}
		fmt.Println(string(text))
	default:
		return errors.New("no such part")
	}
	return nil
}

// deskChild is a running process of the desk.
type deskChild struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startDesk(t *testing.T, role ...string) deskChild {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := deskChild{Cmd: exec.Command(self, "-test.run=^TestDeskProcess$", "-test.timeout=60s")}
	// A race detector would have it linger for a second at its end.
	c.Env = append(os.Environ(), deskRole+"="+strings.Join(role, "|"))
	c.Stderr = os.Stderr
	if c.in, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line := c.line(t); line != "ready" {
		t.Fatalf("the process says %q", line)
	}
	return c
}

func (c deskChild) line(t *testing.T) string {
	t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Errorf("reading from the process: %q, %v", line, err)
	}
	return strings.TrimSpace(line)
}

// end waits for the process, whose remaining words are of no interest.
func (c deskChild) end(t *testing.T) {
	t.Helper()
	_, _ = io.Copy(io.Discard, c.out)
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// TestDeskTwoProcesses: of two processes that answer at once one wins, and the
// other is told who did.
func TestDeskTwoProcesses(t *testing.T) {
	cfg := fresh(t)
	d, _ := deskAt(t, cfg)
	for round := range 3 {
		id := left(t, d, fmt.Sprintf("round %d", round))
		names := []string{"anna", "otto"}
		var children []deskChild
		for _, name := range names {
			children = append(children, startDesk(t, "answer", cfg.Dir, id, name))
		}
		said := make([]string, len(children))
		var all sync.WaitGroup
		for i, c := range children {
			all.Go(func() {
				_ = c.in.Close() // now
				said[i] = c.line(t)
			})
		}
		all.Wait()
		for _, c := range children {
			c.end(t)
		}
		winner := ""
		switch {
		case said[0] == "won" && said[1] == "lost to anna":
			winner = "anna"
		case said[1] == "won" && said[0] == "lost to otto":
			winner = "otto"
		default:
			t.Fatalf("they say %q", said)
		}
		q, err := d.Question(t.Context(), id)
		if err != nil || q.Reply == nil || q.Reply.By != winner {
			t.Errorf("it was answered by %+v, %v; %s says to have won", q.Reply, err, winner)
		}
		grants, err := d.Grants(t.Context(), desk.GrantFilter{})
		if err != nil || len(grants) != 1 || grants[0].By != winner || grants[0].ID != q.Reply.Grant {
			t.Errorf("grants: %+v, %v; %s has won", grants, err, winner)
		}
		if _, err := d.Revoke(t.Context(), grants[0].ID, "test"); err != nil {
			t.Fatal(err)
		}
		if err := openDesk(t, cfg).Update(t.Context(), func(tx desk.Tx) error { return tx.DropGrant(grants[0].ID) }); err != nil {
			t.Fatal(err)
		}
	}
}

// waitingQuestion waits until a process has put its question.
func waitingQuestion(t *testing.T, d *desk.Desk) desk.Question {
	t.Helper()
	for range 3000 {
		list, err := d.Questions(t.Context(), desk.Filter{State: desk.Open})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 1 {
			return list[0]
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("nothing was asked")
	return desk.Question{}
}

// TestDeskAnsweredElsewhere: a process waits, another one answers.
func TestDeskAnsweredElsewhere(t *testing.T) {
	cfg := fresh(t)
	d, _ := deskAt(t, cfg)
	c := startDesk(t, "wait", cfg.Dir)
	q := waitingQuestion(t, d)
	reply := desk.Reply{Choice: desk.Edit, Input: []byte(`{"path":"b.txt"}`)}
	if _, err := d.Answer(t.Context(), q.ID, reply, "bob"); err != nil {
		t.Fatal(err)
	}
	if got, want := c.line(t), `{"decision":"allow","by":"bob","input":{"path":"b.txt"}}`; got != want {
		t.Errorf("the process got %s, want %s", got, want)
	}
	c.end(t)
}

// TestDeskKilled: a process is killed between question and answer. The answer
// is found by the next one, once, and only if nothing has changed.
func TestDeskKilled(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*toolcrib.Question)
		found  bool
	}{
		"same":       {func(*toolcrib.Question) {}, true},
		"file":       {func(q *toolcrib.Question) { q.Preview = "-other\n+b\n" }, false},
		"arguments":  {func(q *toolcrib.Question) { q.Input = []byte(`{"path":"b.txt"}`) }, false},
		"definition": {func(q *toolcrib.Question) { q.Spec.Hash = "other" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := fresh(t)
			d, _ := deskAt(t, cfg)
			child := startDesk(t, "wait", cfg.Dir)
			q := waitingQuestion(t, d)
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = child.Wait() // it was killed, and says so
			if _, err := d.Answer(t.Context(), q.ID, desk.Reply{Choice: desk.AllowOnce, Calls: q.Waiting}, "bob"); err != nil {
				t.Fatal(err)
			}
			d, _ = deskAt(t, cfg)
			next := deskQuestion("-a\n+b\n")
			next.Call.ID, next.Call.Caller.Session = "c2", "s2"
			c.change(&next)
			got, err := d.Approve(t.Context(), next)
			if found := err == nil && got.Decision == toolcrib.Allow && got.By == "bob"; found != c.found {
				t.Errorf("found: %v, want %v: %+v, %v", found, c.found, got, err)
			}
			if got, err := d.Approve(t.Context(), next); !errors.Is(err, desk.ErrPending) {
				t.Errorf("a second time: %+v, %v", got, err)
			}
		})
	}
}
