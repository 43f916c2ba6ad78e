package toolcrib

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Call is one use of a tool.
type Call struct {
	// ID names this use. A caller that may have to repeat a call sets it: the
	// same ID with the same tool and input is answered from the journal instead
	// of being run again. Empty: a new one is made.
	ID    string
	Tool  string
	Input json.RawMessage // a JSON object; empty means {}
	// Caller comes from the frontend's authentication, never from the model.
	Caller Caller
	Parent string // the ID of the call that made this one, if any
	// Lenient asks for lossless coercion ("3" for 3) and for dropping unknown
	// arguments. Frontends set it for protocols whose callers expect that.
	Lenient bool

	depth int // how many calls stand above this one
}

// Caller is who calls. Two callers with the same Subject share call IDs.
type Caller struct {
	Subject  string `json:"subject,omitempty"` // the person or service that answers for the call
	Agent    string `json:"agent,omitempty"`   // the preset it runs under
	Session  string `json:"session,omitempty"` // one conversation
	Frontend string `json:"via,omitempty"`     // the frontend
	Dialect  string `json:"dialect,omitempty"` // whose names and shapes it speaks; empty is ours
	// Organisation is the tenant it belongs to, and Token the name of what it
	// was authenticated with. Empty: the node's own, and none.
	Organisation string `json:"organisation,omitempty"`
	Token        string `json:"token,omitempty"`
	// Client is the program it uses, as that names itself: for people who read it.
	Client string `json:"client,omitempty"`
}

// maxWord bounds the names a caller gives: what is longer is no name.
const maxWord = callid.Longest

// clipped bounds what the journal keeps of a caller's names.
func (c Caller) clipped() Caller {
	for _, word := range []*string{&c.Subject, &c.Agent, &c.Session, &c.Frontend, &c.Dialect, &c.Organisation, &c.Token, &c.Client} {
		*word = text.Clip(*word, maxWord)
	}
	return c
}
