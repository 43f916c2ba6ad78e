package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A command that was given too few arguments or too many says in a sentence what to give,
// and one that cannot do without says how to find it.
func TestArgumentsAreAskedForInWords(t *testing.T) {
	c := &command{in: io.NopCloser(strings.NewReader("")), out: io.Discard, err: io.Discard}
	known := wanted()
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		path := strings.TrimPrefix(cmd.CommandPath(), "toolcrib ")
		if cmd.Args != nil && !cmd.HasSubCommands() {
			for _, args := range [][]string{nil, {"a", "b", "c", "d", "e", "f"}} {
				err := cmd.Args(cmd, args)
				if err == nil {
					continue
				}
				said := err.Error()
				if !isUsage(err) || strings.Contains(said, "arg(s)") || strings.Contains(said, "unknown command") || strings.Contains(said, "an argument is missing") {
					t.Errorf("%s %q says: %s", path, args, said)
				}
				if strings.HasPrefix(said, "give ") {
					delete(known, path)
				}
			}
		}
		for _, sub := range cmd.Commands() {
			each(sub)
		}
	}
	each(c.root())
	for path := range known {
		t.Errorf("it is said what %q needs, and that command needs nothing", path)
	}
}

func TestFlagsAreAskedForInWords(t *testing.T) {
	for line, want := range map[string]string{
		"journal --nosuchthing":    "toolcrib journal has no flag --nosuchthing; 'toolcrib journal --help' lists them\n",
		"journal --sincee 2h":      "toolcrib journal has no flag --sincee. Did you mean: --since\n",
		"journal -z":               "toolcrib journal has no flag -z; ",
		"journal --since":          "--since needs a value behind it (only calls since then",
		"journal --limit many":     `--limit is "many": want a whole number`,
		"call x --timeout soon":    `--timeout is "soon": want a time, such as 30s, 5m or 2h`,
		"journal --follow=perhaps": `--follow is "perhaps": want true or false`,
		"journal undo":             "give the ID of a call, or its beginning; 'toolcrib journal' lists them. Write: toolcrib journal undo ID\nRun 'toolcrib journal undo --help' for how to use it.\n",
		"version now":              `toolcrib version takes no arguments, and "now" is one`,
		"journal show a b":         `"b" is one argument too many. Write: toolcrib journal show ID`,
		"completion bash now":      `toolcrib completion bash takes no arguments`,
		"tools -o xml":             `--output is "xml": want json or text`,
		"bundle update a b c":      `"c" is one argument too many. Write: toolcrib bundle update NAME [SOURCE]`,
		"call":                     "give the name of a tool; 'toolcrib tools' lists them",
		"sandbox run":              "give a program to run",
		"models set a b --base-url http://127.0.0.1": `"b" is one argument too many`,
	} {
		var said strings.Builder
		home := t.TempDir()
		c := &command{in: io.NopCloser(strings.NewReader("")), out: io.Discard, err: &said, dir: home, environ: []string{"HOME=" + home}}
		if got := c.run(t.Context(), strings.Fields(line)); got != exitUsage || !strings.Contains(said.String(), want) {
			t.Errorf("%s: status %d, and it says: %s", line, got, said.String())
		}
	}
}

// A leading ~/ is the person's home in every argument that is a path, whether the shell
// has put it there or not.
func TestHomeInArguments(t *testing.T) {
	home := t.TempDir()
	work := filepath.Join(home, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "note.txt"), []byte("at home"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"call read_file path=~/work/note.txt":           "at home",
		"tools check ~/nothing.yaml":                    filepath.Join(home, "nothing.yaml"),
		"skills validate ~/no-skill":                    filepath.Join(home, "no-skill"),
		"policy test ~/no-cases.yaml":                   filepath.Join(home, "no-cases.yaml"),
		"openapi check ~/no-document.yaml":              "there is no file " + filepath.Join(home, "no-document.yaml"),
		"config show --config=~/no-settings.yaml":       filepath.Join(home, "no-settings.yaml"),
		"new agent a --from ~/no-agent.yaml":            filepath.Join(home, "no-agent.yaml"),
		"policy explain read_file path=~/work/note.txt": "allow",
	} {
		var said strings.Builder
		c := &command{in: io.NopCloser(strings.NewReader("")), out: &said, err: &said, dir: work, environ: []string{"HOME=" + home}}
		if c.run(t.Context(), strings.Fields(line)); !strings.Contains(said.String(), want) {
			t.Errorf("%s says: %s", line, said.String())
		}
	}
}

// A text stays as it was typed, whatever it begins with.
func TestHomeInTexts(t *testing.T) {
	home := t.TempDir()
	c := &command{environ: []string{"HOME=" + home}}
	for pair, want := range map[string]string{
		"path=~/a":                    "path=" + filepath.Join(home, "a"),
		"working_dir=~/a":             "working_dir=" + filepath.Join(home, "a"),
		"filePath=~/a":                "filePath=" + filepath.Join(home, "a"),
		"content=~/a":                 "content=~/a",
		"command=~/bin/x a/../b; c//": "command=~/bin/x a/../b; c//",
		"query=~/.bashrc":             "query=~/.bashrc",
		"path=a~/b":                   "path=a~/b",
	} {
		if got := c.expandedPairs([]string{pair})[0]; got != want {
			t.Errorf("%s becomes %s", pair, got)
		}
	}
}
