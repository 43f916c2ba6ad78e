package server

import (
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/internal/text"
)

// hintMost is how long a hint may be, as a mark.
const hintMost = 160

// hint is what the crib adds to an error of a server: what of the arguments did not
// fit. It stands before the server's words, since it is none of them.
func (s *Server) hint(err error) string {
	e, ok := toolcrib.AsError(err)
	if !ok || len(e.Fields) == 0 {
		return ""
	}
	at := strings.LastIndex(e.Message, schema.HintStart) // behind the server's words, which may say the same
	if at < 0 {
		return ""
	}
	hint := s.clean(strings.TrimSuffix(e.Message[at:], "."))
	if s.cfg.Harmless != nil {
		hint = s.cfg.Harmless(hint)
	}
	return text.Clip(hint, hintMost-len("…")-len(". ")) + ". "
}
