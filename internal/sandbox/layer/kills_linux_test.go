package layer

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The change set of TestKilledAnywhere: as many files are changed, deleted and made.
const killFiles = 100

// killGround is a directory, and a layer as a command leaves it that changes, deletes and
// makes files in it. It is made without mounting one, which would take most of the time.
func killGround(t *testing.T, elsewhere bool) *ground {
	t.Helper()
	g := newGround(t, "")
	if elsewhere {
		g.elsewhere()
	}
	write := func(dir, name, text string) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range killFiles {
		write(g.tree.Root, fmt.Sprintf("changed%d", i), "before")
		write(g.tree.Root, fmt.Sprintf("deleted/%d", i), "before")
		write(g.tree.Upper(), fmt.Sprintf("changed%d", i), "after")
		write(g.tree.Upper(), fmt.Sprintf("new%d/file", i), "after")
		if err := os.MkdirAll(filepath.Join(g.tree.Upper(), "deleted"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mknod(filepath.Join(g.tree.Upper(), "deleted", strconv.Itoa(i)), unix.S_IFCHR, 0); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// killState tells what of the change set is live: "before", "after" or what is wrong.
func killState(g *ground) string {
	before, after := 0, 0
	for i := range killFiles {
		changed, err := os.ReadFile(filepath.Join(g.tree.Root, fmt.Sprintf("changed%d", i)))
		deleted, errDeleted := os.ReadFile(filepath.Join(g.tree.Root, "deleted", strconv.Itoa(i)))
		made, errMade := os.ReadFile(filepath.Join(g.tree.Root, fmt.Sprintf("new%d", i), "file"))
		switch {
		case err == nil && string(changed) == "before" && string(deleted) == "before" && os.IsNotExist(errMade):
			before++
		case err == nil && string(changed) == "after" && os.IsNotExist(errDeleted) && string(made) == "after":
			after++
		}
	}
	list, err := os.ReadDir(g.tree.Root)
	switch {
	case err == nil && before == killFiles && len(list) == killFiles+1:
		return "before"
	case err == nil && after == killFiles && len(list) == 2*killFiles+1:
		return "after"
	}
	return fmt.Sprintf("of %d files %d are as before and %d as after, and there are %d names, %v", 3*killFiles, before, after, len(list), err)
}

// TestKilledAnywhere kills a process that applies some hundred files at moments that nothing
// in it chooses: after recovery there is all of it or nothing. LAYER_KILLS says how often.
func TestKilledAnywhere(t *testing.T) {
	kills := 40
	if n, err := strconv.Atoi(os.Getenv("LAYER_KILLS")); err == nil {
		kills = n
	} else if os.Getenv("LAYER_FEW") != "" || testing.Short() {
		kills = 20
	}
	took, count := 200*time.Millisecond, map[string]int{}
	for i := range kills {
		elsewhere := i%4 == 3
		g := killGround(t, elsewhere)
		since := g.now()
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "LAYER_DIE_AT="+strconv.Itoa(1<<30), "LAYER_SAY=1", "LAYER_SINCE="+strconv.FormatInt(since.UnixNano(), 10), "LAYER_LIVE="+g.tree.Root, "LAYER_DIR="+g.tree.Dir, "LAYER_RECORD="+g.record())
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		if _, err := lines.ReadString('\n'); err != nil { // it is about to apply
			t.Fatal(err)
		}
		began := time.Now()
		if i > 0 { // the first one says how long it takes
			time.Sleep(time.Duration(rand.Int64N(int64(took)))) //nolint:gosec // nothing depends on it
			_ = cmd.Process.Kill()
		}
		if err := cmd.Wait(); err == nil && i < 4 {
			took = max(time.Since(began)*11/10, time.Millisecond)
		}
		wrote := killState(g)
		if _, err := Recover(g.record()); err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		state := killState(g)
		if count[state]++; state != "before" && state != "after" {
			t.Fatalf("kill %d: %s", i, state)
		}
		if wrote != state {
			count["of them taken back in the middle"]++
		}
		if again, err := Recover(g.record()); again || err != nil {
			t.Fatalf("kill %d: recovered twice: %v", i, err)
		}
		if left, err := filepath.Glob(filepath.Join(g.dir, stagePrefix+"*")); err != nil || len(left) > 0 {
			t.Fatalf("kill %d: left: %q, %v", i, left, err)
		}
		_ = removeAll(g.dir) // not only at the end: there are many
	}
	t.Logf("%d kills within %v: %v", kills, took, count)
	if kills >= 100 && (count["before"] == 0 || count["of them taken back in the middle"] == 0) {
		t.Errorf("no kill came in the middle: %v", count)
	}
}
