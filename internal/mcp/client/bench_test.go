package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

const benchResult = `{"resultType":"complete","content":[{"type":"text","text":"4"}],"structuredContent":{"value":4}}`

// cheap answers with as little work as there can be, so that what is measured
// is the client.
func cheap(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(body, &m) != nil {
		return
	}
	result := benchResult
	if m.Method == mcp.MethodDiscover {
		result = discoverResult
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// One call over HTTP: as plain as can be, by this package, by the library.
func BenchmarkCallHTTP(b *testing.B) {
	way := serve(b, http.HandlerFunc(cheap))
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":2}}}`)
			resp, err := way.Client.Post(way.URL, "application/json", bytes.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				b.Fatal(err)
			}
			resp.Body.Close()
			var answer struct{ Result json.RawMessage }
			if err := json.Unmarshal(text, &answer); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ours", func(b *testing.B) { benchOurs(b, way) })
	b.Run("library", func(b *testing.B) {
		benchLibrary(b, &sdk.StreamableClientTransport{Endpoint: way.URL, HTTPClient: way.Client})
	})
}

// One call over a pipe.
func BenchmarkCallStdio(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		benchOurs(b, Stdio{Start: func(context.Context) (Process, error) {
			in, out, done := cheapLines()
			return Process{Stdin: in, Stdout: out, Done: done}, nil
		}})
	})
	b.Run("library", func(b *testing.B) {
		in, out, _ := cheapLines()
		benchLibrary(b, &sdk.IOTransport{Reader: out, Writer: in})
	})
}

// cheapLines is cheap for a stream.
func cheapLines() (io.WriteCloser, io.ReadCloser, <-chan struct{}) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer outW.Close()
		lines := bufio.NewScanner(inR)
		for lines.Scan() {
			var m struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
			}
			if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
				continue
			}
			result := benchResult
			if m.Method == mcp.MethodDiscover {
				result = discoverResult
			}
			if _, err := fmt.Fprintf(outW, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result); err != nil {
				return
			}
		}
	}()
	return inW, outR, done
}

func benchOurs(b *testing.B, way Transport) {
	s := open(b, Config{Transport: way})
	arguments := json.RawMessage(`{"name":"add","arguments":{"a":2,"b":2}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Do(b.Context(), Call{Method: mcp.MethodToolsCall, Params: arguments}); err != nil {
			b.Fatal(err)
		}
	}
}

func benchLibrary(b *testing.B, way sdk.Transport) {
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(b.Context(), way, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.CallTool(b.Context(), &sdk.CallToolParams{Name: "add", Arguments: map[string]int{"a": 2, "b": 2}}); err != nil {
			b.Fatal(err)
		}
	}
}
