package grep

import (
	"errors"
	"regexp/syntax"
	"time"

	"github.com/toolcrib/toolcrib/internal/backtrack"
)

// lineTime is how long one line may take an engine that backtracks.
const lineTime = 500 * time.Millisecond

// ErrSlow tells that a pattern needs too long.
var ErrSlow = errors.New("the pattern takes too long on one of the lines; write it without repetitions inside repetitions")

// newBacktracker reads what regexp does not understand; nil if that is not why
// it refused the pattern, or if nobody understands it.
func newBacktracker(pattern string, refusal error) *backtrack.Pattern {
	var why *syntax.Error
	if !errors.As(refusal, &why) {
		return nil
	}
	switch why.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidEscape, syntax.ErrInvalidNamedCapture: // (?=…), \1, (?<=…)
	default:
		return nil
	}
	p, err := backtrack.Perl(pattern, lineTime)
	if err != nil {
		return nil
	}
	return p
}
