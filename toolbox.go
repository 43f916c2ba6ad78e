package toolcrib

import "context"

// Toolbox supplies tools: files, a shell, an MCP server, a folder of skills.
// Tools may be called again at any time and answers what there is now. A box
// may also be an io.Closer, and if its tools change by themselves it has a method
// Notify(changed func()) (stop func()): it calls changed, which returns at once,
// after each change until stop is called. What it has and does not give out it
// may tell in a method Absent() (group string, why map[string]string): the group of
// its tools, and by tool a sentence for who calls it; the empty name is all of them.
type Toolbox interface {
	Name() string // [a-zA-Z0-9_-]{1,64}, unique in a catalog
	Tools(ctx context.Context) ([]Tool, error)
}

// NewBox is a Toolbox of a fixed list of tools.
func NewBox(name string, tools ...Tool) Toolbox {
	return fixedBox{name: name, tools: tools}
}

type fixedBox struct {
	name  string
	tools []Tool
}

func (b fixedBox) Name() string { return b.name }

func (b fixedBox) Tools(context.Context) ([]Tool, error) {
	return append([]Tool(nil), b.tools...), nil
}
