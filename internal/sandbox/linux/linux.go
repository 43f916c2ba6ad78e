// Package linux runs programs confined by the kernel alone, with no container
// engine: user, mount, pid, ipc, uts and network namespaces, a file system of
// a few read-only system directories and the granted ones, Landlock, a seccomp
// filter, no new privileges, no capabilities, limits by cgroup or rlimit.
//
// What a program sees: the system directories read-only, an /etc of the few
// files that programs need, the granted directories under their own names, a
// private /tmp, a /proc of its own processes, and no network but its own
// loopback, unless the whole network was granted. Single hosts are reached by a
// proxy that listens on that loopback and runs out here. It does not see any home,
// and no socket or device of the host.
//
// The work is done by a shim, this same executable started again: Main must be
// called first thing in main. The shim is the first process of the pid
// namespace; when it ends, for whatever reason, the kernel ends all others.
//
// A program never runs as root of the host, not even under another number in a
// user namespace: much of /proc/sys and of the process limits goes by the real
// uid. When we are root, it runs as an unused uid, and the granted directories
// are mounted with their owner mapped to it.
//
// It may be imported by the wiring; it imports the root package and
// internal/sandbox. Its invariant: what cannot be set up is an error, never
// left out.
package linux

import (
	"fmt"
	"path/filepath"

	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// Config says what programs may use and see.
type Config struct {
	// Limits hold for a program with all its children; zero fields have the
	// usual values of [sandbox.Limits].
	Limits sandbox.Limits
	// TempBytes is the size of the private /tmp. Zero: 1 GiB.
	TempBytes int64
	// ReadOnly are further directories of the host that every program may
	// read, such as /opt. They must be absolute and clean.
	ReadOnly []string
	// Tools are further directories that every program may read, with the rights of
	// their owner: tool chains in a home directory. One that is gone is left out.
	Tools []string
	// Cache is a directory that programs may write, shown as CachePlace, and not
	// looked through for what is protected. Empty, or not there: none is shown.
	Cache, CachePlace string
	// CacheTools are the tools whose programs get it. Others, such as MCP servers, may
	// have secrets, and must not run what a command has put there.
	CacheTools []string
	// Env are variables for programs that were given none of that name: those that
	// lead to Tools, and to the cache where one is shown.
	ToolEnv, CacheEnv []string
	// GitSettings are settings of git for programs that were given none besides those
	// of repositories, as a text: who commits. Empty: there are none.
	GitSettings string
	// Shield is what stays covered inside granted directories. Nil: nothing.
	Shield *sandbox.Shield
	// HTTP says how programs reach the hosts that were granted to them by name.
	HTTP httpclient.Options
	// Layers is the directory of the layers that programs work on which ask for one
	// (Cmd.Layered). It lies outside of every granted directory. Empty: they work on
	// the live files.
	Layers string
	// NoCgroups keeps to rlimits and a watch over memory also where cgroups
	// could be had.
	NoCgroups bool
}

const defaultTemp = 1 << 30

// smallestMemory is what a Go or C program needs to start under RLIMIT_DATA.
const smallestMemory = 32 << 20

func (c Config) filled() (Config, error) {
	if err := c.Limits.Validate(); err != nil {
		return c, err
	}
	c.Limits = c.Limits.Filled()
	if c.Limits.MemoryBytes < smallestMemory {
		return c, fmt.Errorf("a memory limit of %d bytes is too small: give at least %d", c.Limits.MemoryBytes, smallestMemory)
	}
	if c.TempBytes < 0 {
		return c, fmt.Errorf("the size of /tmp must not be negative: %d", c.TempBytes)
	}
	if c.TempBytes == 0 {
		c.TempBytes = defaultTemp
	}
	for _, dir := range c.ReadOnly {
		if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
			return c, fmt.Errorf("the read-only directory %q is not an absolute, clean path", dir)
		}
		if err := ungrantable(dir); err != nil {
			return c, err
		}
	}
	return c, nil
}
