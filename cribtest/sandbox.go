package cribtest

import (
	"testing"

	"github.com/toolcrib/toolcrib"
)

// The limits a sandbox is to be opened with for [Sandbox], if it claims the
// bounds that go with them. They are small, so that breaking them is quick.
const (
	SandboxMemory    = 256 << 20 // bytes, of all processes together
	SandboxProcesses = 64        // and threads
	SandboxFile      = 32 << 20  // bytes, of the largest file
)

// Sandbox holds a sandbox to the contract of [toolcrib.Sandbox], and tries to
// break every bound that it claims. open makes a new one each time, with the
// limits above.
//
// The attacks are made by a program that is built with the go command for
// each run of the suite. It is a static binary, so that it also runs where
// there is nothing else. Where there is no go command, CRIBTEST_ATTACKER names
// one that [SandboxAttacker] built before.
//
// A bound that is not claimed is not tried. A largest file size is tried if
// the sandbox has a method FileLimit() int64.
//
// The suite is safe to run on a sandbox that holds nothing: what it writes
// outside is uniquely named and removed again, and it sends nothing beyond
// this machine unless the sandbox has first shown that it lets nothing out.
func Sandbox(t *testing.T, open func(t testing.TB) toolcrib.Sandbox) {
	t.Helper()
	trySandbox(t, open)
}

// SandboxAttacker builds the program that makes the attacks of [Sandbox] and
// gives its path, for tests that run the suite once more as another user.
func SandboxAttacker(t testing.TB) string {
	t.Helper()
	return attackerPath(t)
}
