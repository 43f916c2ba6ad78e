package app

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// countingListener counts who connects to a socket.
func countingListener(t *testing.T, network, address string, count *atomic.Int64) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			_ = c.Close()
		}
	}()
	return l
}

// TestNothingIsSentFromLayers: no line without a rule reaches a program outside of its
// sandbox, by the network, by sockets and pipes that lie in the project, or by another
// way between processes.
func TestNothingIsSentFromLayers(t *testing.T) {
	for _, mode := range []string{"default", "plan", "auto-edit", "yolo"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			a, dir := layerProject(t, func(c *settings.Config) { c.Mode = mode })
			var count atomic.Int64
			tcp := countingListener(t, "tcp", "127.0.0.1:0", &count)
			abstract := fmt.Sprintf("toolcrib-test-%d-%s", os.Getpid(), mode)
			countingListener(t, "unix", "@"+abstract, &count)
			here, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			// The path of a socket is short, so that it is named from its own directory.
			short, err := filepath.Rel(here, filepath.Join(dir, "sock"))
			if err != nil || len(short) > 100 {
				short = filepath.Join(dir, "sock")
			}
			if len(short) <= 100 {
				countingListener(t, "unix", short, &count)
			}
			if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666); err != nil {
				t.Fatal(err)
			}
			pipe, err := os.OpenFile(filepath.Join(dir, "pipe"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer pipe.Close()
			connect := func(family, address string) string {
				return "python3 -c 'import socket; s = socket.socket(socket." + family + "); s.settimeout(3); s.connect(" + address + "); s.send(b\"x\")'"
			}
			lines := []string{
				connect("AF_INET", fmt.Sprintf(`("127.0.0.1", %d)`, tcp.Addr().(*net.TCPAddr).Port)),
				connect("AF_UNIX", `"\0`+abstract+`"`), connect("AF_UNIX", `"sock"`), connect("AF_UNIX", `"/proc/self/cwd/sock"`),
				`mv sock s2; ` + connect("AF_UNIX", `"s2"`), `ln sock s3; ` + connect("AF_UNIX", `"s3"`),
				`python3 -c 'import os; f = os.open("pipe", os.O_RDWR|os.O_NONBLOCK); os.write(f, b"sent")'`,
				`ln pipe p2; python3 -c 'import os; f = os.open("p2", os.O_RDWR|os.O_NONBLOCK); os.write(f, b"sent")'`,
			}
			for _, line := range lines {
				_, _ = runCommand(t.Context(), a, line, 10)
				raw := strings.ReplaceAll(strings.ReplaceAll(line, `\`, `\\`), `"`, `\"`)
				_, _ = a.Crib.Call(t.Context(), toolcrib.Call{Tool: "run_command", Input: []byte(`{"command":"` + raw + `","network":true,"timeout":10}`), Caller: toolcrib.Caller{Subject: "test"}})
				if n := count.Load(); n != 0 {
					t.Errorf("%q reached a socket", line)
					count.Store(0)
				}
			}
			fd := int(pipe.Fd())
			if err := syscall.SetNonblock(fd, true); err != nil {
				t.Fatal(err)
			}
			if n, err := syscall.Read(fd, make([]byte, 10)); n > 0 {
				t.Errorf("%d bytes came through a pipe (%v)", n, err)
			}
		})
	}
}

// TestRefusedChangesLeaveCaches: what a command writes to the caches of tool chains is
// dropped with its changes, also in the mode plan.
func TestRefusedChangesLeaveCaches(t *testing.T) {
	for _, mode := range []string{"plan", "default"} {
		a, dir := layerProject(t, func(c *settings.Config) { c.Mode = mode })
		for _, line := range []string{`echo x > n; echo evil > /var/cache/build/poison; echo made`, `rm -r src; ln -s /etc /var/cache/build/poison; echo made`} {
			out, said, err := lineOn(t, a, line)
			if err != nil || out.Stdout != "made\n" || said == "" {
				t.Errorf("%s: %q: %+v, told %q, %v", mode, line, out, said, err)
			}
			err = filepath.WalkDir(filepath.Join(filepath.Dir(dir), "state"), func(path string, d os.DirEntry, err error) error {
				if d != nil && d.Name() == "poison" {
					t.Errorf("%s: %q left %s", mode, line, path)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// TestSequencesOnLayers: what earlier commands of a session left does not uncover what is
// protected, nor get anything past the judge.
func TestSequencesOnLayers(t *testing.T) {
	for name, lines := range map[string][]string{
		"links to what is protected":    {`mkdir n; ln -s ../conf n/l; ln -s "$PWD/.env" e; ln -s deploy/in d`, `cat n/l/.env e d/id_rsa; cp -L e x; cat x; cp -RL n m; cat m/l/.env`, `cat m/l/.env x`},
		"permissions around it":         {`chmod 000 conf deep; chmod 711 deploy`, `chmod 755 conf deep; cat conf/.env deep/er/still/.env; mv conf c2; cat c2/.env`, `cat c2/.env`},
		"a directory around it again":   {`mkdir new; mv new conf/new; mkdir deep/er/still/n; touch deep/er/still/n/f`, `mv deep/er/still/n deep/x; mv deep/er x2; cat x2/still/.env`, `rm -rf deep; mkdir deep; ls -R deep; cat deep/er/still/.env`},
		"the link that protects it":     {`rm prod.env`, `cat data/values`, `mv data d2; cat d2/values`},
		"its further name":              {`rm .env data/further; mv data/further y; cat y`, `cat data/further y .env`},
		"copied with its directory":     {`cp -a deploy k; cp -al deploy kl; rsync -a deploy/ kr`, `find k kl kr -type f | xargs cat`, `mv k deploy/k; find deploy -type f | xargs cat`},
		"removed as far as it goes":     {`rm -rf * .[a-z]*`, `find . -type f | xargs cat; mkdir -p conf deploy/in; cat conf/.env`, `rm -rf * .[a-z]*; find . -type f | xargs cat`},
		"swapped directories":           {`mkdir n; perl -e 'syscall(316, -100, "n", -100, "conf", 2)'; cat n/.env`, `perl -e 'syscall(316, -100, "n", -100, "deploy/in", 2)'; cat n/* conf/*`},
		"what is obeyed, by two halves": {`mkdir c; echo evil > c/config.toml; mkdir -p src/w`, `ln -s c .cargo; mv src/w .vscode; echo evil > .vscode/tasks.json`, `echo evil > .envrc`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, mode := range []string{"default", "auto-edit"} {
				a, dir, masked := maskedProject(t, mode)
				a.Crib.Approver = &absent{}
				before, obeys := sights(t, dir, masked), reached(dir)
				for _, line := range lines {
					var out ran
					told := inSession(t, a, "one", "run_command", map[string]any{"command": line, "timeout": 30}, &out)
					if text := out.Stdout + out.Stderr + told; strings.Contains(text, maskedText) {
						t.Errorf("%s: %q printed a protected text: %s", mode, line, text)
					}
					if now := sights(t, dir, masked); now != before {
						t.Errorf("%s: %q changed what is protected:\n%s\nbefore:\n%s", mode, line, now, before)
					}
					if now := reached(dir); now != obeys {
						t.Errorf("%s: %q changed what is obeyed:\n%s\nbefore:\n%s", mode, line, now, obeys)
					}
				}
			}
		})
	}
}

// TestFloodsOnLayers: sets of changes that are made to be slow, or too deep for any path,
// are dealt with, and leave no layer behind.
func TestFloodsOnLayers(t *testing.T) {
	for name, line := range map[string]string{
		"many obeyed files": `python3 -c 'import os
for i in range(1000): os.mkdir("o%d" % i); open("o%d/.envrc" % i, "w").write("x")'`,
		"deep with many files": `python3 -c 'import os
for i in range(300): os.mkdir("d"); os.chdir("d")
for i in range(300): open("f%d" % i, "w").write("x")'`,
		"deeper than any path": `python3 -c 'import os
for i in range(3000): os.mkdir("d"*100); os.chdir("d"*100)'`,
		"deep and shut": `python3 -c 'import os
for i in range(100): os.mkdir("d"*100); os.chdir("d"*100)
os.mkdir("x"); os.mkdir("x/y"); os.chmod("x", 0); os.chmod(".", 0)'`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []string{"default", "auto-edit"} {
				a, dir := layerProject(t, func(c *settings.Config) { c.Mode = mode })
				began := time.Now()
				out, told, err := lineOn(t, a, line)
				if e, ok := toolcrib.AsError(err); err != nil && (!ok || e.Code != toolcrib.CodeUnavailable) || out.ExitCode != 0 {
					t.Errorf("%+v, %v", out, err)
				}
				t.Logf("%s: %v, told %.200q, notes %.200q", mode, time.Since(began), told, out.Notes)
				left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "state", "layers", "*"))
				if err != nil {
					t.Error(err)
				}
				for _, l := range left {
					if n := filepath.Base(l); n != "applying" && !strings.HasPrefix(n, "applied-") {
						t.Errorf("the layer %s is left", l)
					}
				}
			}
		})
	}
}

// TestNoFurtherNamesOfWhatIsObeyed: a file that others obey stays another one than what a
// command links to it. Programs on the live files that run already, in whose sight only its
// first name was covered, could write it by the other.
func TestNoFurtherNamesOfWhatIsObeyed(t *testing.T) {
	a, dir := layerProject(t, func(c *settings.Config) { c.Mode = "auto-edit" })
	obeyed := map[string]string{"settings": ".vscode/settings.json", "config": ".git/config", "hook": "scripts/hook"}
	for _, path := range obeyed {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte("[core]\n\tbare = false\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, ".git", "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../scripts/hook", filepath.Join(dir, ".git", "hooks", "pre-commit")); err != nil {
		t.Fatal(err)
	}
	same := func(one, other string) bool {
		first, err := os.Stat(filepath.Join(dir, one))
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.Stat(filepath.Join(dir, other))
		if err != nil {
			t.Fatal(err)
		}
		return os.SameFile(first, second)
	}
	if _, told, err := lineOn(t, a, `ln .vscode/settings.json settings; ln .git/config config; ln scripts/hook hook; ln a plain`); err != nil {
		t.Fatal(told, err)
	}
	for name, path := range obeyed {
		if same(name, path) {
			t.Errorf("%s is a further name of %s", name, path)
		}
	}
	if !same("plain", "a") {
		t.Error("a file that nobody obeys was copied")
	}
}
