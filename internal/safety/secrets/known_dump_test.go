package secrets

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestDumpsThatBeginAString: a dump is found where it is all that a string of a
// result holds, and its first line stands behind a quote.
func TestDumpsThatBeginAString(t *testing.T) {
	const value = "Zx9vault-Value.7731qqTr0ub4dor"
	known := NewKnown([]string{value})
	scanner, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, newline := range []string{"\n", ""} {
		var xxd, od strings.Builder
		for at := 0; at < len(value); at += 16 {
			line := value[at:min(at+16, len(value))]
			var pairs []string
			for i := 0; i < len(line); i += 2 {
				pairs = append(pairs, hex.EncodeToString([]byte(line[i:min(i+2, len(line))])))
			}
			fmt.Fprintf(&xxd, "%08x: %-39s  %s\n", at, strings.Join(pairs, " "), line)
			fmt.Fprintf(&od, "%07o   %s\n", at, strings.Join(strings.Split(line, ""), "   "))
		}
		for name, dump := range map[string]string{"xxd": xxd.String(), "od -c": od.String(), "hexdump -C": hex.Dump([]byte(value))} {
			raw, err := json.Marshal(map[string]any{"command": name + " f", "stdout": strings.TrimSuffix(dump, "\n") + newline, "stderr": strings.Repeat("x", 300)})
			if err != nil {
				t.Fatal(err)
			}
			got := string(scanner.Redact(raw, known))
			if !strings.Contains(got, "redacted") || strings.Contains(got, "5a78") || strings.Contains(got, "5a 78") || strings.Contains(got, "Z   x") || strings.Contains(got, "Zx9") {
				t.Errorf("%s, with %q at its end: %s", name, newline, got)
			}
		}
	}
}
