package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// The attacks of these files were made on the sandbox when commands still wrote into
// live files. What counts is what lies on the machine afterwards, not what was said.

// ground is a project in its home that attacks are tried on, one after the other, with
// nobody who answers. In the default mode all of it stays as it is; in auto-edit what is
// outside of the project, what is protected, and what others obey.
type ground struct {
	t                   *testing.T
	a                   *App
	mode                string
	base, dir, outside  string // outside is what programs must not reach
	mark                string // is there if something ran that a program wrote
	copy, whole, before string
	again               string // what a person does when the project was put back
	tried               int
	git, watched        []string // where the person then uses git, and what is compared besides
}

// onGround has attacks tried in both modes, on what fill makes.
func onGround(t *testing.T, fill func(g *ground), change func(*settings.Config), attack func(g *ground)) {
	t.Helper()
	for _, mode := range []string{"default", "auto-edit"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			a, dir := layerProject(t, func(c *settings.Config) {
				c.Mode = mode
				if change != nil {
					change(c)
				}
			})
			a.Crib.Approver = &absent{}
			base := filepath.Dir(dir)
			g := &ground{t: t, a: a, mode: mode, base: base, dir: dir, outside: filepath.Join(base, "other"), mark: filepath.Join(base, "mark"), copy: filepath.Join(t.TempDir(), "copy")}
			openLayers(t, filepath.Join(base, "state", "layers"))
			g.put(map[string]string{"../home/.ssh/id_ed25519": maskedText, "../home/.bashrc": "true\n", "../other/file": "mine\n"})
			if fill != nil {
				fill(g)
			}
			g.shell(t.TempDir(), "cp -a "+dir+" "+g.copy)
			g.whole, g.before = inventory(t, dir), g.look()
			attack(g)
			g.stateIsClean()
		})
	}
}

func (g *ground) put(files map[string]string) {
	g.t.Helper()
	for name, text := range files {
		path := filepath.Join(g.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			g.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			g.t.Fatal(err)
		}
	}
}

func (g *ground) link(links map[string]string) {
	g.t.Helper()
	for name, to := range links {
		path := filepath.Join(g.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			g.t.Fatal(err)
		}
		if err := os.Symlink(to, path); err != nil {
			g.t.Fatal(err)
		}
	}
}

// shell does what a person does outside.
func (g *ground) shell(dir, script string) {
	g.t.Helper()
	c := exec.CommandContext(g.t.Context(), "/bin/sh", "-c", script)
	c.Dir, c.Env = dir, g.env()
	if out, err := c.CombinedOutput(); err != nil {
		g.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func (g *ground) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(g.base, "home"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + g.base, "GIT_TEMPLATE_DIR=", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always", "GIT_CONFIG_KEY_1=init.defaultBranch", "GIT_CONFIG_VALUE_1=main",
	}
}

// words puts the names of this ground into a script.
func (g *ground) words(script string) string {
	return strings.NewReplacer("MARK", g.mark, "OUTSIDE", filepath.Join(g.outside, "starts"), "OUT", g.outside, "TOP", g.dir).Replace(script)
}

// try has a program attack in some commands of one session, and looks at what is left.
func (g *ground) try(name string, lines ...string) {
	g.t.Helper()
	g.tried++
	session := fmt.Sprint("s", g.tried)
	var told string
	for _, line := range lines {
		if line != "" {
			told += g.run(name, session, g.words(line))
		}
	}
	g.judge(name, told)
	g.restore(name)
}

// skips leaves cases out: all of them take minutes. Fewest are tried in the default mode,
// which applies none of them. TOOLCRIB_ALL_LINES has all tried.
func (g *ground) skips(i, every int) bool {
	if os.Getenv("TOOLCRIB_ALL_LINES") != "" {
		return false
	}
	if testing.Short() {
		every *= 3
	}
	if g.mode == "default" {
		every *= 4
	}
	return i%every != 0
}

// run gives what was said and told of a line.
func (g *ground) run(name, session, line string) string {
	g.t.Helper()
	input, err := json.Marshal(map[string]any{"command": line, "timeout": 60})
	if err != nil {
		g.t.Fatal(err)
	}
	r, err := g.a.Crib.Call(g.t.Context(), toolcrib.Call{Tool: "run_command", Input: input, Caller: toolcrib.Caller{Subject: "test", Session: session}})
	if e, ok := toolcrib.AsError(err); err != nil && (!ok || e.Code == toolcrib.CodeInternal) {
		g.t.Errorf("%s: %v", name, err)
	}
	if err != nil {
		return err.Error()
	}
	said := string(r.Value)
	for _, c := range r.Content {
		if c.Notice {
			said += "\ntold " + c.Text
		}
	}
	if strings.Contains(said, maskedText) {
		g.t.Errorf("%s: a protected text was read: %s", name, said)
	}
	return said
}

// judge compares what there is with what there was.
func (g *ground) judge(name, told string) {
	g.t.Helper()
	now := g.look()
	if now == g.before && g.mode != "default" && inventory(g.t, g.dir) != g.whole {
		for _, dir := range g.git {
			g.useGit(filepath.Join(g.dir, dir))
		}
		_, err := os.Lstat(g.mark)
		if other := g.outsideNow(); err == nil || !strings.HasSuffix(g.before, other) {
			g.t.Errorf("%s: git ran or changed something: %v\n%s\n%s", name, err, other, told)
		}
	}
	if now != g.before {
		g.t.Errorf("%s changed something:\n%s\nIt said %.3000s", name, differ(g.before, now), told)
	}
}

// useGit works in a directory as a person does.
func (g *ground) useGit(dir string) {
	g.t.Helper()
	commands := []string{"status", "add -A", "submodule status"}
	if dir != g.dir {
		commands = []string{"status", "diff", "fetch", "log --all -p", "checkout .", "add -A", "commit -qm x --allow-empty", "rebase --continue", "reset --hard"}
	}
	for _, args := range commands {
		c := exec.CommandContext(g.t.Context(), "git", strings.Fields(args)...)
		c.Dir, c.Env = dir, g.env()
		out, _ := c.CombinedOutput() // it may fail on what it finds
		if strings.Contains(string(out), maskedText) {
			g.t.Errorf("git %s in %s tells what is protected: %s", args, dir, out)
		}
	}
}

// restore puts the project back as it was, and drops what waits.
func (g *ground) restore(name string) {
	g.t.Helper()
	layers := Layers(filepath.Join(g.base, "state"))
	var err error
	for end := time.Now().Add(time.Minute); len(layers.Waiting()) > 0 && time.Now().Before(end); { // a lock may be shared with a process that is just being started
		for _, w := range layers.Waiting() {
			err = layers.Drop(g.t.Context(), w)
		}
	}
	if len(layers.Waiting()) > 0 {
		g.t.Fatalf("%s: what waits cannot be dropped: %v", name, err)
	}
	if err := os.RemoveAll(g.mark); err != nil {
		g.t.Fatal(err)
	}
	if inventory(g.t, g.dir) == g.whole {
		return
	}
	g.shell(g.base, "find work -type d ! -perm -700 -exec chmod u+rwx {} +; find work -mindepth 1 -maxdepth 1 -exec rm -rf {} +; cp -a "+g.copy+"/. work/; chmod --reference="+g.copy+" work; "+g.again)
	if now := inventory(g.t, g.dir); now != g.whole {
		g.t.Fatalf("%s: the project cannot be put back:\n%s", name, differ(g.whole, now))
	}
	g.before = g.look()
}

// look is what must not change.
func (g *ground) look() string {
	if g.mode == "default" {
		return inventory(g.t, g.dir) + g.outsideNow()
	}
	g.openUp(g.dir)
	text := obeyedNow(g.t, g.dir)
	for _, name := range g.watched {
		text += entry(filepath.Join(g.dir, name), "watched "+name)
		if info, err := os.Stat(filepath.Join(g.dir, name)); err == nil && info.IsDir() {
			text += inventory(g.t, filepath.Join(g.dir, name))
		}
	}
	return text + g.outsideNow()
}

func (g *ground) outsideNow() string {
	return "outside:\n" + inventory(g.t, filepath.Join(g.base, "home")) + inventory(g.t, g.outside)
}

// openUp opens directories that a program closed, so that they can be looked into.
func (g *ground) openUp(dir string) {
	g.t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			if info, err := d.Info(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
				return os.Chmod(path, info.Mode().Perm()|0o700)
			}
		}
		return nil // it is walked again
	})
	if err != nil {
		g.t.Fatal(err)
	}
}

// stateIsClean: no protected text lies in the journal or the layers.
func (g *ground) stateIsClean() {
	g.t.Helper()
	g.openUp(filepath.Join(g.base, "state"))
	err := filepath.WalkDir(filepath.Join(g.base, "state"), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, fs.ErrNotExist) || err == nil && !d.Type().IsRegular() { // the journal replaces files of its own
			return nil
		}
		if err != nil {
			return err
		}
		if text, err := os.ReadFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) || strings.Contains(string(text), maskedText) {
			g.t.Errorf("a protected text lies in %s (%v)", path, err)
		}
		return nil
	})
	if err != nil {
		g.t.Error(err)
	}
}
