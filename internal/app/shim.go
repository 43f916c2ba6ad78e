package app

import (
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/host"
	"github.com/toolcrib/toolcrib/internal/sandbox/linux"
)

// Shim must be called first thing in main. Sandboxes start this program again
// to stand between them and what they run: if that is what the process was
// started for, Shim does it and does not return. Otherwise nothing that whoever
// started us has left open is handed on to programs.
func Shim() {
	host.Main()
	linux.Main()
	_ = sandbox.KeepInherited() // the sandboxes close what they do not hand out besides
}
