package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/cli"
)

// TestMain makes this binary the program under test as well, under the name
// toolcrib: there is nothing to build, and the race detector sees it at work.
func TestMain(m *testing.M) {
	app.Shim()
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // under the race detector each program that a test starts would wait for a second at its end
	testscript.Main(m, map[string]func(){
		"toolcrib":     func() { os.Exit(cli.Main()) },
		"suite-driver": func() { os.Exit(driver()) },
		"library":      func() { os.Exit(library()) },
	})
}

// program is a process that a test has started.
type program struct {
	cmd  *exec.Cmd
	log  *logged
	done chan struct{} // closed when it has ended
	err  error         // then, how
}

// logged keeps the end of what a program writes, and can be read meanwhile.
type logged struct {
	mu   sync.Mutex
	text []byte
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	const most = 64 << 10
	l.text = append(l.text, p...)
	if len(l.text) > 2*most {
		l.text = append([]byte(nil), l.text[len(l.text)-most:]...)
	}
	return len(p), nil
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// launch starts a program. It is ended at the end of the test; one of which
// descendants are left then fails the test, and so does one that ends with an
// error when it is interrupted.
func launch(t testing.TB, cmd *exec.Cmd) *program {
	t.Helper()
	p := &program{cmd: cmd, log: &logged{}, done: make(chan struct{})}
	cmd.Stderr = p.log
	if cmd.Stdout == nil {
		cmd.Stdout = p.log
	}
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", cmd.Path, err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.end(t)
		if t.Failed() {
			t.Logf("%s wrote:\n%s", filepath.Base(cmd.Path), p.log)
		}
	})
	return p
}

// end stops the program as a person would, and looks for what it leaves.
func (p *program) end(t testing.TB) {
	t.Helper()
	select {
	case <-p.done:
		t.Errorf("%s ended by itself: %v", filepath.Base(p.cmd.Path), p.err)
		return
	default:
	}
	below := descendants(p.cmd.Process.Pid)
	gentle := p.cmd.Process.Signal(os.Interrupt) == nil // not on Windows
	if !gentle {
		_ = p.cmd.Process.Kill() // Wait tells
	}
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		t.Errorf("%s does not end when it is interrupted", filepath.Base(p.cmd.Path))
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	// One that does not listen to interrupts ends by it.
	if exit, ok := errors.AsType[*exec.ExitError](p.err); gentle && p.err != nil && (!ok || exit.ExitCode() > 0) {
		t.Errorf("%s ended with %v", filepath.Base(p.cmd.Path), p.err)
	}
	left := gone(below, 10*time.Second)
	if len(left) > 0 {
		t.Errorf("%s left processes behind: %s", filepath.Base(p.cmd.Path), strings.Join(left, ", "))
	}
}

// await waits until what the program wrote has a match, and gives its group.
func (p *program) await(t testing.TB, pattern string) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	for limit := time.After(time.Minute); ; {
		if m := re.FindStringSubmatch(p.log.String()); m != nil {
			return m[1]
		}
		select {
		case <-p.done:
			t.Fatalf("%s ended: %v\n%s", filepath.Base(p.cmd.Path), p.err, p.log)
		case <-limit:
			t.Fatalf("%s does not say %s:\n%s", filepath.Base(p.cmd.Path), pattern, p.log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// buildEverything builds the SDK's server that has all of the protocol, from
// the module as go.mod has it.
func buildEverything(t testing.TB) string {
	t.Helper()
	return build(t, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
}

// build builds a program.
func build(t testing.TB, pkg string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), path.Base(pkg)+".exe")
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "build", "-o", file, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
	return file
}

// everything starts it and gives its address. Stateless is how it serves
// clients of 2026-07-28; with sessions it only takes those before.
func everything(t testing.TB, file string, stateless bool) string {
	t.Helper()
	address := freeAddress(t)
	p := launch(t, exec.Command(file, "-http", address, fmt.Sprintf("-stateless=%t", stateless)))
	for limit := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close() // it listens
			return "http://" + address + "/mcp"
		}
		if time.Now().After(limit) {
			t.Fatalf("the everything-server does not listen: %v\n%s", err, p.log)
		}
	}
}

// freeAddress is an address nobody listens on. Another process may take it
// before it is used: for programs that cannot tell which one they took.
func freeAddress(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }() // to be used by the other
	return ln.Addr().String()
}

// home makes a home for a toolcrib with this configuration.
func home(t testing.TB, config string) (dir string, env []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// Clients of others end without waiting for the servers that they started, which
	// still close their journals then.
	t.Cleanup(func() {
		for end := time.Now().Add(time.Minute); os.RemoveAll(dir) != nil && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "TOOLCRIB_") && !strings.HasPrefix(v, "HOME=") {
			env = append(env, v)
		}
	}
	return dir, append(env, "TOOLCRIB_HOME="+dir, "HOME="+dir)
}

// toolcribPath is where the program under test is.
func toolcribPath(t testing.TB) string {
	t.Helper()
	file, err := exec.LookPath("toolcrib")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// gateway starts toolcrib serve with a configuration and gives the address of
// its MCP endpoint, once it is healthy.
func gateway(t testing.TB, config string) string {
	t.Helper()
	url, _ := serve(t, toolcribPath(t), config)
	return url
}

// serve is a gateway of this program, with its process.
func serve(t testing.TB, file, config string) (url string, p *program) {
	t.Helper()
	dir, env := home(t, config)
	// Most of the programs that call it here cannot be told to send a header.
	cmd := exec.Command(file, "serve", "--listen", "127.0.0.1:0", "--set", "serve.open=true")
	cmd.Dir, cmd.Env = dir, env
	p = launch(t, cmd)
	base := p.await(t, `MCP at (http://[^/]+)/mcp`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.log)
	}
	defer func() { _ = resp.Body.Close() }() // read
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("health: %s %s, %v", resp.Status, &body, err)
	}
	return base + "/mcp", p
}
