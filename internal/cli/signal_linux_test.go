package cli

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// evilJob makes a repository that git would run something in, says so, and
// stays.
const evilJob = `git init -q sub && printf '[core]\n\tfsmonitor = "touch ran; false"\n' >>sub/.git/config && echo made && exec sleep 600`

// TestSignalsEndTheServer: a client that stops toolcrib mcp by a signal and keeps
// its end of the pipe open does not wait in vain. The jobs end with it, and nothing
// of what they left reaches the project.
func TestSignalsEndTheServer(t *testing.T) {
	if ok, err := condition("sandbox"); err != nil || !ok {
		t.Skip("this machine has no sandbox")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("this machine has no git")
	}
	for _, sent := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sent.String(), func(t *testing.T) {
			if signal.Ignored(sent) {
				t.Skip("whoever started this test ignores the signal, and so does everything below it")
			}
			s := newSite(t, "--set", "mode=yolo", "--set", "toolboxes.shell.allow_shell=true")
			cmd := s.command("mcp")
			cmd.Stderr = os.Stderr
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() }) // if it has not ended
			said := bufio.NewScanner(out)
			say := func(text string, answered bool) string {
				if _, err := io.WriteString(in, text+"\n"); err != nil {
					t.Fatal(err)
				}
				for answered && said.Scan() {
					if strings.Contains(said.Text(), `"id":`) {
						return said.Text()
					}
				}
				return ""
			}
			say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, true)
			say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, false)
			answer := say(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"start_command","arguments":{"command":%q}}}`, evilJob), true)
			if !strings.Contains(answer, `"result"`) {
				t.Fatal(answer)
			}
			job := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).FindString(answer)
			for until := time.Now().Add(time.Minute); !strings.Contains(answer, "made"); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(until) {
					t.Fatalf("the job did not start: %s", answer)
				}
				answer = say(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"command_output","arguments":{"job":%q}}}`, job), true)
			}
			if err := cmd.Process.Signal(sent); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				_, _ = io.Copy(io.Discard, out)
				ended <- cmd.Wait()
			}()
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Fatal("it still runs")
			}
			if _, err := os.Lstat(filepath.Join(s.dir, "sub")); err == nil {
				t.Error("the repository that a job left is in the project")
			}
		})
	}
}

// TestNohup: who is started to outlive its terminal does.
func TestNohup(t *testing.T) {
	s := newSite(t)
	toolcrib := s.command("serve", "--listen", "127.0.0.1:0")
	cmd := exec.Command("/bin/sh", append([]string{"-c", `trap "" HUP; exec "$@"`, "sh"}, toolcrib.Args...)...) //nolint:noctx // it is ended below
	cmd.Dir, cmd.Env = toolcrib.Dir, toolcrib.Env
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	url, at := "", regexp.MustCompile(`MCP at (http://\S+/mcp)`)
	for url == "" && lines.Scan() {
		if m := at.FindStringSubmatch(lines.Text()); m != nil {
			url = m[1]
		}
	}
	for range 3 {
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	ignored := regexp.MustCompile(`SigIgn:\t[0-9a-f]*[13579bdf]\n`) // the hangup is the first of them
	if !ignored.Match(status) {
		t.Errorf("it does not ignore that its terminal was closed:\n%s", status)
	}
	response, err := http.Get(url) //nolint:noctx // on this machine
	if err != nil {
		t.Errorf("it has ended: %v", err)
	} else {
		_ = response.Body.Close()
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_, _ = io.Copy(io.Discard, said)
	_ = cmd.Wait() // how it ended does not matter
}
