package cli

import (
	"runtime/debug"
	"strings"
	"testing"
)

// TestBuildOf: a release, a checkout, a module that was installed, and nothing at
// all; each says what is so.
func TestBuildOf(t *testing.T) {
	setting := func(list ...string) (out []debug.BuildSetting) {
		for i := 0; i < len(list); i += 2 {
			out = append(out, debug.BuildSetting{Key: list[i], Value: list[i+1]})
		}
		return out
	}
	const commit = "5ffd356b717e0123456789abcdef0123456789ab"
	for want, info := range map[string]*debug.BuildInfo{
		"toolcrib v1.2.3 (commit 5ffd356b717e, 2026-01-02T03:04:05Z, go":      {Main: debug.Module{Version: "v1.2.3"}, Settings: setting("vcs.revision", commit, "vcs.time", "2026-01-02T03:04:05Z", "vcs.modified", "false")},
		"toolcrib v1.2.4-0.x+dirty (commit 5ffd356b717e with changes, 2026-0": {Main: debug.Module{Version: "v1.2.4-0.x+dirty"}, Settings: setting("vcs.revision", commit, "vcs.time", "2026-01-02T03:04:05Z", "vcs.modified", "true")},
		"toolcrib v1.2.5 (go":                               {Main: debug.Module{Version: "v1.2.5"}},
		"toolcrib devel-5ffd356b717e (commit 5ffd356b717e,": {Main: debug.Module{Version: "(devel)"}, Settings: setting("vcs.revision", commit)},
		"toolcrib devel (go":                                {},
	} {
		if got := buildOf(info).String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestRoff(t *testing.T) {
	if got := roff(".a\n'b\n--c \\d"); got != "\\&.a\n\\&'b\n\\-\\-c \\ed" {
		t.Errorf("%q", got)
	}
}
