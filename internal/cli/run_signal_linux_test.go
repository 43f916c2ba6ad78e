package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/modeltest"
)

// TestInterruptedRun: ctrl-C in the middle of an answer ends the run in good order: its
// status says so, what was said is kept, and it can be gone on with.
func TestInterruptedRun(t *testing.T) {
	sent := syscall.SIGINT
	if signal.Ignored(sent) { // by whoever started this test, and so by everything below it
		sent = syscall.SIGTERM
	}
	asked := make(chan modeltest.Request, 10)
	server := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn {
		asked <- r
		if r.N == 0 {
			return modeltest.Turn{Text: "I begin to say something long", Hang: 3}
		}
		return modeltest.Turn{Text: "here I am"}
	})
	s := newSite(t, "--set", "model=small", "--set", "models.small.base_url="+server.Base("openai"))
	cmd := s.command("run", "--session", "talk", "say something")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // if it has not ended
	first := <-asked
	if err := cmd.Process.Signal(sent); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != exitAborted || !strings.Contains(said.String(), "aborted") {
		t.Fatalf("%v\n%s", err, said.String())
	}
	<-first.Ended // the request went with it
	again := s.command("run", "--resume", "last", "still there?")
	if got, err := again.Output(); err != nil || strings.TrimSpace(string(got)) != "here I am" {
		t.Errorf("%q, %v", got, err)
	}
	second := <-asked
	if second.Messages[0].Text != "say something" || second.Last() != "still there?" {
		t.Errorf("%+v", second.Messages)
	}
}

// TestRunAwaitsAnAnswer: where nobody sits at a terminal, a run waits for what somebody
// answers elsewhere, for those that were put to work in it too.
func TestRunAwaitsAnAnswer(t *testing.T) {
	server := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn {
		if len(r.Results()) > 0 {
			return modeltest.Turn{Text: "done: " + r.Results()[0]}
		}
		return modeltest.Turn{Calls: []modeltest.Call{{Name: "write_file", Arguments: `{"path":"a.txt","content":"written"}`}}}
	})
	s := newSite(t, "--set", "model=small", "--set", "models.small.base_url="+server.Base("openai"))
	cmd := s.command("run", "write it")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // if it has not ended
	id := ""
	for until := time.Now().Add(time.Minute); id == ""; time.Sleep(20 * time.Millisecond) {
		var open []struct {
			ID   string `json:"id"`
			Tool string `json:"tool"`
		}
		if text, err := s.command("approvals", "--output", "json").Output(); err == nil && json.Unmarshal(text, &open) == nil && len(open) == 1 {
			id = open[0].ID
		}
		if time.Now().After(until) {
			t.Fatalf("nothing was asked: %s", said.String())
		}
	}
	s.toolcrib("approvals", "allow", id)
	if err := cmd.Wait(); err != nil || s.read("a.txt") != "written" || !strings.Contains(out.String(), "done: ") {
		t.Errorf("%v, %q\n%s", err, out.String(), said.String())
	}
	if !strings.Contains(said.String(), "write_file waits for an answer") {
		t.Errorf("nobody was told: %s", said.String())
	}
}
