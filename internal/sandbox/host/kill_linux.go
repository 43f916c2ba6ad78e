package host

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// killAll kills everything below this process, again and again: what forked
// while we looked is found the next time. It never returns; the process ends
// when there is nothing left to wait for.
func killAll() {
	self := os.Getpid()
	for {
		for _, pid := range descendants(self) {
			_ = unix.Kill(pid, unix.SIGKILL) // it may be gone already
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// descendants lists all processes below one, by the parents the kernel tells.
// Nothing can leave this tree: an orphan falls to us, its nearest subreaper.
func descendants(root int) []int {
	children := map[int][]int{}
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = proc.Close() }()
	names, _ := proc.Readdirnames(-1) // what could be read is of use also after an error
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if parent, ok := parentOf(pid); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	var all []int
	for queue := children[root]; len(queue) > 0; {
		all = append(all, queue...)
		var next []int
		for _, pid := range queue {
			next = append(next, children[pid]...)
		}
		queue = next
	}
	return all
}

// parentOf reads the fourth field of /proc/PID/stat. The second is the name of
// the program in brackets and may hold anything, brackets too.
func parentOf(pid int) (int, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	return parseParent(text)
}

func parseParent(stat []byte) (int, bool) {
	i := bytes.LastIndexByte(stat, ')')
	if i < 0 {
		return 0, false
	}
	fields := bytes.Fields(stat[i+1:])
	if len(fields) < 2 || bytes.Equal(fields[0], []byte("Z")) {
		return 0, false // a zombie cannot be killed any more; its children are ours already
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
