package shell

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

func start(t testing.TB, r *room, line string) jobOut {
	t.Helper()
	out, err := call[jobOut](t, r, "ann", "start_command", startIn{Command: line})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// until polls a job's output for a text.
func until(t testing.TB, r *room, job, text string) outputOut {
	t.Helper()
	for range 500 {
		out, err := call[outputOut](t, r, "ann", "command_output", outputIn{Job: job, Stream: "stdout", Limit: 10000})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.Text, text) {
			return out
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("the job never printed %q", text)
	return outputOut{}
}

func TestJob(t *testing.T) {
	r := newRoom(t, Config{})
	job := start(t, r, "while read line; do echo got $line; done; echo end").Job
	if _, err := call[jobOut](t, r, "ann", "command_input", inputIn{Job: job, Text: "one"}); err != nil {
		t.Fatal(err)
	}
	if out := until(t, r, job, "got one"); !out.Running {
		t.Errorf("%+v", out)
	}
	for _, tool := range []string{"command_output", "command_input", "stop_command"} {
		input := map[string]any{"job": job}
		if tool == "command_input" {
			input["text"] = "x"
		}
		if _, err := call[jobOut](t, r, "bob", tool, input); err == nil || !strings.Contains(err.Error(), "no job") {
			t.Errorf("another caller may %s: %v", tool, err)
		}
	}
	if _, err := call[jobOut](t, r, "ann", "command_input", inputIn{Job: job, Text: "two", Close: true}); err != nil {
		t.Fatal(err)
	}
	until(t, r, job, "got two\nend\n")
	if _, err := call[jobOut](t, r, "ann", "command_input", inputIn{Job: job, Text: "three"}); err == nil {
		t.Error("typed into a job that is over")
	}
}

func TestStopCommand(t *testing.T) {
	r := newRoom(t, Config{})
	job := start(t, r, "echo up; exec sleep 1000").Job
	until(t, r, job, "up")
	for range 2 { // the second time changes nothing
		out, err := call[jobOut](t, r, "ann", "stop_command", stopIn{Job: job})
		if err != nil || out.Running || out.TimedOut || !out.Stopped || out.ExitCode == nil {
			t.Errorf("%+v, %v", out, err)
		}
	}
}

func TestJobsAreBounded(t *testing.T) {
	r := newRoom(t, Config{Jobs: 2, Output: 100})
	for range 2 {
		if out, err := call[jobOut](t, r, "ann", "start_command", map[string]any{"command": "exec sleep 1000", "wait": 0}); err != nil || !out.Running {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	if _, err := call[jobOut](t, r, "ann", "start_command", startIn{Command: "exec sleep 1000"}); err == nil || !strings.Contains(err.Error(), "stop one first") {
		t.Errorf("a third job: %v", err)
	}
	if out, err := call[jobOut](t, r, "bob", "start_command", map[string]any{"command": "true"}); err != nil || out.Running {
		t.Errorf("another caller: %+v, %v", out, err)
	}
	first := run(t, r, runIn{Command: "seq 1 1000"}).Job
	for range maxKept {
		run(t, r, runIn{Command: "seq 1 1000"})
	}
	if _, err := call[outputOut](t, r, "ann", "command_output", outputIn{Job: first, Stream: "stdout", Limit: 10}); err == nil {
		t.Error("finished commands are kept without bound")
	}
}

func TestJobTime(t *testing.T) {
	r := newRoom(t, Config{JobTime: 300 * time.Millisecond})
	job := start(t, r, "exec sleep 1000").Job
	for range 500 {
		out, err := call[outputOut](t, r, "ann", "command_output", outputIn{Job: job, Stream: "stdout", Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if !out.Running {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("it still runs")
}

// TestTypedMeanwhile: of two lines that were judged over the same state only
// one is typed.
func TestTypedMeanwhile(t *testing.T) {
	r := newRoom(t, Config{})
	job := start(t, r, "sh").Job
	judge := func(id string) []string {
		line, dir, typed, ok := r.box.Typed(toolcrib.Call{ID: id, Caller: toolcrib.Caller{Subject: "ann"}}, job)
		if !ok || line != "sh" || dir != r.dir {
			t.Fatalf("%s in %s, %v", line, dir, ok)
		}
		return typed
	}
	if _, _, _, ok := r.box.Typed(toolcrib.Call{ID: "x", Caller: toolcrib.Caller{Subject: "bob"}}, job); ok {
		t.Error("another caller's guard sees the job")
	}
	judge("a")
	judge("b")
	enter := func(id, text string) error {
		_, err := r.Call(t.Context(), toolcrib.Call{ID: id, Tool: "command_input", Caller: toolcrib.Caller{Subject: "ann"},
			Input: fmt.Appendf(nil, `{"job":%q,"text":%q}`, job, text)})
		return err
	}
	result := func(id, text string) string {
		res, err := r.Call(t.Context(), toolcrib.Call{ID: id, Tool: "command_input", Caller: toolcrib.Caller{Subject: "ann"},
			Input: fmt.Appendf(nil, `{"job":%q,"text":%q}`, job, text)})
		if err != nil {
			return err.Error()
		}
		return res.String()
	}
	if err := enter("a", "echo first"); err != nil {
		t.Fatal(err)
	}
	until(t, r, job, "first")
	if got := result("b", "echo second"); !strings.Contains(got, "typed meanwhile") {
		t.Errorf("a line judged before: %s", got)
	}
	if got := result("never-judged", "echo third"); !strings.Contains(got, "typed meanwhile") {
		t.Errorf("a line nobody judged: %s", got)
	}
	if typed := judge("d"); len(typed) != 1 || typed[0] != "echo first" {
		t.Errorf("typed: %q", typed)
	}
	if err := enter("d", "echo fourth"); err != nil {
		t.Fatal(err)
	}
	out := until(t, r, job, "fourth")
	if strings.Contains(out.Text, "second") || strings.Contains(out.Text, "third") {
		t.Errorf("%q", out.Text)
	}
}
