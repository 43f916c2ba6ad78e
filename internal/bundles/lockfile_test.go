package bundles

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolcrib/toolcrib/internal/bundle"
)

// TestProject: what one installs for a project, another gets exactly, after a yes of
// their own; and what somebody else writes into the lock file counts for nobody.
func TestProject(t *testing.T) {
	t.Parallel()
	first, second := person(t), person(t)
	kit := examples()["claude-plugin"].using("first")
	kit.write(t, filepath.Join(first.Dir, "tools", "kit"))
	install(t, first, "./tools/kit", Want{Project: true})
	if l := first.Load(); len(l.Faults) > 0 || len(l.Servers) != 1 {
		t.Fatalf("%+v", l)
	}
	lock := readText(t, projectLock(first.Dir))
	if strings.Contains(lock, first.Home) || !strings.Contains(lock, `"./tools/kit"`) {
		t.Errorf("the lock file says where things lie on one machine:\n%s", lock)
	}
	elsewhere := *first
	elsewhere.Dir = first.Home
	if l := elsewhere.Load(); len(l.Servers)+len(l.Skills)+len(l.Faults) > 0 {
		t.Errorf("outside of the project: %+v", l)
	}

	// The other one has the same files, and a directory below is the same project.
	kit.write(t, filepath.Join(second.Dir, "tools", "kit"))
	texts{"bundles.lock": lock}.write(t, filepath.Join(second.Dir, ".toolcrib"))
	below := *second
	below.Dir = filepath.Join(second.Dir, "tools")
	for _, b := range []*Bundles{second, &below} {
		if l := b.Load(); len(l.Servers)+len(l.Skills) > 0 || len(l.Faults) != 1 || !strings.Contains(l.Faults[0].Error(), "bundle sync") {
			t.Errorf("before a yes: %+v", l)
		}
	}
	missing, err := below.Unsynced(true)
	if err != nil || len(missing) != 1 || missing[0].Err != nil {
		t.Fatalf("%+v, %v", missing, err)
	}
	c, err := below.FetchLocked(t.Context(), missing[0], Want{Project: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := below.Install(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if l := second.Load(); len(l.Faults) > 0 || len(l.Servers) != 1 {
		t.Errorf("after a yes: %+v", l)
	}
	if missing, err := second.Unsynced(true); err != nil || len(missing) != 0 {
		t.Errorf("%+v, %v", missing, err)
	}
	if got := readText(t, projectLock(second.Dir)); got != lock {
		t.Errorf("the lock file was changed by taking it over:\n%s", got)
	}

	// An update, and a branch with the older lock file: each has its own state.
	examples()["claude-plugin"].using("second").write(t, filepath.Join(second.Dir, "tools", "kit"))
	install(t, second, "./tools/kit", Want{Project: true})
	if got := commandLine(second.Load()); !strings.HasPrefix(got, "second") {
		t.Error(got)
	}
	newer := readText(t, projectLock(second.Dir))
	if err := os.WriteFile(projectLock(second.Dir), []byte(lock), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := commandLine(second.Load()); !strings.HasPrefix(got, "first") {
		t.Error(got)
	}
	// The source is another one by now: it is not what the file names.
	if missing, err = first.Unsynced(true); err != nil || len(missing) != 0 {
		t.Fatalf("%+v, %v", missing, err)
	}
	if err := os.WriteFile(projectLock(first.Dir), []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	if missing, err = first.Unsynced(true); err != nil || len(missing) != 1 {
		t.Fatalf("%+v, %v", missing, err)
	}
	if _, err := first.FetchLocked(t.Context(), missing[0], Want{Project: true}); err == nil || !strings.Contains(err.Error(), "not what the lock file names") {
		t.Errorf("%v", err)
	}
	if l := first.Load(); len(l.Servers) > 0 || len(l.Faults) != 1 {
		t.Errorf("a lock file that names something else: %+v", l)
	}
}

// TestHostileLockFiles: a lock file of a project reaches nothing of the machine, and what
// is no lock file is told.
func TestHostileLockFiles(t *testing.T) {
	t.Parallel()
	tree := strings.Repeat("a", 64)
	for source, why := range map[string]string{
		"/etc": "outside of the project", "../secret": "outside of the project", "./link": "outside of the project", "./.git": "outside of the project", "./none": "no file or directory", "git+file:///etc": "outside of the project", "git+file:///none": "no such file",
		"https://host.example/x.zip": "without a digest", "git+http://host.example/x": "fetched by",
	} {
		b := person(t)
		texts{"SKILL.md": skillText("x")}.write(t, filepath.Join(b.Home, "secret"))
		if err := os.Symlink(filepath.Join(b.Home, "secret"), filepath.Join(b.Dir, "link")); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(lockFile{1, map[string]Locked{"kit": {Source: source, Tree: tree}}})
		if err != nil {
			t.Fatal(err)
		}
		texts{"bundles.lock": string(data)}.write(t, filepath.Join(b.Dir, ".toolcrib"))
		missing, err := b.Unsynced(true)
		if err != nil || len(missing) != 1 || missing[0].Err == nil || !strings.Contains(missing[0].Err.Error(), why) {
			t.Errorf("%s: %+v, %v", source, missing, err)
		}
	}
	// A project whose folder for the lock file is somewhere else.
	linked, elsewhere := person(t), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(linked.Dir, ".toolcrib")); err != nil {
		t.Fatal(err)
	}
	if _, err := linked.Fetch(t.Context(), texts{"SKILL.md": skillText("x")}.folder(t), Want{Project: true}); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Error(err)
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	many := map[string]Locked{}
	for i := range maxLocked + 1 {
		many[fmt.Sprintf("b%d", i)] = Locked{Tree: tree}
	}
	flood, err := json.Marshal(lockFile{1, many})
	if err != nil {
		t.Fatal(err)
	}
	for text, why := range map[string]string{
		string(flood): "more than 200", "{": "no lock file", `{"lockfile_version":2}`: "version 2", `{"lockfile_version":1,"bundles":{"../..":{"tree":"` + tree + `"}}}`: "other signs", `{"lockfile_version":1,"bundles":{"kit":{"tree":"../../x"}}}`: "no digest", `[]`: "no lock file",
	} {
		b := person(t)
		texts{"bundles.lock": text}.write(t, filepath.Join(b.Dir, ".toolcrib"))
		if _, err := b.Unsynced(true); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", text, err)
		}
		if l := b.Load(); len(l.Faults) != 1 || len(l.Skills) > 0 {
			t.Errorf("%s: %+v", text, l)
		}
	}
}

// TestLockedVersions: who takes a lock file over gets the versions that it names, whatever
// the registries say by now, and a file that says something else than the package is refused.
func TestLockedVersions(t *testing.T) {
	t.Parallel()
	var now atomic.Value
	now.Store("1.0.0")
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/pypi/") {
			_, _ = fmt.Fprintf(w, `{"info":{"version":%q}}`, now.Load())
			return
		}
		_, _ = fmt.Fprintf(w, `{"version":%q}`, now.Load())
	}))
	t.Cleanup(registry.Close)
	kit := texts{".claude-plugin/plugin.json": `{"name":"kit","mcpServers":{"a":{"command":"npx","args":["-y","-p","one","--package=two@next","run"]},"b":{"command":"uvx","args":["tool","--with","tool"]},"c":{"command":"node","args":["x"],"env":{"MODE":"x"}}}}`}
	first, second := person(t), person(t)
	for _, b := range []*Bundles{first, second} {
		b.NPM, b.PyPI = registry.URL, registry.URL
		kit.write(t, filepath.Join(b.Dir, "kit"))
	}
	install(t, first, "./kit", Want{Project: true, Pin: true})
	lock := readText(t, projectLock(first.Dir))
	now.Store("9.9.9")
	take := func(text string, want Want) error {
		texts{"bundles.lock": text}.write(t, filepath.Join(second.Dir, ".toolcrib"))
		missing, err := second.Unsynced(true)
		if err != nil || len(missing) != 1 {
			t.Fatalf("%+v, %v", missing, err)
		}
		want.Project = true
		c, err := second.FetchLocked(t.Context(), missing[0], want)
		if err != nil {
			return err
		}
		_, err = second.Install(t.Context(), c)
		return errors.Join(err, c.Close())
	}
	for what, change := range map[string][2]string{
		"another command": {`"node"`, `"harmless"`}, "another variable": {`"MODE"`, `"OTHER"`}, "another package": {`"one@1.0.0"`, `"evil@1.0.0"`}, "no version": {`"one@1.0.0"`, `"one@next"`},
		"a server more": {`"c": {`, `"d": {}, "c": {`}, "other files": {`".claude-plugin/plugin.json": "`, `".claude-plugin/plugin.json": "0`}, "a word more": {`"tool==1.0.0",`, `"tool==1.0.0", "--evil",`},
	} {
		changed := strings.Replace(lock, change[0], change[1], 1)
		if changed == lock {
			t.Fatalf("%s: %s", what, lock)
		}
		if err := take(changed, Want{Pin: true}); err == nil || !strings.Contains(err.Error(), "changed by hand") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for range 2 {
		if err := take(lock, Want{}); err != nil {
			t.Fatal(err)
		}
		l := second.Load()
		if got := fmt.Sprint(l.Servers["kit-a"].Args, l.Servers["kit-b"].Args, l.Faults); got != "[-y -p one@1.0.0 --package=two@1.0.0 run] [tool==1.0.0 --with tool] []" {
			t.Error(got)
		}
		if got := readText(t, projectLock(second.Dir)); got != lock {
			t.Errorf("it was changed by taking it over:\n%s", got)
		}
		if _, err := second.Remove(t.Context(), "kit", true, false); err != nil {
			t.Fatal(err)
		}
	}
	// A registry that answers with what is no version, or another one than was asked for.
	now.Store("latest")
	c, err := first.Fetch(t.Context(), "./kit", Want{Pin: true, Name: "other"})
	if err != nil || len(c.Left) != 2 {
		t.Errorf("%+v, %v", c.Left, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	now.Store("2.0.0")
	if _, err := first.Fetch(t.Context(), "npm:kit@1.0.0", Want{}); err == nil || !strings.Contains(err.Error(), "1.0.0 was asked for") {
		t.Error(err)
	}
}

// TestOwnLockFile: one from another machine installs the same there, and what it names
// besides stays in it.
func TestOwnLockFile(t *testing.T) {
	t.Parallel()
	first, second := person(t), person(t)
	dir := examples()["gemini-extension"].using("x").folder(t)
	install(t, first, dir, Want{})
	if err := os.MkdirAll(filepath.Dir(second.LockFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(second.LockFile, []byte(readText(t, first.LockFile)), 0o600); err != nil {
		t.Fatal(err)
	}
	install(t, second, texts{"SKILL.md": skillText("x")}.folder(t), Want{Name: "other"})
	missing, err := second.Unsynced(false)
	if err != nil || len(missing) != 1 || missing[0].Name != "kit" {
		t.Fatalf("%+v, %v", missing, err)
	}
	c, err := second.FetchLocked(t.Context(), missing[0], Want{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := second.Install(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	l := second.Load()
	if len(l.Faults) > 0 || len(l.Servers) != 1 || len(l.Skills) != 2 {
		t.Errorf("%+v", l)
	}
}

// TestPackAndNew: what is begun can be shown, packed the same each time, and installed.
func TestPackAndNew(t *testing.T) {
	t.Parallel()
	b := person(t)
	dir := filepath.Join(b.Dir, "mine")
	files, err := New(dir, "mine")
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	if _, err := New(dir, "mine"); err == nil {
		t.Error("what is there was begun again")
	}
	var sums []string
	for _, name := range []string{"a.zip", "b.zip"} {
		packed, err := b.Pack(t.Context(), dir, func(proposed string) string {
			if proposed != "mine-0.1.0.zip" {
				t.Errorf("%s", proposed)
			}
			return filepath.Join(b.Dir, name)
		})
		if err != nil || packed.Files != 3 {
			t.Fatalf("%+v, %v", packed, err)
		}
		sums = append(sums, packed.SHA256)
	}
	if sums[0] != sums[1] {
		t.Errorf("%v", sums)
	}
	if _, err := b.Pack(t.Context(), dir, func(string) string { return filepath.Join(b.Dir, "a.zip") }); err == nil {
		t.Error("a file was overwritten")
	}
	if r := install(t, b, "a.zip", Want{}); len(r.Skills) != 1 || r.Name != "mine" {
		t.Errorf("%+v", r)
	}
	c, err := b.Fetch(t.Context(), dir, Want{})
	if err != nil || !c.Same() {
		t.Errorf("from the directory it is another: %+v, %v", c, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestManyAtOnce: several processes may install at the same time; each gets its turn.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	b := person(t)
	errs := make(chan error)
	const many = 8
	for i := range many {
		dir := texts{"SKILL.md": skillText(fmt.Sprintf("s%d", i))}.folder(t)
		go func() {
			c, err := b.Fetch(t.Context(), dir, Want{Name: fmt.Sprintf("b%d", i)})
			if err == nil {
				_, err = b.Install(t.Context(), c)
				err = errors.Join(err, c.Close())
			}
			errs <- err
		}()
	}
	for range many {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if l := b.Load(); len(l.Skills) != many || len(l.Faults) > 0 {
		t.Errorf("%+v", l)
	}
	// Of two that were shown the same state, the second has to look again.
	dir := texts{"SKILL.md": skillText("first")}.folder(t)
	one, err := b.Fetch(t.Context(), dir, Want{Name: "both"})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	two, err := b.Fetch(t.Context(), dir, Want{Name: "both"})
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	if _, err := b.Install(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Install(t.Context(), two); err == nil || !strings.Contains(err.Error(), "look again") {
		t.Errorf("%v", err)
	}
}

func FuzzReadLock(f *testing.F) {
	f.Add(`{"lockfile_version":1,"bundles":{"kit":{"source":"./x","tree":"` + strings.Repeat("a", 64) + `"}}}`)
	f.Add(`{"lockfile_version":1,"bundles":{"../..":{}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "lock")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := readLock(file)
		if err != nil {
			return
		}
		for name, one := range l.Bundles {
			if bundle.CheckName(name) != nil || !sumForm.MatchString(one.Tree) {
				t.Errorf("%q: %+v", name, one)
			}
		}
		if files, err := parseListing([]byte(text)); err == nil {
			if again, err := parseListing(files.text()); err != nil || again.sum() != files.sum() {
				t.Errorf("%v", err)
			}
		}
	})
}

// BenchmarkLoad: what fifty bundles of twenty files cost at a start of the program.
func BenchmarkLoad(b *testing.B) {
	home := b.TempDir()
	p := at(home)
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		b.Fatal(err)
	}
	for i := range 50 {
		dir := filepath.Join(b.TempDir(), "kit")
		for j := range 20 {
			at := filepath.Join(dir, fmt.Sprintf("skills/s%d-%d/SKILL.md", i, j))
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(skillText(fmt.Sprintf("s%d-%d", i, j))+strings.Repeat("words and words\n", 500)), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		c, err := p.Fetch(b.Context(), dir, Want{Name: fmt.Sprintf("b%d", i)})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Install(b.Context(), c); err != nil {
			b.Fatal(err)
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if l := p.Load(); len(l.Faults) > 0 || len(l.Skills) != 1000 {
			b.Fatalf("%d, %v", len(l.Skills), l.Faults)
		}
	}
}
