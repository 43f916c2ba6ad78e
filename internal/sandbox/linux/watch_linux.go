//go:build amd64 || arm64

package linux

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"sync"
	"time"
)

const watchPeriod = 10 * time.Millisecond

// watch bounds the memory of all processes together where no cgroup does. The
// limit of each process is held by the kernel; what many of them use together
// is looked at every few milliseconds, and when it is too much all are ended.
func watch(first int, limit int64, kill func() error) (stop func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(watchPeriod)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			pids := below(first)
			if residents(pids, limit) > limit && proportional(pids, limit) > limit && kill() != nil {
				return // there is no keeper any more, and so no program
			}
		}
	})
	return func() {
		close(done)
		ended.Wait()
	}
}

// canWatch tells whether this kernel tells the children of a process.
func canWatch() bool {
	self := strconv.Itoa(os.Getpid())
	_, err := os.ReadFile("/proc/" + self + "/task/" + self + "/children")
	return err == nil
}

// below lists the processes under one. Orphans fall to the first process of
// their namespace, so nothing is missing.
func below(first int) []string {
	var all []string
	for queue := []string{strconv.Itoa(first)}; len(queue) > 0; {
		pid := queue[0]
		queue = queue[1:]
		tasks, err := os.ReadDir("/proc/" + pid + "/task")
		if err != nil {
			continue // it ended
		}
		for _, task := range tasks {
			text, err := os.ReadFile("/proc/" + pid + "/task/" + task.Name() + "/children")
			if err != nil {
				continue
			}
			for child := range bytes.FieldsSeq(text) {
				all = append(all, string(child))
				queue = append(queue, string(child))
			}
		}
	}
	return all
}

// residents adds up what processes have in memory. It stops counting when it
// has seen enough.
func residents(pids []string, enough int64) int64 {
	var sum int64
	for _, pid := range pids {
		sum += statusBytes("/proc/"+pid+"/status", "VmRSS:")
		if sum > enough {
			break
		}
	}
	return sum
}

// proportional is the exact sum, in which a page that several processes share
// is counted once. It is dear, so it is asked only when the quick sum is too
// high. A process that hides its pages counts with all it has resident.
func proportional(pids []string, enough int64) int64 {
	var sum int64
	for _, pid := range pids {
		bytes := statusBytes("/proc/"+pid+"/smaps_rollup", "Pss:")
		if bytes == 0 {
			bytes = statusBytes("/proc/"+pid+"/status", "VmRSS:")
		}
		sum += bytes
		if sum > enough {
			break
		}
	}
	return sum
}

func statusBytes(file, field string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0 // it ended
	}
	return parseKilobytes(text, field)
}

// parseKilobytes reads a line such as "VmRSS:   1234 kB".
func parseKilobytes(text []byte, field string) int64 {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		rest, ok := bytes.CutPrefix(lines.Bytes(), []byte(field))
		if !ok {
			continue
		}
		fields := bytes.Fields(rest)
		if len(fields) != 2 || string(fields[1]) != "kB" {
			return 0
		}
		n, err := strconv.ParseInt(string(fields[0]), 10, 64)
		if err != nil || n < 0 || n > 1<<50 {
			return 0
		}
		return n << 10
	}
	return 0
}
