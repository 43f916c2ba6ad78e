package shell

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// TestJournalSaysHowACommandEnded: a command that did not succeed is never recorded
// as done, and its record says why.
func TestJournalSaysHowACommandEnded(t *testing.T) {
	journal := &cribtest.Memory{}
	r := newRoom(t, Config{})
	r.Journal = journal
	for _, c := range []struct {
		in      runIn
		cancel  bool
		outcome toolcrib.Outcome
		says    string
	}{
		{runIn{Command: "true", Timeout: 30}, false, "done", ""},
		{runIn{Command: "exit 3", Timeout: 30}, false, "failed", "exit status 3"},
		{runIn{Command: "kill -9 $$", Timeout: 30}, false, "failed", "SIGKILL"},
		{runIn{Command: "exec sleep 100", Timeout: 1}, false, "timeout", "time ran out"},
		{runIn{Command: "echo begun; exec sleep 100", Timeout: 100}, true, "cancelled", "cancelled"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		r.Emit = func(e toolcrib.Event) {
			if c.cancel && strings.Contains(e.Text, "begun") {
				cancel()
			}
		}
		input, _ := json.Marshal(c.in)
		result, err := r.Call(ctx, toolcrib.Call{Tool: "run_command", Input: input, Caller: toolcrib.Caller{Subject: "ann"}})
		cancel()
		if err != nil {
			t.Errorf("%s: %v", c.in.Command, err)
			continue
		}
		var out runOut
		if err := json.Unmarshal(result.Value, &out); err != nil {
			t.Fatal(err)
		}
		records := journal.Records()
		rec := records[len(records)-1]
		if rec.Outcome != c.outcome || !strings.Contains(rec.Message, c.says) || rec.Result == nil {
			t.Errorf("%s is recorded as %q, %q; want %q, %q", c.in.Command, rec.Outcome, rec.Message, c.outcome, c.says)
		}
		if success := c.outcome == "done"; out.Success != success || out.TimedOut != (c.outcome == "timeout") {
			t.Errorf("%s: %+v", c.in.Command, out)
		}
		if !c.cancel {
			continue
		}
		notes := strings.Join(out.Notes, "\n")
		if !strings.Contains(string(result.Value), `"cancelled":true`) || !strings.Contains(notes, "cancelled by") || strings.Contains(notes, "100 s") || out.Stdout != "begun\n" {
			t.Errorf("the model is not told that the command was cancelled: %s", result.Value)
		}
	}
}

// TestAnswerOfAStoppedCommandIsGivenAgain: an answer that was recorded with another
// outcome than done is replayed, not refused, and its record keeps that outcome.
func TestAnswerOfAStoppedCommandIsGivenAgain(t *testing.T) {
	journal := &cribtest.Memory{}
	r := newRoom(t, Config{})
	r.Journal = journal
	for _, line := range []string{"echo once >> file; exit 3", "echo once >> file; exec sleep 100"} {
		input, _ := json.Marshal(runIn{Command: line, Timeout: 1})
		call := toolcrib.Call{ID: line, Tool: "run_command", Input: input, Caller: toolcrib.Caller{Subject: "ann"}}
		first, err := r.Call(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		again, err := r.Call(t.Context(), call)
		if err != nil || string(again.Value) != string(first.Value) {
			t.Errorf("%s again: %v, %v; want %s", line, again, err, first.Value)
		}
		records := journal.Records()
		outcomes := []toolcrib.Outcome{records[len(records)-2].Outcome, records[len(records)-1].Outcome}
		if slices.Contains(outcomes, toolcrib.Done) || outcomes[0] != outcomes[1] {
			t.Errorf("%s is recorded as %v", line, outcomes)
		}
	}
}

// TestJournalSaysHowAJobEnded: of a command in the background, the first record that tells of
// its end says how it went, and no other one does: not who started it while it ran, nor who pages
// through its output afterwards. That a command was stopped is what was asked for.
func TestJournalSaysHowAJobEnded(t *testing.T) {
	r := newRoom(t, Config{JobTime: 2 * time.Second})
	journal := &cribtest.Memory{}
	r.Journal = journal
	last := func() (toolcrib.Outcome, string) {
		records := journal.Records()
		rec := records[len(records)-1]
		return rec.Outcome, rec.Message
	}
	begin := func(line string) string {
		t.Helper()
		out, err := call[jobOut](t, r, "ann", "start_command", map[string]any{"command": line, "wait": 0})
		if outcome, _ := last(); err != nil || outcome != toolcrib.Done || !out.Running {
			t.Fatalf("%s: %+v, %v, recorded as %q", line, out, err, outcome)
		}
		return out.Job
	}
	over := func(job string) {
		t.Helper()
		j, err := r.box.jobs.find("ann", job)
		if err != nil {
			t.Fatal(err)
		}
		<-j.done
	}
	output := func(job string) any { return outputIn{Job: job, Stream: "stdout", Limit: 10} }
	stop := func(job string) any { return stopIn{Job: job} }
	for _, c := range []struct {
		line, tool string
		in         func(string) any
		outcome    toolcrib.Outcome
		says       string
	}{
		{"read x; exit 3", "command_output", output, "failed", "exit status 3"},
		{"read x; exit 3", "stop_command", stop, "failed", "exit status 3"},
		{"read x; kill -9 $$", "command_output", output, "failed", "SIGKILL"},
		{"read x; exit 0", "command_output", output, "done", ""},
		{"exec sleep 1000", "command_output", output, "timeout", "time ran out"},
	} {
		job := begin(c.line)
		if strings.HasPrefix(c.line, "read") {
			j, _ := r.box.jobs.find("ann", job)
			if _, err := call[outputOut](t, r, "ann", "command_output", output(job)); err != nil {
				t.Fatal(err)
			}
			if outcome, _ := last(); outcome != toolcrib.Done {
				t.Errorf("%s: reading while it runs is recorded as %q", c.line, outcome)
			}
			if _, err := j.stdin.Write([]byte("x\n")); err != nil {
				t.Fatal(err)
			}
		}
		over(job)
		for _, want := range []toolcrib.Outcome{c.outcome, toolcrib.Done} {
			if c.tool == "stop_command" {
				if _, err := call[jobOut](t, r, "ann", c.tool, c.in(job)); err != nil {
					t.Fatal(err)
				}
			} else if _, err := call[outputOut](t, r, "ann", c.tool, c.in(job)); err != nil {
				t.Fatal(err)
			}
			if outcome, why := last(); outcome != want || want != toolcrib.Done && !strings.Contains(why, c.says) {
				t.Errorf("%s, %s: recorded as %q, %q; want %q, %q", c.line, c.tool, outcome, why, want, c.says)
			}
		}
	}
	if out, err := call[jobOut](t, r, "ann", "start_command", map[string]any{"command": "exit 4", "wait": 15}); err != nil || out.Running {
		t.Fatalf("%+v, %v", out, err)
	}
	if outcome, why := last(); outcome != toolcrib.Broke || !strings.Contains(why, "exit status 4") {
		t.Errorf("one that ends at once is recorded as %q, %q", outcome, why)
	}
	job := begin("exec sleep 1000")
	for _, tool := range []string{"stop_command", "command_output"} {
		input := stop(job)
		if tool == "command_output" {
			input = output(job)
		}
		if _, err := call[map[string]any](t, r, "ann", tool, input); err != nil {
			t.Fatal(err)
		}
		if outcome, why := last(); outcome != toolcrib.Done {
			t.Errorf("%s of a command that was stopped is recorded as %q, %q", tool, outcome, why)
		}
	}
	shortened := run(t, r, runIn{Command: "seq 1 100000; exit 5"}).Job
	if _, err := call[outputOut](t, r, "ann", "command_output", output(shortened)); err != nil || shortened == "" {
		t.Fatal(err)
	}
	if outcome, why := last(); outcome != toolcrib.Done {
		t.Errorf("reading on after run_command is recorded as %q, %q", outcome, why)
	}
}
