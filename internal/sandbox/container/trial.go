package container

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// looked are files in which the kernel tells what a process stands under. The
// cgroup files are those of version 2 and of version 1.
func looked() []string {
	return []string{
		"/proc/self/status", "/proc/net/dev", "/proc/mounts",
		"/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max",
		"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
	}
}

// trial starts a container and looks from inside. An engine may silently leave
// out limits that it has no rights to set: those are not claimed.
func (s *Sandbox) trial(ctx context.Context) (toolcrib.Bounds, error) {
	var out strings.Builder
	script := "for f in " + strings.Join(looked(), " ") + "; do echo \"== $f\"; cat $f 2>/dev/null; done; : >/tmp/toolcrib && echo '== /tmp'"
	cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}, Stdout: &out}
	exit, err := s.run(ctx, cmd, toolcrib.Grant{}, false, nil)
	if err != nil {
		return 0, err
	}
	if exit.TimedOut {
		return 0, sandbox.Unavailable("the container engine did not start a container in time", ctx.Err())
	}
	claims, err := judge(sections(out.String()), s.cfg.Limits)
	if err != nil {
		return 0, sandbox.Unavailable("containers of this engine do not hold what they must: "+err.Error(), nil)
	}
	return claims, nil
}

func sections(text string) map[string]string {
	files := map[string]string{}
	for part := range strings.SplitSeq("\n"+text, "\n== ") {
		name, content, _ := strings.Cut(part, "\n")
		files[name] = content
	}
	return files
}

// judge tells what holds. What must hold in any container is an error if it
// does not.
func judge(files map[string]string, l sandbox.Limits) (toolcrib.Bounds, error) {
	status := fields(files["/proc/self/status"])
	var faults []error
	for key, want := range map[string]string{"NoNewPrivs:": "1", "CapEff:": "0000000000000000", "CapPrm:": "0000000000000000", "CapBnd:": "0000000000000000", "Seccomp:": "2"} {
		if status[key] != want {
			faults = append(faults, fmt.Errorf("%s is %q and not %s", strings.TrimSuffix(key, ":"), status[key], want))
		}
	}
	if uid := status["Uid:"]; uid == "" || uid == "0" {
		faults = append(faults, fmt.Errorf("the user is %q", uid))
	}
	if _, ok := files["/tmp"]; !ok {
		faults = append(faults, errors.New("the user cannot write to /tmp (an engine gives it the rights it has in the image)"))
	}
	if !readOnlyRoot(files["/proc/mounts"]) {
		faults = append(faults, errors.New("the root is not read-only"))
	}
	for line := range strings.Lines(files["/proc/net/dev"]) {
		name, _, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok && name != "lo" && !strings.HasPrefix(name, "tunl") && !strings.HasPrefix(name, "sit") && !strings.HasPrefix(name, "ip6tnl") {
			faults = append(faults, fmt.Errorf("there is a network interface %s", name))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return 0, err
	}
	claims := toolcrib.BoundFiles | toolcrib.BoundNetwork | toolcrib.BoundTime
	if atMost(files, int64(l.Processes), "/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max") {
		claims |= toolcrib.BoundProcesses
	}
	if atMost(files, l.MemoryBytes, "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes") {
		claims |= toolcrib.BoundMemory
	}
	return claims, nil
}

// fields reads lines of a key and a first value.
func fields(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) >= 2 {
			out[f[0]] = f[1]
		}
	}
	return out
}

func readOnlyRoot(mounts string) bool {
	readOnly := false
	for line := range strings.Lines(mounts) {
		if f := strings.Fields(line); len(f) >= 4 && f[1] == "/" { // the last one lies on top
			readOnly = strings.HasPrefix(f[3]+",", "ro,")
		}
	}
	return readOnly
}

func atMost(files map[string]string, limit int64, names ...string) bool {
	for _, name := range names {
		if n, err := strconv.ParseInt(strings.TrimSpace(files[name]), 10, 64); err == nil && n > 0 && n <= limit {
			return true
		}
	}
	return false
}

const labelKey = "dev.toolcrib"

// machineLabel tells our containers from those of another machine that uses
// the same engine: process numbers mean nothing there.
func machineLabel() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		name, _ := os.Hostname() // without a name all machines are one
		id = []byte(name)
	}
	sum := sha256.Sum256(id)
	return hex.EncodeToString(sum[:8])
}

// Sweep removes the containers of processes of ours that are gone.
func (s *Sandbox) Sweep(ctx context.Context) error {
	text, err := output(ctx, s.engine, "ps", "--all", "--filter=label="+labelKey+"="+s.label, "--format={{.Names}}")
	if err != nil {
		return fmt.Errorf("looking for containers that were left behind: %w", err)
	}
	var errs []error
	for name := range strings.FieldsSeq(text) {
		owner, ok := strings.CutPrefix(name, namePrefix)
		owner, _, _ = strings.Cut(owner, "-")
		if !ok || sandbox.OwnerLives(owner) {
			continue
		}
		if err := s.rm(ctx, name); err != nil {
			errs = append(errs, fmt.Errorf("removing a container that was left behind: %w", err))
		}
	}
	return errors.Join(errs...)
}
