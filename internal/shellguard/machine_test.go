package shellguard

import (
	"testing"

	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

const home, work = shelltest.Home, shelltest.Work

func optionsOn(m *shelltest.Machine) Options {
	return Options{Dir: work, Look: m.Look, EvalSymlinks: m.EvalSymlinks, Stat: m.Stat, Lstat: m.Lstat}
}

// shellOn is a guard with the allow-list of a trusting developer.
func shellOn(t testing.TB, m *shelltest.Machine) *Guard {
	t.Helper()
	rules, err := ParseRules(shelltest.AllowList())
	if err != nil {
		t.Fatal(err)
	}
	return &Guard{
		AllowShell: true, Bounded: true, Rules: rules, Options: optionsOn(m), ReadFile: m.ReadFile,
		Glob: func(string) ([]string, error) { return nil, nil },
	}
}
