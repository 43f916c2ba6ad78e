package clienthook

import (
	"path"
	"strconv"
	"strings"
)

// Shells is what a machine says of the shell that a client runs its commands in. The zero
// value says nothing.
type Shells struct {
	// Getenv reads a variable that the client has set.
	Getenv func(name string) string
	// Runs reports whether a path is a program that can be started.
	Runs func(path string) bool
	// Passwd is the text of /etc/passwd. Nil: this machine keeps its users elsewhere.
	Passwd func() ([]byte, error)
	UID    int
}

// MayBeZsh reports whether a client may run its commands in zsh. It is false only if the
// shell is known to be bash, by what that client goes by:
//   - Claude Code takes CLAUDE_CODE_SHELL, then SHELL, where it names bash or zsh and can be
//     started, and looks for zsh first otherwise;
//   - Codex asks the list of users for the shell of its own, whatever SHELL says;
//   - of Gemini and its like nothing but SHELL is known.
func (s Shells) MayBeZsh(client string) bool {
	if s.Getenv == nil {
		return true
	}
	given := s.Getenv("SHELL")
	switch client {
	case Claude:
		own := s.Getenv("CLAUDE_CODE_SHELL")
		if strings.Contains(own, "zsh") {
			return true
		}
		return !s.starts(own) && !s.starts(given)
	case Codex:
		return !isBash(s.login()) || given != "" && !isBash(given)
	}
	return !isBash(given)
}

// starts: it is a bash that can be started.
func (s Shells) starts(shell string) bool {
	return isBash(shell) && s.Runs != nil && s.Runs(shell)
}

// isBash: bash is called so wherever it is.
func isBash(shell string) bool { return path.IsAbs(shell) && path.Base(shell) == "bash" }

// login is the shell that the list of users has for this one. Empty: it is not known.
func (s Shells) login() string {
	if s.Passwd == nil {
		return ""
	}
	text, err := s.Passwd()
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			return "" // more users stand elsewhere, and one of them may be this one
		}
		if len(fields) == 7 && fields[2] == strconv.Itoa(s.UID) {
			return fields[6]
		}
	}
	return ""
}
