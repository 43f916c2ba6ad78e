package shellguard

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestSingleReasons: lines of which one clause of the guard alone keeps them from
// running unasked, or from being refused.
func TestSingleReasons(t *testing.T) {
	for _, tt := range []struct {
		line   string
		want   toolcrib.Decision
		reason string // a part of it; "!x": not x
	}{
		{"ls a\x7fb", toolcrib.Ask, "control character"},
		{"ls 'a*'b*", toolcrib.Ask, "quoted wildcards"},
		// What was written into a file before is run with what was added.
		{"echo 'rm -rf ~' > x.sh; echo ls >> x.sh; sh x.sh", toolcrib.Ask, "removes"},
		{"printf 'rm -rf' > x.sh; printf ' ~' >> x.sh; sh x.sh", toolcrib.Ask, "removes"},
		{"git --work-tree=build clean -fd", toolcrib.Ask, "!removes"},
		{"git --work-tree=/ clean -fd", toolcrib.Ask, "removes"},
		{"command -v ls", toolcrib.Allow, ""},
		{"command -V ls", toolcrib.Allow, ""},
		{"command -V rm -rf /home", toolcrib.Ask, "!removes"}, // it is not run
		{"command -v rm -rf /home", toolcrib.Ask, "!removes"},
		{"command -p rm -rf ~", toolcrib.Ask, "removes"},
	} {
		v := shelltest.Judge(t, shellOn(t, shelltest.NewMachine()), tt.line)
		text, not := strings.CutPrefix(tt.reason, "!")
		if v.Decision != tt.want || strings.Contains(v.Reason, text) == not && tt.reason != "" {
			t.Errorf("%q: %s, %s", tt.line, v.Decision, v.Reason)
		}
	}
}

// A program whose links lead nowhere is not trusted.
func TestLinkToNowhere(t *testing.T) {
	m := shelltest.NewMachine()
	s := shellOn(t, m)
	s.Options.EvalSymlinks = func(p string) (string, error) {
		if p == "/usr/bin/ls" {
			return "", errors.New("too many links")
		}
		return m.EvalSymlinks(p)
	}
	if v := shelltest.Judge(t, s, "ls"); v.Decision != toolcrib.Ask || !strings.Contains(v.Reason, "cannot be resolved") {
		t.Errorf("%s, %s", v.Decision, v.Reason)
	}
}

// A line has as many reasons as a person reads.
func TestReasonsAreBounded(t *testing.T) {
	var line strings.Builder
	for i := range 50 {
		fmt.Fprintf(&line, "ls 'a%d*'b*; ", i)
	}
	if l := Analyze(line.String(), optionsOn(shelltest.NewMachine())); len(l.Unknown) != 20 {
		t.Errorf("%d reasons", len(l.Unknown))
	}
}

// After popd, or pushd without a name, nobody knows where the shell is.
func TestDirectoriesPutAside(t *testing.T) {
	for line, known := range map[string]bool{
		"pushd src; ls": true, "cd src; ls": true, "cd +1; ls": true, "cd; ls": true,
		"pushd; ls": false, "pushd +1; ls": false, "popd; ls": false, "pushd src; popd; ls": false, "popd src; ls": false,
	} {
		l := Analyze(line, optionsOn(shelltest.NewMachine()))
		if got := len(l.Unknown) == 0; got != known {
			t.Errorf("%q: %v, %v", line, l.Unknown, l.Programs[len(l.Programs)-1].Dirs)
		}
	}
}
