package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkPolicyExplain runs the program as a person does, from its start to
// its end: a question about a policy must not feel like work.
func BenchmarkPolicyExplain(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "toolcrib")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/toolcrib/toolcrib/cmd/toolcrib").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for name, args := range map[string][]string{
		"files":   {"write_file", "path=x", "content=y"},
		"command": {"run_command", "command=git status && rm x", "--set", "toolboxes.shell.allow_shell=true"},
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			home, dir := b.TempDir(), b.TempDir()
			for b.Loop() {
				cmd := exec.Command(bin, append([]string{"policy", "explain"}, args...)...)
				cmd.Env, cmd.Dir = append(os.Environ(), "TOOLCRIB_HOME="+home), dir
				start := time.Now()
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2])/1e6, "ms-p50")
		})
	}
}
