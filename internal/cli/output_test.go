package cli

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/text"
)

func TestNothingSteersTheTerminal(t *testing.T) {
	for in, want := range map[string]string{
		"plain, ä and 日本":     "plain, ä and 日本",
		"two\nlines\tand tab": `two\nlines\tand tab`,
		"\x1b[31mred":         `[U+001B][31mred`,
		"c1 \u009b31m":        `c1 [U+009B]31m`,
		"turned \u202eround":  `turned [U+202E]round`,
		"\r\x7f":              `[U+000D][U+007F]`,
	} {
		if got := text.ShowLine(in); got != want {
			t.Errorf("text.ShowLine(%q) = %q, want %q", in, got, want)
		}
	}
	if got := text.Show("a\n\x1bb"); got != "a\n[U+001B]b" {
		t.Errorf("text.Show: %q", got)
	}
}

// A name a model made up must not forge a row of the journal.
func TestJournalRowsCannotBeForged(t *testing.T) {
	home := t.TempDir()
	runCLI(t, home, "call", "evil\n2026-01-01 00:00:00  forged  done\x1b[2J", "a=1")
	out, _, status := runCLI(t, home, "journal")
	if lines := strings.Count(out, "\n"); status != 0 || lines != 2 || strings.ContainsAny(out, "\x1b") {
		t.Errorf("%d lines:\n%s", lines, out)
	}
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	home := t.TempDir()
	for _, args := range [][]string{{"tools"}, {"version"}, {"doctor"}, {"tools", "show", "unit_convert"}} {
		c := &command{
			in: io.NopCloser(strings.NewReader("")), out: fullDisk{}, err: io.Discard, dir: home,
			environ: []string{"TOOLCRIB_HOME=" + home, "HOME=" + home},
		}
		if status := c.run(t.Context(), args); status == 0 {
			t.Errorf("%v: status 0 although nothing was written", args)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWhatIsNotSeenIsWrittenOut(t *testing.T) {
	for _, r := range []rune{0x200b, 0x202e, 0x2066, 0x2028, 0xfe0f, 0xe0100, 0xe0041, 0x3164, 0x2800, 0x34f, 0x17b4, 0x2065, 0xfff0, 0x1d159, 0xe0080, 0x1b, 0x7f} {
		if got := text.Show("a" + string(r) + "b"); strings.ContainsRune(got, r) {
			t.Errorf("%U is shown as %q", r, got)
		}
	}
	if got := text.ShowJSON("\U000e0041\x1b"); got != `\udb40\udc41\u001b` {
		t.Errorf("JSON: %s", got)
	}
	if plain := "ä 日本 ✓\tx\n"; text.Show(plain) != plain {
		t.Errorf("%q", text.Show(plain))
	}
}
