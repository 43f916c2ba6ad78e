package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// requirements is what the suite wants of a revision, as it ships it.
type requirements struct {
	Server    []string `yaml:"server"`
	Client    []string `yaml:"client"`
	NotScored []struct {
		Scenario string `yaml:"scenario"`
		Leg      string `yaml:"leg"`
	} `yaml:"not_scored"`
}

// scenarios lists what is run for a leg of a revision: what is required and
// what is only looked at.
func scenarios(p peerSet, leg, revision string) ([]string, error) {
	text, err := os.ReadFile(p.script("@modelcontextprotocol/conformance", "requirements/"+revision+".yaml"))
	if err != nil {
		return nil, err
	}
	var r requirements
	if err := yaml.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	list := r.Server
	if leg == "client" {
		list = r.Client
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s requires nothing of a %s", revision, leg)
	}
	for _, s := range r.NotScored {
		if s.Leg == leg {
			list = append(list, s.Scenario)
		}
	}
	return list, nil
}

// conform runs the suite's requirements of a revision and makes a subtest of
// each scenario. The last word of the run is the suite's leg. The further
// arguments say what is judged.
func conform(t *testing.T, run, revision string, args ...string) {
	leg := run[strings.LastIndexByte(run, ' ')+1:]
	p := peers(t)
	text, err := os.ReadFile("baseline.yml")
	if err != nil {
		t.Fatal(err)
	}
	b, err := readBaseline(text)
	if err != nil {
		t.Fatalf("baseline.yml: %v", err)
	}
	expected, err := scenarios(p, leg, revision)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	results, output := runSuite(t, p, append([]string{leg, "--requirements", revision}, args...)...)
	took := time.Since(begun).Round(time.Millisecond)
	excused := b[run+" "+revision]
	unused := map[string]bool{}
	for entry := range excused {
		unused[entry] = true
	}
	var total verdict
	for _, scenario := range expected {
		for entry := range excused {
			if name, _, _ := strings.Cut(entry, ":"); name == scenario {
				delete(unused, entry)
			}
		}
		t.Run(scenario, func(t *testing.T) {
			v := judge(scenario, results[scenario], excused)
			total.passed, total.excused, total.skipped = total.passed+v.passed, total.excused+v.excused, total.skipped+v.skipped
			for _, f := range v.faults {
				t.Error(f)
			}
			for _, c := range results[scenario] {
				if c.Status == "SKIPPED" {
					t.Logf("skipped: %s: %s (%s)", c.ID, c.Error, c.Description)
				}
			}
			total.faults = append(total.faults, v.faults...)
		})
	}
	for entry := range unused {
		t.Errorf("baseline.yml: %s %s has no scenario %s", run, revision, entry)
	}
	t.Logf("%s %s: %d scenarios in %s: %d checks passed, %d excused, %d skipped, %d faults",
		run, revision, len(expected), took, total.passed, total.excused, total.skipped, len(total.faults))
	if len(total.faults) > 0 {
		t.Logf("what the suite wrote:\n%s", output)
	}
}

// runSuite runs the suite and gives the checks of every scenario it ran.
func runSuite(t *testing.T, p peerSet, args ...string) (map[string][]check, string) {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	// A loaded machine is no fault of the program's: every scenario has two minutes.
	cmd := exec.CommandContext(ctx, p.node, append([]string{p.suite()}, append(args, "--timeout", "110000", "--output-dir", dir)...)...)
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput() // its status is about required scenarios only: all are judged here
	results, rerr := readResults(dir, args[0])
	if rerr != nil || len(results) == 0 {
		t.Fatalf("the suite gave no results: %v, %v\n%s", err, rerr, out)
	}
	return results, string(out)
}

// readResults reads a folder of results: one folder a scenario, named by it
// and by the time, in which checks.json lies. Those of servers have the leg
// before their name.
func readResults(dir, leg string) (map[string][]check, error) {
	when := regexp.MustCompile(`-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$`)
	results := map[string][]check{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "checks.json" {
			return err
		}
		folder, err := filepath.Rel(dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var checks []check
		if err := json.Unmarshal(text, &checks); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		name := when.ReplaceAllString(filepath.ToSlash(folder), "")
		if leg == "server" {
			name = strings.TrimPrefix(name, "server-")
		}
		results[name] = append(results[name], checks...)
		return nil
	})
	return results, err
}

func TestReadResults(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"server-server-initialize-2026-11-15T11-25-25-643Z": `[{"id":"a","status":"SUCCESS"},{"id":"b","status":"FAILURE","errorMessage":"no"}]`,
		"server-ping-2026-11-15T11-25-25-887Z":              `[]`,
		"auth/iss-2026-07-28-2026-11-15T11-25-41-807Z":      `[{"id":"c","status":"WARNING"}]`,
	} {
		folder := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "checks.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readResults(dir, "server")
	want := map[string][]check{
		"server-initialize":   {{ID: "a", Status: "SUCCESS"}, {ID: "b", Status: "FAILURE", Error: "no"}},
		"ping":                nil,
		"auth/iss-2026-07-28": {{ID: "c", Status: "WARNING"}},
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	if err := os.WriteFile(filepath.Join(dir, "checks.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readResults(dir, "server"); err == nil {
		t.Error("a broken result is taken")
	}
}
