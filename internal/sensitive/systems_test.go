package sensitive_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/sensitive"
)

func TestPlacesOfSystems(t *testing.T) {
	for goos, want := range map[string][]string{
		"darwin":  {"~/Library/Keychains", "~/Library/LaunchAgents", "/Library/LaunchDaemons", "~/Library/Safari"},
		"windows": {"~/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup", "~/Documents/PowerShell", "~/Documents/WindowsPowerShell", "~/AppData/Roaming/Microsoft/Credentials", "~/AppData/Roaming/Mozilla/Firefox"},
		"linux":   nil,
	} {
		got := sensitive.PlacesOf(goos)
		for _, place := range want {
			if !slices.Contains(got, place) {
				t.Errorf("%s: %s is missing", goos, place)
			}
		}
		if len(want) == 0 && len(got) > 0 {
			t.Errorf("%s has %v", goos, got)
		}
		home := t.TempDir()
		for _, place := range got { // each is read as a place
			list, err := sensitive.ParseList(home, place)
			if err != nil {
				t.Errorf("%s: %v", place, err)
			} else if rest, ok := strings.CutPrefix(place, "~/"); ok && !slices.Contains(list.Places, filepath.Join(home, filepath.FromSlash(rest))) {
				t.Errorf("%s is no place: %v", place, list.Places)
			}
		}
	}
}
