package adopt

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/settings"
)

const conf = `{
  // the bus
  "websocket": {"host": "127.0.0.1", "port": 28181},
  "PHAL": {
    "other-plugin": {"enabled": true},
    "ovos-phal-plugin-tools": {
      "ovos-filesystem-tools": {"root_path": "ROOT", "allow_write": true},
      "gone-tools": {"key": 1}
    }
  }
}
`

const own = "# my settings\nlog:\n  level: warn # quiet\n"

// house is a home with a voice assistant in it.
type house struct {
	t                      *testing.T
	home, mycroft, config  string
	state                  string
	mycroftText, configOwn string
}

func newHouse(t *testing.T, configText string) *house {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Log("a voice assistant keeps its files elsewhere on Windows; what is written is the same")
	}
	home := t.TempDir()
	h := &house{t: t, home: home, state: filepath.Join(home, "state"), config: filepath.Join(home, ".config", "toolcrib", "config.yaml"), mycroft: filepath.Join(home, ".config", "mycroft", "mycroft.conf")}
	h.mycroftText, h.configOwn = strings.Replace(conf, "ROOT", filepath.ToSlash(filepath.Join(home, "notes")), 1), configText
	h.put(h.mycroft, h.mycroftText)
	if configText != "" {
		h.put(h.config, configText)
	}
	site := filepath.Join(home, ".venvs", "ovos", "lib", "python3.11", "site-packages")
	h.put(filepath.Join(site, "ovos_agentic_loop-0.2.5a1.dist-info", "entry_points.txt"), "[opm.agents.toolbox]\novos-math-tools = a:B\novos-filesystem-tools = a:C\n\n[opm.agents.chat]\nx = y:z\n")
	h.put(filepath.Join(site, "acme_kitchen-1.0.dist-info", "entry_points.txt"), "[opm.agents.toolbox]\nacme-kitchen-tools = k:K\n")
	h.put(filepath.Join(site, "ovos_phal_plugin_tools-0.0.4a1.dist-info", "entry_points.txt"), "[opm.phal]\novos-phal-plugin-tools = p:P\n")
	return h
}

func (h *house) put(file, text string) {
	h.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o640)); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) get(file string) string {
	h.t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return "(none)"
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

func (h *house) needs() Needs {
	h.t.Helper()
	loaded, err := config.Load(settings.Defaults(), config.Options{User: h.config})
	if err != nil {
		h.t.Fatal(err)
	}
	return Needs{
		Finding: Finding{
			Getenv: func(string) string { return "" }, Home: h.home,
			Look: func(string) (string, error) { return "", errors.New("none") }, Running: func() []string { return nil },
		},
		State: h.state, Config: h.config, Settings: loaded.Value,
		Unset: func(key string) bool { return loaded.Origins[key].Source == config.SourceDefault },
	}
}

func (h *house) plan() Plan {
	h.t.Helper()
	p, err := Look(h.needs(), "")
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func (h *house) undo() []Undone {
	h.t.Helper()
	list, err := Undo(h.t.Context(), h.state, false)
	if err != nil {
		h.t.Fatal(err)
	}
	return list
}

func (h *house) asBefore(when string) {
	h.t.Helper()
	want := h.configOwn
	if want == "" {
		want = "(none)"
	}
	if got := h.get(h.mycroft); got != h.mycroftText {
		h.t.Errorf("%s: mycroft.conf is\n%s", when, got)
	}
	if got := h.get(h.config); got != want {
		h.t.Errorf("%s: config.yaml is\n%s", when, got)
	}
	if is, _, err := Adopted(h.state); is || err != nil {
		h.t.Errorf("%s: %v, %v", when, is, err)
	}
}

func TestPlan(t *testing.T) {
	h := newHouse(t, own)
	p := h.plan()
	want := map[string]string{"ovos-math-tools": "Toolcrib, box math", "ovos-filesystem-tools": "Toolcrib, box files", "acme-kitchen-tools": "Toolcrib, the same Python code", "gone-tools": "nobody, its package is not installed"}
	for _, r := range p.Rows {
		if r.After != want[r.Toolbox] {
			t.Errorf("%+v", r)
		}
		delete(want, r.Toolbox)
	}
	if len(want) > 0 || len(p.Changes) != 2 || p.Python != filepath.Join(h.home, ".venvs", "ovos") {
		t.Errorf("%v, %+v", want, p)
	}
	h.asBefore("planned")
	if err := Apply(t.Context(), h.needs(), p, true, nil); err != nil {
		t.Fatal(err)
	}
	if got := h.get(h.config); !strings.HasPrefix(got, own) || !strings.Contains(got, "- auto") || !strings.Contains(got, "opm: true") || !strings.Contains(got, "agent: assistant") {
		t.Errorf("config.yaml is\n%s", got)
	}
	if got := h.plan(); len(got.Changes) != 0 {
		t.Errorf("twice: %+v", got.Changes)
	}
	if is, service, err := Adopted(h.state); !is || !service || err != nil {
		t.Error(is, service, err)
	}
	for _, u := range h.undo() {
		if u.How != "put back, byte for byte" {
			t.Errorf("%+v", u)
		}
	}
	h.asBefore("undone")
	if info, err := os.Stat(h.mycroft); err != nil || info.Mode().Perm() != 0o640 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", info, err)
	}
	if list := h.undo(); list != nil {
		t.Errorf("twice: %+v", list)
	}
}

// TestKilled: at whatever point it is cut off, each file is the old or the new one,
// it can be undone to the byte, and it can be finished and undone.
func TestKilled(t *testing.T) {
	for _, text := range []string{own, ""} {
		for after := 1; ; after++ {
			h := newHouse(t, text)
			p := h.plan()
			points := 0
			done := make(chan bool)
			go func() {
				finished := false
				defer func() { done <- finished }()
				err := Apply(t.Context(), h.needs(), p, false, func(string, durable.Point) {
					if points++; points == after {
						runtime.Goexit() // what comes after a kill -9: nothing
					}
				})
				if finished = true; err != nil {
					t.Error(err)
				}
			}()
			if <-done {
				if points < 12 {
					t.Errorf("only %d points were reached", points)
				}
				break
			}
			for _, c := range p.Changes {
				if got := h.get(c.File); got != string(c.After) && got != string(c.Before) && (c.There || got != "(none)") {
					t.Errorf("point %d: %s is neither the old nor the new", after, c.File)
				}
			}
			if after%2 == 0 { // finished by another run
				if err := Apply(t.Context(), h.needs(), h.plan(), false, nil); err != nil {
					t.Errorf("point %d: %v", after, err)
				}
				if len(h.plan().Changes) != 0 {
					t.Errorf("point %d: it is not finished", after)
				}
			}
			h.undo()
			h.asBefore("undone")
		}
	}
}

// TestChangedSince: what a person wrote after the move stays, and only what was
// written for it is taken out.
func TestChangedSince(t *testing.T) {
	h := newHouse(t, own)
	if err := Apply(t.Context(), h.needs(), h.plan(), false, nil); err != nil {
		t.Fatal(err)
	}
	h.put(h.mycroft, strings.Replace(h.get(h.mycroft), "28181", "38181", 1))
	h.put(h.config, h.get(h.config)+"\nlimits:\n  timeout: 20s # mine\n")
	for _, u := range h.undo() {
		if !strings.Contains(u.How, "you changed it since") {
			t.Errorf("%+v", u)
		}
	}
	if got := h.get(h.mycroft); got != strings.Replace(h.mycroftText, "28181", "38181", 1) {
		t.Errorf("mycroft.conf is\n%s", got)
	}
	got := h.get(h.config)
	if !strings.HasPrefix(got, own) || !strings.Contains(got, "timeout: 20s # mine") || strings.Contains(got, "auto") || strings.Contains(got, "opm") || strings.Contains(got, "assistant") {
		t.Errorf("config.yaml is\n%s", got)
	}
	n := h.needs() // it can be read
	if len(n.Settings.Bus.Mycroft) > 0 || n.Settings.Bus.Agent != "" || len(n.Settings.Agents) > 0 {
		t.Errorf("%+v", n.Settings.Bus)
	}

	// Changed between two moves.
	h.put(h.config, own)
	h.put(h.mycroft, h.mycroftText)
	if err := Apply(t.Context(), h.needs(), h.plan(), false, nil); err != nil {
		t.Fatal(err)
	}
	h.put(h.mycroft, strings.Replace(h.get(h.mycroft), `"enabled": false`, `"enabled": true`, 1))
	if err := Apply(t.Context(), h.needs(), h.plan(), false, nil); err != nil {
		t.Fatal(err)
	}
	h.undo()
	if got := h.get(h.mycroft); strings.Contains(got, "toolcrib") || strings.Contains(got, `"enabled": false`) {
		t.Errorf("mycroft.conf is\n%s", got)
	}

	// Removed since.
	h.put(h.mycroft, h.mycroftText)
	if err := Apply(t.Context(), h.needs(), h.plan(), false, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(h.mycroft); err != nil {
		t.Fatal(err)
	}
	h.undo()
	if got := h.get(h.mycroft); got != "(none)" {
		t.Error(got)
	}
}

// TestMeanwhile: what another wrote between the plan and the change is not lost.
func TestMeanwhile(t *testing.T) {
	h := newHouse(t, own)
	p := h.plan()
	h.put(h.mycroft, h.mycroftText+"\n")
	if err := Apply(t.Context(), h.needs(), p, false, nil); err == nil || !strings.Contains(err.Error(), "changed by somebody else") {
		t.Error(err)
	}
	if h.get(h.mycroft) != h.mycroftText+"\n" || h.get(h.config) != own {
		t.Error("something was written")
	}
}

func TestLinkStaysOne(t *testing.T) {
	h := newHouse(t, own)
	target := filepath.Join(h.home, "dotfiles", "mycroft.conf")
	h.put(target, h.mycroftText)
	if err := errors.Join(os.Remove(h.mycroft), os.Symlink(target, h.mycroft)); err != nil {
		t.Fatal(err)
	}
	if err := Apply(t.Context(), h.needs(), h.plan(), false, nil); err != nil {
		t.Fatal(err)
	}
	if at, err := os.Readlink(h.mycroft); err != nil || at != target || !strings.Contains(h.get(target), "served_by") {
		t.Errorf("%v, %v", at, err)
	}
	h.undo()
	h.asBefore("undone")
}

func TestRefuses(t *testing.T) {
	h := newHouse(t, own)
	if err := os.Remove(h.mycroft); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(h.home, ".venvs")); err != nil {
		t.Fatal(err)
	}
	if _, err := Look(h.needs(), ""); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
	if _, err := Look(h.needs(), h.home); err == nil || !strings.Contains(err.Error(), "no Python environment") {
		t.Error(err)
	}
	system := filepath.Join(h.home, "etc.conf")
	for _, text := range []string{`{"system": {"disable_user_config": true}}`, `{"system": {"protected_keys": {"user": ["lang", "PHAL:ovos-phal-plugin-tools"]}}}`} {
		h.put(system, text)
		n := h.needs()
		n.Getenv = func(name string) string { return map[string]string{"MYCROFT_SYSTEM_CONFIG": system}[name] }
		if _, err := Look(n, ""); err == nil || !strings.Contains(err.Error(), "does not let files of a person") {
			t.Error(err)
		}
	}
	h.put(h.mycroft, "{ broken")
	if _, err := Look(h.needs(), ""); err == nil {
		t.Error("a broken file was taken")
	}
}

// TestEnvironments: each way to the packages is found, and what looks like a pattern
// in a path is none.
func TestEnvironments(t *testing.T) {
	h := newHouse(t, own)
	odd := filepath.Join(h.home, "a[b] c", "venv")
	if err := os.MkdirAll(filepath.Dir(odd), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(h.home, ".venvs", "ovos"), odd); err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(odd, "bin", "python3")
	h.put(python, "")
	script := filepath.Join(h.home, "bin", "ovos_PHAL")
	h.put(script, "#!"+python+"\nimport x\n")
	for how, f := range map[string]Finding{
		"active":  {Getenv: func(name string) string { return map[string]string{"VIRTUAL_ENV": odd}[name] }},
		"running": {Running: func() []string { return []string{"/usr/bin/python3", python} }},
	} {
		n := h.needs()
		if f.Getenv != nil {
			n.Getenv = f.Getenv
		}
		if f.Running != nil {
			n.Running = f.Running
		}
		env, ok := n.Environment("")
		if !ok || env.Dir != odd || len(env.Boxes) != 3 || env.Plugin != "ovos-phal-plugin-tools 0.0.4a1" {
			t.Errorf("%s: %+v", how, env)
		}
	}
	n := h.needs()
	if _, ok := n.Environment(""); ok {
		t.Error("found without a hint")
	}
	for _, named := range []string{odd, python, "~/a[b] c/venv"} {
		if env, ok := n.Environment(named); !ok || env.Dir != odd {
			t.Errorf("%s: %+v", named, env)
		}
	}
	ids := []string{}
	env, _ := environmentAt(odd)
	for _, b := range env.Boxes {
		ids = append(ids, b.ID)
	}
	if !slices.Equal(ids, []string{"acme-kitchen-tools", "ovos-filesystem-tools", "ovos-math-tools"}) {
		t.Error(ids)
	}
}
