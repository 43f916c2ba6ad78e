package toolcrib

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/gotype"
	"github.com/toolcrib/toolcrib/internal/schema"
)

// Env is what a running tool is handed: the call it serves and the handles it
// was granted. A handle that was not granted, or is for an effect that the tool
// does not declare, is nil, so a tool cannot forget to check. An Env is good for
// its one call only.
type Env struct {
	Call Call // as admitted: Input has its defaults, in native form

	// Files is the granted directories, to read for a tool that does not
	// declare to write. Nil: none was granted.
	Files *files.Handle
	// HTTP reaches the granted hosts, and private addresses only where these
	// were granted; see [httpclient.New]. Nil: no host was granted.
	HTTP *http.Client
	// Exec runs a program inside the sandbox. Nil: no program was granted.
	Exec func(ctx context.Context, cmd Cmd) (Exit, error)
	// Secret gives a credential by name, of those that were granted. Nil: none was.
	Secret func(ctx context.Context, name string) (string, error)
	// Use calls another tool as a call of its own: judged and recorded, with
	// this call as its parent and this caller as its caller.
	Use func(ctx context.Context, tool string, input any) (*Result, error)
	// Ask puts a question to the person. Nil: nobody is there to be asked.
	Ask func(ctx context.Context, q Question) (Answer, error)
	// Settle has changes of a program judged when the tool has ended; false: it is over.
	Settle func(Changes) bool
	// Emit tells screens what is going on. Never nil.
	Emit func(Event)

	// doc is Call.Input parsed, where that was done already. Whoever takes it
	// out owns it: the tool that decodes it, or the end of the call.
	doc atomic.Pointer[schema.Doc]
}

// parsed takes the parsed form of an input, if it is the one this Env has.
func (e *Env) parsed(input json.RawMessage) *schema.Doc {
	if e == nil || len(input) == 0 || len(input) != len(e.Call.Input) || &input[0] != &e.Call.Input[0] {
		return nil
	}
	return e.doc.Swap(nil)
}

// maxDepth ends a chain of tools that call each other in a circle.
const maxDepth = 16

// use makes the nested call of Env.Use.
func (c *Crib) use(ctx context.Context, f *flight, tool string, input any) (*Result, error) {
	if f.call.depth+1 > maxDepth {
		return nil, refuse(CodeDenied, tool, fmt.Sprintf("tools call each other more than %d deep", maxDepth), nil)
	}
	text, err := gotype.Input(input)
	if err != nil {
		return nil, refuse(CodeInvalid, tool, "the input cannot be written as JSON", err)
	}
	caller := f.call.Caller
	caller.Dialect = "" // tools speak to tools by their native names
	return c.Call(ctx, Call{Tool: tool, Input: text, Caller: caller, Parent: f.call.ID, depth: f.call.depth + 1})
}
