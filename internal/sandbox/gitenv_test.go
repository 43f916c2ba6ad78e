package sandbox

import (
	"slices"
	"testing"
)

// TestGitOnLayerKeepsWhatIsSet: settings that are there stay, under their numbers, and
// those of layers come after them.
func TestGitOnLayerKeepsWhatIsSet(t *testing.T) {
	got := GitOnLayer([]string{"A=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false"})
	for _, want := range []string{"A=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false", "GIT_CONFIG_KEY_1=gc.auto", "GIT_CONFIG_VALUE_1=0", "GIT_CONFIG_COUNT=8", "GIT_OPTIONAL_LOCKS=0"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in %q", want, got)
		}
	}
	if slices.Contains(got, "GIT_CONFIG_COUNT=1") {
		t.Errorf("there are two counts: %q", got)
	}
	if got := GitOnLayer([]string{"GIT_OPTIONAL_LOCKS=1"}); slices.Contains(got, "GIT_OPTIONAL_LOCKS=0") || !slices.Contains(got, "GIT_CONFIG_COUNT=7") {
		t.Errorf("%q", got)
	}
	for _, odd := range []string{"GIT_CONFIG_COUNT=x", "GIT_CONFIG_COUNT=-1"} {
		if got := GitOnLayer([]string{odd}); !slices.Equal(got, []string{odd}) {
			t.Errorf("%s became %q", odd, got)
		}
	}
}
