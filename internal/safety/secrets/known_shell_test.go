package secrets

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestKnownThroughShells: what further lines of a shell make of a file with a
// value in its middle does not show it. The value has pairs of equal bytes, which
// dumps leave out, and signs that are also put between letters.
func TestKnownThroughShells(t *testing.T) {
	const value = "Zx9vault-Value.7731qqTr0ub4dor"
	s, known := testScanner(t), NewKnown([]string{value})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("# this is a first line of the file, padding it\n"+value+"\nand a last line of the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	tried := 0
	for line := range strings.Lines(`od -tcx1 f
od -tx1 -tc f
od -w1 -c f
od -i f
od -l f
od -td4 -An f
od -tu4 f
od -td8 f
od -tf4 f
od -tf8 f
od -An -tu1 -w1 f
hexdump -d f
hexdump -e '1/1 "%02x:"' f
hexdump -e '1/1 "%d,"' f
hexdump -e '1/1 "%u\n"' f
hexdump -v -e '"%_ad " 8/1 "%02x " "\n"' f
sed 's/./&-/g' f
sed 's/./& - /g' f
sed 's/./&./g' f
grep -on . f
grep -ob . f
cmp -l f /dev/zero
cmp -lb f /dev/zero
basenc --base32hex f
basenc --base2lsbf f
basenc --base2msbf f
basenc --base16 f
head -c 104 f | basenc --z85
dd if=f conv=swab
tr '!-~' 'P-~!-O' < f
tr a-zA-Z b-zaB-ZA < f
cut -c2- f
cut -c1-9 f
tail -c 40 f
sed 's/.$//' f
tr . , < f
sed 's/-/_/' f
sed 's/.\{10\}/& and then /g' f
fold -w8 f | cat -n
xxd f | cat -n
xxd f | nl
xxd f | sed 's/^/> /'
xxd f | tr -d ' '
xxd f | tac
base64 f | nl
rev f | base64
rev f | xxd -p
perl -0777 -ne 'print pack("u",$_)' f
`) {
		line = strings.TrimSpace(line)
		cmd := exec.Command(shell, "-c", line)
		cmd.Dir = dir
		out, err := cmd.Output()
		if len(out) < 20 { // cmp and dd tell by their exit, what is missing gives nothing
			t.Logf("%s does not work on this machine: %v", line, err)
			continue
		}
		tried++
		for _, raw := range [][]byte{marshal(t, map[string]any{"stdout": string(out), "stderr": ""}), marshal(t, string(out))} {
			got := s.Redact(json.RawMessage(raw), known)
			var shown any
			if err := json.Unmarshal(got, &shown); err != nil || !strings.Contains(string(got), Mark) {
				t.Errorf("%s: %v, %s", line, err, got)
			}
		}
	}
	t.Logf("%d lines", tried)
}

// TestNumberedLines: only the value goes from a text whose lines are numbered.
func TestNumberedLines(t *testing.T) {
	s, known := testScanner(t), NewKnown([]string{"Zx9vault-Value.7731qq"})
	got := s.Strike("     1\tfirst\n     2\tx Zx9vault-Value.7731qq y\n     3\tlast\n", known)
	if want := "     1\tfirst\n     2\tx " + Mark + " y\n     3\tlast\n"; got != want {
		t.Errorf("got %q", got)
	}
}

// TestPiecesAreCareful: what a value shares with other texts is left.
func TestPiecesAreCareful(t *testing.T) {
	known := NewKnown([]string{"postgres://app:Zx9v4ult@localhost:5432/app_production", "https://api.example.com/v1/hooks/T0k3nT0k3n9", "correct horse battery staple", "/home/me/projects/crib/config.yaml"})
	for _, text := range []string{
		"http://localhost:5432/app_production", "https://api.example.com/v1/hooks/", "the correct horse battery", "/home/me/projects/crib/main.go", "postgres://app:",
	} {
		if found := known.find(nil, text); len(found) > 0 {
			t.Errorf("%q: %q is taken", text, text[found[0].Start:found[0].End])
		}
	}
}
