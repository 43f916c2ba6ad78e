//go:build unix

package cribtest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib"
)

func trySandbox(t *testing.T, open func(t testing.TB) toolcrib.Sandbox) {
	t.Helper()
	attacker := buildAttacker(t)
	claimed := open(t).Enforces()
	t.Logf("claimed bounds: %#b", uint16(claimed))
	for _, c := range sandboxChecks() {
		if c.needs&^claimed != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if c.together {
				t.Parallel()
			}
			a := newArena(t, open(t), attacker)
			for _, fault := range c.run(t.Context(), a) {
				t.Error(fault)
			}
		})
	}
}

func attackerPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(buildAttacker(t), "attacker")
}

// sandboxCheck is one promise. It gives faults instead of failing a test, so
// that it can be tried on sandboxes that break it.
type sandboxCheck struct {
	name  string
	needs toolcrib.Bounds // tried only if these are claimed
	run   func(context.Context, *arena) []error
	// together: it mostly waits, and measures nothing of this process.
	together bool
}

func sandboxChecks() []sandboxCheck {
	return []sandboxCheck{
		{name: "a program is told exactly what it was given", run: tellsExactly},
		{name: "the environment is only what was given", run: leaksNoEnvironment},
		{name: "standard input is closed or what was given", run: feedsInput},
		{name: "output comes apart and whole", run: carriesOutput},
		{name: "exit codes and signals are told", run: tellsExit},
		{name: "no descriptor is inherited", run: leaksNoDescriptor},
		{name: "what cannot be run is an error", run: refusesNonsense},
		{name: "a bound that is not claimed is refused", run: refusesUnclaimed},
		{name: "granted directories work", run: servesGrant},
		{name: "a gigabyte of output takes no memory", run: streamsOutput},

		{name: "at the deadline everything dies", needs: toolcrib.BoundTime, run: diesInTime, together: true},
		{name: "a caller that goes away ends it", needs: toolcrib.BoundTime, run: diesWithCaller, together: true},
		{name: "killing its parent frees nothing", needs: toolcrib.BoundTime, run: diesWithoutParent, together: true},
		{name: "what is left behind dies with the program", needs: toolcrib.BoundTime, run: leavesNothing, together: true},

		{name: "nothing outside is written", needs: toolcrib.BoundFiles, run: writesInside, together: true},
		{name: "nothing outside is read", needs: toolcrib.BoundFiles, run: readsInside, together: true},
		{name: "other processes are out of reach", needs: toolcrib.BoundFiles, run: reachesNoProcess, together: true},
		{name: "a setuid file gives nothing", needs: toolcrib.BoundFiles, run: gainsNothing, together: true},

		{name: "the network is out of reach", needs: toolcrib.BoundNetwork, run: reachesNoHost, together: true},
		{name: "some hosts are not all hosts", needs: toolcrib.BoundNetwork, run: tellsHostsApart, together: true},

		{name: "a fork bomb is bounded", needs: toolcrib.BoundProcesses, run: boundsProcesses},
		{name: "a memory hog is bounded", needs: toolcrib.BoundMemory, run: boundsMemory},
		{name: "a large file is bounded", run: boundsFile},

		{name: "many at once leave nothing behind", run: standsCrowds},
	}
}
