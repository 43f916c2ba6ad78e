package mcpserve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// gate stands between a client's stream and the library, which ends the whole
// session at the first message it cannot read. A model chooses the arguments
// of a call, so a message can be anything: what the library would choke on is
// answered here, and the session goes on.
type gate struct {
	server *Server
	in     *bufio.Reader
	source io.Closer
	rest   []byte // of a good message, not yet read
	max    int

	once sync.Once

	mu  sync.Mutex // the library writes too
	out io.WriteCloser
}

func newGate(s *Server, in io.ReadCloser, out io.WriteCloser) *gate {
	return &gate{server: s, in: bufio.NewReaderSize(in, 64<<10), source: in, out: out, max: int(s.maxMessage())}
}

// maxMessage leaves room above the largest input, so that the crib itself says
// what is too long wherever it can.
func (s *Server) maxMessage() int64 {
	return 2*int64(max(s.cfg.Crib.Limits.Input, 4<<20)) + 1<<20
}

// maxDepth is well below what the library takes, and well above what the crib
// does.
const maxDepth = 500

// Read gives the library messages it can read, one line each.
func (g *gate) Read(p []byte) (int, error) {
	for len(g.rest) == 0 {
		line, err := g.line()
		if err != nil && len(line) == 0 {
			return 0, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if g.pass(line) {
			line = append(line, '\n')
			g.rest = line
		}
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// Write sends a message of the library whole.
func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.out.Write(p)
}

// Close closes both streams. The library closes what it reads and what it
// writes, which are one here.
func (g *gate) Close() error {
	var err error
	g.once.Do(func() { err = errors.Join(g.source.Close(), g.out.Close()) })
	return err
}

// line reads one message without its end; of one that is too long nothing is
// kept but an answer to it.
func (g *gate) line() ([]byte, error) {
	var line []byte
	for {
		part, err := g.in.ReadSlice('\n')
		if len(line) <= g.max {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(line) > g.max {
			g.refuse(nil, jsonrpc.CodeInvalidRequest, "the message is too long")
			line = nil
		}
		return bytes.TrimSuffix(line, []byte("\n")), err
	}
}

// frame is as much of a message as has to be looked at.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method *string         `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      map[string]any  `json:"_meta"`
	} `json:"params"`
}

// An ID is a string, or a whole number that fits 64 bits.
var goodID = regexp.MustCompile(`^("([^"\\]|\\.)*"|-?[0-9]{1,18})$`)

// pass reports whether the library can have a message. One it cannot have is
// answered.
func (g *gate) pass(line []byte) bool {
	var f frame
	if !json.Valid(line) {
		g.refuse(nil, jsonrpc.CodeParseError, "the message is not JSON, or is nested too deeply")
		return false
	}
	if line = bytes.TrimSpace(line); line[0] != '{' {
		g.refuse(nil, jsonrpc.CodeInvalidRequest, "the message is not a JSON-RPC object; batches are not taken")
		return false
	}
	deep := depth(line) > maxDepth
	err := json.Unmarshal(line, &f)
	if id := f.ID; id != nil && string(id) != "null" && !goodID.Match(id) {
		g.refuse(nil, jsonrpc.CodeInvalidRequest, "the id is neither a string nor a whole number of at most 18 digits")
		return false
	}
	switch {
	case !deep:
		return true // the library says what else is wrong with it
	case err == nil && f.Method != nil && *f.Method == "tools/call" && f.ID != nil:
		g.callDeep(f)
	default:
		g.refuse(f.ID, jsonrpc.CodeInvalidRequest, "the message is nested too deeply")
	}
	return false
}

// callDeep takes a call the library cannot read to the crib, which records
// and refuses it like any other with such an input.
func (g *gate) callDeep(f frame) {
	result, err := g.server.call(context.Background(), "", f.Params.Name, f.Params.Arguments, f.Params.Meta[callIDKey])
	if err != nil {
		g.refuse(f.ID, jsonrpc.CodeInvalidParams, err.Error())
		return
	}
	g.send(map[string]any{"jsonrpc": "2.0", "id": f.ID, "result": result})
}

func (g *gate) refuse(id json.RawMessage, code int64, message string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	g.send(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message}})
}

func (g *gate) send(message any) {
	text, err := json.Marshal(message)
	if err == nil {
		_, err = g.Write(append(text, '\n'))
	}
	if err != nil {
		g.server.cfg.Log.Error("cannot answer an MCP message", "err", err)
	}
}

// depth counts how deep a valid JSON text is nested.
func depth(text []byte) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}
