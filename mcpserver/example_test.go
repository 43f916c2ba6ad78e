package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/mcpserver"
)

// screen shows what the client would get.
type screen struct{}

func (screen) Write(text []byte) (int, error) { return fmt.Printf("%s", text) }
func (screen) Close() error                   { return nil }

func Example() {
	add := toolcrib.Define(toolcrib.Spec{Name: "add", Description: "Adds two numbers.", Effects: toolcrib.Pure},
		func(_ context.Context, _ *toolcrib.Env, in struct{ A, B int }) (struct{ Sum int }, error) {
			return struct{ Sum int }{in.A + in.B}, nil
		})
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{},
		Guards:  []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)},
		Journal: toolcrib.NoJournal{},
	}
	crib.Catalog.Load(context.Background(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("sums", add)}})

	s := mcpserver.New(crib, mcpserver.Config{Name: "sums", Version: "1"})
	defer s.Close()
	// s.ServeStdio(ctx) serves the client that started this program, and
	// http.ListenAndServe("127.0.0.1:8080", s) those that know Config.Token. Here a
	// text stands for the client.
	client := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"A":1,"B":2}}}
`)
	err := s.Serve(context.Background(), io.NopCloser(client), screen{})
	fmt.Println(err)
	// Unordered output:
	// {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"tools":{"listChanged":true}},"serverInfo":{"name":"sums","version":"1"}}}
	// {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"Sum\":3}"}],"structuredContent":{"Sum":3}}}
	// <nil>
}
