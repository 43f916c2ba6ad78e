package agent

import (
	"strings"

	"github.com/toolcrib/toolcrib/model"
)

// reactStream tells watchers the text of the final answer as it comes, and nothing else.
type reactStream struct {
	run   *run
	plain bool // there are no tools, so everything is the answer
	all   strings.Builder
	from  int             // where the answer begins; 0: not yet
	next  int             // what stands before has been searched for it
	told  strings.Builder // what watchers have
	// thought: they have been told what it thought.
	thought bool
}

func (s *reactStream) delta(d model.Delta) {
	if d.Text == "" {
		return
	}
	// Only what is new is searched, from the line on that it belongs to.
	start := strings.LastIndexByte(s.all.String(), '\n') + 1
	s.all.WriteString(d.Text)
	said := s.all.String()
	if s.from == 0 && !s.plain {
		after, next := finalIn(said, max(start, s.next))
		if after < 0 {
			if next > start {
				s.next = next
			}
			return
		}
		s.from = after
		s.think(thoughtOf(said))
	}
	// Blanks wait until something follows: an answer does not end with them.
	answer := answerAt(said, s.from)
	if rest := answer[min(s.told.Len(), len(answer)):]; rest != "" {
		s.told.WriteString(rest)
		s.run.emit(Event{Kind: Content, Text: rest})
	}
}

// think tells what the model thought, once.
func (s *reactStream) think(thought string) {
	if thought != "" && !s.thought {
		s.thought = true
		s.run.emit(Event{Kind: Stage, Text: Thinking, Thought: thought})
	}
}

// kept is what of the answer is kept if it breaks off.
func (s *reactStream) kept() string { return s.told.String() }
