package grep

import (
	"errors"
	"regexp/syntax"
	"time"

	"github.com/dlclark/regexp2"
)

// backtracker matches patterns with look-around and back references. Such an
// engine can take for ever on a line made for it, so each line has its time.
type backtracker struct{ re *regexp2.Regexp }

// lineTime is how long one line may take.
const lineTime = 500 * time.Millisecond

// ErrSlow tells that a pattern needs too long.
var ErrSlow = errors.New("the pattern takes too long on one of the lines; write it without repetitions inside repetitions")

// newBacktracker reads what regexp does not understand; nil if that is not why
// it refused the pattern, or if nobody understands it.
func newBacktracker(pattern string, refusal error) *backtracker {
	var why *syntax.Error
	if !errors.As(refusal, &why) {
		return nil
	}
	switch why.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidEscape, syntax.ErrInvalidNamedCapture: // (?=…), \1, (?<=…)
	default:
		return nil
	}
	re, err := regexp2.Compile(pattern, regexp2.RE2)
	if err != nil {
		// The library's RE2 mode is Python's way of naming groups and such;
		// what it cannot read may still be Perl's.
		if re, err = regexp2.Compile(pattern, regexp2.None); err != nil {
			return nil
		}
	}
	re.MatchTimeout = lineTime
	return &backtracker{re}
}

func (b *backtracker) match(line []byte) (bool, error) {
	ok, err := b.re.MatchString(string(line))
	if err != nil { // the only one there is
		return false, ErrSlow
	}
	return ok, nil
}
