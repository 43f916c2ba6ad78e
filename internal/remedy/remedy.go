// Package remedy lets an error carry the one command that mends it, typed as it
// stands, so that whoever shows the error to a person can name it. Everybody may
// import it.
//
// Its one invariant: it runs nothing, and a command that is not known is not made up.
package remedy

import (
	"errors"
	"runtime"
)

// With gives an error its command. Nil stays nil.
func With(err error, command string) error {
	if err == nil || command == "" {
		return err
	}
	return &mendable{err, command}
}

// Of is the command that mends an error; empty: none is known.
func Of(err error) string {
	if m, ok := errors.AsType[*mendable](err); ok {
		return m.command
	}
	return ""
}

type mendable struct {
	error
	command string
}

func (m *mendable) Unwrap() error { return m.error }

// manager is what installs programs on a system.
type manager struct {
	program, install string
	packages         map[string]string // by program
}

// managers are in the order in which they are looked for: what needs no
// administrator comes first.
func managers() []manager {
	debian := map[string]string{"python3": "python3 python3-venv", "python": "python3 python3-venv", "node": "nodejs", "npm": "npm", "npx": "npm", "pipx": "pipx", "go": "golang-go", "git": "git", "docker": "docker.io"}
	other := map[string]string{"python3": "python3", "python": "python3", "node": "nodejs", "npm": "nodejs npm", "npx": "nodejs npm", "pipx": "pipx", "go": "golang", "git": "git"}
	return []manager{
		{"brew", "brew install ", map[string]string{"python3": "python", "python": "python", "node": "node", "npm": "node", "npx": "node", "uv": "uv", "uvx": "uv", "pipx": "pipx", "go": "go", "git": "git"}},
		{"winget", "winget install ", map[string]string{"python3": "Python.Python.3.13", "python": "Python.Python.3.13", "node": "OpenJS.NodeJS", "npm": "OpenJS.NodeJS", "npx": "OpenJS.NodeJS", "uv": "astral-sh.uv", "uvx": "astral-sh.uv", "go": "GoLang.Go", "git": "Git.Git"}},
		{"pipx", "pipx install ", map[string]string{"uv": "uv", "uvx": "uv"}},
		{"apt-get", "apt-get install -y ", debian},
		{"dnf", "dnf install -y ", other},
		{"apk", "apk add ", other},
		{"pacman", "pacman -S --noconfirm ", map[string]string{"python3": "python", "python": "python", "node": "nodejs", "npm": "npm", "npx": "npm", "uv": "uv", "uvx": "uv", "go": "go", "git": "git"}},
	}
}

// Install is the command that installs a program here; empty: which one it is is not
// known. Look finds a program in PATH; admin: the account may install for everybody.
func Install(program string, look func(name string) (string, error), admin bool) string {
	has := func(name string) bool { _, err := look(name); return err == nil }
	for _, m := range managers() {
		packages, ok := m.packages[program]
		if !ok || !has(m.program) {
			continue
		}
		sudo := ""
		if !admin && runtime.GOOS != "windows" && m.program != "brew" && m.program != "pipx" {
			sudo = "sudo "
		}
		return sudo + m.install + packages
	}
	if program == "uv" || program == "uvx" { // it has no package there
		if by := Install("pipx", look, admin); by != "" {
			return by + " && pipx install uv"
		}
	}
	return ""
}
