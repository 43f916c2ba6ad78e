package mcphub

import (
	"context"
	_ "embed" // the descriptions
	"encoding/json"
	"errors"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
)

// MetaName is the name of the box with the tools that speak about servers.
const MetaName = "hub"

// Imports takes the servers of a client's file over and says what it did. They
// are switched off until a person has switched them on.
type Imports func(ctx context.Context, path string, text []byte) (ImportReport, error)

// ImportReport is what an import did.
type ImportReport struct {
	Added []string `json:"added" doc:"The servers that were written to the configuration, switched off."`
	Left  []string `json:"left" doc:"What was left out, and why."`
}

//go:embed mcp_connect.md
var connectText string

//go:embed mcp_call.md
var callText string

//go:embed mcp_import.md
var importText string

// Meta is the box with mcp_connect, mcp_call and, if there is a way to import,
// mcp_import. Each is judged as what it does: starting a program, the tool that
// is named, changing the settings. May says whether a caller may have a server
// started, which no rule about mcp_connect itself can tell; nil: everyone may.
func (h *Hub) Meta(imports Imports, may func(ctx context.Context, caller toolcrib.Caller, server string) error) toolcrib.Toolbox {
	tools := []toolcrib.Tool{h.connectTool(may), callTool()}
	if imports != nil {
		tools = append(tools, importTool(imports))
	}
	return toolcrib.NewBox(MetaName, tools...)
}

type connectIn struct {
	Name string `json:"name" minlen:"1" maxlen:"64" doc:"The server, as the configuration calls it."`
}

type connectOut struct {
	Protocol string   `json:"protocol" doc:"The version of the protocol it speaks."`
	Tools    []string `json:"tools" doc:"Its tools, by the names the server has for them."`
	Held     []string `json:"held" doc:"Tools that a person has to approve first, because their definitions changed."`
}

func (h *Hub) connectTool(may func(ctx context.Context, caller toolcrib.Caller, server string) error) toolcrib.Tool {
	t := toolcrib.Define(toolcrib.Spec{
		Name: "mcp_connect", Title: "Start an MCP server", Description: connectText,
		Effects: toolcrib.Runs | toolcrib.Network, Idempotent: true, Group: group, Timeout: 2 * time.Minute,
	}, func(ctx context.Context, env *toolcrib.Env, in connectIn) (connectOut, error) {
		b, err := h.connectable(ctx, env.Call.Caller, in.Name, may)
		if err != nil {
			return connectOut{}, err
		}
		if err := b.Refresh(ctx); err != nil {
			return connectOut{}, err
		}
		out := connectOut{Protocol: b.knownVersion(), Tools: []string{}, Held: []string{}}
		for _, d := range b.definitions() {
			if b.stillApproved(d.Name, d.sum) {
				out.Tools = append(out.Tools, d.Name)
			}
		}
		for _, x := range b.Held() {
			out.Held = append(out.Held, x.Tool)
		}
		return out, nil
	})
	t.Preview = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (string, error) {
		var in connectIn
		if err := json.Unmarshal(input, &in); err != nil {
			return "", err
		}
		b, err := h.connectable(ctx, env.Call.Caller, in.Name, may)
		if err != nil {
			return "", err
		}
		return "", b.ready(ctx, toolcrib.Caller{}) // as Refresh starts it: for nobody in particular
	}
	return t
}

type callIn struct {
	Tool      string          `json:"tool_name" minlen:"1" maxlen:"64" doc:"The tool, by the name it has here, such as server__tool."`
	Arguments json.RawMessage `json:"arguments,omitempty" doc:"Its arguments, an object."`
}

// callTool calls another tool as a call of its own: the rules about that tool
// hold, and none about this one can stand in for them.
func callTool() toolcrib.Tool {
	return toolcrib.Tool{Spec: toolcrib.Spec{
		Name: "mcp_call", Title: "Call a tool by its name", Description: callText,
		Input:   json.RawMessage(`{"type":"object","properties":{"tool_name":{"type":"string","minLength":1,"maxLength":64,"description":"The tool, by the name it has here, such as server__tool."},"arguments":{"type":"object","description":"Its arguments."}},"required":["tool_name"],"additionalProperties":false}`),
		Effects: toolcrib.Pure, Calls: true, Group: group, Timeout: longest,
	}, Run: func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
		var in callIn
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, err
		}
		if in.Arguments == nil {
			in.Arguments = json.RawMessage(`{}`)
		}
		return env.Use(ctx, in.Tool, in.Arguments)
	}}
}

type importIn struct {
	Path string `json:"source_path" minlen:"1" doc:"The file of a client with its MCP servers, such as .mcp.json."`
}

// mostImported bounds what is read of a client's file.
const mostImported = 16 << 20

func importTool(imports Imports) toolcrib.Tool {
	t := toolcrib.Define(toolcrib.Spec{
		Name: "mcp_import", Title: "Take over MCP servers", Description: importText,
		Effects: toolcrib.Reads | toolcrib.Writes | toolcrib.Runs, Group: group, Timeout: time.Minute,
	}, func(ctx context.Context, env *toolcrib.Env, in importIn) (ImportReport, error) {
		text, err := clientFile(env, in.Path)
		if err != nil {
			return ImportReport{}, err
		}
		return imports(ctx, in.Path, text)
	})
	t.Preview = func(_ context.Context, env *toolcrib.Env, input json.RawMessage) (string, error) {
		var in importIn
		if err := json.Unmarshal(input, &in); err != nil {
			return "", err
		}
		text, err := clientFile(env, in.Path)
		if err != nil {
			return "", err
		}
		if _, ok := clientfiles.Detect(in.Path, text); !ok {
			return "", ErrUnknownFile
		}
		return "", nil
	}
	return t
}

// ErrUnknownFile: a file does not show which client it is of.
var ErrUnknownFile = errors.New("whose file this is cannot be told; a person can say it: toolcrib hub import --from CLIENT FILE")

func clientFile(env *toolcrib.Env, path string) ([]byte, error) {
	if env.Files == nil {
		return nil, errors.New("no directory is granted, so no file can be read; grant one in the configuration (grant.read)")
	}
	text, _, err := env.Files.ReadFile(path, mostImported)
	return text, err
}
