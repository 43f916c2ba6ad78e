package finder

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/find"
	"github.com/toolcrib/toolcrib/internal/tsdecl"
)

// Declarer finds tools for models that write programs: what it gives are TypeScript declarations, as many as a few hundred tokens
// have room for. Like the tools of the box, it shows a caller exactly what that caller sees.
type Declarer struct {
	box  box
	hide func(toolcrib.Entry) bool
}

// NewDeclarer makes one. Hide leaves out what programs cannot call; nil: nothing is left out.
func NewDeclarer(needs Needs, hide func(toolcrib.Entry) bool) *Declarer {
	if needs.Log == nil {
		needs.Log = slog.New(slog.DiscardHandler)
	}
	if hide == nil {
		hide = func(toolcrib.Entry) bool { return false }
	}
	return &Declarer{box: box{needs: needs, indexes: newIndexes(find.New(nil))}, hide: hide}
}

// The tokens of answers.
const (
	declared       = 6   // tools that are declared
	declaredTokens = 600 // all of them together, about
	describeTokens = 1500
	minDeclared    = 0.3 // the fit of a tool that is declared, against the best
)

// Search gives the declarations of the tools that fit a wish best, and the names of those that come next.
func (d *Declarer) Search(ctx context.Context, caller toolcrib.Caller, query string) (string, error) {
	specs := d.visible(caller)
	query = strings.TrimSpace(query)
	if query == "" || len(query) > 1000 {
		return "", &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: "search takes a few words that say what is to be done"}
	}
	hits := d.box.search(ctx, caller, specs, query, declared+maxMore)
	if len(hits) == 0 {
		return fmt.Sprintf("// None of %d tools fits %.80q: say it in other words.", len(specs), query), ctx.Err()
	}
	shown := 0
	var tools []tsdecl.Tool
	for shown < min(declared, len(hits)) && hits[shown].Score >= minDeclared*hits[0].Score {
		tools = append(tools, toolOf(specs[hits[shown].Doc]))
		shown++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// %d of %d tools.", shown, len(specs))
	if more := further(hits, specs, shown); len(more) > 0 {
		fmt.Fprintf(&b, " describe(name) tells of these, too: %s", strings.Join(more, ", "))
	}
	b.WriteString("\n" + tsdecl.DeclareWithin(tools, declaredTokens))
	return b.String(), ctx.Err()
}

// Describe gives the whole declaration of one tool.
func (d *Declarer) Describe(_ context.Context, caller toolcrib.Caller, name string) (string, error) {
	specs := d.visible(caller)
	at := slices.IndexFunc(specs, func(s toolcrib.Entry) bool { return s.Name == name })
	if at < 0 {
		return "", &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: strings.ReplaceAll(d.box.unknown(specs, name).Error(), "search_tools", "search(query)")}
	}
	return "// effects: " + specs[at].LeadsText() + "\n" + tsdecl.Declare([]tsdecl.Tool{toolOf(specs[at])}, describeTokens), nil
}

func (d *Declarer) visible(caller toolcrib.Caller) []toolcrib.Entry {
	return slices.DeleteFunc(d.box.visible(caller), d.hide)
}

func toolOf(s toolcrib.Entry) tsdecl.Tool {
	return tsdecl.Tool{Name: s.Name, Description: s.Description, Input: s.Input, Output: s.Output}
}
