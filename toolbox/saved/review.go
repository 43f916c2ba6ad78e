package saved

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Sum is the fingerprint of all that a person said yes to.
func (s *Script) Sum() string {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(s.Name), []byte(s.Description), []byte(s.Code), compact(s.Arguments), compact(s.Example)} {
		_, _ = fmt.Fprintf(h, "%d ", len(part)) // never fails, nor does the next
		_, _ = h.Write(part)
	}
	for _, c := range s.Calls {
		_, _ = fmt.Fprintf(h, "%q %q %q %s ", c.Name, c.Box, c.Native, c.Effects)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// review is what a person is shown: all of it, in an order in which nothing that the script says of itself can be taken for what
// we say of it.
func review(s Script, old *Script, r reading) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("Keep this script as the tool %s? Whoever may use it then runs it as often as they like.", s.Name)
	if old != nil {
		line("IT REPLACES the script %s of %s%s.", s.Name, old.Saved.Format("2006-01-02 15:04"), differs(&s, old))
	}
	line("")
	if len(s.Calls) == 0 {
		line("It may call no tool at all: it computes.")
	} else {
		line("It may call these tools and no others. Each call is judged as any other:")
		for _, c := range s.Calls {
			line("  - %s, of %s: %s", c.Name, text.ShowExact(c.Box), c.Effects)
		}
		line("So in all it can: %s.", s.Effects())
	}
	if r.computed {
		line("It also takes tools by names that are not written in it. Others than those above are refused when it runs.")
	}
	if r.runs > 0 {
		line("It has worked here, unchanged, %s.", times(r.runs))
	} else {
		line("It has NOT been run here as it is.")
	}
	line("")
	line("It says of itself: %s", text.ShowExact(s.Description))
	if len(s.Arguments) > 0 {
		line("Its arguments: %s", compact(s.Arguments))
	} else {
		line("It takes no arguments.")
	}
	if len(s.Example) > 0 {
		line("For example: %s", compact(s.Example))
	}
	code := strings.Split(strings.TrimRight(strings.ReplaceAll(s.Code, "\r\n", "\n"), "\n"), "\n")
	line("")
	line("The whole script, lines 1 to %d, fingerprint %s:", len(code), s.Sum()[:16])
	for i, l := range code {
		line("%4d | %s", i+1, l)
	}
	return strings.TrimRight(b.String(), "\n")
}

// differs says what is another than before.
func differs(s, old *Script) string {
	var what []string
	if s.Code != old.Code {
		what = append(what, "its code")
	}
	if !bytes.Equal(compact(s.Arguments), compact(old.Arguments)) {
		what = append(what, "its arguments")
	}
	if fmt.Sprint(s.Calls) != fmt.Sprint(old.Calls) {
		what = append(what, "the tools that it may call (before: "+old.Effects().String()+")")
	}
	if s.Description != old.Description {
		what = append(what, "its words")
	}
	if len(what) == 0 {
		return ", with the same"
	}
	return ", and changes " + strings.Join(what, ", ")
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
