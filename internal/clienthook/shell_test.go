package clienthook

import (
	"errors"
	"testing"
)

// TestShellIsBashOrMayBeZsh: only where a client is known to take bash its shell is not
// zsh. What it goes by differs.
func TestShellIsBashOrMayBeZsh(t *testing.T) {
	passwd := func(shell string) string {
		return "root:x:0:0:root:/root:/bin/zsh\nme:x:7:7:Me:/home/me:" + shell + "\nagain:x:7:7::/:/bin/zsh\n"
	}
	for _, c := range []struct {
		client, shell, claude, passwd string
		zsh                           bool
	}{
		{Claude, "", "", "", true},
		{Claude, "/bin/bash", "", "", false},
		{Claude, "/opt/bin/bash", "", "", true}, // it cannot be started
		{Claude, "/usr/bin/zsh", "", "", true},
		{Claude, "/bin/sh", "", passwd("/bin/bash"), true},
		{Claude, "/bin/dash", "", "", true},
		{Claude, "/usr/bin/fish", "", "", true},
		{Claude, "bash", "", "", true},
		{Claude, "/bin/bash", "/bin/zsh", "", true},
		{Claude, "/bin/bash", "/opt/bin/zsh", "", true},
		{Claude, "/bin/zsh", "/bin/bash", "", false},
		{Claude, "/bin/zsh", "/opt/bin/bash", "", true},
		{Claude, "/bin/zsh", "/bin/sh", "", true},
		{Claude, "/bin/bash", "/bin/sh", "", false},
		{Claude, "", "/bin/sh", "", true},
		{Codex, "/bin/bash", "", passwd("/bin/zsh"), true},
		{Codex, "/bin/bash", "", passwd("/usr/bin/bash"), false},
		{Codex, "", "", passwd("/bin/bash"), false},
		{Codex, "/bin/zsh", "", passwd("/bin/bash"), true},
		{Codex, "/bin/bash", "/bin/zsh", passwd("/bin/bash"), false}, // a variable of another client
		{Codex, "/bin/bash", "", passwd("/bin/sh"), true},
		{Codex, "/bin/bash", "", passwd("/usr/sbin/nologin"), true},
		{Codex, "/bin/bash", "", passwd(""), true},
		{Codex, "/bin/bash", "", "", true},
		{Codex, "/bin/bash", "", "root:x:0:0:root:/root:/bin/bash\n", true},
		{Codex, "/bin/bash", "", "+::::::\n" + passwd("/bin/bash"), true},
		{Gemini, "/bin/bash", "/bin/zsh", "", false},
		{Gemini, "/bin/zsh", "/bin/bash", "", true},
		{Gemini, "/bin/sh", "", "", true},
		{Gemini, "", "", "", true},
	} {
		s := Shells{
			Getenv: func(name string) string {
				return map[string]string{"SHELL": c.shell, "CLAUDE_CODE_SHELL": c.claude}[name]
			},
			Runs: func(path string) bool { return path == "/bin/bash" || path == "/bin/sh" || path == "/bin/zsh" },
			UID:  7,
			Passwd: func() ([]byte, error) {
				if c.passwd == "" {
					return nil, errors.New("there is none")
				}
				return []byte(c.passwd), nil
			},
		}
		if got := s.MayBeZsh(c.client); got != c.zsh {
			t.Errorf("%+v: %v", c, got)
		}
		if s.Passwd = nil; !s.MayBeZsh(Codex) { // as on macOS, which keeps its users elsewhere
			t.Errorf("%+v: without a list of users nothing is known", c)
		}
	}
	for _, client := range Clients() {
		if !(Shells{}).MayBeZsh(client) {
			t.Errorf("%s: nothing is known", client)
		}
	}
}

// TestCodexNamesZsh: a call that names zsh is read only where it would be judged as one
// for zsh.
func TestCodexNamesZsh(t *testing.T) {
	for _, may := range []bool{false, true} {
		n := near()
		n.MayBeZsh = func(string) bool { return may }
		n.Part = func(string, bool, int) []byte {
			return []byte(`{"type":"session_meta","payload":{"cwd":"/p"}}
{"type":"response_item","payload":{"type":"function_call","call_id":"u","arguments":"{\"cmd\":\"ls\",\"shell\":\"/bin/zsh\"}"}}
`)
		}
		if _, err := Parse(Codex, said(Codex, "Bash", `{"command":"ls"}`), n); (err == nil) != may {
			t.Errorf("zsh may be the shell: %v, error: %v", may, err)
		}
	}
}
