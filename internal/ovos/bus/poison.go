package bus

import "fmt"

// maxDepth is how deep a frame may be nested. Python's own JSON reader gives
// up at about a thousand levels, less the stack it already stands on.
const maxDepth = 512

// BigInteger is the Reason of a PoisonError for a number that Python's fast
// writer cannot write; hosts in the field have words of their own for it.
const BigInteger = "an integer beyond 64 bits"

// PoisonError says why a frame would disconnect the Python clients of the bus.
type PoisonError struct {
	Reason string
	Offset int // the byte of the frame, or of the part of it, where it shows
}

func (e *PoisonError) Error() string {
	return fmt.Sprintf("poison frame: %s at byte %d", e.Reason, e.Offset)
}

// CheckFrame returns a *[PoisonError] if a frame on the bus would disconnect
// the clients of the field, and nil for everything they live with: absent
// keys, a type that is no string, unknown keys, integers beyond 64 bits.
func CheckFrame(frame []byte) error {
	s := scanner{text: frame}
	_, err := s.envelope(true)
	return err
}

// checkValue is the strict check for a piece of a frame of ours that stands
// `depth` levels deep in it. Every piece is checked as a whole JSON value, so
// that none can close its surroundings and add keys of its own.
func checkValue(raw []byte, depth int, object bool) error {
	s := scanner{text: raw, depth: depth, ints: true}
	if err := s.utf8(); err != nil {
		return err
	}
	s.space()
	if object && s.peek() != '{' {
		return s.fail("not an object")
	}
	if err := s.value(); err != nil {
		return err
	}
	return s.end()
}
