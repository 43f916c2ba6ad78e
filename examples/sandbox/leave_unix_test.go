//go:build unix

package sandbox

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// leave makes a child start its own session, as a program does that wants to
// get away.
func leave(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// TestGroupEnds: without namespaces a program's children still end with it as
// long as they stay in its group.
func TestGroupEnds(t *testing.T) {
	w := newWatch(t)
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() {
		_, err := (&Sandbox{}).Run(ctx, program(t, "tree", w.addr()), toolcrib.Grant{})
		ran <- err
	}()
	conn := w.met()
	cancel()
	if err := <-ran; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run gave %v", err)
	}
	w.gone(conn)
}
