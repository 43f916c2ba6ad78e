package pinned

import "encoding/json"

// Held is a definition that is kept back until a person approves it.
type Held struct {
	Tool string
	Why  string          // changed, new, or what was noticed
	Was  json.RawMessage // nil: it is new
	Is   json.RawMessage
	Hash string // of Is
}
