package files

import (
	"bytes"
	"hash/maphash"
	"io"
)

// Again knows the values that were found in the parts of a text, and finds them
// in the others.
type Again interface {
	// Add keeps what is hidden in a part.
	Add(text string, hidden []Span)
	// Find gives what is hidden in a part together with the values of the others
	// in it, in order and apart.
	Find(text string, hidden []Span) []Span
}

// survey is what is known of a long text before any of it is given.
type survey struct {
	again Again // nil: nobody knows values
	wide  bool  // somewhere a value is hidden in letters of two bytes
	seed  maphash.Seed
	looks map[uint64]windowView // by window: a text that changes meanwhile is looked at anew
	spans int                   // in looks
}

// windowView is what is hidden in a window.
type windowView struct {
	hidden []Span
	wide   bool // something in letters of two bytes, too
}

// mostSpans bounds what a survey keeps. Windows beyond it are looked at twice.
const mostSpans = 1 << 20

// survey looks through a text.
func (b *Box) survey(r io.Reader) (*survey, error) {
	s := &survey{seed: maphash.MakeSeed(), looks: map[uint64]windowView{}}
	if b.cfg.Again != nil {
		s.again = b.cfg.Again()
	}
	for w := (&windows{r: r}); !w.end; {
		window, err := w.next()
		if err != nil {
			return nil, err
		}
		text := string(window)
		l, err := b.hiddenIn(text)
		if err != nil {
			return nil, err
		}
		if s.again != nil {
			s.again.Add(text, l.hidden)
		}
		s.wide = s.wide || l.wide
		if s.spans += len(l.hidden); s.spans <= mostSpans {
			s.looks[maphash.String(s.seed, text)] = l
		}
		w.pass(window, l.hidden)
	}
	return s, nil
}

// viewWindow tells what is hidden in a window of a text; without a survey the window
// is all of it.
func (b *Box) viewWindow(s *survey, window []byte) (l windowView, err error) {
	text := string(window)
	known := false
	if s != nil {
		l, known = s.looks[maphash.String(s.seed, text)]
	}
	if !known {
		if l, err = b.hiddenIn(text); err != nil {
			return l, err
		}
	}
	if s != nil {
		l.wide = l.wide || s.wide
		if s.again != nil {
			l.hidden = s.again.Find(text, l.hidden)
		}
	}
	return l, nil
}

// hiddenIn tells what is hidden in a text by itself.
func (b *Box) hiddenIn(text string) (l windowView, err error) {
	if l.hidden, err = b.cfg.Hide(text); err != nil {
		return l, err
	}
	if data := []byte(text); bytes.IndexByte(data, 0) >= 0 {
		l.wide, err = b.hides(bytes.ReplaceAll(b.marked(data, l.hidden), []byte(b.cfg.Mark), nil))
	}
	return l, err
}
