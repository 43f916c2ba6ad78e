package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGivenModeBoundsAgents: what the environment or a flag says is the most
// that any agent gets, for all pairs of modes; a mode in a file is not.
func TestGivenModeBoundsAgents(t *testing.T) {
	t.Parallel()
	modes := []string{"plan", "default", "auto-edit", "yolo"} // from the strictest
	says := []string{"deny", "ask", "allow", "allow"}         // to write_file
	for _, source := range []string{"file", "env", "flag", "both", "project"} {
		for given, mode := range modes {
			for own, agentMode := range append(modes, "") {
				home, dir := t.TempDir(), t.TempDir()
				env := []string{"HOME=" + home, "TOOLCRIB_HOME=" + home}
				args := []string{"policy", "explain", "write_file", "path=x", "content=y", "--agent", "a"}
				settings, want := "", given
				if agentMode != "" && own < given {
					want = own
				}
				switch source {
				case "file":
					settings = "mode: " + mode + "\n"
					if agentMode != "" {
						want = own // one file: the agent's own counts
					}
				case "env":
					env = append(env, "TOOLCRIB_MODE="+mode)
				case "flag":
					args = append(args, "--set", "mode="+mode)
				case "both": // the flag is nearer to the person
					env = append(env, "TOOLCRIB_MODE=plan")
					args = append(args, "--set", "mode="+mode)
				case "project": // it only tightens
					if err := os.WriteFile(filepath.Join(dir, "toolcrib.yaml"), []byte("mode: "+mode+"\n"), 0o600); err != nil {
						t.Fatal(err)
					}
					if want = min(given, 1); agentMode != "" {
						want = min(given, own)
					}
				}
				agent := "{}"
				if agentMode != "" {
					agent = "{mode: " + agentMode + "}"
				}
				file := filepath.Join(home, "given.yaml")
				if err := os.WriteFile(file, fmt.Appendf(nil, "%sagents:\n  a: %s\n", settings, agent), 0o600); err != nil {
					t.Fatal(err)
				}
				var out, errs bytes.Buffer
				c := &command{in: io.NopCloser(strings.NewReader("")), out: &out, err: &errs, environ: env, dir: dir}
				code := c.run(t.Context(), append(args, "--config", file))
				first, _, _ := strings.Cut(out.String(), "\n")
				if code != 0 || !strings.HasPrefix(first, "write_file: "+says[want]) {
					t.Errorf("%s says %s, the agent %q: %q, want %s %s", source, mode, agentMode, first, says[want], errs.String())
				}
				if source == "env" && agentMode == "yolo" && given < 2 && !strings.Contains(out.String(), "agents.a.mode says yolo, and the variable TOOLCRIB_MODE allows no more than "+mode) {
					t.Errorf("it does not say what keeps the mode down:\n%s", &out)
				}
			}
		}
	}
}
