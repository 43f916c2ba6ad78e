package named

import (
	"strings"
	"testing"
)

// TestWork is the attack by scripts that are made to be walked again from every
// place in them: however long they are, the steps have a bound. It is counted, for
// a clock tells more about the machine.
func TestWork(t *testing.T) {
	const size = maxText
	fill := func(begin, piece, end string) string {
		n := (size - len(begin)) / (len(piece) + len(end))
		return begin + strings.Repeat(piece, n) + strings.Repeat(end, n)
	}
	long := strings.Repeat("a;", maxWord/2-1)
	for name, text := range map[string]string{
		"pipeline":       fill("a", "|a", ""),
		"interpreters":   fill("cat a", "|sh", ""),
		"eval":           fill("", `eval "$(`, `)"`),
		"eval of few":    strings.Repeat("eval \"$(cat "+strings.Repeat(`"$(cat `, 100)+"a"+strings.Repeat(`)"`, 100)+")\"\n", size/1000),
		"list":           fill("a", ";a", ""),
		"both":           fill("a", "&&a", ""),
		"either":         fill("a", "||a", ""),
		"blocks":         strings.Repeat("{ ", size/16) + "a" + strings.Repeat(";}", size/16),
		"subshells":      strings.Repeat("( ", size/16) + "a" + strings.Repeat(")", size/16),
		"long list":      fill("", `x=$(`, `)`) + "\nx=$(a" + strings.Repeat("|a", size/4) + ")",
		"read by many":   fill("a", "<b|sh", ""),
		"long variables": "x='" + long + "'\neval" + strings.Repeat(" $x", size/4),
		"many evals":     "x='" + long + "'\n" + strings.Repeat("eval $x\n", size/9),
		"cut":            "x='" + strings.Repeat("a", maxWord-1) + "'\n" + strings.Repeat("y=${x%b*c}\n", size/12),
	} {
		t.Run(name, func(t *testing.T) {
			f := newScriptFollower("", t.TempDir())
			for _, script := range parseAll(text) {
				f.script(script, f.top+"/.envrc")
			}
			// Where the work is done, each part may still ask once for more.
			if steps, most := maxSteps-f.steps, maxSteps+4*rounds*len(text); steps > most {
				t.Errorf("%d steps, %d at most", steps, most)
			}
		})
	}
}
