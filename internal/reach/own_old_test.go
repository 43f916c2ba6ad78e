package reach

import (
	"os"
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestProgramBefore: no tool puts a program where a rollback of an upgrade would start it.
func TestProgramBefore(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := Reach{Own: &ownFiles{}}
	r.SetOwn(settings.Config{}, nil, &Launcher{Env: os.LookupEnv, Dir: t.TempDir()})
	held := r.Own.Places()
	for _, file := range []string{self, oldProgram(self)} {
		if !slices.Contains(held, file) {
			t.Errorf("%s is not held: %q", file, held)
		}
	}
	if got := oldProgram(`C:\bin\toolcrib.exe`); got != `C:\bin\toolcrib.old.exe` {
		t.Error(got)
	}
}
