package cli

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Every help page has an example, and each of them is a command line that the program
// understands.
func TestEveryCommandHasAnExampleThatParses(t *testing.T) {
	fresh := func() *cobra.Command {
		return (&command{in: io.NopCloser(strings.NewReader("")), out: io.Discard, err: io.Discard}).root()
	}
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		lines := exampleLines(cmd.Example)
		if len(lines) == 0 {
			t.Errorf("%s has no example: write one beside it, or into examples.go", cmd.CommandPath())
		}
		for _, words := range lines {
			if err := parses(fresh(), words); err != nil {
				t.Errorf("%s: the example %q: %v", cmd.CommandPath(), words, err)
			}
		}
		for _, sub := range cmd.Commands() {
			each(sub)
		}
	}
	each(fresh())
	for path := range examples() {
		if cmd, rest, err := fresh().Find(strings.Fields(path)); err != nil || len(rest) > 0 || cmd.Parent() == nil {
			t.Errorf("examples.go has %q, which is no command", path)
		}
	}
}

// No line of a help page is wider than a terminal, and nothing is lost in wrapping.
func TestHelpFitsATerminal(t *testing.T) {
	root := (&command{in: io.NopCloser(strings.NewReader("")), out: io.Discard, err: io.Discard}).root()
	words := func(s string) string {
		return strings.Join(strings.Fields(strings.ReplaceAll(s, "\\\n", " ")), " ")
	}
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		var out strings.Builder
		cmd.InitDefaultHelpFlag()
		root.SetOut(&out)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if line = strings.TrimSuffix(line, "\n"); text.Width(line) > helpWidth && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s --help has a line of %d columns: %s", cmd.CommandPath(), text.Width(line), line)
			}
		}
		for _, part := range []string{cmd.Long, cmd.Example, cmd.UseLine()} {
			if !strings.Contains(words(out.String()), words(part)) {
				t.Errorf("%s --help lost something of %q:\n%s", cmd.CommandPath(), part, &out)
			}
		}
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				each(sub)
			}
		}
	}
	each(root)
}

func parses(root *cobra.Command, words []string) error {
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// exampleLines gives the arguments of the program in each line of an example. Two spaces
// end a command: an explanation follows.
func exampleLines(example string) (lines [][]string) {
	example = strings.ReplaceAll(example, "\\\n", " ")
	for line := range strings.Lines(example) {
		_, command, ok := strings.Cut(" "+strings.TrimSpace(strings.ReplaceAll(line, "<(toolcrib", "<( toolcrib")), " toolcrib")
		if !ok || command != "" && command[0] != ' ' {
			continue
		}
		lines = append(lines, shellWords(strings.TrimPrefix(command, " ")))
	}
	return lines
}

var wordEnd = regexp.MustCompile(`^(  +|  *[|<>#;)&]|\))`)

// shellWords parts a simple command line into words.
func shellWords(s string) (words []string) {
	word, open := "", false
	for s != "" {
		if wordEnd.MatchString(s) {
			break
		}
		switch c := s[0]; c {
		case ' ':
			if open {
				words = append(words, word)
			}
			word, open = "", false
		case '\'', '"':
			quoted, rest, _ := strings.Cut(s[1:], string(c))
			word, open, s = word+quoted, true, " "+rest
			if rest == "" || rest[0] != ' ' {
				s = "\x00" + rest
			}
		default:
			word, open = word+string(c), true
		}
		s = s[1:]
	}
	if open {
		words = append(words, word)
	}
	return words
}

func TestUnknownCommandsAreSuggested(t *testing.T) {
	home := t.TempDir()
	for line, want := range map[string]string{
		"jurnal":               "Did you mean: toolcrib journal",
		"hub lst":              "Did you mean: toolcrib hub list",
		"journal undu":         "Did you mean: toolcrib journal undo",
		"verify":               "Did you mean: toolcrib ",
		"approve q-7f":         "Did you mean: toolcrib approvals allow\n",
		"reject q-7f":          "Did you mean: toolcrib approvals deny\n",
		"approvals approve":    "Did you mean: toolcrib approvals allow\n",
		"allow run_command":    "Did you mean: toolcrib approvals allow, or toolcrib policy allow\n",
		"bundle frob":          "toolcrib bundle has no command \"frob\"; 'toolcrib bundle --help' lists them",
		"journal --sin":        "toolcrib journal has no flag --sin. Did you mean: --since",
		"journal --snce today": "Did you mean: --since",
		"market registry lst":  "Did you mean: toolcrib market registry list",
	} {
		_, said, status := runCLI(t, home, strings.Fields(line)...)
		if status != exitUsage || !strings.Contains(said, want) {
			t.Errorf("%s: %d %s", line, status, said)
		}
	}
	if _, said, status := runCLI(t, home, "secret", "ghp_secretvalue"); status != exitUsage || strings.Contains(said, "ghp_") {
		t.Error("what may be a secret is said again:", said)
	}
	for _, line := range []string{"hub rm nothing", "models rm nothing", "scripts rm nothing", "sessions rm nothing", "secret remove nothing", "secret rm nothing"} {
		if _, said, status := runCLI(t, home, strings.Fields(line)...); status == exitUsage && strings.Contains(said, "no command") {
			t.Errorf("%s: %s", line, said)
		}
	}
}
