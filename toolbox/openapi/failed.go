package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// maxFailure is how much of the body of a failure is shown.
const maxFailure = 8 << 10

// failed tells of an answer that is no success: its status, what its headers say about the next
// attempt, and its body.
func (c *call) failed(a *answer) *toolcrib.Result {
	var b strings.Builder
	fmt.Fprintf(&b, "The API answered %d %s.", a.status, http.StatusText(a.status))
	switch {
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden:
		if _, unmet := c.box.credentials(c.op); len(unmet) > 0 {
			b.WriteString(" No credential is configured for " + text.Clip(text.ShowLine(strings.Join(unmet, " or ")), 200) + ".")
		}
		if a.status == http.StatusUnauthorized && c.usesLogin() {
			b.WriteString(" Its login is no longer taken: a person has to run `toolcrib openapi login " + c.box.cfg.Name + "`.")
		}
	case a.status >= 300 && a.status < 400:
		b.WriteString(" The redirect was not followed.")
	}
	if headers := c.interesting(a, true); headers != "" {
		b.WriteString("\n" + headers)
	}
	if body := shownBody(a.body); body != "" {
		b.WriteString("\n\n" + body)
	}
	return toolcrib.Failed(hide(b.String(), c.secrets))
}

// fail is a failure that is ours to word.
func (c *call) fail(a *answer, format string, args ...any) *toolcrib.Result {
	message := fmt.Sprintf("The API answered %d, but ", a.status) + fmt.Sprintf(format, args...) + "."
	return toolcrib.Failed(hide(message, c.secrets))
}

// shownBody is what of a body is shown: JSON without blanks, text as it is.
func shownBody(body []byte) string {
	body = bytes.TrimSpace(body)
	if json.Valid(body) {
		var compact bytes.Buffer
		if json.Compact(&compact, body) == nil {
			body = compact.Bytes()
		}
	}
	body = trimRune(body)
	if !utf8.Valid(body) {
		return fmt.Sprintf("[%d bytes that are no text]", len(body))
	}
	return text.Clip(string(body), maxFailure)
}

// interesting are the headers that say what to do next: always where there is more and what was
// made, and for a failure also when to come back.
func (c *call) interesting(a *answer, failed bool) string {
	names := []string{"Link", "Location"}
	if failed {
		names = append(names, "Retry-After", "Www-Authenticate", "Allow")
		for name := range a.header {
			if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-ratelimit-") || strings.HasPrefix(lower, "ratelimit") {
				names = append(names, name)
			}
		}
		slices.Sort(names[5:])
	}
	return c.lines(a, names)
}

// head tells what a HEAD request found out.
func (c *call) head(a *answer) string {
	status := fmt.Sprintf("%d %s", a.status, http.StatusText(a.status))
	if lines := c.lines(a, []string{"Content-Type", "Content-Length", "Last-Modified", "Etag", "Accept-Ranges", "Content-Disposition"}); lines != "" {
		status += "\n" + lines
	}
	return status
}

func (c *call) lines(a *answer, names []string) string {
	var out []string
	for i, name := range names {
		if i == 20 {
			break
		}
		for _, value := range a.header[name] {
			out = append(out, name+": "+text.Clip(text.ShowLine(value), 2000))
		}
	}
	return hide(strings.Join(out, "\n"), c.secrets)
}
