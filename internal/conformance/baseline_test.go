package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// baseline says what is known not to pass: by run ("server 2025-11-25"), then
// by scenario or scenario:check, each with its reason.
type baseline map[string]map[string]string

// readBaseline reads baseline.yml. Whatever would excuse more than it says is
// an error.
func readBaseline(text []byte) (baseline, error) {
	var b baseline
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&b); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for run, entries := range b {
		space := max(strings.LastIndexByte(run, ' '), 0)
		if !slices.Contains([]string{"server", "guarded server", "client"}, run[:space]) || !slices.Contains(revisions(), run[space+1:]) {
			return nil, fmt.Errorf("%q is no run of the suite", run)
		}
		for entry, reason := range entries {
			if len(strings.Fields(reason)) < 3 {
				return nil, fmt.Errorf("%s: %s has no reason", run, entry)
			}
			scenario, _, narrow := strings.Cut(entry, ":")
			if _, whole := entries[scenario]; narrow && whole {
				return nil, fmt.Errorf("%s: %s is excused as a whole and in part", run, scenario)
			}
		}
	}
	return b, nil
}

// revisions are the ends of the two eras of the protocol that are judged.
func revisions() []string { return []string{"2025-11-25", "2026-07-28"} }

// check is one line of the suite's results.
type check struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Status      string `json:"status"` // SUCCESS FAILURE WARNING SKIPPED INFO
	Error       string `json:"errorMessage"`
}

func (c check) bad() bool { return c.Status == "FAILURE" || c.Status == "WARNING" }

// verdict is what the results of a scenario come to.
type verdict struct {
	passed, excused, skipped int
	faults                   []string // what must not be
}

// judge holds the results of a scenario against the entries of its run. A
// warning counts as a failure, and so does a scenario that checked nothing.
func judge(scenario string, checks []check, excused map[string]string) verdict {
	var v verdict
	state := map[string]string{} // the worst of each check, since some are made several times
	for _, c := range checks {
		switch {
		case c.bad():
			if state[c.ID] != "bad" {
				state[c.ID] = "bad"
			}
		case c.Status == "SUCCESS" && state[c.ID] == "":
			state[c.ID] = "good"
		case c.Status == "SKIPPED":
			v.skipped++
		}
	}
	_, whole := excused[scenario]
	nothing := len(state) == 0 && v.skipped == 0
	for _, c := range checks {
		_, narrow := excused[scenario+":"+c.ID]
		switch {
		case !c.bad():
		case whole, narrow:
			v.excused++
		default:
			v.faults = append(v.faults, fmt.Sprintf("%s: %s: %s (%s)", c.Status, c.ID, c.Error, c.Description))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(state)) {
		if state[id] != "good" {
			continue
		}
		v.passed++
		if _, listed := excused[scenario+":"+id]; listed {
			v.faults = append(v.faults, fmt.Sprintf("%s passes and stands in baseline.yml: take it out", scenario+":"+id))
		}
	}
	switch {
	case nothing && whole:
		v.excused++
	case nothing:
		v.faults = append(v.faults, "nothing was checked")
	case whole && v.excused == 0 && v.passed > 0:
		v.faults = append(v.faults, fmt.Sprintf("%s passes and stands in baseline.yml: take it out", scenario))
	}
	return v
}

func TestJudge(t *testing.T) {
	good, bad, warned := check{ID: "a", Status: "SUCCESS"}, check{ID: "b", Status: "FAILURE"}, check{ID: "c", Status: "WARNING"}
	skipped, info := check{ID: "d", Status: "SKIPPED"}, check{ID: "e", Status: "INFO"}
	for name, c := range map[string]struct {
		checks  []check
		entries []string
		want    verdict
	}{
		"all good":                   {[]check{good, good, info}, nil, verdict{passed: 1}},
		"a failure":                  {[]check{good, bad}, nil, verdict{passed: 1, faults: []string{"FAILURE: b:  ()"}}},
		"a warning is one":           {[]check{good, warned}, nil, verdict{passed: 1, faults: []string{"WARNING: c:  ()"}}},
		"excused as a whole":         {[]check{good, bad, warned}, []string{"s"}, verdict{passed: 1, excused: 2}},
		"excused in part":            {[]check{good, bad}, []string{"s:b"}, verdict{passed: 1, excused: 1}},
		"the wrong part":             {[]check{bad}, []string{"s:c"}, verdict{faults: []string{"FAILURE: b:  ()"}}},
		"excused and passes":         {[]check{good}, []string{"s"}, verdict{passed: 1, faults: []string{"s passes and stands in baseline.yml: take it out"}}},
		"excused in part and passes": {[]check{good}, []string{"s:a"}, verdict{passed: 1, faults: []string{"s:a passes and stands in baseline.yml: take it out"}}},
		"part excused, not reached":  {[]check{good}, []string{"s:z"}, verdict{passed: 1}},
		"good once, bad once":        {[]check{good, {ID: "a", Status: "FAILURE"}}, nil, verdict{faults: []string{"FAILURE: a:  ()"}}},
		"bad once, good once":        {[]check{{ID: "a", Status: "FAILURE"}, good}, []string{"s:a"}, verdict{excused: 1}},
		"skipped":                    {[]check{skipped}, nil, verdict{skipped: 1}},
		"skipped and excused":        {[]check{skipped}, []string{"s"}, verdict{skipped: 1}},
		"nothing":                    {[]check{info}, nil, verdict{faults: []string{"nothing was checked"}}},
		"nothing, excused":           {nil, []string{"s"}, verdict{excused: 1}},
		"another is excused":         {[]check{bad}, []string{"s2", "s2:b"}, verdict{faults: []string{"FAILURE: b:  ()"}}},
	} {
		entries := map[string]string{}
		for _, e := range c.entries {
			entries[e] = "for a reason"
		}
		if d := cmp.Diff(c.want, judge("s", c.checks, entries), cmp.AllowUnexported(verdict{})); d != "" {
			t.Errorf("%s: (-want +got)\n%s", name, d)
		}
	}
}

func TestReadBaseline(t *testing.T) {
	for text, want := range map[string]string{
		"":              "",
		"# nothing yet": "",
		"server 2026-07-28:\n  tasks: it is an extension\n  a:b: it is not so\n":     "",
		"server 2024-11-05:\n  tasks: it is an extension\n":                          "no run",
		"both 2026-07-28:\n  tasks: it is an extension\n":                            "no run",
		"guarded server 2026-07-28:\n  tasks: it is an extension\n":                  "",
		"guarded client 2026-07-28:\n  tasks: it is an extension\n":                  "no run",
		"2026-07-28:\n  tasks: it is an extension\n":                                 "no run",
		"server 2026-07-28:\n  tasks:\n":                                             "no reason",
		"server 2026-07-28:\n  tasks: later\n":                                       "no reason",
		"server 2026-07-28:\n  s: it is an extension\n  s:c: it is an extension\n":   "as a whole and in part",
		"server 2026-07-28:\n  s: it is an extension\n  s: it is an extension too\n": "already defined",
		"server 2026-07-28:\n  - tasks\n":                                            "cannot unmarshal",
	} {
		_, err := readBaseline([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
