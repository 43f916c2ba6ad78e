package hooked

import (
	"os"
	"runtime"

	"github.com/toolcrib/toolcrib/internal/clienthook"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// MayBeZsh reports whether a client may run its commands in zsh, with these variables and
// on this machine.
func MayBeZsh(client string, getenv func(string) string) bool {
	s := clienthook.Shells{Getenv: getenv, Runs: canRun, UID: os.Getuid()}
	if runtime.GOOS == "linux" { // macOS has the users of the system there, and no others
		s.Passwd = func() ([]byte, error) { return plainfile.Settings("/etc/passwd") }
	}
	return s.MayBeZsh(client)
}

func canRun(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
