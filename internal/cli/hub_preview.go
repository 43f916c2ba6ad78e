package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/setup"
	"github.com/toolcrib/toolcrib/internal/text"
)

// preview shows one server as it would be taken over: the command whole, since
// it is what will run, and every other setting that is written.
func (c *command) preview(t setup.Taken) {
	s := t.Server
	fmt.Fprintf(c.out, "%s (from %s, %s)\n", t.Name, clientfiles.Title(s.Source), text.ShowLine(t.File))
	if s.Command != "" {
		fmt.Fprintf(c.out, "  program: %s\n", quotedAll(append([]string{s.Command}, s.Args...)))
	}
	entry := settings.ServerEntry(s)
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		switch key {
		case "command", "args": // shown above
		case "url":
			fmt.Fprintf(c.out, "  address: %s\n", quoted(s.URL))
		case "env":
			for _, name := range slices.Sorted(maps.Keys(s.Env)) {
				fmt.Fprintf(c.out, "  variable: %s=%s\n", quoted(name), quoted(s.Env[name]))
			}
		case "headers":
			for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
				fmt.Fprintf(c.out, "  header: %s: %s\n", quoted(name), quoted(s.Headers[name]))
			}
		case "disabled":
			fmt.Fprintln(c.out, "  disabled: it is switched off there, and will be here")
		default:
			c.previewValue(key, entry[key])
		}
	}
	for _, f := range t.Secrets {
		fmt.Fprintf(c.out, "  secret: what stands in %s goes to the vault as %s\n", text.ShowLine(f.Where), f.Name)
	}
	for _, d := range s.Dropped {
		fmt.Fprintf(c.out, "  dropped: %s\n", text.ShowLine(d))
	}
	for _, n := range s.Notes {
		fmt.Fprintf(c.out, "  note: %s\n", text.ShowLine(n))
	}
}

// previewValue shows a setting, one of several parts with a line for each: in one
// line a part could look like others.
func (c *command) previewValue(key string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, part := range slices.Sorted(maps.Keys(value)) {
			c.previewValue(key+"."+part, value[part])
		}
	case []string:
		fmt.Fprintf(c.out, "  %s: %s\n", key, quotedAll(value))
	default:
		fmt.Fprintf(c.out, "  %s: %s\n", key, quoted(fmt.Sprint(value)))
	}
}

// quotedAll shows texts so that it can be told where one ends.
func quotedAll(list []string) string {
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = quoted(text)
	}
	return strings.Join(out, " ")
}

// quoted shows a text, in quotes unless it is plain.
func quoted(given string) string {
	if given != "" && !strings.ContainsFunc(given, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\'' || r == '\\' }) {
		return given
	}
	return text.CountBlanks(text.ShowLine(strconv.Quote(given)))
}
