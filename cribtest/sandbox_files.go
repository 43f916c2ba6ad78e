//go:build unix

package cribtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-cmp/cmp"
)

// snapshot is all there is below some directories: names, kinds, modes, times
// and contents.
func snapshot(roots ...string) (map[string]string, error) {
	seen := map[string]string{}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			text := fmt.Sprint(info.Mode())
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				text += fmt.Sprintf(" owner %d:%d links %d", st.Uid, st.Gid, st.Nlink)
			}
			if info.Mode().IsRegular() {
				content, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				text += fmt.Sprintf(" %x at %s", sha256.Sum256(content), info.ModTime())
			}
			seen[path] = text
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return seen, nil
}

func writesInside(ctx context.Context, a *arena) []error {
	inEtc := "/etc/cribtest-" + rand.Text()
	defer func() {
		for _, suffix := range []string{"", "-planted", "-planted-dir", "-planted-link"} {
			_ = os.Remove(inEtc + suffix)
		}
	}()
	targets := []string{
		filepath.Join(a.outside, "file"), filepath.Join(a.outside, "new"), filepath.Join(a.root(), "beside"), filepath.Join(a.readonly, "file"), filepath.Join(a.readonly, "new"),
		filepath.Join(a.tools, "attacker"), filepath.Join(a.home, ".ssh", "id_rsa"), filepath.Join(a.home, ".bashrc"), filepath.Join(a.home, "new"), inEtc,
	}
	watched := []string{a.outside, a.home, a.readonly, a.tools}
	before, err := snapshot(watched...)
	if err != nil {
		return []error{err}
	}
	beside, err := os.ReadDir(a.root())
	if err != nil {
		return []error{err}
	}
	o, err := a.attack(ctx, "write", append([]string{a.work}, targets...)...)
	var faults []error
	if err != nil {
		faults = append(faults, err)
	}
	if tried := len(o.lines("refused")) + len(o.lines("did")); tried < 100*len(targets) {
		faults = append(faults, fmt.Errorf("only %d attempts were made on %d files", tried, len(targets)))
	}
	after, err := snapshot(watched...)
	if err != nil {
		faults = append(faults, err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		faults = append(faults, fmt.Errorf("files outside the grant were changed (-before +after):\n%.3000s", diff))
	}
	if text, err := os.ReadFile(filepath.Join(a.root(), "beside")); err != nil || string(text) != a.secret {
		faults = append(faults, fmt.Errorf("the file beside the grant was changed: %.50q, error %s", text, told(err)))
	}
	if now, err := os.ReadDir(a.root()); err != nil || len(now) != len(beside) {
		faults = append(faults, fmt.Errorf("there are %d entries beside the grant, there were %d; error %s", len(now), len(beside), told(err)))
	}
	for _, suffix := range []string{"", "-planted", "-planted-dir", "-planted-link"} {
		if _, err := os.Lstat(inEtc + suffix); !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, fmt.Errorf("%s was made", inEtc+suffix))
		}
	}
	for _, line := range o.lines("did") {
		if line == "open the disk" {
			faults = append(faults, errors.New("the disk under the grant could be opened as a device"))
		}
	}
	return faults
}

func readsInside(ctx context.Context, a *arena) []error {
	socket := filepath.Join(a.outside, "s.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return []error{err}
	}
	defer func() { _ = listener.Close() }()
	reached := make(chan struct{}, 100)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
			reached <- struct{}{}
		}
	}()
	targets := []string{filepath.Join(a.outside, "file"), filepath.Join(a.outside, "script"), filepath.Join(a.root(), "beside"), socket}
	for _, name := range secretFiles() {
		targets = append(targets, filepath.Join(a.home, name))
	}
	o, err := a.attack(ctx, "read", append([]string{a.work}, targets...)...)
	var faults []error
	if err != nil {
		faults = append(faults, err)
	}
	if tried := len(o.lines("refused")) + len(o.lines("got")); tried < 30*len(targets) {
		faults = append(faults, fmt.Errorf("only %d attempts were made on %d files", tried, len(targets)))
	}
	for _, line := range o.lines("got") {
		if strings.Contains(line, a.secret) {
			how, _, _ := strings.Cut(line, a.secret)
			faults = append(faults, fmt.Errorf("a file outside the grant was read: %s", how))
		}
	}
	select {
	case <-reached:
		faults = append(faults, errors.New("a socket outside the grant was reached by its name"))
	default:
	}
	return faults
}

// reachesNoProcess attacks a process of the host that belongs to the same user
// as we do.
func reachesNoProcess(ctx context.Context, a *arena) []error {
	victim := exec.CommandContext(ctx, filepath.Join(a.tools, "attacker"), "wait", a.secret)
	victim.Env = []string{"SECRET=" + a.secret}
	if err := victim.Start(); err != nil {
		return []error{err}
	}
	died := make(chan error, 1)
	go func() { died <- victim.Wait() }()
	defer func() { _ = victim.Process.Kill() }()
	o, err := a.attack(ctx, "victim", strconv.Itoa(victim.Process.Pid))
	var faults []error
	if err != nil {
		faults = append(faults, err)
	}
	if strings.Contains(o.stdout, a.secret) {
		faults = append(faults, errors.New("the environment or the arguments of another process were read"))
	}
	select {
	case err := <-died:
		faults = append(faults, fmt.Errorf("another process was ended: %w", err))
	case <-time.After(100 * time.Millisecond):
	}
	for _, line := range o.lines("did") {
		if line == "ptrace" {
			faults = append(faults, errors.New("another process was traced"))
		}
	}
	return faults
}

// gainsNothing plants a file that makes whoever runs it its owner.
func gainsNothing(ctx context.Context, a *arena) []error {
	text, err := os.ReadFile(filepath.Join(a.tools, "attacker"))
	if err != nil {
		return []error{err}
	}
	planted := filepath.Join(a.work, "setuid")
	if err := writeProgram(planted, text); err != nil {
		return []error{err}
	}
	if err := os.Chmod(planted, 0o755|fs.ModeSetuid|fs.ModeSetgid); err != nil {
		return []error{err}
	}
	plain, err := a.attack(ctx, "identity")
	if err != nil {
		return []error{err}
	}
	cmd := a.command("identity")
	cmd.Path = planted
	var faults []error
	if o, err := a.run(ctx, cmd, a.grant()); err == nil && cmp.Diff(plain.lines("ids"), o.lines("ids")) != "" {
		faults = append(faults, fmt.Errorf("a setuid file made the user %v out of %v", o.lines("ids"), plain.lines("ids")))
	}
	before, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil {
		before = nil // another system
	}
	cmd = a.command("elevate", a.work, filepath.Join(a.outside, "file"), filepath.Join(a.home, ".ssh", "id_rsa"))
	cmd.Path = planted
	o, err := a.run(ctx, cmd, a.grant())
	if err != nil {
		return append(faults, unwrapped(err))
	}
	if strings.Contains(o.stdout, a.secret) {
		faults = append(faults, errors.New("a file outside was read after gaining privileges"))
	}
	for _, line := range o.lines("did") {
		switch line {
		case "mount", "remount", "core pattern", "unshare user", "unshare mount":
			faults = append(faults, fmt.Errorf("inside it could %s", line))
		}
	}
	if after, err := os.ReadFile("/proc/sys/kernel/core_pattern"); err == nil && !bytes.Equal(before, after) {
		faults = append(faults, errors.New("a setting of the kernel was changed"))
	}
	return faults
}
