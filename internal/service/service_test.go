package service

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// machine is a service manager that remembers what it was told.
type machine struct {
	calls   []string
	offline bool
	dies    bool // what is started ends at once
	running bool
	enabled bool
	refuses string // this command fails
}

func (m *machine) run(_ context.Context, program string, args ...string) (string, error) {
	line := strings.Join(append([]string{program}, args...), " ")
	m.calls = append(m.calls, line)
	if m.refuses != "" && strings.Contains(line, m.refuses) {
		return "", errors.New("refused")
	}
	switch {
	case m.offline && program != "loginctl":
		return "offline\n", errors.New("exit status 1")
	case strings.Contains(line, "is-system-running"):
		return "degraded\n", errors.New("exit status 1") // as with any failed unit
	case strings.Contains(line, " restart "), strings.Contains(line, "bootstrap"):
		m.running = !m.dies
	case strings.Contains(line, " stop "), strings.Contains(line, "bootout"):
		m.running = false
	case strings.Contains(line, " enable "):
		m.enabled = true
	case strings.Contains(line, " disable "):
		m.enabled = false
	case strings.Contains(line, " show toolcrib"):
		state, file := "inactive", "disabled"
		if m.running {
			state = "active"
		}
		if m.enabled {
			file = "enabled"
		}
		return fmt.Sprintf("ActiveState=%s\nSubState=x\nUnitFileState=%s\nResult=success\n", state, file), nil
	case program == "loginctl":
		return "no\n", nil
	case program == "journalctl":
		return "one\ntwo\n", nil
	case strings.HasPrefix(line, "launchctl print gui/501/"):
		if !m.running {
			return "", errors.New("could not find service")
		}
		return "\tstate = running\n\tlast exit code = (never exited)\n", nil
	}
	return "", nil
}

func needs(t *testing.T, goos string, m *machine) Needs {
	t.Helper()
	return Needs{GOOS: goos, Home: t.TempDir(), User: "sam", UID: 501, Getenv: func(string) string { return "" }, Run: m.run}
}

func unit() Unit {
	return Unit{
		Name: "bus", Title: "Toolcrib: 100% of the tools", Program: "/opt/tool crib/bin/toolcrib",
		Args: []string{"bus", "serve", "--set", `bus.url=ws://h/core?a=%n&b=$HOME`, "--deny", `read_file("a\b" <x>	y)`},
		Dir:  "/home/sam", Env: map[string]string{"TOOLCRIB_HOME": "/home/sam/my crib", "PATH": "/usr/bin:/bin"},
	}
}

// TestFilesAreGolden: what is written is what was tried with the genuine readers.
func TestFilesAreGolden(t *testing.T) {
	for goos, name := range map[string]string{"linux": "toolcrib-bus.service", "darwin": "toolcrib-bus.plist"} {
		d, err := Install(t.Context(), needs(t, goos, &machine{}), unit(), true)
		if err != nil {
			t.Fatal(err)
		}
		// The log lies at home, which is another in each run.
		text := strings.ReplaceAll(d.Text, filepath.Dir(filepath.Dir(filepath.Dir(d.File))), "/home/sam")
		if goos == "darwin" {
			m, err := Needs{GOOS: goos, Home: "/home/sam"}.manager()
			if err != nil {
				t.Fatal(err)
			}
			if text, err = m.text(unit()); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || string(want) != text {
			t.Errorf("%s: %v, got\n%s", file, err, text)
		}
		if !isMarked(text) {
			t.Errorf("%s: the mark does not fit", file)
		}
	}
}

// TestPlistIsXML: every element is closed, and texts arrive as they are.
func TestPlistIsXML(t *testing.T) {
	m, err := Needs{GOOS: "darwin", Home: "/Users/sam"}.manager()
	if err != nil {
		t.Fatal(err)
	}
	text, err := m.text(unit())
	if err != nil {
		t.Fatal(err)
	}
	for dec := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if got, want := m.args(text), append([]string{unit().Program}, unit().Args...); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestInstallStatusRemove(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		t.Run(goos, func(t *testing.T) {
			m := &machine{}
			n := needs(t, goos, m)
			if s, err := Status(t.Context(), n, unit()); err != nil || s.Installed || s.Running {
				t.Fatalf("%+v, %v", s, err)
			}
			if d, err := Install(t.Context(), n, unit(), true); err != nil || !d.Changed || exists(d.File) || m.running {
				t.Fatalf("dry: %+v, %v", d, err)
			}
			d, err := Install(t.Context(), n, unit(), false)
			if err != nil || !d.Changed || !d.Running || len(d.Run) > 0 || len(d.Notes) == 0 {
				t.Fatalf("%+v, %v", d, err)
			}
			if info, err := os.Stat(d.File); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
			m.calls = nil
			if d, err = Install(t.Context(), n, unit(), false); err != nil || d.Changed || len(d.Did) > 0 {
				t.Errorf("twice: %+v, %v", d, err)
			}
			if i := slices.IndexFunc(m.calls, func(c string) bool { return strings.Contains(c, "restart") || strings.Contains(c, "bootstrap") }); i >= 0 {
				t.Errorf("what runs was started anew: %q", m.calls[i])
			}
			if got, err := Installed(n); err != nil || !slices.Equal(got, []string{"bus"}) {
				t.Errorf("%v, %v", got, err)
			}
			plain := unit()
			plain.Args = plain.Args[:2] // asked for without its flags
			if s, err := Status(t.Context(), n, plain); err != nil || !s.Ours || !s.Running || !s.Enabled || len(s.Differs) > 0 {
				t.Errorf("%+v, %v", s, err)
			}
			moved := unit()
			moved.Program, moved.Env = "/usr/bin/toolcrib", map[string]string{"TOOLCRIB_HOME": "/home/sam/my crib", "PATH": "/elsewhere"}
			if s, err := Status(t.Context(), n, moved); err != nil || len(s.Differs) != 2 {
				t.Errorf("moved: %q, %v", s.Differs, err)
			}
			if d, err = Remove(t.Context(), n, "bus", true); err != nil || !exists(d.File) || !m.running {
				t.Errorf("dry: %+v, %v", d, err)
			}
			if d, err = Remove(t.Context(), n, "bus", false); err != nil || exists(d.File) || m.running || m.enabled && goos == "linux" {
				t.Errorf("%+v, %v", d, err)
			}
			if d, err = Remove(t.Context(), n, "bus", false); err != nil || d.Changed || len(d.Did) > 0 {
				t.Errorf("twice: %+v, %v", d, err)
			}
		})
	}
}

// TestOwnFilesStay: what a person wrote or changed is neither overwritten nor removed.
func TestOwnFilesStay(t *testing.T) {
	m := &machine{}
	n := needs(t, "linux", m)
	d, err := Install(t.Context(), n, unit(), false)
	if err != nil {
		t.Fatal(err)
	}
	changed := d.Text + "# mine\n"
	own := "[Service]\nExecStart=/bin/true\n"
	for text, ends := range map[string]bool{changed: true, own: false, strings.Replace(d.Text, "RestartSec=2", "RestartSec=3", 1): true} {
		if err := os.WriteFile(d.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m.running = true
		if _, err := Install(t.Context(), n, unit(), false); !errors.Is(err, ErrChanged) {
			t.Errorf("installed over it: %v", err)
		}
		if _, err := Remove(t.Context(), n, "bus", false); !errors.Is(err, ErrChanged) || m.running == ends {
			t.Errorf("%v, running %v", err, m.running)
		}
		if got, err := os.ReadFile(d.File); err != nil || string(got) != text {
			t.Errorf("%v, %q", err, got)
		}
	}
	// A masked unit is a link.
	if err := errors.Join(os.Remove(d.File), os.Symlink("/dev/null", d.File)); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(t.Context(), n, unit(), false); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	if _, err := Remove(t.Context(), n, "bus", false); !errors.Is(err, ErrChanged) || !exists(d.File) {
		t.Error(err)
	}
}

// TestNoManager: in a container the file is written, and the person told the rest.
func TestNoManager(t *testing.T) {
	n := needs(t, "linux", &machine{offline: true})
	d, err := Install(t.Context(), n, unit(), false)
	if err != nil || !exists(d.File) || d.Running || !slices.Contains(d.Run, "systemctl --user enable --now toolcrib-bus.service") || !strings.Contains(strings.Join(d.Notes, " "), "says offline") {
		t.Fatalf("%+v, %v", d, err)
	}
	wants := filepath.Join(filepath.Dir(d.File), "default.target.wants")
	if err := errors.Join(os.MkdirAll(wants, 0o700), os.Symlink(d.File, filepath.Join(wants, filepath.Base(d.File)))); err != nil {
		t.Fatal(err)
	}
	if d, err = Remove(t.Context(), n, "bus", false); err != nil || exists(d.File) || exists(filepath.Join(wants, filepath.Base(d.File))) {
		t.Errorf("%+v, %v", d, err)
	}
	n.Run = nil
	if d, err = Install(t.Context(), n, unit(), true); err != nil || len(d.Run) == 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestStartFails(t *testing.T) {
	for _, m := range []*machine{{dies: true}, {refuses: "restart"}, {refuses: "daemon-reload"}} {
		n := needs(t, "linux", m)
		d, err := Install(t.Context(), n, unit(), false)
		if err == nil || !exists(d.File) || !strings.Contains(err.Error(), "toolcrib service remove") {
			t.Errorf("%+v: %v", m, err)
		}
		m.refuses = ""
		if _, err := Remove(t.Context(), n, "bus", false); err != nil || exists(d.File) {
			t.Error(err)
		}
	}
	m := &machine{}
	n := needs(t, "linux", m)
	if _, err := Install(t.Context(), n, unit(), false); err != nil {
		t.Fatal(err)
	}
	m.refuses = " stop " // and it still runs
	if d, err := Remove(t.Context(), n, "bus", false); err == nil || !exists(d.File) {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestElsewhere(t *testing.T) {
	n := needs(t, "windows", &machine{})
	_, err := Install(t.Context(), n, unit(), false)
	if !errors.Is(err, ErrNotHere) || !strings.Contains(err.Error(), "schtasks /Create /SC ONLOGON /TN toolcrib-bus") {
		t.Error(err)
	}
	if _, err := Remove(t.Context(), n, "bus", false); !errors.Is(err, ErrNotHere) {
		t.Error(err)
	}
	if got, err := Installed(n); err != nil || got != nil {
		t.Error(got, err)
	}
}

func TestBadUnits(t *testing.T) {
	for name, change := range map[string]func(*Unit){
		"name":      func(u *Unit) { u.Name = "../x" },
		"relative":  func(u *Unit) { u.Program = "toolcrib" },
		"new line":  func(u *Unit) { u.Args = []string{"a\nExecStartPre=/bin/evil"} },
		"title":     func(u *Unit) { u.Title = "x\n[Service]" },
		"directory": func(u *Unit) { u.Dir = "x" },
		"variable":  func(u *Unit) { u.Env = map[string]string{"A B": "c"} },
		"value":     func(u *Unit) { u.Env = map[string]string{"A": "c\rd"} },
		"quote":     func(u *Unit) { u.Program = `/a"b/toolcrib` },
		"goes on":   func(u *Unit) { u.Dir = `/home/sam/x\` },
		"blank":     func(u *Unit) { u.Dir = "/home/sam/x " },
	} {
		u := unit()
		change(&u)
		n := needs(t, "linux", &machine{})
		if d, err := Install(t.Context(), n, u, false); err == nil || d.File != "" && exists(d.File) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzArgs: whatever the arguments are, they are read back as they were, the file has
// one line for them, and the mark fits until a byte is changed.
func FuzzArgs(f *testing.F) {
	f.Add("--set", `a=%n $HOME "x" \ 'y'`)
	f.Add("$$", "%%")
	f.Add("<&>", "\t")
	f.Fuzz(func(t *testing.T, a, b string) {
		u := Unit{Name: "x", Title: "T", Program: "/opt/$x %n/toolcrib", Args: []string{a, b}}
		if u.check() != nil {
			return
		}
		for _, goos := range []string{"linux", "darwin"} {
			m, err := Needs{GOOS: goos, Home: "/home/sam", Getenv: func(string) string { return "" }}.manager()
			if err != nil {
				t.Fatal(err)
			}
			text, err := m.text(u)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.args(text); !slices.Equal(got, []string{u.Program, a, b}) {
				t.Errorf("%s: %q became %q", goos, u.Args, got)
			}
			if strings.Count(text, "\nExecStart=") > 1 || !isMarked(text) || isMarked(text+"x") || isMarked(strings.Replace(text, "T", "U", 1)) {
				t.Errorf("%s: %s", goos, text)
			}
		}
	})
}

// FuzzUnits: a unit that others have written or changed is read without harm, and counts
// as ours only if it is, byte for byte.
func FuzzUnits(f *testing.F) {
	for _, goos := range []string{"linux", "darwin"} {
		text := unitText(f, goos)
		f.Add(goos == "darwin", text)
		f.Add(goos == "darwin", text[:len(text)/2])
		f.Add(goos == "darwin", strings.ReplaceAll(text, "serve", `"\`))
	}
	f.Add(false, "\nExecStart=\"a\\")
	f.Add(true, "<key>ProgramArguments</key><array><string>&#")
	f.Fuzz(func(t *testing.T, mac bool, text string) {
		goos := map[bool]string{true: "darwin", false: "linux"}[mac]
		m, err := Needs{GOOS: goos, Home: "/home/sam", Getenv: func(string) string { return "" }}.manager()
		if err != nil {
			t.Fatal(err)
		}
		for _, arg := range m.args(text) {
			if len(arg) > 2*len(text) {
				t.Errorf("%q is made of %q", arg, text)
			}
		}
		if isMarked(text) && isMarked(text+"\n") {
			t.Errorf("changed, it still counts as ours: %q", text)
		}
	})
}

func unitText(t testing.TB, goos string) string {
	t.Helper()
	m, err := Needs{GOOS: goos, Home: "/home/sam", Getenv: func(string) string { return "" }}.manager()
	if err != nil {
		t.Fatal(err)
	}
	text, err := m.text(Unit{Name: "x", Title: "T", Program: "/opt/toolcrib", Args: []string{"serve", "--set", "a=b"}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
