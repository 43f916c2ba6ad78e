package conformance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Packages from PyPI, of exact versions: testdata/opm/requirements.txt has all of
// them, and pip's own configuration says where they come from.
const (
	pythonPackages = "testdata/opm/requirements.txt"
	// nextManager is a later generation of the plugin manager than that of the list,
	// with which not every package of the list says that it works.
	nextManager = "ovos-plugin-manager==3.1.0a1"
	// ownPip is fetched where Python comes without pip.
	ownPip = "26.3"
)

// errNoPython is told where the packages can not be had.
var errNoPython = errors.New("there is no Python 3.11 or later, and the genuine toolboxes are written in it")

// environment is a virtual environment of Python.
type environment struct {
	dir    string
	python string // its interpreter
	site   string // where its packages are
	pip    []string
}

// at names what is in a virtual environment.
func (e *environment) at(dir string) error {
	e.dir, e.python = dir, filepath.Join(dir, "bin", "python")
	if runtime.GOOS == "windows" {
		e.python = filepath.Join(dir, "Scripts", "python.exe")
	}
	out, err := exec.CommandContext(context.Background(), e.python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").Output()
	e.site = string(bytes.TrimSpace(out))
	return err
}

// install has pip install into an environment. It is asked again if it fails: an
// index may be busy for a moment.
func (e *environment) install(ctx context.Context, args ...string) error {
	all := append(append([]string{}, e.pip[1:]...), "--python", e.python, "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-input")
	for try := 1; ; try++ {
		cmd := exec.CommandContext(ctx, e.pip[0], append(all, args...)...)
		cmd.WaitDelay = 10 * time.Second
		out, err := cmd.CombinedOutput()
		if err == nil {
			return nil
		}
		if try == 3 || ctx.Err() != nil {
			return fmt.Errorf("pip install %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// field has the genuine packages.
type field struct {
	base environment
	next environment // the same with the next plugin manager
}

var installedField = sync.OnceValues(func() (field, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	return installField(ctx)
})

// genuine makes sure that the genuine packages are there. See peers.
func genuine(t testing.TB) field {
	t.Helper()
	if !strings.HasPrefix(t.Name(), "TestGenuine") {
		t.Fatal("a test that needs packages from PyPI has a name that begins with TestGenuine, so that make test leaves it out and make genuine runs it")
	}
	f, err := installedField()
	if errors.Is(err, errNoPython) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("installing the packages from PyPI: %v", err)
	}
	return f
}

// systemPython finds an interpreter that the packages are for.
func systemPython() (string, error) {
	for _, name := range []string{"python3", "python"} {
		file, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		// Asked for its own path: what is found may be a script that chooses one.
		out, err := exec.CommandContext(context.Background(), file, "-c", "import sys; print(sys.executable if sys.version_info >= (3, 11) else '')").Output()
		if path := string(bytes.TrimSpace(out)); err == nil && path != "" {
			return path, nil
		}
	}
	return "", errNoPython
}

// installField puts the packages into the user's cache unless they are there. A
// virtual environment knows its own path, so that it is made where it stays; a
// mark says that it is complete.
func installField(ctx context.Context) (field, error) {
	var f field
	python, err := systemPython()
	if err != nil {
		return f, err
	}
	list, err := os.ReadFile(pythonPackages)
	if err != nil {
		return f, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir() // a machine without homes
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%s\n", list, nextManager, ownPip, python))
	home := filepath.Join(cache, "toolcrib-test", fmt.Sprintf("python-%x", sum[:8]))
	if err := os.MkdirAll(filepath.Dir(home), 0o755); err != nil {
		return f, err
	}
	unlock, err := lockedfile.MutexAt(home + ".lock").Lock() // two runs of the tests at once
	if err != nil {
		return f, err
	}
	defer unlock()
	mark := filepath.Join(home, "complete")
	if _, err := os.Stat(mark); err != nil {
		if err := os.RemoveAll(home); err != nil {
			return f, err
		}
		if err := makeField(ctx, python, home); err != nil {
			return f, err
		}
		if err := os.WriteFile(mark, nil, 0o644); err != nil {
			return f, err
		}
	}
	pip, err := findPip(ctx, filepath.Join(home, "base"), home)
	if err != nil {
		return f, err
	}
	f.base.pip, f.next.pip = pip, pip
	return f, errors.Join(f.base.at(filepath.Join(home, "base")), f.next.at(filepath.Join(home, "next")))
}

// makeField makes both environments.
func makeField(ctx context.Context, python, home string) error {
	base, next := environment{}, environment{}
	if err := makeEnvironment(ctx, python, filepath.Join(home, "base"), &base); err != nil {
		return err
	}
	pip, err := findPip(ctx, base.dir, home)
	if err != nil {
		return err
	}
	base.pip, next.pip = pip, pip
	if err := base.install(ctx, "--no-compile", "--requirement", pythonPackages); err != nil {
		return err
	}
	if err := makeEnvironment(ctx, python, filepath.Join(home, "next"), &next); err != nil {
		return err
	}
	if err := next.over(base); err != nil {
		return err
	}
	if err := next.install(ctx, nextManager); err != nil {
		return err
	}
	// What the tests import is compiled now: programs in a sandbox cannot keep it.
	warm := exec.CommandContext(ctx, base.python, "-c", "import ovos_agentic_loop.skills.toolbox, ovos_tool_adapters.mcp, ovos_ddg_plugin, ovos_wikipedia, ovos_wolfram_alpha_plugin, ovos_wordnet_plugin, ovos_bus_client, ovos_plugin_manager.persona, fastmcp, langchain_core.tools, agenticx.tools")
	if out, err := warm.CombinedOutput(); err != nil {
		return fmt.Errorf("what was installed cannot be imported: %w\n%s", err, out)
	}
	return nil
}

// makeEnvironment makes an empty one. It needs nothing but the standard library,
// where some systems leave out what puts pip into it.
func makeEnvironment(ctx context.Context, python, dir string, e *environment) error {
	if out, err := exec.CommandContext(ctx, python, "-m", "venv", "--without-pip", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("%s cannot make a virtual environment (on Debian the package python3-venv has what it needs): %w\n%s", python, err, out)
	}
	return e.at(dir)
}

// over has an environment find the packages of another behind its own.
func (e *environment) over(base environment) error {
	return os.WriteFile(filepath.Join(e.site, "base.pth"), []byte(base.site+"\n"), 0o644)
}

// findPip gives a command that is pip: that of the environment or of the system if
// it can install into others, or one that is fetched.
func findPip(ctx context.Context, env, home string) ([]string, error) {
	wheel := filepath.Join(home, "pip-"+ownPip+"-py3-none-any.whl")
	own := environment{}
	if err := own.at(env); err != nil {
		return nil, err
	}
	if _, err := os.Stat(wheel); err != nil {
		out, err := exec.CommandContext(ctx, own.python, "testdata/opm/fetch_pip.py", ownPip, home).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("pip %s cannot be fetched: %w\n%s", ownPip, err, out)
		}
	}
	return []string{own.python, filepath.Join(wheel, "pip")}, nil
}

// with makes an environment for one test: the genuine packages, and these of ours,
// installed from folders as people install theirs.
func (f field) with(t testing.TB, base environment, packages ...string) environment {
	t.Helper()
	var e environment
	if err := makeEnvironment(t.Context(), base.python, filepath.Join(t.TempDir(), "env"), &e); err != nil {
		t.Fatal(err)
	}
	e.pip = base.pip
	text, err := os.ReadFile(filepath.Join(base.site, "base.pth"))
	if err == nil { // that one finds others behind its own, too
		err = os.WriteFile(filepath.Join(e.site, "base.pth"), append([]byte(base.site+"\n"), text...), 0o644)
	} else {
		err = e.over(base)
	}
	if err != nil {
		t.Fatal(err)
	}
	e.add(t, packages...)
	return e
}

// add installs packages of testdata/opm.
func (e environment) add(t testing.TB, packages ...string) {
	t.Helper()
	args := []string{"--no-build-isolation", "--no-index"}
	for _, name := range packages {
		dir := filepath.Join(t.TempDir(), name) // building writes into the folder
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "opm", name))); err != nil {
			t.Fatal(err)
		}
		args = append(args, dir)
	}
	if len(packages) == 0 {
		return
	}
	if err := e.install(t.Context(), args...); err != nil {
		t.Fatal(err)
	}
}
