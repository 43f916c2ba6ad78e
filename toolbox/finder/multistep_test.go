package finder

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/find"
)

// publicTask is a task that people wrote down with its steps and the tools it took.
type publicTask struct {
	Meta struct{ Steps, Tools string } `json:"Annotator Metadata"`
}

var listNumber = regexp.MustCompile(`^\d+\.\s*`)

// numbered gives the lines of a numbered list.
func numbered(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(listNumber.ReplaceAllString(line, "")); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// readPublicTasks reads the tasks and the definitions of a checkout of LiveMCPBench
// (icip-cas/LiveMCPBench), which is not part of this module.
func readPublicTasks(b *testing.B) ([]toolcrib.Entry, []publicTask) {
	b.Helper()
	dir := os.Getenv("MULTISTEP_DATA")
	if dir == "" {
		b.Skip("MULTISTEP_DATA names no checkout of LiveMCPBench")
	}
	read := func(name string, to any) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = json.Unmarshal(text, to)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	var tasks []publicTask
	read("annotated_data/all_annotations.json", &tasks)
	var servers []struct {
		Tools map[string]struct {
			Tools []struct {
				Name, Description string
				InputSchema       json.RawMessage
			}
		}
	}
	read("tools/LiveMCPTool/tools.json", &servers)
	var specs []toolcrib.Entry
	for _, s := range servers {
		for _, box := range slices.Sorted(maps.Keys(s.Tools)) {
			for _, t := range s.Tools[box].Tools {
				specs = append(specs, spec(box, t.Name, t.Description, string(t.InputSchema)))
			}
		}
	}
	return specs, tasks
}

// BenchmarkMultiStep makes one search of five hits for each step of the public
// tasks, and tells which share of the tools that a task took was found: among the
// hits, and with those that are merely named.
func BenchmarkMultiStep(b *testing.B) {
	specs, tasks := readPublicTasks(b)
	known := map[string]bool{}
	for _, s := range specs {
		known[s.Name] = true
	}
	c := crib(b, Needs{Tools: shelf{"ann": specs}.tools})
	for b.Loop() {
		var need, hit, named, searches, tokens float64
		for _, task := range tasks {
			first, all := map[string]bool{}, map[string]bool{}
			for _, step := range numbered(task.Meta.Steps) {
				var out searchOut
				result := call(b, c, "ann", SearchTool, map[string]any{"query": step}, &out)
				for _, t := range out.Tools {
					first[t.Name], all[t.Name] = true, true
				}
				for _, name := range out.More {
					all[name] = true
				}
				searches++
				tokens += float64(find.Tokens(string(result.Value)))
			}
			for _, name := range numbered(task.Meta.Tools) {
				switch {
				case !known[name]: // no definition of it was published
					continue
				case first[name]:
					hit++
				}
				need++
				if all[name] {
					named++
				}
			}
		}
		b.ReportMetric(100*hit/need, "%hit")
		b.ReportMetric(100*named/need, "%named")
		b.ReportMetric(tokens/searches, "tokens/search")
		b.Logf("%d tools, %d tasks with %.0f needed tools: %.1f %% among five hits, %.1f %% with names", len(specs), len(tasks), need, 100*hit/need, 100*named/need)
		if len(specs) < 500 || len(tasks) < 90 || hit < 0.72*need || named < 0.85*need {
			b.Errorf("want 72 %% and 85 %% over 500 tools")
		}
	}
}
