package policy

import (
	"testing"

	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

const home, work = shelltest.Home, shelltest.Work

func optionsOn(m *shelltest.Machine) shellguard.Options {
	return shellguard.Options{Dir: work, Look: m.Look, EvalSymlinks: m.EvalSymlinks, Stat: m.Stat, Lstat: m.Lstat}
}

// shellOn is a shell guard with the allow-list of a trusting developer.
func shellOn(t testing.TB, m *shelltest.Machine) *shellguard.Guard {
	t.Helper()
	rules, err := shellguard.ParseRules(shelltest.AllowList())
	if err != nil {
		t.Fatal(err)
	}
	return &shellguard.Guard{
		AllowShell: true, Bounded: true, Rules: rules, Options: optionsOn(m), ReadFile: m.ReadFile,
		Glob: func(string) ([]string, error) { return nil, nil },
	}
}
