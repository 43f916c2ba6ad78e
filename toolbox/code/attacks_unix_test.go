//go:build unix

package code

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// after says what a session is after a cell: kept, lost, or either.
type after uint8

const (
	kept after = iota
	lost
	either
)

// TestHostileCells: whatever a cell does to its own process, the call ends in time and says truly whether the session is there.
func TestHostileCells(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, language, code string
		status               string // of the cell; empty: any
		then                 after
		says                 string // in the error or the output
	}{
		{"loop", "python", "while True: pass", "interrupted", kept, "took longer"},
		{"sleep", "python", "import time; time.sleep(99)", "interrupted", kept, ""},
		{"child", "python", "import subprocess; subprocess.run(['sleep', '99'])", "interrupted", kept, ""},
		{"swallows the interrupt", "python", "import time\nwhile True:\n  try: time.sleep(9)\n  except BaseException: pass", "lost", lost, "could not be interrupted"},
		{"ignores the signal", "python", "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", "lost", lost, "could not be interrupted"},
		{"holds the lock", "python", "10 ** (10 ** 9)", "lost", lost, "could not be interrupted"},
		{"leaves", "python", "import os; os._exit(5)", "lost", lost, "exit code 5"},
		{"kills itself", "python", "import os; os.kill(os.getpid(), 9)", "lost", lost, "SIGKILL"},
		{"breaks down", "python", "import ctypes; ctypes.string_at(0)", "lost", lost, "The session is lost"},
		{"replaces itself", "python", "import os; os.execv('/bin/true', ['true'])", "lost", lost, ""},
		{"closes everything", "python", "import os; os.closerange(0, 64)", "lost", lost, ""},
		{"closes what it prints to", "python", "import os, sys; sys.stdout.close(); sys.stderr.close(); os.close(1); os.close(2)", "ok", kept, ""},
		{"closes the mark's pipe", "python", "import os; os.close(9); os.close(1); os.close(2)", "", either, ""},
		{"prints nonsense into the frames", "python", "import os; os.write(4, b'x' * 100000)", "lost", lost, "pipe of its driver"},
		{"prints a frame without end", "python", "import os; os.write(4, b'text 2 1000000\\n')", "", lost, ""},
		{"says it is done", "python", "import os; os.write(4, b'done 2 2\\n{}'); x = 8", "ok", kept, ""},
		{"says that another cell is done", "python", "import os; os.write(4, b'done 77 2\\n{}'); 'mine'", "ok", kept, ""},
		{"a frame of a gigabyte", "python", "import os; os.write(4, b'text 2 1073741824\\n')", "lost", lost, ""},
		{"reads its commands", "python", "import os; os.read(3, 10)", "", either, ""},
		{"closes its commands", "python", "import os; os.close(3)", "", either, ""},
		{"forks", "python", "import os; os.fork(); None", "ok", kept, ""},
		{"forks and prints for ever", "python", "import os\nif os.fork() == 0:\n  while True: os.write(1, b'y' * 4096)", "", kept, ""},                                          // the flood may come before the end of the cell
		{"thread that prints for ever", "python", "import threading\ndef p():\n  while True: print('z' * 1000)\nthreading.Thread(target=p, daemon=True).start()", "", kept, ""}, // likewise
		{"thread that never ends", "python", "import threading, time\nthreading.Thread(target=lambda: time.sleep(999)).start()", "ok", kept, ""},
		{"atexit that never ends", "python", "import atexit, time\natexit.register(lambda: time.sleep(999))", "ok", kept, ""},
		{"prints without end", "python", "while True: print('w' * 4096)", "interrupted", kept, "MiB"},
		{"shows without end", "python", "while True: display(1)", "interrupted", kept, "took longer"},
		{"shows much", "python", "for i in range(900): display('v' * 60000)", "", kept, ""},
		{"a huge value", "python", "'u' * 5_000_000", "ok", kept, ""},
		{"a deep value", "python", "a = []\nfor i in range(500): a = [a]\na", "", kept, ""},
		{"other streams", "python", "import sys, io; sys.stdout = io.StringIO(); sys.__stdout__ = None; print('lost')", "ok", kept, ""},
		{"no directory", "python", "import os, shutil; shutil.rmtree(os.getcwd())", "ok", kept, ""},
		{"no builtins", "python", "import builtins\nfor n in ('print', 'open', 'len', 'isinstance'): delattr(builtins, n)", "", either, ""},
		{"no modules", "python", "import sys; sys.modules.clear()", "", either, ""},
		{"recursion", "python", "def r(): r()\nr()", "error", kept, "RecursionError"},
		{"its own import hook", "python", "import sys; sys.meta_path.clear(); sys.path.clear()", "ok", kept, ""},
		{"loop", "javascript", "for (;;) {}", "interrupted", kept, "took longer"},
		{"waits", "javascript", "await new Promise(() => {})", "interrupted", kept, ""},
		{"loop after waiting", "javascript", "await null; await new Promise(r => setTimeout(r, 5)); for (;;) {}", "interrupted", kept, ""},
		{"catches everything", "javascript", "for (;;) { try { for (;;) {} } catch {} }", "interrupted", kept, ""},
		{"leaves", "javascript", "process.reallyExit(5)", "lost", lost, ""},
		{"aborts", "javascript", "process.abort()", "lost", lost, "The session is lost"},
		{"kills itself", "javascript", "process.kill(process.pid, 'SIGKILL')", "lost", lost, "SIGKILL"},
		{"closes everything", "javascript", "for (let i = 0; i < 10; i++) { try { require('fs').closeSync(i) } catch {} }", "", either, ""},
		{"prints nonsense into the frames", "javascript", "require('fs').writeSync(4, 'x'.repeat(100000))", "lost", lost, "pipe of its driver"},
		{"prints without end", "javascript", "for (;;) console.log('w'.repeat(4096))", "interrupted", kept, "MiB"},
		{"timers without end", "javascript", "setInterval(() => console.log('tick'), 1); 1", "ok", kept, ""},
		{"a loop in a timer", "javascript", "setTimeout(() => { for (;;) {} }, 0); 1", "", either, ""},
		{"frozen world", "javascript", "Object.freeze(globalThis); Object.prototype.then = 1; 1", "", either, ""},
		{"odd values", "javascript", "new Proxy({}, { get() { throw new Error('proxy') } })", "", kept, ""},
		{"no promises", "javascript", "Promise.prototype.then = () => {}; 1", "", either, ""},
		{"no JSON", "javascript", "JSON.stringify = JSON.parse = () => { throw 1 }; 1", "", either, ""},
		{"loop", "shell", "while :; do :; done", "interrupted", kept, "before this cell"},
		{"sleep", "shell", "sleep 99; echo on", "interrupted", kept, ""},
		{"ignores the signal", "shell", "trap '' INT; while kill -0 $$; do :; done", "lost", lost, "could not be interrupted"},
		{"kills its group", "shell", "kill -9 0", "", either, ""},
		{"closes its streams", "shell", "exec >&- 2>&-; echo no", "", kept, ""},
		{"prints without end", "shell", "yes", "interrupted", kept, "MiB"},
		{"background", "shell", "sleep 99 & echo started", "ok", kept, "started"},
		{"no state", "shell", "rm -rf /tmp/nothing-here; __tc_own=/nowhere", "", kept, ""},
		{"other functions", "shell", "printf() { :; }; mv() { :; }; exit() { :; }; echo x", "", kept, ""},
	} {
		t.Run(c.language+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			cfg := Config{Flood: 1 << 20, Grace: time.Minute, MaxTimeout: 2 * time.Minute}
			switch {
			case c.status == "lost" && strings.HasPrefix(c.says, "could"):
				cfg.MaxTimeout, cfg.Grace = 300*time.Millisecond, 300*time.Millisecond
			case c.status == "interrupted" && c.says != "MiB":
				cfg.MaxTimeout = 300 * time.Millisecond
			case c.status == "" && c.then != kept:
				cfg.MaxTimeout, cfg.Grace = time.Second, time.Second
			}
			b := newBench(t, cfg)
			set := map[string]string{"python": "keep = 41", "javascript": "var keep = 41", "shell": "keep=41"}[c.language]
			b.cfg.MaxTimeout, cfg.MaxTimeout = 2*time.Minute, b.cfg.MaxTimeout
			if out := b.run(c.language, set); out.Status != "ok" {
				t.Fatalf("the first cell: %+v", out)
			}
			b.cfg.MaxTimeout = cfg.MaxTimeout
			out := b.run(c.language, c.code, "timeout", 100)
			if c.status != "" && out.Status != c.status || c.says != "" && !strings.Contains(out.Error+out.Output, c.says) {
				t.Errorf("it gave %.2000s", fmt.Sprintf("%+v", out))
			}
			if c.then == kept && out.Status == "lost" || c.then == lost && out.Status != "lost" {
				t.Errorf("the session is %s, and should be %v", out.Status, c.then)
			}
			// What the result says of the session is true, or the next cell says that it has begun with nothing.
			ask := map[string]string{"python": "keep + 1", "javascript": "keep + 1", "shell": "echo $((keep + 1))"}[c.language]
			if c.then == kept || out.Status == "lost" {
				b.cfg.MaxTimeout = time.Minute
			}
			next := b.run(c.language, ask, "timeout", 100)
			has := next.Status == "ok" && strings.Contains(next.Text+next.Output, "42")
			switch {
			case out.Status == "lost" && (!next.Fresh || has):
				t.Errorf("lost, and then: %.2000s", fmt.Sprintf("%+v", next))
			case c.then == kept && !has:
				t.Errorf("kept, and then: %.2000s", fmt.Sprintf("%+v", next))
			case len(next.Output) > 64<<10 || len(out.Output) > 64<<10:
				t.Error("more output than is kept")
			}
		})
	}
}

// TestStrangersHaveOtherSessions: nobody gets the variables of another.
func TestStrangersHaveOtherSessions(t *testing.T) {
	t.Parallel()
	b := newBench(t, Config{Sessions: 20})
	ann := toolcrib.Caller{Subject: "ann", Session: "s", Agent: "a", Token: "t", Organisation: "o"}
	if out, _ := b.as(ann, map[string]any{"language": "shell", "code": "v=secret"}); out.Status != "ok" {
		t.Fatal(out)
	}
	for name, change := range map[string]func(*toolcrib.Caller){
		"subject": func(c *toolcrib.Caller) { c.Subject = "bob" }, "session": func(c *toolcrib.Caller) { c.Session = "2" }, "agent": func(c *toolcrib.Caller) { c.Agent = "" },
		"token": func(c *toolcrib.Caller) { c.Token = "u" }, "organisation": func(c *toolcrib.Caller) { c.Organisation = "" },
	} {
		other := ann
		change(&other)
		if out, _ := b.as(other, map[string]any{"language": "shell", "code": "echo [$v]"}); !out.Fresh || strings.Contains(out.Output, "secret") {
			t.Errorf("another %s: %+v", name, out)
		}
	}
	if out, _ := b.as(ann, map[string]any{"language": "shell", "code": "echo [$v]", "session": "other"}); strings.Contains(out.Output, "secret") {
		t.Errorf("another name: %+v", out)
	}
	if out, _ := b.as(ann, map[string]any{"language": "shell", "code": "echo [$v]"}); out.Output != "[secret]\n" {
		t.Errorf("the same: %+v", out)
	}
	if out, _ := b.as(ann, map[string]any{"language": "shell", "code": "echo [$v]", "reset": true}); out.Output != "[]\n" || !out.Fresh {
		t.Errorf("after a reset: %+v", out)
	}
}
