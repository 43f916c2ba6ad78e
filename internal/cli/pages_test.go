package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every command line on the pages is one that the program understands: those in blocks whole,
// those in a sentence by their command and its flags. Blocks of the kind console are run, in
// package examples.
func TestCommandsOnThePagesParse(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"} {
		pages = append(pages, filepath.Join("..", "..", name))
	}
	root := (&command{in: io.NopCloser(strings.NewReader("")), out: io.Discard, err: io.Discard}).root()
	seen := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks, sentences := commandsOf(string(text))
		for _, line := range blocks {
			for _, words := range exampleLines(line) {
				seen++
				if err := parses(root, words); err != nil {
					t.Errorf("%s: %s: %v", filepath.Base(page), line, err)
				}
			}
		}
		for _, line := range sentences {
			seen++
			cmd, rest, err := root.Find(shellWords(strings.TrimSpace(strings.TrimPrefix(line, "toolcrib"))))
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if args := cmd.Flags().Args(); err == nil && len(args) > 0 && cmd.HasSubCommands() {
				err = cmd.ValidateArgs(args) // it may be the name of a command that is not there
			}
			if err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(page), line, err)
			}
		}
	}
	if seen < 300 {
		t.Errorf("the pages show %d commands, or this test cannot read them", seen)
	}
}

var (
	inCode = regexp.MustCompile("`(toolcrib(?: [^`]*)?)`")
	// What stands for something that the reader fills in, or for one of several.
	filledIn = regexp.MustCompile(`…|\||\[|<`)
)

// commandsOf gives what calls the program on a page: lines of blocks, and code in sentences.
func commandsOf(page string) (blocks, sentences []string) {
	open, kind := false, ""
	for line := range strings.Lines(strings.ReplaceAll(page, "\\\n", " ")) {
		line = strings.TrimSuffix(line, "\n")
		if lang, fence := strings.CutPrefix(line, "```"); fence {
			open, kind = !open, lang
			continue
		}
		if !open {
			for _, m := range inCode.FindAllStringSubmatch(line, -1) {
				if !filledIn.MatchString(m[1]) {
					sentences = append(sentences, m[1])
				}
			}
			continue
		}
		line = strings.TrimPrefix(line, "$ ")
		if kind == "sh" || kind == "text" && strings.HasPrefix(line, "toolcrib ") {
			blocks = append(blocks, line)
		}
	}
	return blocks, sentences
}
