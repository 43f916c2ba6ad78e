package cli

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stranger is a program of another account: stranger URL FILE [PRIVATE…]. It
// looks whether it can read what is private, and tries to have the server at
// URL write FILE, agreeing to everything it is asked for as long as it can. It
// prints a line of each thing that it got.
func stranger() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Println("account", os.Getuid())
	for _, file := range os.Args[3:] {
		if _, err := os.ReadFile(file); err == nil {
			fmt.Println("read", file)
		} else if _, err := os.ReadDir(file); err == nil {
			fmt.Println("read", file)
		}
	}
	for _, guess := range []string{"", "Bearer ", "Bearer toolcrib_", "Bearer null", "Basic Og=="} {
		client := mcp.NewClient(&mcp.Implementation{Name: "stranger", Version: "1"}, &mcp.ClientOptions{ElicitationHandler: agree})
		session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: os.Args[1], HTTPClient: &http.Client{Transport: header(guess)}, MaxRetries: -1}, nil)
		if err != nil {
			continue
		}
		fmt.Printf("let in with %q\n", guess)
		r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "write_file", Arguments: map[string]any{"path": os.Args[2], "content": "mine"}})
		if err == nil && !r.IsError {
			fmt.Println("wrote", os.Args[2])
		}
		_ = session.Close()
	}
	fmt.Println("done")
}

// agree takes the answer that lasts longest.
func agree(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	fmt.Println("asked")
	longest := ""
	if schema, ok := r.Params.RequestedSchema.(map[string]any); ok {
		properties, _ := schema["properties"].(map[string]any)
		answer, _ := properties["answer"].(map[string]any)
		offers, _ := answer["enum"].([]any)
		for _, o := range offers {
			if text, _ := o.(string); strings.HasPrefix(text, "allow") {
				longest = text
			}
		}
	}
	fmt.Println("chose", longest)
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": longest}}, nil
}

// header sends the same Authorization with every request; empty: none.
type header string

func (h header) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if h != "" {
		r.Header.Set("Authorization", string(h))
	}
	return http.DefaultTransport.RoundTrip(r)
}
