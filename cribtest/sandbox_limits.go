//go:build unix

package cribtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

func boundsProcesses(ctx context.Context, a *arena) []error {
	const tried = 4 * SandboxProcesses
	o, err := a.attack(ctx, "forks", strconv.Itoa(tried))
	if err != nil {
		return []error{err}
	}
	lines := o.lines("forked")
	if len(lines) != 1 {
		return faultf("the fork bomb was not tried: %+v %q", o.exit, o.stdout)
	}
	made, err := strconv.Atoi(strings.Fields(lines[0])[0])
	if err != nil {
		return []error{err}
	}
	var faults []error
	if made > SandboxProcesses {
		faults = append(faults, fmt.Errorf("%d processes were made, the limit is %d", made, SandboxProcesses))
	}
	if made < 8 {
		faults = append(faults, fmt.Errorf("only %d processes could be made of %d", made, SandboxProcesses))
	}
	if o, err := a.attack(ctx, "exit", "0"); err != nil || o.exit.Code != 0 {
		faults = append(faults, fmt.Errorf("after a fork bomb: %+v, error %s", o.exit, told(err)))
	}
	return faults
}

func boundsMemory(ctx context.Context, a *arena) []error {
	const limit = SandboxMemory >> 20 // in MiB, as the attacker counts
	var faults []error
	for _, how := range []string{"private", "shared", "temp", "shm", "memfd"} {
		if len(faults) > 0 {
			return faults // the machine needs its memory for others
		}
		o, err := a.attack(ctx, "hog", how, strconv.Itoa(2*limit+64))
		if err != nil {
			faults = append(faults, err)
			continue
		}
		had := 0
		for _, line := range o.lines("has") {
			had, err = strconv.Atoi(line)
			if err != nil {
				faults = append(faults, err)
			}
		}
		// Where memory is watched and not fenced, a little more is had for a moment.
		if had > 2*limit || had > limit && strings.Contains(o.stdout, "kept it") {
			faults = append(faults, fmt.Errorf("%s: %d MiB were had, the limit is %d: %+v", how, had, limit, o.exit))
		}
		if had < 8 && (how == "private" || how == "temp") {
			faults = append(faults, fmt.Errorf("%s: only %d MiB could be had of %d: %q %+v", how, had, limit, o.stdout, o.exit))
		}
	}
	for _, how := range []string{"private", "shared"} {
		const processes = 4
		each := limit/2 + 8
		o, err := a.attack(ctx, "hogs", how, strconv.Itoa(processes), strconv.Itoa(each))
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if kept := o.lines("all kept"); len(kept) == 1 && kept[0] == strconv.Itoa(processes) {
			faults = append(faults, fmt.Errorf("%s: %d processes kept %d MiB each, the limit for all is %d", how, processes, each, limit))
		}
	}
	return faults
}

func boundsFile(ctx context.Context, a *arena) []error {
	limited, ok := a.sandbox.(interface{ FileLimit() int64 })
	if !ok {
		return nil
	}
	limit := limited.FileLimit()
	if limit <= 0 || limit > 1<<30 {
		return faultf("a file limit of %d bytes cannot be tried: open the sandbox with cribtest.SandboxFile", limit)
	}
	file := filepath.Join(a.work, "large")
	o, err := a.attack(ctx, "fill", file, strconv.FormatInt(limit>>20+16, 10))
	if err != nil {
		return []error{err}
	}
	if got := size(file); got > limit || len(o.lines("did")) > 0 || got < limit/2 {
		return faultf("a file of %d bytes was written, the limit is %d: %q", got, limit, o.stdout)
	}
	return nil
}

// counting is a writer that keeps nothing.
type counting struct{ n atomic.Int64 }

func (c *counting) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

// streamsOutput: a gigabyte of output passes through without staying.
func streamsOutput(ctx context.Context, a *arena) []error {
	const allowed = 20 << 20
	runtime.GC()
	before := resident()
	peak := before
	stop := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				peak = max(peak, resident())
			}
		}
	}()
	var count counting
	cmd := a.command("pour", strconv.Itoa(a.pour))
	cmd.Stdout = &count
	o, err := a.run(ctx, cmd, a.grant())
	close(stop)
	<-watched
	want := int64(a.pour)<<20 + int64(len("attacker is here\n"))
	if err != nil || o.exit.Code != 0 || count.n.Load() != want {
		return faultf("of %d bytes %d arrived: %+v, error %s", want, count.n.Load(), o.exit, told(err))
	}
	if peak-before > allowed {
		return faultf("%d MiB of output made the process grow by %d MiB", a.pour, (peak-before)>>20)
	}
	return nil
}

// resident is the memory of this process, zero where it cannot be told.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// traces are what runs might leave in this process and on this machine.
type traces struct{ descriptors, mounts, goroutines int }

func footprint() traces {
	t := traces{goroutines: runtime.NumGoroutine()}
	if fds, err := os.ReadDir("/proc/self/fd"); err == nil {
		t.descriptors = len(fds)
	}
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err == nil {
		t.mounts = strings.Count(string(mounts), "\n")
	}
	return t
}

// grown tells what is more than before. The last goroutines may need a moment.
func (t traces) grown() []error {
	var now traces
	for range 50 {
		now = footprint()
		if now.goroutines <= t.goroutines+2 && now.descriptors <= t.descriptors+4 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	var faults []error
	if now.goroutines > t.goroutines+2 {
		faults = append(faults, fmt.Errorf("%d goroutines, before there were %d", now.goroutines, t.goroutines))
	}
	if now.descriptors > t.descriptors+4 { // the runtime keeps a few for itself
		faults = append(faults, fmt.Errorf("%d open descriptors, before there were %d", now.descriptors, t.descriptors))
	}
	if now.mounts > t.mounts {
		faults = append(faults, fmt.Errorf("%d mounts, before there were %d", now.mounts, t.mounts))
	}
	return faults
}
