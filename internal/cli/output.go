package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"github.com/toolcrib/toolcrib/internal/text"
)

// asJSON reports whether to write JSON, given what the command does unasked.
func (c *command) asJSON(byDefault bool) bool {
	if c.output == "" {
		return byDefault
	}
	return c.output == "json"
}

// moreOutputs is the annotation of a command that names further forms of its output.
const moreOutputs = "output"

// columns is how wide the person's terminal is.
func (c *command) columns() int {
	if f, ok := c.out.(*os.File); ok {
		if wide, _ := terminalSize(f); wide >= 20 {
			return wide
		}
	}
	return 80
}

// utf8 reports whether the person's terminal shows more than ASCII, as the locale says.
// Windows has no such variable and does.
func (c *command) utf8() bool {
	for _, name := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if said := strings.ToLower(c.getenv(name)); said != "" {
			return strings.Contains(said, "utf-8") || strings.Contains(said, "utf8")
		}
	}
	return runtime.GOOS == "windows" || runtime.GOOS == "darwin" || !terminal(c.out)
}

// terminal reports whether a stream is looked at by a person.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	return term.IsTerminal(int(f.Fd())) // not by its kind: /dev/null is a device of characters too
}

// printJSON writes one value: indented for a person, on one line for a program.
func (c *command) printJSON(v any) error {
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	if !terminal(c.out) {
		_, err := c.out.Write(plain.Bytes())
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, plain.Bytes(), "", "  "); err != nil {
		return err
	}
	_, err := io.WriteString(c.out, text.ShowJSON(pretty.String()))
	return err
}

// table writes rows in columns. On a screen that they are too wide for, the last one is
// wrapped: a terminal would go on at its left edge.
func (c *command) table(head []string, rows [][]string) error {
	if terminal(c.out) {
		return c.screenTable(append([][]string{head}, rows...))
	}
	w := tabwriter.NewWriter(c.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = text.ShowLine(cell)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

func (c *command) screenTable(rows [][]string) error {
	last := len(rows[0]) - 1
	wide := make([]int, last)
	for _, row := range rows {
		for i := range row {
			row[i] = text.ShowLine(row[i])
			if i < last {
				wide[i] = max(wide[i], text.Width(row[i])+2)
			}
		}
	}
	indent := 0
	for _, w := range wide {
		indent += w
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if i < last {
				cell = text.Pad(cell, wide[i])
			}
			line.WriteString(cell)
		}
		said := strings.TrimRight(line.String(), " ")
		if room := c.columns() - indent; room >= 20 {
			said = wrapTo(said, indent, c.columns())
		}
		if _, err := fmt.Fprintln(c.out, said); err != nil {
			return err
		}
	}
	return nil
}

// sentenceOf is the first sentence of a description, on one line.
func sentenceOf(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	return text
}

// firstSentence is enough of a description for a list.
func firstSentence(text string) string {
	text = sentenceOf(text)
	if r := []rune(text); len(r) > 72 {
		text = string(r[:71]) + "…"
	}
	return text
}
