package shellguard

import (
	"os/exec"
	"testing"
)

// FuzzHereDocuments holds the text that the guard sees in a here-document
// against what a real shell gives the program.
func FuzzHereDocuments(f *testing.F) {
	shells := realShells(f)
	for _, body := range []string{"a b", "a\\b", "\\$x", "\\\\", "a\\\nb", "'x'", "\"y\"", "\\`", "a\n\tb", "#", "E", " E", "\\", ""} {
		for _, quoted := range []bool{true, false} {
			f.Add(body, quoted)
		}
	}
	f.Fuzz(func(t *testing.T, body string, quoted bool) {
		if len(body) > 200 || !IsPlain(body) {
			return
		}
		end := "E"
		if quoted {
			end = "'E'"
		}
		line := "cat <<" + end + "\n" + body + "\nE\n"
		file, err := parse(line)
		if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) != 1 {
			return
		}
		w := &walker{opt: &Options{}, line: &Line{}, quiet: true}
		text, ok := w.inputText(file.Stmts[0].Redirs, scope{})
		if !ok || !text.Literal || secondReading(line, file) != readSame {
			return
		}
		for _, shell := range shells {
			out, err := exec.Command(shell, "-c", line).Output()
			if err == nil && string(out) != text.Text {
				t.Errorf("%s -c %q prints %q, and the guard sees %q", shell, line, out, text.Text)
			}
		}
	})
}
