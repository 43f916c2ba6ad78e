package app

import (
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// BenchmarkManyFilesOnALayer is a command that makes a thousand files, with what
// judging and applying them takes.
func BenchmarkManyFilesOnALayer(b *testing.B) {
	a, _ := workshop(b, func(c *settings.Config) { c.Mode, c.Sandbox.Layers = "auto-edit", true })
	for b.Loop() {
		if out, err := runCommand(b.Context(), a, `mkdir many; i=0; while [ $i -lt 1000 ]; do echo $i > many/$i; i=$((i+1)); done`, 60); err != nil || out.ExitCode != 0 {
			b.Fatal(out, err)
		}
		if out, err := runCommand(b.Context(), a, `rm -r many`, 60); err != nil || out.ExitCode != 0 {
			b.Fatal(out, err)
		}
	}
}
