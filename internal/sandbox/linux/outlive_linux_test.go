//go:build amd64 || arm64

package linux

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// TestCoversOutliveTheProgram: a program sends its own view of the granted
// directory to another one and ends. What was covered in that view stays so.
func TestCoversOutliveTheProgram(t *testing.T) {
	root := tempProject(t)
	repository(t, root)
	s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
	attacker := cribtest.SandboxAttacker(t)
	inner := mkdir(t, root, "inner")
	grant := toolcrib.Grant{Dirs: []toolcrib.Dir{{Path: root, Write: true}, {Path: inner}, {Path: filepath.Dir(attacker)}}, Time: 5 * time.Minute}
	socket := filepath.Join(root, "s")
	if len(socket) > 100 {
		t.Skip("the temporary directory has too long a name for a socket") // of 108 bytes
	}
	hostile := []string{".env", "sub/.env.local", "+.env", "+.git/hooks/post-commit", "+.git/config", "+.vscode", "+.vscode/tasks.json", "+.envrc", "+inner/x"}
	input, stop, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	output, out := io.Pipe()
	taken := make(chan error, 1)
	go func() {
		_, err := s.Run(t.Context(), toolcrib.Cmd{Path: attacker, Args: slices.Concat([]string{"take", socket, "file", "+file"}, hostile), Dir: root, Stdin: input, Stdout: out}, grant)
		_ = out.Close()
		taken <- err
	}()
	lines := bufio.NewScanner(output)
	for lines.Scan() && lines.Text() != "waiting" {
	}
	var said bytes.Buffer
	if exit, err := s.Run(t.Context(), toolcrib.Cmd{Path: attacker, Args: []string{"give", socket, root}, Dir: root, Stdout: &said}, grant); err != nil || exit.Code != 0 || !strings.Contains(said.String(), "did send") {
		t.Fatalf("%+v, error %v\n%s", exit, err, said.String())
	}
	_ = stop.Close()
	var told []string
	for lines.Scan() {
		told = append(told, lines.Text())
	}
	if err := <-taken; err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "+file"} {
		if !slices.Contains(told, "did "+name) {
			t.Errorf("%s was not done, so this shows nothing:\n%s", name, strings.Join(told, "\n"))
		}
	}
	for _, name := range hostile {
		if slices.Contains(told, "did "+name) {
			t.Errorf("%s was done by a descriptor of a program that has ended", name)
		}
	}
}
