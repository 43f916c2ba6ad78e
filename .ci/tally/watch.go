package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// watch runs the tests of one package for "go test -exec", and ends them when they hang:
// when they have printed nothing for a while and hardly anything of theirs ran, or waited
// to run, in that time. A test that works is left alone however busy the machine is;
// "go test -timeout" is for that.
type watch struct {
	silence time.Duration // after which tests that do nothing are ended
	look    time.Duration // how often they are looked at
	grace   time.Duration // for the stacks to be printed
	out     io.Writer
	// active reports whether a process, or one that it started, runs or wants to, and the
	// processor time that they have used; known is false where that cannot be told.
	active func(pid int) (active bool, used time.Duration, known bool)

	mu      sync.Mutex
	spoke   bool     // since the last look
	rest    []byte   // of a line
	running []string // tests that have begun and not ended
}

// Where nobody can tell whether a process works, silence has to last longer.
const unknownFactor = 5

// A tree of processes that was seen at work in more than one look of so many makes
// progress; one that polls for something is seen now and then.
const idleLooks = 10

func newWatch(silence time.Duration) *watch {
	return &watch{silence: silence, look: time.Second, grace: 10 * time.Second, out: os.Stdout, active: active}
}

// run gives the exit status of the program.
func (w *watch) run(program string, args ...string) (int, error) {
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, w, w
	cmd.WaitDelay = time.Minute // as "go test" itself waits for what a test left behind
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	defer signal.Stop(signals)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(w.look)
	defer tick.Stop()
	var silent, looks, worked int
	var before time.Duration
	var kill <-chan time.Time
	for {
		select {
		case err := <-ended:
			if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
				return exit.ExitCode(), nil
			}
			if err != nil {
				return 1, err
			}
			return 0, nil
		case s := <-signals:
			_ = cmd.Process.Signal(s) // it has ended, if this fails
		case <-kill:
			_ = cmd.Process.Kill()
			kill = nil
		case <-tick.C:
			if w.spokeSince() {
				silent, looks, worked = 0, 0, 0
				continue
			}
			silent, looks = silent+1, looks+1
			atWork, used, known := w.active(cmd.Process.Pid)
			if atWork || used-before >= w.look/idleLooks && before > 0 {
				worked++
			}
			before = used
			limit := int(w.silence / w.look)
			if !known {
				limit *= unknownFactor
			}
			if silent < limit || kill != nil {
				continue
			}
			if worked*idleLooks > looks { // it works: look again for as long
				silent, looks, worked = 0, 0, 0
				continue
			}
			w.tell(program, time.Duration(silent)*w.look)
			if cmd.Process.Signal(syscall.SIGQUIT) != nil { // it prints all stacks
				_ = cmd.Process.Kill()
			}
			kill = time.After(w.grace)
		}
	}
}

// tell names the tests that hang.
func (w *watch) tell(program string, silent time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := "no test"
	if inner := slices.DeleteFunc(slices.Clone(w.running), func(name string) bool {
		return slices.ContainsFunc(w.running, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	}); len(inner) > 0 {
		names = strings.Join(inner, ", ")
	}
	fmt.Fprintf(w.out, "\n%s printed nothing and did nothing for %v, and is ended. Running: %s\n", filepath.Base(program), silent, names)
}

func (w *watch) spokeSince() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	spoke := w.spoke
	w.spoke = false
	return spoke
}

// testLine is what the testing package says of a test.
var testLine = regexp.MustCompile(`^\x16?(?:=== (RUN|PAUSE|CONT)|\s*--- (?:PASS|FAIL|SKIP):)\s+(\S+)`)

// Write passes on what the program prints, and notes which tests run.
func (w *watch) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spoke = true
	w.rest = append(w.rest, p...)
	for {
		line, rest, ok := bytes.Cut(w.rest, []byte("\n"))
		if !ok {
			if len(w.rest) > 1<<16 { // no line of a test's name
				w.rest = nil
			}
			break
		}
		if found := testLine.FindSubmatch(line); found != nil {
			name := string(found[2])
			w.running = slices.DeleteFunc(w.running, func(other string) bool { return other == name })
			if word := string(found[1]); word == "RUN" || word == "CONT" {
				w.running = append(w.running, name)
			}
		}
		w.rest = rest
	}
	return w.out.Write(p)
}
