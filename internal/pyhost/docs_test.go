package pyhost_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The first example of docs/python.md works, and the error that the page shows is the one that comes.
func TestExampleOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "python.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string) string {
		_, rest, ok := strings.Cut(string(page), "```"+kind+"\n")
		text, _, closed := strings.Cut(rest, "```")
		if !ok || !closed {
			t.Fatalf("the page has no block of %s", kind)
		}
		return text
	}
	p := serve(t, block("python"))
	tools, _ := p.tools()
	sameJSON(t, "convert", tools["convert"].InputSchema, `{"type":"object","properties":{
		"amount":{"type":"number","description":"How much of it."},
		"unit":{"enum":["cup","spoon"],"type":"string","description":"The measure of the recipe."},
		"to":{"enum":["ml","l"],"type":"string","description":"The unit of the answer.","default":"ml"}},
		"required":["amount","unit"],"additionalProperties":false}`)
	if got := p.call("convert", raw(`{"amount":2,"unit":"cup"}`)).text(); got != "473.2" {
		t.Errorf("convert: %q", got)
	}
	if r := p.call("convert", raw(`{"amount":"two","unit":"mug","too":"l"}`)); r.text()+"\n" != block("text") || !r.IsError {
		t.Errorf("the page says %q, the host %q", block("text"), r.text())
	}
}

// Every block of Python on the pages compiles.
func TestPythonOnThePagesCompiles(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir, seen := t.TempDir(), 0
	var files []string
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, rest := range strings.Split(string(text), "\n```python\n")[1:] {
			block, _, _ := strings.Cut(rest, "\n```")
			seen++
			files = append(files, write(t, dir, fmt.Sprintf("%d_%s.py", seen, filepath.Base(page)), block))
		}
	}
	if seen < 5 {
		t.Errorf("the pages show %d blocks, or this test cannot read them", seen)
	}
	check := "import sys\nfor f in sys.argv[1:]: compile(open(f, encoding='utf-8').read(), f, 'exec')"
	if out, err := exec.Command(python(t), append([]string{"-c", check}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
