package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf16"

	"github.com/toolcrib/toolcrib/internal/invisible"
)

// asJSON reports whether to write JSON, given what the command does unasked.
func (c *command) asJSON(byDefault bool) bool {
	if c.output == "" {
		return byDefault
	}
	return c.output == "json"
}

// terminal reports whether a stream is looked at by a person.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// printJSON writes one value: indented for a person, on one line for a program.
func (c *command) printJSON(v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	if !terminal(c.out) {
		_, err := c.out.Write(text.Bytes())
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, text.Bytes(), "", "  "); err != nil {
		return err
	}
	_, err := io.WriteString(c.out, escaped(pretty.String(), jsonCode))
	return err
}

// jsonCode writes a character as JSON does, where those beyond four digits are two
// codes.
func jsonCode(r rune) string {
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// printable shows what a text really has in it: control characters, which
// could forge lines or steer a terminal, are written out.
func printable(text string) string {
	return escaped(strings.ReplaceAll(strings.ReplaceAll(text, "\n", `\n`), "\t", `\t`), invisible.Code)
}

// readable is for texts of several lines: it leaves their ends alone.
func readable(text string) string {
	return escaped(text, invisible.Code)
}

func escaped(text string, escape func(rune) string) string {
	if !strings.ContainsFunc(text, steers) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if steers(r) {
			b.WriteString(escape(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// steers reports whether a character does something to a terminal or to the
// order of the text, or is not seen, rather than being shown.
func steers(r rune) bool {
	return r != '\n' && r != '\t' && invisible.Rune(r)
}

// table writes rows in columns.
func (c *command) table(head []string, rows [][]string) error {
	w := tabwriter.NewWriter(c.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = printable(cell)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// firstSentence is enough of a description for a list.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	if r := []rune(text); len(r) > 72 {
		text = string(r[:71]) + "…"
	}
	return text
}
