package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

// killDir tells a copy of the test program that it is the one to be killed,
// and where to work.
const killDir = "TOOLCRIB_TEST_KILL_DIR"

const callers = 16

func TestMain(m *testing.M) {
	Shim()
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // under the race detector each program that a test starts would wait for a second at its end
	if dir := os.Getenv(killDir); dir != "" {
		fmt.Fprintln(os.Stderr, toBeKilled(dir)) // it only returns on a mistake
		os.Exit(1)
	}
	if os.Getenv("FAKE_MCP") != "" {
		serveFake()
		return
	}
	os.Exit(m.Run())
}

// TestKilledAtAnyMoment kills a process under load again and again. What must
// hold: the chain verifies, no effect is without a record, none happened
// twice, and what a caller was told was done is done and recorded so.
func TestKilledAtAnyMoment(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	dir := t.TempDir()
	for i := range rounds {
		// Some kills hit the start, most of them the work. On a slow machine a
		// call may take longer than the wait: so it is also counted in calls.
		marks := 0
		if i%5 != 0 {
			marks = 1 + rand.IntN(5)
		}
		killOnce(t, dir, marks, time.Duration(rand.IntN(100_000))*time.Microsecond)
	}

	ctx := t.Context()
	journal, err := sqlite.Open(ctx, killConfig(dir)) // closes what the last one left open
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := journal.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	report, err := journal.Verify(ctx)
	if err != nil || !report.OK() || report.Open != 0 {
		t.Errorf("journal: %+v, %v", report, err)
	}
	records := map[string]toolcrib.Outcome{}
	list, err := journal.List(ctx, store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		records[r.ID] = r.Outcome
	}
	effects := map[string]int{}
	for _, id := range lines(t, filepath.Join(dir, "effects")) {
		effects[id]++
	}
	for id, n := range effects {
		if n > 1 {
			t.Errorf("%s happened %d times", id, n)
		}
		if _, ok := records[id]; !ok {
			t.Errorf("%s happened and is not in the journal", id)
		}
	}
	told := map[string]int{}
	for _, ack := range lines(t, filepath.Join(dir, "acks")) {
		id, outcome, _ := strings.Cut(ack, " ")
		told[outcome]++
		switch {
		case outcome == "done" && (effects[id] != 1 || records[id] != toolcrib.Done):
			t.Errorf("%s: told done, but happened %d times and is recorded as %q", id, effects[id], records[id])
		case outcome == "conflict" && records[id] != toolcrib.Interrupted:
			t.Errorf("%s: told interrupted, but recorded as %q", id, records[id])
		case outcome != "done" && outcome != "conflict":
			t.Errorf("%s: %s", id, outcome)
		}
	}
	t.Logf("%d kills: %d entries, %d effects, told %v", rounds, report.Entries, len(effects), told)
	if told["done"] < rounds || told["conflict"] == 0 {
		t.Errorf("too little happened to show anything: %v", told)
	}
}

func killConfig(dir string) store.Config { return store.Config{Dir: filepath.Join(dir, "journal")} }

// killOnce starts the process and kills it some time after it has written so
// many marks: the first when it begins to work, one more for each call done.
func killOnce(t *testing.T, dir string, marks int, after time.Duration) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killDir+"="+dir)
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reached := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		if _, err := io.ReadFull(stdout, make([]byte, marks)); err == nil {
			close(reached)
		}
		_, _ = io.Copy(io.Discard, stdout)
		ended <- cmd.Wait()
	}()
	select {
	case err := <-ended:
		t.Fatalf("ended by itself: %v\n%s", err, stderr.String())
	case <-time.After(time.Minute):
		t.Fatalf("not %d marks in a minute", marks)
	case <-reached:
	}
	select {
	case err := <-ended:
		t.Fatalf("ended by itself: %v\n%s", err, stderr.String())
	case <-time.After(after):
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	for s := bufio.NewScanner(f); s.Scan(); {
		out = append(out, s.Text())
	}
	return out
}

// toBeKilled calls a tool with an effect from many goroutines for ever. After
// a restart each caller repeats the call it had no answer to, as a client does.
func toBeKilled(dir string) error {
	ctx := context.Background()
	journal, err := sqlite.Open(ctx, killConfig(dir))
	if err != nil {
		return err
	}
	effects, err := os.OpenFile(filepath.Join(dir, "effects"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	acks, err := os.OpenFile(filepath.Join(dir, "acks"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	next := map[int]int{}
	for s := bufio.NewScanner(acks); s.Scan(); {
		var g, n int
		if _, err := fmt.Sscanf(s.Text(), "%d-%d ", &g, &n); err != nil {
			return fmt.Errorf("ack %q: %w", s.Text(), err)
		}
		next[g] = n + 1
	}
	type in struct {
		N int `json:"n"`
	}
	tool := toolcrib.Define(toolcrib.Spec{Name: "effect", Effects: toolcrib.Writes},
		func(_ context.Context, env *toolcrib.Env, i in) (in, error) {
			_, err := effects.WriteString(env.Call.ID + "\n") // one write: whole or not at all
			return i, err
		})
	crib := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: journal, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Writes)}}
	if _, faults := crib.Catalog.Load(ctx, toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("kill", tool)}}); faults != nil {
		return faults[0]
	}
	if _, err := os.Stdout.WriteString("."); err != nil {
		return err
	}
	var wg sync.WaitGroup
	for g := range callers {
		wg.Go(func() {
			for n := next[g]; ; n++ {
				id := fmt.Sprintf("%d-%d", g, n)
				_, err := crib.Call(ctx, toolcrib.Call{ID: id, Tool: "effect", Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))})
				outcome := "done"
				if err != nil {
					outcome = string(toolcrib.CodeOf(err))
				}
				if _, err := acks.WriteString(id + " " + outcome + "\n"); err != nil {
					return
				}
				if outcome == "done" {
					_, _ = os.Stdout.WriteString(".")
				}
			}
		})
	}
	wg.Wait()
	return nil
}
