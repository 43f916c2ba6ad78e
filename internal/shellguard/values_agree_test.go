package shellguard

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// valued is a generated assignment: what the plain reading says of y after it.
type valued struct {
	line string
	is   possible
}

// known: it says more than that y may be anything.
func (v valued) known() bool { return len(v.is) != 1 || v.is[0].kind != any_ }

// userOptions are options of zsh by which more of a line means something else. A client's
// user may have set them all.
const userOptions = "setopt extendedglob globdots braceccl globsubst globassign magicequalsubst rcquotes chaselinks cdablevars globstarshort nonomatch\n"

func genValued(rt *rapid.T) string {
	plain := rapid.StringOfN(rapid.RuneFrom([]rune("abx.-/_7")), 0, 6, -1)
	odd := rapid.StringOfN(rapid.RuneFrom([]rune("ab.-/*?[]^!&~#%:= \tä\\")), 0, 6, -1)
	value := rapid.OneOf(plain, odd, rapid.SampledFrom([]string{"", "", "", "exec", "-delete", "a.tar.gz", "docs/a.txt", "&", "[", "a\nb", "~", "~/f", "=ls", ".e*", ".en#v"})).Draw(rt, "value")
	part := rapid.OneOf(rapid.SampledFrom([]string{"~", "~/f", "=ls", "/f", ".env"}), rapid.StringOfN(rapid.RuneFrom([]rune("ab.-/x")), 0, 3, -1), rapid.StringOfN(rapid.RuneFrom([]rune("ab.-/*?[]^!&~#:=@")), 0, 4, -1))
	words := []string{
		"$x", "${x}", "${x%@}", "${x%%@}", "${x#@}", "${x##@}", "${x/@/@}", "${x//@/@}", "${x/#@/@}", "${x/%@/@}", "${x:-@}", "${x-@}", "${x:+@}", "${#x}", "${x:1}", "${x:0:2}", "${x^}", "${x,,}", "${x@Q}", "${!x}",
		"$x:t", "$x:h", "$x[1]", "$x[@]", "$#x", "$=x", "$~x", "$^x", "$+x", "${x}[1]", "${x}:t", "$(echo $x)", "$(echo $x; echo b)", "$((1+1))", "${x:t}", "${(e)x}", "=@", "a:=@",
	}
	// What may be empty with something behind it, which zsh reads once more.
	behind := []string{"$x@", "${x}@", "$x$x@", "\"\"@", "''@", "$(true)@", "$(echo $x)@", "a:$x@", "a:@$x", "a:=ls$x", "a=$x@", "@$x", "{@,b}", ".e^@", ".e$x*", ".e{n}@", "'a''@'"}
	word := rapid.OneOf(rapid.SampledFrom(words), rapid.SampledFrom(behind)).Draw(rt, "word")
	for strings.Contains(word, "@") && !strings.Contains(word, "[@]") && !strings.Contains(word, "@Q") {
		word = strings.Replace(word, "@", part.Draw(rt, "part"), 1)
		if rapid.Bool().Draw(rt, "once") {
			break
		}
	}
	if rapid.IntRange(0, 3).Draw(rt, "quoted") == 0 {
		word = `"` + word + `"`
	}
	line := "x='" + value + "'; y=" + word
	if rapid.IntRange(0, 4).Draw(rt, "again") == 0 {
		line += "; z=$y; y=" + rapid.SampledFrom([]string{"$z", "$z/f", `"$z"`, "a$z", "a:$z"}).Draw(rt, "of")
	}
	return line
}

// readValue is what the plain reading says of y after a line in a client's shell, which
// may have the options of its user.
func readValue(line string, user bool) valued {
	r := &plainReader{opt: &Options{Dir: "/", Zsh: true, UserShell: user}, line: &Line{}, budget: maxPlain, work: &meter{left: maxWork}}
	st := &plainState{vars: map[string]possible{}, dirs: []string{"/"}, stdin: unknownText()}
	if checkText(r.line, line); len(r.line.Unknown) == 0 {
		r.script(line, st)
	} else {
		r.refuse("it has signs that are not read")
	}
	if is, ok := st.vars["y"]; ok && r.why == "" && len(r.line.loose) == 0 { // those words are held against the files
		return valued{line, is}
	}
	return valued{line, unknownText()}
}

var hashLike = regexp.MustCompile(`^([0-9a-f]*|HEAD)$`)

// mayBe: the text is one of those that it may be.
func (p possible) mayBe(text string) bool {
	whole := func(a atom) bool { return !a.lines && a.mayBe(text) }
	line := func(text string) bool {
		return slices.ContainsFunc(p, func(a atom) bool { return a.mayBe(text) })
	}
	if slices.ContainsFunc(p, whole) {
		return true
	}
	several := slices.ContainsFunc(p, func(a atom) bool { return a.lines })
	return several && !slices.ContainsFunc(strings.Split(text, "\n"), func(text string) bool { return !line(text) })
}

func (a atom) mayBe(text string) bool {
	switch a.kind {
	case any_, foreign:
		return true
	case exact:
		return a.text == text
	case headed:
		return strings.HasPrefix(text, a.text)
	case relative:
		return !strings.HasPrefix(text, "/")
	case named:
		fits, err := filepath.Match(a.text, text)
		return text == a.text || fits && err == nil
	case number, signed:
		return strings.Trim(strings.TrimPrefix(text, "-"), "0123456789") == ""
	case hashes:
		return hashLike.MatchString(text)
	}
	return false
}

// inShell runs assignments in one shell, and gives what y is after each. Not ok: the
// shell does not take the line. There is a home directory for ~, there are programs for
// =ls, and files for patterns.
func inShell(t testing.TB, shell, options string, all []valued) (out []string, ok []bool) {
	t.Helper()
	var script strings.Builder
	script.WriteString(options)
	for _, v := range all {
		quoted := "'" + strings.ReplaceAll(v.line, "'", `'\''`) + "'"
		fmt.Fprintf(&script, "(eval %s 2>/dev/null && printf 'v%%s' \"$y\"); printf '\\001'\n", quoted)
	}
	top := t.TempDir()
	write(t, top, map[string]string{"script": script.String(), "home/f": "", "work/.env": "", "work/ab": "", "work/a.b": "", "work/x": ""})
	cmd := exec.CommandContext(t.Context(), shell, filepath.Join(top, "script"))
	cmd.Dir, cmd.Env = filepath.Join(top, "work"), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(top, "home"), "LC_ALL=C.UTF-8"}
	printed, err := cmd.Output()
	parts := bytes.Split(printed, []byte{1})
	if len(parts) != len(all)+1 {
		t.Fatalf("%s printed %d of %d values: %v", shell, len(parts)-1, len(all), err)
	}
	for _, p := range parts[:len(all)] {
		text, fine := strings.CutPrefix(string(p), "v")
		out, ok = append(out, text), append(ok, fine)
	}
	return out, ok
}

// holdValues holds what is known of values against one shell, and counts those of which
// something is known and that the shell takes.
func holdValues(t testing.TB, shell, options string, all []valued) (held int) {
	t.Helper()
	texts, ok := inShell(t, shell, options, all)
	for i, v := range all {
		switch {
		case !ok[i] || !v.known():
		case v.is.mayBe(texts[i]):
			held++
		default:
			t.Errorf("%s: %q makes %q, which is not in %v", filepath.Base(shell), v.line, texts[i], v.is)
		}
	}
	return held
}

// TestValuesAreThoseOfEveryShell: what the plain reading says of a value holds in dash,
// bash and zsh, with the options of a user too, or it says nothing.
func TestValuesAreThoseOfEveryShell(t *testing.T) {
	t.Parallel() // it waits for shells
	var lines []string
	for i := range tries {
		lines = append(lines, rapid.Custom(genValued).Example(i))
	}
	read := func(user bool) (all []valued) {
		for _, line := range lines {
			all = append(all, readValue(line, user))
		}
		return all
	}
	of := map[string][]valued{"": read(false), userOptions: read(true)}
	for _, shell := range shellsOf(t, true) {
		for options, all := range of {
			if options != "" && filepath.Base(shell) != "zsh" {
				continue
			}
			held := holdValues(t, shell, options, all)
			if t.Logf("%s: of %d values of %d what is known holds", filepath.Base(shell), held, len(all)); held < tries/5 {
				t.Errorf("%s: of only %d values anything is known", filepath.Base(shell), held)
			}
		}
	}
}

// FuzzValuesAreThoseOfEveryShell looks for others.
func FuzzValuesAreThoseOfEveryShell(f *testing.F) {
	shells := shellsOf(f, true)
	f.Fuzz(func(t *testing.T, data []byte) {
		rapid.MakeFuzz(func(rt *rapid.T) {
			line := genValued(rt)
			for _, shell := range shells {
				holdValues(t, shell, "", []valued{readValue(line, false)})
				if filepath.Base(shell) == "zsh" {
					holdValues(t, shell, userOptions, []valued{readValue(line, true)})
				}
			}
		})(t, data)
	})
}
