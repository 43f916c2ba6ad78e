package kit

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

// program starts a fake plugin without a sandbox.
func program(mode string, env ...string) func(context.Context, map[string]string, io.Writer) (client.Process, error) {
	return func(_ context.Context, more map[string]string, stderr io.Writer) (client.Process, error) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(append(os.Environ(), "KIT_PLUGIN="+mode), env...)
		for name, value := range more {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		log, to, err := os.Pipe() // what a child holds open must not hold us up
		if err != nil {
			return client.Process{}, err
		}
		cmd.Stderr = to
		in, err := cmd.StdinPipe()
		if err != nil {
			return client.Process{}, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return client.Process{}, err
		}
		if err := cmd.Start(); err != nil {
			return client.Process{}, err
		}
		_ = to.Close()
		copied := make(chan struct{})
		go func() {
			defer close(copied)
			_, _ = io.Copy(stderr, log)
		}()
		done := make(chan struct{})
		var ended error
		go func() {
			state, err := cmd.Process.Wait()
			if ended = err; err == nil && !state.Success() {
				ended = &exec.ExitError{ProcessState: state}
			}
			select {
			case <-copied:
			case <-time.After(30 * time.Second): // what it said last may come late on a busy machine
			}
			close(done)
		}()
		return client.Process{Stdin: in, Stdout: out, Done: done, Err: func() error { <-done; return ended }, Kill: func() { _ = cmd.Process.Kill() }}, nil
	}
}

func find(t *testing.T, r Report, words string) Check {
	t.Helper()
	for _, c := range r.Checks {
		if strings.Contains(c.Name, words) {
			return c
		}
	}
	t.Fatalf("there is no check about %q", words)
	return Check{}
}

func TestGood(t *testing.T) {
	r := Run(t.Context(), Config{Start: program("good"), Call: "double", Arguments: four, Patience: time.Minute, End: time.Minute})
	for _, c := range r.Checks {
		if c.State != Passed && (c.State != Skipped || runtime.GOOS == "linux") {
			t.Errorf("%+v", c)
		}
	}
	if len(r.Checks) != len(points()) || len(r.Tools) != 1 || r.Tools[0] != "double" || r.Bad() != 0 {
		t.Errorf("%+v", r)
	}
	r = Run(t.Context(), Config{Start: program("good"), Patience: time.Minute, End: time.Minute})
	if c := find(t, r, "answers the call"); c.State != Skipped || r.Bad() != 0 {
		t.Errorf("without a tool to call: %+v", r)
	}
}

// TestBad: every check fails of what it is for.
func TestBad(t *testing.T) {
	const slow = 30 * time.Second
	for _, c := range []struct {
		mode, check string
		state       State
		why         string
		patience    time.Duration
	}{
		{"dies", "it starts", Failed, "it said: there is no database", slow},
		{"mute", "it starts", Failed, "there is no answer within", 300 * time.Millisecond},
		{"no version", "it starts", Failed, "no protocolVersion", slow},
		{"no tools", "it starts", Failed, "does not say that it has tools", slow},
		{"no name", "it starts", Failed, "no serverInfo", slow},
		{"any version", "agrees on a version", Failed, `"1999-01-01"`, slow},
		{"dies of questions", "does not know, before", Failed, "answer it with the error -32601", slow},
		{"no list", "lists its tools", Failed, "not today", slow},
		{"no word for the list", "lists its tools", Failed, `no list "tools"`, slow},
		{"empty list", "lists its tools", Failed, "the list is empty", slow},
		{"empty list", "names that can be used", Skipped, "", slow},
		{"bad name", "names that can be used", Failed, `"dou ble"`, slow},
		{"one name twice", "names that can be used", Failed, "twice", slow},
		{"no description", "names that can be used", Note, "description", slow},
		{"no schema", "schemas of its tools", Failed, "no inputSchema", slow},
		{"schema of a text", "schemas of its tools", Failed, `not of "type":"object"`, slow},
		{"bad schema", "schemas of its tools", Failed, "wholenumber", slow},
		{"no ping", "answers ping", Failed, "-32601", slow},
		{"ids as texts", "it starts", Failed, "no answer within", 300 * time.Millisecond},
		{"answers twice", "50 requests", Failed, "is answered 2 times", slow},
		{"takes every method", "unknown method", Failed, "with a result", slow},
		{"another code", "unknown method", Failed, "-32603", slow},
		{"answers notifications", "says nothing to a notification", Failed, "what is that", slow},
		{"has every tool", "tool that it does not have", Failed, "as if there were one", slow},
		{"dies of garbage", "no JSON", Failed, "it ended", slow},
		{"no content", "answers the call", Failed, `no list "content"`, slow},
		{"strange content", "answers the call", Failed, "smell", slow},
		{"no value", "answers the call", Failed, "no structuredContent", slow},
		{"another value", "answers the call", Failed, "does not fit its outputSchema", slow},
		{"fails", "answers the call", Note, "the tool says that it failed", slow},
		{"breaks", "answers the call", Failed, "error of the protocol", slow},
		{"progress goes down", "progress goes up", Failed, "0.5 comes after 1", slow},
		{"progress of another", "progress goes up", Failed, "another progressToken", slow},
		{"no progress in it", "progress goes up", Failed, "no number", slow},
		{"progress too late", "progress goes up", Failed, "after the answer", slow},
		{"one call at a time", "several calls at once", Failed, "no answer within", 4 * time.Second},
		{"slow", "several calls at once", Note, "wait for each other", slow},
		{"dies when it is told of an end", "was cancelled", Failed, "", slow},
		{"prints", "nothing but messages", Failed, "Hello, I am a plugin.", slow},
		{"stays", "ends when its input ends", Failed, "killed", slow},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			end := time.Minute
			if c.mode == "stays" {
				end = 500 * time.Millisecond
			}
			r := Run(t.Context(), Config{Start: program(c.mode), Call: "double", Arguments: four, Patience: c.patience, End: end})
			got := find(t, r, c.check)
			if got.State != c.state || !strings.Contains(got.Why, c.why) {
				t.Errorf("%+v, want %s with %q", got, c.state, c.why)
			}
			if (r.Bad() > 0) != (c.state == Failed || c.mode == "empty list") {
				t.Errorf("%d are bad: %+v", r.Bad(), r.Checks)
			}
		})
	}
}

// TestNoSuchTool: the tool to call has to be there.
func TestNoSuchTool(t *testing.T) {
	r := Run(t.Context(), Config{Start: program("good"), Call: "triple", Patience: time.Minute, End: time.Minute})
	if c := find(t, r, "answers the call"); c.State != Failed || !strings.Contains(c.Why, `no tool "triple"`) {
		t.Errorf("%+v", c)
	}
}

// TestNotStarted: nothing else is tried.
func TestNotStarted(t *testing.T) {
	r := Run(t.Context(), Config{Start: func(context.Context, map[string]string, io.Writer) (client.Process, error) {
		return client.Process{}, os.ErrPermission
	}})
	if r.Bad() != 1 || r.Checks[1].State != Skipped || !strings.Contains(r.Checks[0].Why, "permission denied") {
		t.Errorf("%+v", r)
	}
}

func four(json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`{"n":4}`), nil }
