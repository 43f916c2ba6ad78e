package sessions

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/model"
)

// TestMain is also the process that is killed while it writes.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SESSIONS_WRITE"); dir != "" {
		writeForEver(dir)
		return
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // else each program that a test starts would wait for a second at its end
	os.Exit(m.Run())
}

// writeForEver says how far it is after each message.
func writeForEver(dir string) {
	s := New(Config{Dir: dir})
	w, err := s.Create(Info{ID: "victim", Owner: ann})
	for i := 0; err == nil; i++ {
		for _, m := range talk(1) {
			if len(m.Parts) > 0 {
				m.Parts[0].Text = strings.Repeat(m.Parts[0].Text+" ", 200)
			}
			if err = w.Add(m, "", ""); err == nil {
				fmt.Println(i)
			}
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

// TestKilled: whenever the process is killed, everything that was kept is there, and
// the rest is a conversation that can be gone on with.
func TestKilled(t *testing.T) {
	for i := range 12 {
		s := store(t, nil)
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "SESSIONS_WRITE="+s.cfg.Dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines, told := bufio.NewScanner(out), 0
		for told < 5+7*i && lines.Scan() {
			told++
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			told++
		}
		_ = cmd.Wait() // it was killed
		was, err := s.Load(ann, "victim")
		if err != nil || was.Fault != nil {
			t.Fatalf("%v, %v", err, was)
		}
		said := 0
		for _, e := range was.Entries {
			if !e.Made {
				said++
			}
		}
		if said < told || said > told+1 {
			t.Errorf("%d messages were kept, and %d are there", told, said)
		}
		whole(t, was.Messages())
		w, _, err := s.Resume(ann, "victim") // the lock died with its process
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(model.Text(model.User, "go on"), "", ""); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := s.Load(ann, "victim")
		if err != nil || again.Fault != nil {
			t.Fatal(err, again.Fault)
		}
		if diff := cmp.Diff(append(was.Messages(), model.Text(model.User, "go on")), again.Messages()); diff != "" {
			t.Error(diff)
		}
	}
}

// whole holds a conversation to its one rule.
func whole(t testing.TB, list []model.Message) {
	t.Helper()
	var open []string
	for _, m := range list {
		if m.Role == model.Tool {
			if len(open) == 0 || !strings.Contains(strings.Join(open, " ")+" ", m.CallID+" ") {
				t.Fatalf("an answer to nothing: %+v", m)
			}
			for i := range open {
				if open[i] == m.CallID {
					open = append(open[:i:i], open[i+1:]...)
					break
				}
			}
			continue
		}
		if len(open) > 0 {
			t.Fatalf("calls without an answer: %v", open)
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		t.Fatalf("calls without an answer: %v", open)
	}
}

// TestCutAnywhere: a file that ends anywhere loads, and can be gone on with.
func TestCutAnywhere(t *testing.T) {
	s := store(t, nil)
	id := create(t, s, ann, talk(2)...)
	path := filepath.Join(s.dir(ann), id+ending)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(text, '\n') + 1
	for n := first; n <= len(text); n += 3 {
		if err := os.WriteFile(path, text[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		w, was, err := s.Resume(ann, id)
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		whole(t, was.Messages())
		if err := errors.Join(w.Add(model.Text(model.User, "go on"), "", ""), w.Close()); err != nil {
			t.Fatal(err)
		}
		again, err := s.Load(ann, id)
		if err != nil || again.Fault != nil || len(again.Entries) != len(was.Entries)+1 {
			t.Fatalf("cut at %d: %v, %v", n, err, again.Fault)
		}
	}
}

// TestDamaged: a line that is no message is told, and what stands before it can be had.
func TestDamaged(t *testing.T) {
	s := store(t, nil)
	id := create(t, s, ann, talk(3)...)
	path := filepath.Join(s.dir(ann), id+ending)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[6] = []byte("garbage\n")
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	was, err := s.Load(ann, id)
	if err != nil || was.Fault == nil || !strings.Contains(was.Fault.Error(), "line 7") || len(was.Entries) != 5 {
		t.Fatalf("%v, %v", err, was)
	}
	if _, _, err := s.Resume(ann, id); err == nil || !strings.Contains(err.Error(), "branch") {
		t.Errorf("%v", err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, bytes.Join(lines, nil)) {
		t.Error("it was changed")
	}
	info, err := s.Branch(ann, id, -1)
	if err != nil {
		t.Fatal(err)
	}
	if made, err := s.Load(ann, info.ID); err != nil || made.Fault != nil || len(made.Entries) != 5 {
		t.Errorf("%v", err)
	}
}

// TestOddMessages: what a model writes need not be JSON, and is kept all the same.
func TestOddMessages(t *testing.T) {
	s := store(t, nil)
	odd := model.Message{Role: model.Assistant, Calls: []model.ToolCall{{ID: "a", Name: "x", Arguments: json.RawMessage(`{"cut`)}}, Own: json.RawMessage("{"), By: "z"}
	id := create(t, s, ann, model.Text(model.User, "line\nbreak\u2028 and \x00"), odd)
	was, err := s.Load(ann, id)
	if err != nil || was.Fault != nil || len(was.Entries) != 3 {
		t.Fatalf("%v, %+v", err, was)
	}
	if got := string(was.Entries[1].Message.Calls[0].Arguments); got != `"{\"cut"` {
		t.Errorf("%s", got)
	}
	if last := was.Entries[2]; !last.Made || !last.Message.Failed || last.Message.CallID != "a" {
		t.Errorf("%+v", last)
	}
}

func FuzzRead(f *testing.F) {
	s := store(f, nil)
	id := create(f, s, ann, talk(2)...)
	text, err := os.ReadFile(filepath.Join(s.dir(ann), id+ending))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(text[:len(text)-40])
	f.Add([]byte(`{"v":1,"id":"x"}` + "\n"))
	f.Add([]byte(`{"v":1,"id":"x"}` + "\n" + `{"message":{"role":"assistant","calls":[{"id":"a"},{"id":"a"}]}}` + "\n"))
	f.Add([]byte(`{"v":1,"id":"x"}` + "\n" + `{"message":{"role":"tool","call_id":"a"}}` + "\n"))
	f.Add([]byte(`{"v":2,"id":"x"}` + "\n"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		was, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		if was.whole > int64(len(text))+1 {
			t.Errorf("%d whole bytes of %d", was.whole, len(text))
		}
		whole(t, was.Messages())
	})
}
