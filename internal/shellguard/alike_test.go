package shellguard

import (
	"testing"

	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// FuzzUsualForm: no rule and no line makes the readings fail.
func FuzzUsualForm(f *testing.F) {
	for _, line := range []string{"pip3 install x", "python3 -Im pip x", "docker image rm x", "npm run test", "cargo +n r", "kubectl delete ns/x", "git branch -d -f x", "ssh a@b", "bash -o x ./a.sh b"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		spec, err := ParsePattern(line, false)
		if err != nil || spec.Any {
			return
		}
		l := Analyze(line, optionsOn(shelltest.NewMachine()))
		for i := range l.Programs {
			p := &l.Programs[i]
			spec.may(p)
			if r := p.readings(p.Args); len(r) == 0 || r[0].name != programName(p.Name) {
				t.Errorf("%q is not read as it stands", p.Name)
			}
		}
	})
}
