package mcphub

import (
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// pages is an error by which a server has the client open pages before the call
// is made again. They are questions like others: each has to be an address of the
// web, consented to, and says whose it is. An error without any that may be shown
// is an ordinary one.
func (b *Box) pages(said *mcp.Error) *mcp.Error {
	plain := func(why string) *mcp.Error {
		return &mcp.Error{Code: mcp.CodeInternal, Message: fmt.Sprintf("%s (it wants pages to be opened, %s)", clip(said.Message), why)}
	}
	switch b.server.Elicitation {
	case ConsentDeny:
		return plain("which is switched off for this server")
	case ConsentAsk:
		return plain("to which a person would have to consent first")
	}
	var data struct {
		Elicitations []json.RawMessage `json:"elicitations"`
	}
	if json.Unmarshal(said.Data, &data) != nil || len(data.Elicitations) == 0 || len(data.Elicitations) > asksMost {
		return plain("and does not say which")
	}
	list := make([]json.RawMessage, 0, len(data.Elicitations))
	for _, given := range data.Elicitations {
		if textMember(given, "mode") != "url" || textMember(given, "url") == "" || !goodPage(given) {
			return plain("of which one is no address of the web")
		}
		told, err := b.harmlessRequest(mcp.MethodElicit, given)
		if err != nil {
			return plain("which cannot be shown: " + err.Error())
		}
		list = append(list, told)
	}
	text, err := json.Marshal(map[string]any{"elicitations": list})
	if err != nil {
		return plain("which cannot be shown")
	}
	return &mcp.Error{Code: said.Code, Message: clip(said.Message), Data: text}
}
