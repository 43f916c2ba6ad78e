package cli

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkPolicyExplain runs the program as a person does, and takes the time
// from its start to its answer: a question about a policy must not feel like
// work. What it cleans up afterwards, such as the sandbox that it tried for a
// command, is told beside it.
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
			var took, ended []time.Duration
			home, dir := b.TempDir(), b.TempDir()
			for b.Loop() {
				cmd := exec.Command(bin, append([]string{"policy", "explain"}, args...)...)
				cmd.Env, cmd.Dir = append(os.Environ(), "TOOLCRIB_HOME="+home), dir
				out, err := cmd.StdoutPipe()
				if err != nil {
					b.Fatal(err)
				}
				start := time.Now()
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				line, err := bufio.NewReader(out).ReadString('\n')
				took = append(took, time.Since(start))
				if err := cmd.Wait(); err != nil || !strings.Contains(line, ": ask: ") {
					b.Fatalf("%q, %v", line, err)
				}
				ended = append(ended, time.Since(start))
				if err != nil {
					b.Fatal(err)
				}
			}
			slices.Sort(took)
			slices.Sort(ended)
			b.ReportMetric(float64(took[len(took)/2])/1e6, "ms-p50")
			b.ReportMetric(float64(ended[len(ended)/2])/1e6, "ms-end")
		})
	}
}
