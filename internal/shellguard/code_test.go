package shellguard

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestLinksMadeBefore: a link that leads to a home is followed before what is
// behind it is removed.
func TestLinksMadeBefore(t *testing.T) {
	m := shelltest.NewMachine()
	m.Links[work+"/h"] = home
	for line, floor := range map[string]bool{
		"rm -rf h/*": true, "rm -rf ./h/.": true, "rm -rf h/": true, "find h/ -delete": true, "chmod -R 777 h/": true, "rsync -a --delete empty/ h/": true,
		"rm h": false, "rm -rf h": false, "rm -rf src/*": false, "ls h/": false, "find . -delete": false, "rm -rf h/proj/out": false,
	} {
		if got := Floor(line, optionsOn(m)); (len(got) > 0) != floor {
			t.Errorf("%q: %v, want %v", line, got, floor)
		}
	}
}

// TestQuotedStrings: what stands in quotes, put together as the language would.
func TestQuotedStrings(t *testing.T) {
	for code, want := range map[string]string{
		`f('a b', "c")`: "a b|c", `'r'+'m' + " x"`: "rm x", `"\x72m"`: "rm", `'\162m'`: "rm", `"a\nb"`: "a\nb", `qw(rm -f x)`: "rm|-f|x", `q{rm {x}}`: "rm {x}",
		`%w[rm -f]`: "rm|-f", `%x(rm x)`: "rm x", `"""rm x"""`: "rm x", `a % b`: "", `x = q`: "", `'open`: "open",
	} {
		if got := strings.Join(quotedStrings(code), "|"); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

// FuzzCode: nothing that reads code of other languages breaks on any text.
func FuzzCode(f *testing.F) {
	for _, s := range []string{`'a'+"b\x7`, `qw(`, `%w[`, "1e rm -rf ~", "s/a/b/e;e", `s,\,,x,we`, `"""`} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		quotedStrings(s)
		codeFloor(s, []string{work}, nil)
		sedRuns([]string{s})
	})
}
