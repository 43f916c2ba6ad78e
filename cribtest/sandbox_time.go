//go:build unix

package cribtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// hides are the ways to outlive a deadline.
func hides() []string {
	return []string{"stubborn", "child", "session", "group", "holding", "grandchild", "runner"}
}

// late is how long after the deadline Run may still take. It is long, because
// the machine may be busy; what does not end at all is seen all the same.
const late = 10 * time.Second

func diesInTime(ctx context.Context, a *arena) []error {
	return eachWay(hides(), func(how string) []error {
		file := filepath.Join(a.work, "beat-"+how)
		grant := a.grant()
		grant.Time = 2 * time.Second
		// The attacker goes on after it hid something, so that the deadline
		// is what ends it.
		began := time.Now()
		o, err := a.run(ctx, a.command("survive-and-wait", how, file), grant)
		took := time.Since(began)
		var faults []error
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("%s: %w", how, unwrapped(err)))
		case !o.exit.TimedOut:
			faults = append(faults, fmt.Errorf("%s: ended with %+v and not by the deadline\n%s%s", how, o.exit, o.stdout, o.stderr))
		case took > grant.Time+late:
			faults = append(faults, fmt.Errorf("%s: Run came back %s after the deadline", how, took-grant.Time))
		}
		if len(o.lines("refused")) == 0 && !strings.Contains(o.stdout, "ready") {
			faults = append(faults, fmt.Errorf("%s: what was said before the deadline is lost: %q", how, o.stdout))
		}
		return append(faults, beats(how, file)...)
	})
}

// eachWay tries all ways at once: most of the time is spent waiting.
func eachWay(ways []string, try func(how string) []error) []error {
	faults := make([][]error, len(ways))
	inParallel(len(ways), func(i int) { faults[i] = try(ways[i]) })
	return slices.Concat(faults...)
}

// beats tells if something still writes to a file.
func beats(how, file string) []error {
	before := size(file)
	if before == 0 {
		return faultf("%s: nothing was ever alive to be killed", how)
	}
	time.Sleep(250 * time.Millisecond)
	if after := size(file); after != before {
		return faultf("%s: it lives on after Run came back", how)
	}
	return nil
}

func size(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

// signalling is a writer that tells when something was written.
type signalling struct {
	mu   sync.Mutex
	seen bytes.Buffer
	word string
	then func()
}

func (s *signalling) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen.Write(p)
	if s.then != nil && bytes.Contains(s.seen.Bytes(), []byte(s.word)) {
		s.then()
		s.then = nil
	}
	return len(p), nil
}

func diesWithCaller(ctx context.Context, a *arena) []error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	file := filepath.Join(a.work, "beat")
	cmd := a.command("survive-and-wait", "session", file)
	cmd.Stdout = &signalling{word: "ready", then: cancel}
	began := time.Now()
	o, err := a.run(ctx, cmd, a.grant())
	var faults []error
	if err != nil && !errors.Is(err, context.Canceled) {
		faults = append(faults, unwrapped(err))
	}
	if !o.exit.TimedOut {
		faults = append(faults, fmt.Errorf("a program whose caller went away: %+v, want TimedOut", o.exit))
	}
	if took := time.Since(began); took > late {
		faults = append(faults, fmt.Errorf("Run came back after %s", took))
	}
	return append(faults, beats("session", file)...)
}

// diesWithoutParent: a program kills its parent, which may be the one that was
// to end it. Run may come back at once and with an error, but nothing may live
// on after it.
func diesWithoutParent(ctx context.Context, a *arena) []error {
	file := filepath.Join(a.work, "beat")
	grant := a.grant()
	grant.Time = 2 * time.Second
	began := time.Now()
	o, err := a.run(ctx, a.command("patricide", file, strconv.Itoa(os.Getpid())), grant)
	var faults []error
	if took := time.Since(began); took > grant.Time+late {
		faults = append(faults, fmt.Errorf("Run came back %s after the deadline: %+v, error %s", took-grant.Time, o.exit, told(err)))
	}
	return append(faults, beats("a program that killed its parent", file)...)
}

// leavesNothing: the program ends in time, but not what it started.
func leavesNothing(ctx context.Context, a *arena) []error {
	ways := slices.DeleteFunc(hides(), func(how string) bool { return how == "stubborn" })
	return eachWay(ways, func(how string) []error {
		file := filepath.Join(a.work, "beat-"+how)
		began := time.Now()
		o, err := a.attack(ctx, "survive", how, file)
		if err != nil || o.exit.Code != 0 || o.exit.TimedOut {
			return faultf("%s: %+v, error %s\n%s", how, o.exit, told(err), o.stdout)
		}
		var faults []error
		if took := time.Since(began); took > late {
			faults = append(faults, fmt.Errorf("%s: Run was held up for %s by what was left behind", how, took))
		}
		return append(faults, beats(how, file)...)
	})
}

// standsCrowds runs many at once, some of which run out of time.
func standsCrowds(ctx context.Context, a *arena) []error {
	const many, slow = 60, 6
	before := footprint()
	faults := make([]error, many)
	inParallel(many, func(i int) {
		cmd, grant := a.command("exit", "7"), a.grant()
		if i < slow {
			cmd = a.command("wait")
			grant.Time = time.Second
		}
		o, err := a.run(ctx, cmd, grant)
		switch {
		case err != nil:
			faults[i] = fmt.Errorf("run %d: %w", i, unwrapped(err))
		case i < slow && !o.exit.TimedOut, i >= slow && o.exit.Code != 7:
			faults[i] = fmt.Errorf("run %d: %+v %s", i, o.exit, o.stderr)
		}
	})
	return append(dropNil(faults), before.grown()...)
}

func dropNil(list []error) []error {
	var out []error
	for _, err := range list {
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}
