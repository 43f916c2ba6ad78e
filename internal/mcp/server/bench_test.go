package server

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
)

// official is the same crib behind the official library's server: what this
// package is measured by.
func official(b *testing.B, c *toolcrib.Crib) *mcp.Server {
	b.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "toolcrib", Version: "1"}, nil)
	spec, _ := c.Tool(toolcrib.Caller{}, "count")
	s.AddTool(&mcp.Tool{Name: spec.Name, Description: spec.Description, InputSchema: spec.Input}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := c.Call(ctx, toolcrib.Call{Tool: r.Params.Name, Input: r.Params.Arguments})
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{StructuredContent: result.Value, Content: []mcp.Content{&mcp.TextContent{Text: string(result.Value)}}}, nil
	})
	return s
}

// sink is a response that keeps what is looked at.
type sink struct {
	header http.Header
	body   bytes.Buffer
	code   int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(p []byte) (int, error) { return s.body.Write(p) }
func (s *sink) WriteHeader(code int)        { s.code = code }
func (s *sink) Flush()                      {}

const countLegacy = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"count","arguments":{"n":1}}}`

// BenchmarkCallHTTP is one call of a tool that does nothing, from the request to
// the answer, without the network: ours beside the official library.
func BenchmarkCallHTTP(b *testing.B) {
	s := fuzzed(b)
	sdk := official(b, s.cfg.Crib)
	stateful := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdk }, &mcp.StreamableHTTPOptions{JSONResponse: true})
	stateless := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdk }, &mcp.StreamableHTTPOptions{JSONResponse: true, Stateless: true})
	h, body := modern("tools/call", `{}`, `,"name":"count","arguments":{"n":1}`)
	for _, c := range []struct {
		name    string
		handler http.Handler
		legacy  bool
	}{{"legacy/ours", s.Handler(), true}, {"legacy/official", stateful, true}, {"modern/ours", s.Handler(), false}, {"modern/official", stateless, false}} {
		b.Run(c.name, func(b *testing.B) {
			send := func(h http.Header, body string) *sink {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				r.Header = h
				w := &sink{header: http.Header{}}
				c.handler.ServeHTTP(w, r)
				return w
			}
			header, text := h.Clone(), body
			header.Set("Content-Type", "application/json")
			header.Set("Accept", "application/json, text/event-stream")
			if c.legacy {
				text = countLegacy
				begin := http.Header{"Content-Type": header["Content-Type"], "Accept": header["Accept"]}
				w := send(begin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`)
				header = begin.Clone()
				header.Set(headerSession, w.header.Get(headerSession))
				header.Set(headerVersion, "2025-11-25")
				send(header, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			}
			b.ReportAllocs()
			for b.Loop() {
				if w := send(header, text); !strings.Contains(w.body.String(), `"structuredContent":{"n":1}`) {
					b.Fatal(w.code, w.body.String())
				}
			}
		})
	}
}

// BenchmarkCallStdio is the same over a pipe.
func BenchmarkCallStdio(b *testing.B) {
	s := fuzzed(b)
	sdk := official(b, s.cfg.Crib)
	_, body := modern("tools/call", `{}`, `,"name":"count","arguments":{"n":1}`)
	for _, c := range []struct {
		name, text string
		serve      func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error
	}{
		{"legacy/ours", countLegacy, s.ServeStdio},
		{"legacy/official", countLegacy, func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
			return sdk.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
		}},
		{"modern/ours", body, s.ServeStdio},
		{"modern/official", body, func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
			return sdk.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			in, toServer := io.Pipe()
			fromServer, out := io.Pipe()
			served := make(chan error, 1)
			go func() { served <- c.serve(b.Context(), in, out) }()
			lines := bufio.NewScanner(fromServer)
			say := func(text string) string {
				if _, err := io.WriteString(toServer, text+"\n"); err != nil {
					b.Fatal(err)
				}
				lines.Scan()
				return lines.Text()
			}
			if strings.HasPrefix(c.name, "legacy") {
				say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`)
				if _, err := io.WriteString(toServer, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if got := say(c.text); !strings.Contains(got, `"structuredContent":{"n":1}`) {
					b.Fatal(got)
				}
			}
			_ = toServer.Close()
			<-served
		})
	}
}

// BenchmarkList is a list of 500 tools, and the call of the crib alone.
func BenchmarkList(b *testing.B) {
	var many []toolcrib.Tool
	for i := range 500 {
		many = append(many, echo("t"+strings.Repeat("x", i%40)+string(rune('a'+i%26))+string(rune('a'+i/26)), `{"type":"object","properties":{"path":{"type":"string","description":"Where it is."},"n":{"type":"integer"}}}`))
	}
	s, _ := newStore(b, many...)
	v := &clientRequest{client: &client{modern: true}, params: &params{}}
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.listTools(v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.toolList()
		}
	})
	b.Run("crib", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.cfg.Crib.Call(b.Context(), toolcrib.Call{Tool: "count", Input: []byte(`{"n":1}`)}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
