//go:build amd64 || arm64

package linux

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolcrib/toolcrib/cribtest"
)

// asNobody are the tests that are run once more as another user.
const asNobody = `
	Sandbox Grants Calls InheritsNothing KeeperDies WeAreKilled NetworkGranted Probe Covers CoversInARace CoversOutliveTheProgram
	NoProgramShutsTheShellDown FurtherNames GitIsReadOnly GitWorks PlantsNoElevatingFile KillsLeaveNothing ForgottenMain ClosedDirectories
	WatchesAreBounded Status CoreLimit InCrib GitOnLayer PersonsCommitStays FiveHundred LayerKeepsLiveFiles UnchangedLayerIsGone KilledLayerIsTakenBack
	LayersAreHadOrRefused ReadOnlyGrantsOnLayers LayerCaches LayerCacheInUse LayerCacheOfReaders LayerIsBounded LayerRoom LayerOverOddNames LayersAreTried
	KilledWhileKeeping KilledWhileKeptIsApplied KeptEnds KeptShowsNothingHidden KeptIsNotChangedByLooking LayerCoversWhatWasLookedAt ObeyedIsReadOnly
	ObeyedIsGranted LinksInWhatIsObeyed FurtherNamesMadeBefore OwnGitSettings KeptKnowsWhatIsLedTo DeniedByLinks PipesAreHidden DebuggersWork OrdinaryWork ShutDirectoriesOnLayers KeeperDiesBesideALayer`

// TestAsNobody runs the suite and the attacks once more as an unprivileged
// user, who has no cgroups and no say over mounts. Run by a plain user, the
// other tests have shown that already.
func TestAsNobody(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	open(t, suiteConfig())
	t.Parallel() // with the suite: both wait much
	dir, err := os.MkdirTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	attacker := cribtest.SandboxAttacker(t)
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "test")
	cribtest.Program(t, binary, self)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), binary, "-test.run=^Test("+strings.Join(strings.Fields(asNobody), "|")+")$", "-test.v", "-test.short")
	c.Dir = dir
	c.Env = append(os.Environ(), "CRIBTEST_ATTACKER="+attacker, "TMPDIR="+dir, "HOME="+dir)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestSandbox") {
		t.Errorf("as nobody: %v", err)
	}
	for name := range strings.FieldsSeq(asNobody) {
		if !strings.Contains(string(out), "=== RUN   Test"+name+"\n") {
			t.Errorf("there is no Test%s any more", name)
		}
	}
	for name, said := range failures(string(out)) {
		t.Run(name, func(t *testing.T) { t.Error(said) })
	}
	// What root has tools for, nobody has: only what is not installed at all may be
	// left out, or the attacks would be left out unseen.
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "--- SKIP") {
			continue
		}
		missing := false
		for _, program := range []string{"git", "python3"} {
			if _, err := exec.LookPath(program); err != nil {
				missing = true
			}
		}
		if !missing {
			t.Errorf("as nobody: nothing is missing, and yet:%s", line)
		}
	}
}

// failures gives what the tests that failed have said, by their names, so that a
// summary that has room for little more than names tells which they were.
func failures(out string) map[string]string {
	said, failed, now := map[string]string{}, map[string]string{}, "all"
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		switch {
		case len(words) > 2 && words[0] == "===":
			now = words[2]
		case len(words) > 2 && words[0] == "---":
			if words[1] == "FAIL:" {
				failed[words[2]] = said[words[2]]
			}
		default:
			said[now] += line
		}
	}
	if len(failed) > 0 || strings.Contains(out, "panic: ") || strings.Contains(out, "DATA RACE") {
		failed["what was said last"] = out[max(0, len(out)-4000):]
	}
	return failed
}
