package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// outside uses the whole program: a client of the official SDK that talks to
// toolcrib mcp.
type outside struct {
	session *mcp.ClientSession
	home    string
}

// enterGateway starts a toolcrib whose only server is at this address.
func enterGateway(ctx context.Context, url string) (door, error) {
	home, err := os.MkdirTemp("", "toolcrib-driver-")
	if err != nil {
		return nil, err
	}
	o := &outside{home: home}
	config := strings.ReplaceAll(bare(url), "everything", "suite")
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(config), 0o600); err != nil {
		return nil, errors.Join(err, o.close())
	}
	cmd := exec.Command("toolcrib", "mcp")
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "TOOLCRIB_HOME="+home, "HOME="+home)
	cmd.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "driver", Version: "1"}, &mcp.ClientOptions{
		Capabilities:       &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{}},
		ElicitationHandler: consent,
	})
	o.session, err = client.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, nil)
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

// consent is a person who says yes to what a form proposes. The SDK fills in
// what has a default.
func consent(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	text, err := json.Marshal(req.Params.RequestedSchema)
	if err != nil {
		return nil, err
	}
	content := map[string]any{}
	if strings.Contains(string(text), `"confirmed"`) {
		content["confirmed"] = true
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}

func (o *outside) close() error {
	var err error
	if o.session != nil {
		err = o.session.Close()
	}
	return errors.Join(err, os.RemoveAll(o.home))
}

func (o *outside) tools(ctx context.Context) ([]listed, error) {
	list, err := o.session.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	out := make([]listed, len(list.Tools))
	for i, t := range list.Tools {
		out[i] = listed{t.Name, t.InputSchema}
	}
	return out, nil
}

func (o *outside) call(ctx context.Context, name string, arguments any) error {
	tools, err := o.tools(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(tools, func(t listed) bool { return t.name == name }) {
		return fmt.Errorf("there is no tool %s", name)
	}
	r, err := o.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return err
	}
	if r.IsError {
		text, err := json.Marshal(r.Content)
		fmt.Fprintf(os.Stderr, "driver: %s failed: %s (%v)\n", name, text, err)
	}
	return nil
}

func (o *outside) everyKind(ctx context.Context) error {
	resources, err := o.session.ListResources(ctx, nil)
	if err != nil || len(resources.Resources) == 0 {
		return fmt.Errorf("no resources: %w", err)
	}
	if _, err := o.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: resources.Resources[0].URI}); err != nil {
		return err
	}
	prompts, err := o.session.ListPrompts(ctx, nil)
	if err != nil || len(prompts.Prompts) == 0 {
		return fmt.Errorf("no prompts: %w", err)
	}
	_, err = o.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: prompts.Prompts[0].Name})
	return err
}
