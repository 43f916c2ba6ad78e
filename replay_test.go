package toolcrib

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolcrib/toolcrib/files"
)

// ruled is a guard whose word can be changed between two calls.
type ruled struct{ says atomic.Int64 }

func (g *ruled) Judge(context.Context, Review) (*Verdict, error) {
	return &Verdict{Decision: Decision(g.says.Load()), Guard: "rules", Reason: "as of now"}, nil
}

// TestReplayIsJudged: what was answered once is answered again only to who may
// have it now, and every repetition leaves a record.
func TestReplayIsJudged(t *testing.T) {
	var runs atomic.Int64
	rules := &ruled{}
	rules.says.Store(int64(Allow))
	c := testCrib(t, counting("count", &runs))
	c.Guards = []Guard{rules}
	journal := &pages{}
	c.Journal, c.Approver = journal, nil
	ann := Caller{Subject: "ann", Session: "s"}
	call := func() (*Result, error) {
		return c.Call(t.Context(), Call{ID: "one", Tool: "count", Input: json.RawMessage(`{"n":1}`), Caller: ann})
	}
	records := func() int {
		journal.mu.Lock()
		defer journal.mu.Unlock()
		return len(journal.records)
	}
	for i, step := range []struct {
		says Decision
		code Code
	}{
		{Allow, ""}, {Allow, ""}, {Deny, CodeDenied}, {Allow, ""}, {Ask, CodeConflict}, {Deny, CodeDenied}, {Allow, ""},
	} {
		rules.says.Store(int64(step.says))
		if _, err := call(); CodeOf(err) != step.code {
			t.Errorf("call %d, the rules say %v: %v", i, step.says, err)
		}
		if records() != i+1 || runs.Load() != 1 {
			t.Errorf("call %d: %d records, %d runs", i, records(), runs.Load())
		}
	}
	again := 0
	for _, r := range journal.records {
		if r.ID == "one" {
			continue
		}
		if again++; r.Replay != "one" || r.Outcome == "" || r.Tool != "count" || r.Caller.Subject != "ann" {
			t.Errorf("%+v", r)
		}
	}
	if again != 6 {
		t.Errorf("%d repetitions are recorded", again)
	}
}

// TestReplayOfWhatWasApproved: the conversation that a person allowed a call
// gets its answer again, and no other.
func TestReplayOfWhatWasApproved(t *testing.T) {
	var runs, asked atomic.Int64
	c := testCrib(t, counting("count", &runs))
	c.Guards = []Guard{say(Ask, "mode", nil)}
	c.Journal = &pages{}
	c.Approver = approverFunc(func(context.Context, Question) (Answer, error) {
		asked.Add(1)
		return Answer{Decision: Allow, By: "bob"}, nil
	})
	for _, step := range []struct {
		caller Caller
		code   Code
	}{
		{Caller{Subject: "ann", Session: "s", Agent: "a"}, ""},
		{Caller{Subject: "ann", Session: "s", Agent: "a"}, ""},
		{Caller{Subject: "ann", Session: "t", Agent: "a"}, CodeConflict},
		{Caller{Subject: "ann", Session: "s", Agent: "b"}, CodeConflict},
		{Caller{Subject: "ann", Session: "s", Agent: "a", Token: "x"}, CodeConflict},
	} {
		_, err := c.Call(t.Context(), Call{ID: "one", Tool: "count", Input: json.RawMessage(`{"n":1}`), Caller: step.caller})
		if CodeOf(err) != step.code || runs.Load() != 1 || asked.Load() != 1 {
			t.Errorf("%+v: %v, %d runs, asked %d times", step.caller, err, runs.Load(), asked.Load())
		}
	}
}

// TestReplayIsVetted: a secret that became known since is taken out of a
// recorded answer, and a vetter that refuses today is heard.
func TestReplayIsVetted(t *testing.T) {
	tool := plain("x")
	tool.Run = func(context.Context, *Env, json.RawMessage) (*Result, error) { return Text("the word is hunter2"), nil }
	c := testCrib(t, tool)
	c.Log, c.Journal = quiet(), &pages{}
	call := func() (*Result, error) { return c.Call(t.Context(), Call{ID: "one", Tool: "x"}) }
	if r, err := call(); err != nil || !strings.Contains(r.String(), "hunter2") {
		t.Fatal(r, err)
	}
	var replays []bool
	c.Vetters = []Vetter{vetterFunc(func(r Review, result *Result) (*Result, error) {
		replays = append(replays, r.Replay)
		return Text(strings.ReplaceAll(result.String(), "hunter2", "…")), nil
	})}
	if r, err := call(); err != nil || strings.Contains(r.String(), "hunter2") || len(replays) != 1 || !replays[0] {
		t.Error(r, err, replays)
	}
	c.Vetters = []Vetter{vetterFunc(func(Review, *Result) (*Result, error) { return nil, refuse(CodeDenied, "", "not today", nil) })}
	if r, err := call(); CodeOf(err) != CodeDenied {
		t.Error(r, err)
	}
}

// TestReplayReachesNoFurther: what lies outside of the grant today, or is denied
// today, is not given out of the journal.
func TestReplayReachesNoFurther(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pw.txt"), []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	tool := plain("x")
	tool.Effects = Reads
	tool.Run = func(_ context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		text, _, err := env.Files.ReadFile("pw.txt", 100)
		return Text(string(text)), err
	}
	c := testCrib(t, tool)
	c.Log, c.Journal = quiet(), &pages{}
	c.Grant, c.Files = Grant{Dirs: []files.Dir{{Path: dir}}}, files.Options{Base: dir}
	call := func() (*Result, error) {
		return c.Call(t.Context(), Call{ID: "one", Tool: "x", Input: json.RawMessage(`{"path":"pw.txt"}`)})
	}
	for range 2 {
		if r, err := call(); err != nil || r.String() != "hunter2" {
			t.Fatal(r, err)
		}
	}
	c.Files.Denied = []string{filepath.ToSlash(dir) + "/pw.txt"}
	if r, err := call(); CodeOf(err) != CodeDenied {
		t.Error(r, err)
	}
	c.Files.Denied = nil
	c.Grant = Grant{Dirs: []files.Dir{{Path: t.TempDir()}}}
	if r, err := call(); CodeOf(err) != CodeDenied {
		t.Error(r, err)
	}
}

// TestReplayLooksAgain: a listing that is repeated is made again, so that it
// names nothing that is out of reach today; with a record of its own.
func TestReplayLooksAgain(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.txt", "pw.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tool := plain("x")
	tool.Effects, tool.Group, tool.Idempotent = Reads, "search", true
	tool.Run = func(ctx context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		var names []string
		err := env.Files.Walk(ctx, ".", func(d *files.Folder) error {
			for _, e := range d.Entries {
				names = append(names, e.Name)
			}
			return nil
		}, nil)
		slices.Sort(names)
		return Text(strings.Join(names, " ")), err
	}
	c := testCrib(t, tool)
	journal := &pages{}
	c.Log, c.Journal = quiet(), journal
	c.Grant, c.Files = Grant{Dirs: []files.Dir{{Path: dir}}}, files.Options{Base: dir}
	var records []Record
	c.OnEnd = []func(context.Context, *Record){func(_ context.Context, r *Record) { records = append(records, *r) }}
	for _, want := range []string{"a.txt pw.txt", "a.txt"} {
		if r, err := c.Call(t.Context(), Call{ID: "one", Tool: "x"}); err != nil || r.String() != want {
			t.Error(r, err)
		}
		c.Files.Denied = []string{filepath.ToSlash(dir) + "/pw.txt"}
	}
	c.Guards = []Guard{say(Ask, "mode", nil)}
	if r, err := c.Call(t.Context(), Call{ID: "one", Tool: "x"}); CodeOf(err) != CodeConflict {
		t.Error(r, err)
	}
	if len(records) != 3 || records[1].Replay != "one" || records[1].ID == "one" || records[1].Outcome != Done {
		t.Errorf("%+v", records)
	}
}

// TestHashesCannotBeGuessed: whoever has the journal and a list of likely
// secrets finds none of them by the hashes beside the redacted text.
func TestHashesCannotBeGuessed(t *testing.T) {
	echo := plain("echo")
	echo.Run = func(_ context.Context, _ *Env, in json.RawMessage) (*Result, error) { return &Result{Value: in}, nil }
	c := testCrib(t, echo)
	journal := &pages{}
	c.Journal = journal
	if _, err := c.Call(t.Context(), Call{ID: "one", Tool: "echo", Input: json.RawMessage(`{"password":"483920"}`)}); err != nil {
		t.Fatal(err)
	}
	rec := journal.records["\x00one"]
	if rec == nil || rec.InputHash == "" || rec.ResultHash == "" {
		t.Fatalf("%+v", rec)
	}
	for _, text := range []string{`{"password":"483920"}`, `{"value":{"password":"483920"}}`, `483920`} {
		sum := sha256.Sum256([]byte(text))
		for _, hash := range []string{rec.InputHash, rec.ResultHash} {
			if strings.Contains(hash, hex.EncodeToString(sum[:])) {
				t.Errorf("%s is the plain hash of %s", hash, text)
			}
		}
	}
}

// TestReplayOfAPlainHash: records from before there were keys are answered.
func TestReplayOfAPlainHash(t *testing.T) {
	var runs atomic.Int64
	c := testCrib(t, counting("count", &runs))
	journal := &pages{}
	c.Journal = journal
	call := func(input string) error {
		_, err := c.Call(t.Context(), Call{ID: "one", Tool: "count", Input: json.RawMessage(input)})
		return err
	}
	if err := call(`{"n":1}`); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(`{"n":1}`))
	journal.records["\x00one"].InputHash = hex.EncodeToString(sum[:])
	if err := call(`{"n":1}`); err != nil {
		t.Error(err)
	}
	if err := call(`{"n":2}`); CodeOf(err) != CodeConflict || runs.Load() != 1 {
		t.Error(err, runs.Load())
	}
}

// TestIDsThatLookTheSame: an ID is what a person sees of it.
func TestIDsThatLookTheSame(t *testing.T) {
	c := testCrib(t, plain("echo"))
	c.Log, c.Journal = quiet(), &pages{}
	for _, id := range []string{"R1\u200b", "R1\u00ad", "R1\u202e", "R1\ufe0f", "R1\U000e0041", "R1\u3164", "R1\u034f", "R1\u00a0", "R1\u2028", "R1\x7f", "R1\xff", "sk-0123456789abcdef0123"} {
		_, err := c.Call(t.Context(), Call{ID: id, Tool: "echo", Caller: Caller{Subject: "ann"}})
		if CodeOf(err) != CodeInvalid || !strings.Contains(err.Error(), "call ID") {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{"R1", "größe 7", "日本-1", "a/b:c#d", "👍"} {
		if _, err := c.Call(t.Context(), Call{ID: id, Tool: "echo", Caller: Caller{Subject: "ann"}}); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
}
