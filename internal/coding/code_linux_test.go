package coding

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/linux"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// sandboxMain is what this program does where the sandbox has started it.
func sandboxMain() { linux.Main() }

// heldCode is run_code in the real sandbox, with a home that has secrets and a project.
type heldCode struct {
	t       *testing.T
	box     toolcrib.Toolbox
	home    string
	project string
	env     *toolcrib.Env
	used    []string // tools that were used, and with what
}

func openHeld(t *testing.T, change func(*settings.Config)) *heldCode {
	t.Helper()
	h := &heldCode{t: t, home: t.TempDir(), project: t.TempDir()}
	for name, text := range map[string]string{".ssh/id_ed25519": "canary-key", ".bashrc": "canary-rc", ".config/toolcrib/config.yaml": "canary: config"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(h.home, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(h.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(h.project, "data.csv"), []byte("a,b\n1,2\n3,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sb, err := linux.Open(t.Context(), linux.Config{Limits: sandbox.Limits{MemoryBytes: 512 << 20, Processes: 64, FileBytes: 64 << 20}, TempBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	cfg := settings.Config{}
	cfg.Toolboxes.Code = settings.DefaultCodeBox()
	cfg.Toolboxes.Code.Enabled, cfg.Toolboxes.Code.Memory = true, 256<<20
	if change != nil {
		change(&cfg)
	}
	h.box, err = openCode(t.Context(), cfg, Needs{
		Dir: h.project, Home: h.home,
		In: func(ctx context.Context, name string, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
			if name != sandbox.Linux {
				return toolcrib.Exit{}, fmt.Errorf("there is no sandbox %s", name)
			}
			grant.Bounds |= toolcrib.BoundFiles | toolcrib.BoundNetwork | toolcrib.BoundTime
			if grant.Bounds&^sb.Enforces() != 0 || len(grant.Dirs)+len(grant.Hosts) > 0 {
				t.Errorf("the grant %+v", grant)
			}
			return sb.Run(ctx, cmd, grant)
		},
		Program: func(name string) (string, error) {
			if path := "/usr/bin/" + name; exec.Command(path, "--version").Run() == nil {
				return path, nil
			}
			return exec.LookPath(name)
		},
		Directory: filepath.EvalSymlinks,
	})
	if err != nil {
		t.Fatal(err)
	}
	handle, err := files.New([]files.Dir{{Path: h.project}}, files.Options{Base: h.project})
	if err != nil {
		t.Fatal(err)
	}
	h.env = &toolcrib.Env{Call: toolcrib.Call{ID: "c", Caller: toolcrib.Caller{Subject: "ann"}}, Files: handle, Emit: func(toolcrib.Event) {}}
	h.env.Use = func(_ context.Context, tool string, input any) (*toolcrib.Result, error) {
		text, err := json.Marshal(input)
		h.used = append(h.used, tool+" "+string(text))
		return toolcrib.Text("done"), err
	}
	t.Cleanup(func() {
		if c, ok := h.box.(interface{ Close() error }); ok {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := handle.Close(); err != nil {
			t.Error(err)
		}
		if err := sb.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// told is what a cell answered.
type told struct {
	Status, Output, Error, Text string
	Fresh                       bool
	Files, Saved                []struct{ Name, Path, Error string }
}

func (h *heldCode) run(in map[string]any) (told, *toolcrib.Result) {
	h.t.Helper()
	tools, err := h.box.Tools(h.t.Context())
	if err != nil || len(tools) == 0 {
		h.t.Fatal("there is no run_code", err)
	}
	full := map[string]any{"language": "python", "session": "main", "timeout": 60}
	maps.Copy(full, in)
	input, err := json.Marshal(full)
	if err != nil {
		h.t.Fatal(err)
	}
	r, err := tools[0].Run(h.t.Context(), h.env, input)
	if err != nil {
		return told{Status: "refused", Error: err.Error()}, nil
	}
	var out told
	if err := json.Unmarshal(r.Value, &out); err != nil {
		h.t.Fatalf("%v: %s", err, r)
	}
	return out, r
}

func (h *heldCode) python(code string) told {
	h.t.Helper()
	out, _ := h.run(map[string]any{"code": code})
	return out
}

// TestNothingGetsOut: the battery. Each attack prints what it got; what it must not get has the word canary in it, or OUT.
func TestNothingGetsOut(t *testing.T) {
	t.Setenv("CANARY_VARIABLE", "canary-environment")
	h := openHeld(t, nil)
	server, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var connected atomic.Int32
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			connected.Add(1)
			_ = c.Close()
		}
	}()
	port := server.Addr().(*net.TCPAddr).Port
	abstract, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", fmt.Sprintf("@toolcrib-canary-%d", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	define := fmt.Sprintf("HOME_, PROJECT, PORT, UNIX, PID = %q, %q, %d, %q, %d\nimport os, socket, subprocess, ctypes, glob\n", h.home, h.project, port, fmt.Sprintf("\x00toolcrib-canary-%d", os.Getpid()), os.Getpid())
	define = strings.ReplaceAll(define, `\x00`, `\0`) + `
def attack(f):
    try: print("GOT", f())
    except BaseException as e: print("no:", type(e).__name__, e)
`
	if out := h.python(define); out.Status != "ok" {
		t.Fatalf("%+v", out)
	}
	for _, code := range []string{
		`open(HOME_ + "/.ssh/id_ed25519").read()`, `open(HOME_ + "/.bashrc").read()`, `open(PROJECT + "/data.csv").read() and "OUT"`, `os.listdir(HOME_) and "OUT"`, `os.listdir(PROJECT) and "OUT"`,
		`open("/etc/shadow").read() and "OUT"`, `os.listdir("/root") and "OUT"`, `os.listdir("/home") and "OUT"`, `open(os.path.expanduser("~root/.bashrc")).read() and "OUT"`,
		`open("/proc/%d/environ" % PID).read()`, `open("/proc/1/environ").read()`, `os.listdir("/proc/%d" % PID)  and "OUT"`, `[open(p).read() for p in glob.glob("/proc/*/environ")]`,
		`open("/proc/1/root" + HOME_ + "/.bashrc").read()`, `os.listdir("/proc/self/root" + PROJECT) and "OUT"`, `open("/proc/self/cwd/../../../.." + HOME_ + "/.bashrc").read()`,
		`os.symlink(HOME_, "link") or open("link/.bashrc").read()`, `os.link("/etc/passwd", "hard") and "OUT"`, `open("/dev/sda", "rb").read(1) and "OUT"`, `open("/dev/mem", "rb").read(1) and "OUT"`,
		`dict(os.environ)`, `subprocess.run(["env"], capture_output=True).stdout`, `os.environ["CANARY_VARIABLE"]`,
		`socket.create_connection(("127.0.0.1", PORT), 2) and "OUT"`, `socket.create_connection(("localhost", PORT), 2) and "OUT"`, `socket.create_connection(("::1", PORT), 2) and "OUT"`,
		`(lambda s: (s.connect(UNIX), "OUT"))(socket.socket(socket.AF_UNIX))`, `socket.getaddrinfo("localhost.invalid", 80) and "OUT"`,
		`[i for i in os.listdir("/sys/class/net") if i != "lo"] and "OUT"`, `socket.socket(socket.AF_INET, socket.SOCK_RAW, 1) and "OUT"`, `socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12) and "OUT"`, `socket.socket(40, socket.SOCK_STREAM) and "OUT"`,
		`open("/usr/lib/out", "w") and "OUT"`, `open("/etc/out", "w") and "OUT"`, `os.mkdir("/out") or "OUT"`, `open("/bin/sh", "a") and "OUT"`, `open("/var/out", "w") and "OUT"`, `os.chmod("/usr/bin/env", 0o777) or "OUT"`,
		`os.kill(PID, 0) or "OUT"`, `os.kill(PID, 15) or "OUT"`, `os.setuid(0) or os.getuid() == 0 and "OUT"`, `os.chroot("/tmp") or "OUT"`,
		`ctypes.CDLL(None).mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0 and "OUT"`, `ctypes.CDLL(None).unshare(0x10000000) == 0 and "OUT"`, `ctypes.CDLL(None).ptrace(16, PID, 0, 0) == 0 and "OUT"`,
		`subprocess.run(["sudo", "-n", "true"]).returncode == 0 and "OUT"`, `subprocess.run(["su", "-c", "true"], stdin=subprocess.DEVNULL).returncode == 0 and "OUT"`,
		`ctypes.CDLL(None).syscall(250, 0) == 0 and "OUT"`, // keyctl
		`[s for s in glob.glob("/run/**", recursive=True) + glob.glob("/var/run/**", recursive=True) if "sock" in s] and "OUT"`,
		`os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY) and "OUT"`, `open("/sys/fs/cgroup/cgroup.procs", "w") and "OUT"`,
	} {
		out := h.python("attack(lambda: " + code + ")")
		if strings.Contains(out.Output, "canary") || strings.Contains(out.Output, "OUT") || !strings.Contains(out.Output, "no:") && !strings.Contains(out.Output, "GOT") {
			t.Errorf("%s\n%+v", code, out)
		}
	}
	for language, code := range map[string]string{
		"javascript": fmt.Sprintf(`const r = []; const fs = require("fs");
for (const p of [%q, %q, "/etc/shadow"]) { try { r.push("OUT" + fs.readFileSync(p)) } catch (e) { r.push(e.code) } }
r.push(JSON.stringify(process.env));
r.push(await new Promise(d => { const c = require("net").connect(%d, "127.0.0.1"); c.on("connect", () => d("OUT")); c.on("error", e => d(e.code)) }));
try { r.push("OUT" + fs.writeFileSync("/usr/out", "x")) } catch (e) { r.push(e.code) }
console.log(r.join("\n"))`, h.home+"/.bashrc", h.project+"/data.csv", port),
		"shell": fmt.Sprintf(`cat %q %q /etc/shadow && echo OUT; env; (exec 5<>/dev/tcp/127.0.0.1/%d) && echo OUT; echo x > /usr/out && echo OUT; ls /root /home && echo OUT; cat /proc/*/environ; :`, h.home+"/.bashrc", h.project+"/data.csv", port),
	} {
		out, _ := h.run(map[string]any{"language": language, "code": code})
		if out.Status != "ok" || strings.Contains(strings.ReplaceAll(out.Output, "toolcrib-canary", ""), "canary") || strings.Contains(out.Output, "OUT") {
			t.Errorf("%s: %+v", language, out)
		}
	}
	if n := connected.Load(); n != 0 {
		t.Errorf("%d connections came out", n)
	}
}

// TestSessionsAreBounded: memory, processes, files and time are held, and what a session started ends with it.
func TestSessionsAreBounded(t *testing.T) {
	h := openHeld(t, nil)
	// Children take 150 MiB each and keep them. It tells how many have theirs at the same time, once there are no more than fit
	// or nothing has ended any of them for a long time.
	const children = `import subprocess, sys, time
ps = [subprocess.Popen([sys.executable, '-c', "x = b'1' * (150 << 20)\nprint('has it', flush=True)\nimport time; time.sleep(600)"], stdout=subprocess.PIPE) for _ in range(%d)]
has = [p for p in ps if p.stdout.readline()]
end = time.monotonic() + 15
while len(has) > 3 and time.monotonic() < end:
    time.sleep(0.05)
    has = [p for p in has if p.poll() is None]
for p in ps: p.kill()
print('at once:', len(has))`
	// All copies go on to make copies, and stay. The first one tells how many there are, and whether any was refused one.
	const bomb = `import mmap, os, time
refused, first, end = mmap.mmap(-1, 4096), os.getpid(), time.monotonic() + 10
while not refused[0] and time.monotonic() < end:
    try: os.fork()
    except OSError: refused[0] = 1
if os.getpid() != first:
    time.sleep(600)
n = sum(name.isdigit() for name in os.listdir('/proc'))
print('refused:', refused[0], 'bounded:', 20 < n <= 70, n)`
	for _, c := range []struct{ name, code, want string }{
		{"memory of a process", "x = bytearray(400 << 20)", "MemoryError|lost"},
		{"what fits", fmt.Sprintf(children, 2), "at once: 2"},
		{"memory of all", fmt.Sprintf(children, 8), "at once: 0|at once: 1|at once: 2|at once: 3|lost"},
		{"files", "f = open('big', 'wb')\nfor i in range(200): f.write(b'x' * (1 << 20))", "Errno 28|Errno 27|lost"},
		{"processes", "import os, time\nn = 0\ntry:\n  while True:\n    if os.fork() == 0: time.sleep(5); os._exit(0)\n    n += 1\nexcept OSError: pass\nassert n < 100\nprint('held')", "held|lost"},
		{"fork bomb", bomb, "refused: 1 bounded: True"},
	} {
		out, _ := h.run(map[string]any{"code": c.code, "session": strings.ReplaceAll(c.name, " ", "-"), "timeout": 100})
		found := false
		for want := range strings.SplitSeq(c.want, "|") {
			found = found || strings.Contains(out.Status+out.Output+out.Error, want)
		}
		if !found {
			t.Errorf("%s: %+v", c.name, out)
		}
	}
	// The session of the bomb is full of copies and answers all the same; with its end they end.
	if out, _ := h.run(map[string]any{"code": "first", "session": "fork-bomb"}); out.Status != "ok" || out.Fresh {
		t.Errorf("after the bomb: %+v", out)
	}
	if out, _ := h.run(map[string]any{"code": "import os; sum(name.isdigit() for name in os.listdir('/proc')) < 10", "session": "fork-bomb", "reset": true}); out.Text != "True" || !out.Fresh {
		t.Errorf("after its end: %+v", out)
	}
	mark := fmt.Sprintf("left-behind-%d", os.Getpid())
	out := h.python("import subprocess, os\nsubprocess.Popen(['setsid', 'bash', '-c', 'exec -a " + mark + " sleep 600'], start_new_session=True)\nos._exit(0)")
	if out.Status != "lost" {
		t.Errorf("it left: %+v", out)
	}
	gone := func() bool {
		list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, p := range list {
			if text, err := os.ReadFile(p); err == nil && strings.HasPrefix(string(text), mark) {
				return false
			}
		}
		return true
	}
	for deadline := time.Now().Add(time.Minute); !gone(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a process has outlived its session")
		}
	}
	if out := h.python("1"); !out.Fresh || out.Text != "1" {
		t.Errorf("after all of it: %+v", out)
	}
}

// TestFilesInAndOut: what a call brings in comes by the handle, and what leaves is a call of its own.
func TestFilesInAndOut(t *testing.T) {
	h := openHeld(t, nil)
	out, _ := h.run(map[string]any{"code": "rows = open('data.csv').read(); open('sum.txt', 'w').write('4'); open('pic.bin', 'wb').write(b'\\x89\\0'); rows", "files": []string{"data.csv"},
		"save": map[string]string{"sum.txt": "out/sum.txt", "pic.bin": "out/pic.bin", "no.txt": "x", "../../etc/passwd": "y"}})
	if out.Status != "ok" || !strings.Contains(out.Text, "a,b") || len(out.Files) != 2 {
		t.Errorf("%+v", out)
	}
	want := []string{`save_output {"language":"python","session":"main","name":"pic.bin","path":"out/pic.bin"}`, `write_file {"content":"4","path":"out/sum.txt"}`}
	if strings.Join(h.used, "\n") != strings.Join(want, "\n") {
		t.Errorf("it used %q", h.used)
	}
	for _, s := range out.Saved {
		if failed := s.Name == "no.txt" || strings.HasPrefix(s.Name, ".."); failed != (s.Error != "") {
			t.Errorf("%+v", s)
		}
	}
	for _, path := range []string{"../" + filepath.Base(h.home) + "/.bashrc", h.home + "/.ssh/id_ed25519", "/etc/passwd", "missing.txt"} {
		if out, _ := h.run(map[string]any{"code": "1", "files": []string{path}}); out.Status != "refused" || strings.Contains(out.Error, "canary") {
			t.Errorf("%s: %+v", path, out)
		}
	}
	if data, err := os.ReadFile(filepath.Join(h.project, "data.csv")); err != nil || string(data) != "a,b\n1,2\n3,4\n" {
		t.Errorf("the file of the project is %q, %v", data, err)
	}
	// A link in the session leads to files of the session and of its sandbox.
	out, _ = h.run(map[string]any{"code": "import os; os.symlink('/etc/passwd', 'link'); None", "save": map[string]string{"link": "l"}})
	if len(h.used) > 2 && strings.Contains(h.used[len(h.used)-1], "toolcrib") {
		t.Errorf("%+v: %q", out, h.used)
	}
}
