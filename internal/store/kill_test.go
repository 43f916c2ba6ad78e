package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

// The files of a victim, beside its journal. A line is one write of one word
// to a file opened for appending, so that it is there whole or not at all; see
// line.
const (
	wantedFile  = "wanted"  // call IDs before Begin
	effectsFile = "effects" // what was done: the effect of a call is a line here
	ackedFile   = "acked"   // call IDs after End
	settledFile = "settled" // call IDs that Begin answered with an old record
)

// victim is a process that does calls until it is killed.
type victim struct {
	j                               *store.Journal
	wanted, effects, acked, settled *os.File
}

// line pads a call ID to a length that divides a page: a write that goes over
// the end of one may be cut there by the death of its process.
func line(id string) string { return fmt.Sprintf("%-63s\n", id) }

func appending(dir, name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

func playVictim(cfg store.Config, dir string, finish bool) error {
	var v victim
	var err error
	for name, f := range map[string]**os.File{wantedFile: &v.wanted, effectsFile: &v.effects, ackedFile: &v.acked, settledFile: &v.settled} {
		if *f, err = appending(dir, name); err != nil {
			return err
		}
	}
	if v.j, err = sqlite.Open(context.Background(), cfg); err != nil {
		return err
	}
	fmt.Println("open")
	// What nobody answered for is asked for again, as a client would.
	again := map[string]bool{}
	for _, name := range []string{wantedFile, ackedFile, settledFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		for id := range strings.FieldsSeq(string(text)) {
			again[id] = name == wantedFile
		}
	}
	todo := make(chan string)
	go func() {
		for id, open := range again {
			if open {
				todo <- id
			}
		}
		for !finish {
			id := callid.New(time.Now())
			if _, err := v.wanted.WriteString(line(id)); err != nil {
				break
			}
			todo <- id
		}
		close(todo)
	}()
	var all sync.WaitGroup
	failed := make(chan error, 16)
	for range 16 {
		all.Go(func() {
			for id := range todo {
				if err := v.call(id); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		return err
	}
	return v.j.Close(context.Background())
}

// call is what the crib does: begin, effect, end, answer.
func (v *victim) call(id string) error {
	r := newRecord(id)
	old, err := v.j.Begin(context.Background(), r)
	if err != nil {
		return err
	}
	if old != nil {
		if old.Outcome == "" {
			return fmt.Errorf("call %s is said to run still", id)
		}
		_, err := v.settled.WriteString(line(id))
		return err
	}
	if _, err := v.effects.WriteString(line(id)); err != nil {
		return err
	}
	if err := v.j.End(context.Background(), ended(r)); err != nil {
		return err
	}
	_, err = v.acked.WriteString(line(id))
	return err
}

// TestKill kills a process under load at random moments, many times, and then
// looks whether the journal and the effects agree.
func TestKill(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 20
	}
	cfg := fresh(t)
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 7))
	for i := range kills {
		c := child(t, "victim", cfg.Dir, dir, "work")
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// Most are killed at work, some while they start or open the journal.
		if i%5 != 0 {
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatalf("kill %d: the child does not start: %v", i, err)
			}
		}
		time.Sleep(time.Duration(random.Int64N(int64(80 * time.Millisecond))))
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err == nil || c.ProcessState.ExitCode() == 1 {
			t.Fatalf("kill %d: the child ended by itself: %v", i, err)
		}
		if i%25 == 0 && i > 0 {
			mustBeSound(t, cfg)
		}
	}
	if out, err := child(t, "victim", cfg.Dir, dir, "finish").Output(); err != nil {
		t.Fatalf("the last run: %v %s", err, out)
	}

	report := mustBeSound(t, cfg)
	if report.Open != 0 || report.After != 0 {
		t.Errorf("after the last run: %+v", report)
	}
	list, err := reader(t, cfg).List(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	outcome := map[string]toolcrib.Outcome{}
	count := map[toolcrib.Outcome]int{}
	for _, r := range list {
		if _, ok := outcome[r.ID]; ok {
			t.Errorf("call %s is recorded twice", r.ID)
		}
		outcome[r.ID] = r.Outcome
		count[r.Outcome]++
	}
	done := map[string]bool{}
	for _, id := range linesOf(t, filepath.Join(dir, effectsFile)) {
		if done[id] {
			t.Errorf("call %s was done twice", id)
		}
		done[id] = true
		if o := outcome[id]; o != toolcrib.Done && o != toolcrib.Interrupted {
			t.Errorf("call %s had an effect and is recorded as %q", id, o)
		}
	}
	for id, o := range outcome {
		if o == toolcrib.Done && !done[id] {
			t.Errorf("call %s is recorded as done and had no effect", id)
		}
	}
	acked := linesOf(t, filepath.Join(dir, ackedFile))
	for _, id := range acked {
		if outcome[id] != toolcrib.Done {
			t.Errorf("call %s was acknowledged and is recorded as %q", id, outcome[id])
		}
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, "open.lock")); errors.Is(err, os.ErrNotExist) {
		t.Error("the journal was never opened")
	}
	if len(acked) < kills || count[toolcrib.Interrupted] == 0 {
		t.Errorf("%d calls acknowledged, %v: the kills hit nothing", len(acked), count)
	}
	t.Logf("%d kills: %d calls, %d effects, %d acknowledged, %v", kills, len(list), len(done), len(acked), count)
}
