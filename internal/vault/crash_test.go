package vault

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// killed starts a child and kills it at a random moment after it did some of
// its work, within twice the time that a piece of it takes. It gives the lines
// that the child had said, one for each piece.
func killed(t *testing.T, after int, takes time.Duration, role string, args ...string) []string {
	t.Helper()
	c := child(t, role, args...)
	pipe, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	out := bufio.NewReader(pipe)
	firstLine(t, out) // it is ready
	var lines []string
	for range after {
		lines = append(lines, firstLine(t, out))
	}
	time.Sleep(rand.N(2 * takes))
	must(t, c.Process.Kill())
	for {
		line, err := out.ReadString('\n')
		if err != nil {
			break
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	if err := c.Wait(); err == nil || c.ProcessState.ExitCode() == 1 {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return lines
}

// TestKillSet: after a kill at any moment the secret has the last value that
// was said to be set, or the one that was being set.
func TestKillSet(t *testing.T) {
	ringDir := t.TempDir()
	keys := fromRing(fileRing(ringDir))
	v := fresh(t, keys)
	mustSet(t, v, named("other"), "stays")
	began := time.Now()
	mustSet(t, v, named("A"), numbered(0))
	takes := min(time.Since(began), 50*time.Millisecond)
	last, done, ahead := 0, 0, 0
	for i := range 50 {
		for _, line := range killed(t, i%3, takes, "set", v.store.dir, ringDir, strconv.Itoa(last+1)) {
			n, err := strconv.Atoi(line)
			must(t, err)
			last = n
			done++
		}
		now := at(v.store.dir, keys)
		got, err := now.Get(t.Context(), named("A"))
		must(t, err)
		switch got {
		case numbered(last):
		case numbered(last + 1):
			last++
			ahead++
		default:
			t.Fatalf("after %d was set the secret has %d bytes that begin %.10q", last, len(got), got)
		}
		mustGet(t, now, named("other"), "stays")
	}
	if ids := keysIn(t, ringDir); len(ids) != 1 {
		t.Errorf("the keyring has the keys %v", ids)
	}
	t.Logf("50 kills among %d changes; %d of them had been made and not yet told", done, ahead)
	noPlain(t, v.store.dir, numbered(last), numbered(last+1))
}

// TestKillRotate: after a kill at any moment everything is there under a key
// that is to be had.
func TestKillRotate(t *testing.T) {
	ringDir := t.TempDir()
	keys := fromRing(fileRing(ringDir))
	v := fresh(t, keys)
	for i := range 5 {
		mustSet(t, v, named(fmt.Sprintf("n%d", i)), numbered(i))
	}
	began := time.Now()
	_, err := v.Rotate(t.Context(), keys)
	must(t, err)
	takes := min(time.Since(began), 50*time.Millisecond)
	rotations := 0
	for i := range 50 {
		rotations += len(killed(t, i%2, takes, "rotate", v.store.dir, ringDir))
		now := at(v.store.dir, keys)
		for i := range 5 {
			mustGet(t, now, named(fmt.Sprintf("n%d", i)), numbered(i))
		}
	}
	_, err = v.Rotate(t.Context(), keys)
	must(t, err)
	t.Logf("50 kills among %d rotations", rotations)
	if ids := keysIn(t, ringDir); len(ids) != 1 {
		t.Errorf("%d keys are in the keyring, and one is needed", len(ids))
	}
}

// TestDieAtEveryStep ends a process before every step of a change that could
// matter, one after the other: of its writes, and around its uses of the
// keyring. What is there afterwards is the old state, up to some step, and from
// then on the new one; and the next changes work and tidy up.
func TestDieAtEveryStep(t *testing.T) {
	for _, role := range []string{"begin", "set", "remove", "rotate"} {
		t.Run(role, func(t *testing.T) {
			wasNew, steps := false, 0
			for lived := false; !lived; steps++ {
				if steps > 100 {
					t.Fatal("the child dies at every step")
				}
				ringDir := t.TempDir()
				keys := fromRing(fileRing(ringDir))
				v := fresh(t, keys)
				first := ""
				if role != "begin" {
					mustSet(t, v, named("A"), "old")
					mustSet(t, v, named("B"), "stays")
					first = v.key.id
				}
				c := child(t, "die at "+role, v.store.dir, ringDir, strconv.Itoa(steps))
				lived = c.Run() == nil
				if !lived && c.ProcessState.ExitCode() == 1 {
					t.Fatal("the child failed") // it said why
				}

				now := at(v.store.dir, keys)
				a, err := now.Get(t.Context(), named("A"))
				if err != nil && !errors.Is(err, ErrNotFound) {
					t.Fatalf("step %d: %v", steps, err)
				}
				isNew := false
				switch {
				case role == "begin" && a == "" || role != "begin" && role != "rotate" && a == "old":
				case role == "begin" && a == "new", role == "set" && a == "new", role == "remove" && a == "":
					isNew = true
				case role == "rotate" && a == "old":
					isNew = now.key.id != first
				default:
					t.Fatalf("step %d: the value is %q", steps, a)
				}
				if wasNew && !isNew || lived && !isNew || steps == 0 && isNew {
					t.Errorf("step %d: the state is new: %v", steps, isNew)
				}
				wasNew = isNew
				if role != "begin" {
					mustGet(t, now, named("B"), "stays")
				}

				mustSet(t, now, named("C"), "more")
				mustGet(t, v, named("C"), "more")
				if _, err := os.Lstat(v.store.path(tempName)); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("step %d: the unfinished file is still there: %v", steps, err)
				}
				_, err = now.Rotate(t.Context(), keys)
				must(t, err)
				// A key made for a store that never was is on nobody's list.
				if ids := keysIn(t, ringDir); !slices.Equal(ids, []string{now.key.id}) && role != "begin" || len(ids) > 2 {
					t.Errorf("step %d: the keyring has the keys %v", steps, ids)
				}
			}
			t.Logf("%d steps", steps-1)
			if least := 6; steps <= least {
				t.Errorf("only %d steps were seen", steps-1)
			}
		})
	}
}

const manyEach = 15

// TestManyProcesses: processes that change a store at once, which is not even
// there yet, lose nothing and use one key.
func TestManyProcesses(t *testing.T) {
	ringDir := t.TempDir()
	v := fresh(t, fromRing(fileRing(ringDir)))
	var begin, wait []func() error
	for i := range 3 {
		c := child(t, "set many", v.store.dir, ringDir, fmt.Sprintf("p%d", i))
		in, err := c.StdinPipe()
		must(t, err)
		pipe, err := c.StdoutPipe()
		must(t, err)
		must(t, c.Start())
		firstLine(t, bufio.NewReader(pipe))
		begin, wait = append(begin, in.Close), append(wait, c.Wait)
	}
	for _, f := range append(begin, wait...) {
		must(t, f())
	}
	for i := range 3 {
		for j := range manyEach {
			name := fmt.Sprintf("p%d-%d", i, j)
			mustGet(t, v, named(name), name)
		}
	}
	if ids := keysIn(t, ringDir); len(ids) != 1 {
		t.Errorf("the keyring has the keys %v", ids)
	}
}
