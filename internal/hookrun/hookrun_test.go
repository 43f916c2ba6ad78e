package hookrun_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/hookrun"
	"github.com/toolcrib/toolcrib/internal/safety"
)

func TestCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are shell scripts")
	}
	command := func(argv []string, env map[string]string, dir string) hookrun.Run {
		run, err := hookrun.Command(argv, env, dir)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	t.Setenv("HOOK_SECRET", "inherited")
	dir := t.TempDir()
	script := func(name, body string) []string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"/bin/sh", path, "$(touch x)"}
	}
	run := command(script("echo", `printf '%s|%s|%s|' "$1" "$HOOK_SECRET" "$OWN"; cat`), map[string]string{"OWN": "o"}, "")
	if out, err := run(t.Context(), []byte("question")); err != nil || string(out) != "$(touch x)||o|question" {
		t.Errorf("%q, %v", out, err)
	}
	own := filepath.Join(dir, "own")
	run = command(script("where", `pwd -P`), nil, own)
	want, err := filepath.EvalSymlinks(own)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := run(t.Context(), nil); err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("it runs in %q, %v", out, err)
	}
	for name, body := range map[string]string{
		"fails":  `echo '{"decision":"allow"}'; echo oops >&2; exit 3`,
		"killed": `echo '{"decision":"allow"}'; kill -9 $$`,
		"floods": `head -c 40000000 /dev/zero; sleep 1000`,
	} {
		if out, err := command(script(name, body), nil, "")(t.Context(), nil); err == nil {
			t.Errorf("%s: %d bytes", name, len(out))
		}
	}
	// What a hook has started ends with its time.
	pids := filepath.Join(dir, "pid")
	run = command(script("hangs", `sleep 1000 & echo $! > `+pids+`; wait`), nil, "")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if text, err := os.ReadFile(pids); err == nil && strings.HasSuffix(string(text), "\n") {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if _, err := run(ctx, nil); err == nil {
		t.Error("a hook that was ended has answered")
	}
	gone(t, pids)
	pids = filepath.Join(dir, "pid2")
	if _, err := command(script("leaves", `sleep 1000 >/dev/null 2>&1 & echo $! > `+pids), nil, "")(t.Context(), nil); err != nil {
		t.Error(err)
	}
	gone(t, pids)
}

// gone waits until the process that a file names has ended.
func gone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(text))
	for range 1000 {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return // on a system without /proc nothing is looked at
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s is still there", pid)
}

func TestHTTP(t *testing.T) {
	post := func(url string, headers map[string]string) hookrun.Run {
		run, err := hookrun.HTTP(url, headers)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		elsewhere++
		fmt.Fprint(w, `{"decision":"allow"}`)
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/echo":
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), body)
		case "/redirect":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/error":
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"decision":"allow"}`)
		case "/flood":
			for range safety.MaxHookReply>>16 + 2 {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}
	}))
	defer server.Close()
	t.Setenv("HTTP_PROXY", other.URL)
	out, err := post(server.URL+"/echo", map[string]string{"Authorization": "Bearer x"})(t.Context(), []byte("q"))
	if err != nil || string(out) != "POST application/json Bearer x q" {
		t.Errorf("%q, %v", out, err)
	}
	for _, path := range []string{"/redirect", "/error", "/flood"} {
		if out, err := post(server.URL+path, nil)(t.Context(), nil); err == nil {
			t.Errorf("%s: %d bytes", path, len(out))
		}
	}
	if elsewhere > 0 {
		t.Error("a question went to somebody else")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := post(server.URL+"/echo", nil)(ctx, nil); err == nil {
		t.Error("a question was asked that nobody waits for")
	}
}
