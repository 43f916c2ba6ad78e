package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A tick is the unit of processor time in /proc, on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// active reads /proc: whether a thread of a process, or of one that descends from it,
// runs, waits for a processor or for a disk, and how much processor time they and the
// programs that they waited for have used. A look may miss programs that come and go, which
// that time tells of. Where there is no /proc it is not known.
func active(pid int) (active bool, used time.Duration, known bool) {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(all) == 0 {
		return false, 0, false
	}
	children := map[int][]stat{}
	for _, file := range all {
		if p, ok := readStat(file); ok {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	self, ok := readStat("/proc/" + strconv.Itoa(pid) + "/stat")
	if !ok {
		return false, 0, true // it has ended
	}
	for todo, seen := []stat{self}, map[int]bool{}; len(todo) > 0; {
		p := todo[0]
		todo = todo[1:]
		if seen[p.id] {
			continue
		}
		seen[p.id] = true
		used += p.used
		todo = append(todo, children[p.id]...)
		threads, _ := filepath.Glob("/proc/" + strconv.Itoa(p.id) + "/task/*/stat")
		for _, file := range threads {
			if thread, ok := readStat(file); ok && (thread.state == 'R' || thread.state == 'D') {
				active = true
			}
		}
	}
	return active, used, true
}

// stat is what /proc says of a process or a thread.
type stat struct {
	id, parent int
	state      byte
	used       time.Duration // of the processor, with the programs that it waited for
}

// readStat reads a line of /proc: 12 (name) S 7 …, where the name may have any sign.
func readStat(file string) (stat, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return stat{}, false // it has ended
	}
	before, _, _ := bytes.Cut(text, []byte(" "))
	after := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(after) < 15 || len(after[0]) != 1 {
		return stat{}, false
	}
	p := stat{state: after[0][0]}
	var errs [2]error
	p.id, errs[0] = strconv.Atoi(string(before))
	p.parent, errs[1] = strconv.Atoi(string(after[1]))
	for _, field := range after[11:15] { // utime, stime, cutime, cstime
		ticks, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return stat{}, false
		}
		p.used += time.Duration(ticks) * tick
	}
	return p, errs == [2]error{}
}
