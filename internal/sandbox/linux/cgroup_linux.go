//go:build amd64 || arm64

package linux

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// setting is a line to be written into a file of a cgroup.
type setting struct {
	file, value string
	optional    bool // a kernel may be built without it
}

// controller is a directory in which a group can be made, and what to set in
// it. Version 2 has one for everything, version 1 one for each kind of limit.
type controller struct {
	dir      string
	settings []setting
}

// cgroups makes a group for each program.
type cgroups struct {
	controllers []controller
	prefix      string // names us, so that what we leave behind can be told from what others use
	count       atomic.Uint64

	mu    sync.Mutex
	stale []string // could not be removed yet
}

// group is one program's.
type group struct{ dirs []string }

const groupPrefix = "toolcrib-"

// openCgroups finds a place where groups can really be made and limited, or
// gives nil. It is found by doing it.
func openCgroups(l sandbox.Limits) *cgroups {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for _, controllers := range candidates(parseMounts(string(mounts)), parseOwn(string(own)), l) {
		// There may be several sandboxes in one process, so the owner alone is no name.
		c := &cgroups{controllers: controllers, prefix: groupPrefix + sandbox.OwnerName() + "-" + rand.Text()[:8] + "-"}
		g, err := c.make()
		if err != nil {
			continue
		}
		c.remove(g)
		c.sweep()
		return c
	}
	return nil
}

// cgroupMount is a mounted hierarchy.
type cgroupMount struct {
	root, point string
	kinds       []string // of version 1; none means version 2
}

func parseMounts(mountinfo string) []cgroupMount {
	var out []cgroupMount
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		head, tail := strings.Fields(before), strings.Fields(after)
		if !ok || len(head) < 5 || len(tail) < 3 {
			continue
		}
		m := cgroupMount{root: unescape(head[3]), point: unescape(head[4])}
		switch tail[0] {
		case "cgroup2":
		case "cgroup":
			m.kinds = strings.Split(tail[2], ",")
		default:
			continue
		}
		out = append(out, m)
	}
	return out
}

// unescape undoes what the kernel does to blanks in paths.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// parseOwn gives our own group in each hierarchy: by kind, "" for version 2.
func parseOwn(text string) map[string]string {
	own := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		parts := strings.SplitN(lines.Text(), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for kind := range strings.SplitSeq(parts[1], ",") {
			own[kind] = parts[2]
		}
	}
	return own
}

// below gives the directory of a group in a mount, if the mount shows it.
func (m cgroupMount) below(group string) string {
	rel, err := filepath.Rel(m.root, group)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return m.point
	}
	return filepath.Join(m.point, rel)
}

// candidates lists the places to try, best first.
func candidates(mounts []cgroupMount, own map[string]string, l sandbox.Limits) [][]controller {
	memory, processes := strconv.FormatInt(l.MemoryBytes, 10), strconv.Itoa(l.Processes)
	var out [][]controller
	for _, m := range mounts {
		if m.kinds != nil {
			continue
		}
		// Beside our own group and not in it: a group with limits below it
		// must not hold processes itself.
		here := m.below(own[""])
		for _, dir := range slices.Compact([]string{filepath.Dir(here), m.point}) {
			if dir != m.point && !strings.HasPrefix(dir, m.point+"/") {
				continue
			}
			out = append(out, []controller{{dir: dir, settings: []setting{
				{file: "memory.max", value: memory}, {file: "memory.swap.max", value: "0", optional: true},
				{file: "memory.oom.group", value: "1", optional: true}, {file: "pids.max", value: processes},
			}}})
		}
	}
	var v1 []controller
	for _, m := range mounts {
		if slices.Contains(m.kinds, "memory") {
			v1 = append(v1, controller{dir: m.below(own["memory"]), settings: []setting{
				{file: "memory.limit_in_bytes", value: memory}, {file: "memory.memsw.limit_in_bytes", value: memory, optional: true},
			}})
		}
		if slices.Contains(m.kinds, "pids") {
			v1 = append(v1, controller{dir: m.below(own["pids"]), settings: []setting{{file: "pids.max", value: processes}}})
		}
	}
	if len(v1) == 2 {
		out = append(out, v1)
	}
	return out
}

// make makes a group with its limits.
func (c *cgroups) make() (*group, error) {
	c.removeStale()
	name := c.prefix + strconv.FormatUint(c.count.Add(1), 10)
	g := &group{}
	for _, ctl := range c.controllers {
		dir := filepath.Join(ctl.dir, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			c.remove(g)
			return nil, err
		}
		g.dirs = append(g.dirs, dir)
		for _, set := range ctl.settings {
			err := write(filepath.Join(dir, set.file), set.value)
			if err != nil && !(set.optional && (errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.EOPNOTSUPP))) {
				c.remove(g)
				return nil, err
			}
		}
	}
	return g, nil
}

// write does not create: a limit that the kernel does not offer must be an error.
func write(file, value string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// open opens what a process writes itself into.
func (g *group) open() ([]*os.File, error) {
	var files []*os.File
	for _, dir := range g.dirs {
		f, err := os.OpenFile(filepath.Join(dir, "cgroup.procs"), os.O_WRONLY, 0)
		if err != nil {
			for _, f := range files {
				_ = f.Close()
			}
			return nil, fmt.Errorf("opening a cgroup: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}

// remove removes a group whose processes have ended. The kernel may still be
// busy with the last of them for a moment.
func (c *cgroups) remove(g *group) {
	for _, dir := range g.dirs {
		if !removeGroup(dir, 20) {
			c.mu.Lock()
			c.stale = append(c.stale, dir)
			c.mu.Unlock()
		}
	}
}

func (c *cgroups) removeStale() {
	c.mu.Lock()
	stale := c.stale
	c.stale = nil
	c.mu.Unlock()
	c.remove(&group{dirs: stale})
}

func removeGroup(dir string, tries int) bool {
	for range tries {
		err := unix.Rmdir(dir)
		if err == nil || errors.Is(err, unix.ENOENT) {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// sweep removes what earlier processes of ours left when they were killed.
func (c *cgroups) sweep() {
	for _, ctl := range c.controllers {
		entries, err := os.ReadDir(ctl.dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			owner, ok := strings.CutPrefix(e.Name(), groupPrefix)
			if !ok || !e.IsDir() {
				continue
			}
			owner, _, _ = strings.Cut(owner, "-")
			if sandbox.OwnerLives(owner) {
				continue
			}
			_ = removeGroup(filepath.Join(ctl.dir, e.Name()), 1) // in use after all: it stays
		}
	}
}
