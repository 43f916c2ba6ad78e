package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// target is a tool at an endpoint.
type target struct {
	Name      string // gateway or direct
	URL       string
	Tool      string
	Arguments string   // a JSON object, in which $N stands for a number that no other call has
	Header    []string // "Name: value"
}

// client makes one call after another over one connection. It writes requests
// by hand, so that the time it takes itself is small and always the same.
type client struct {
	target  target
	url     *url.URL
	modern  bool
	timeout time.Duration
	version string // as agreed, of the legacy era
	session string // of the legacy era; empty: the server has none
	next    int
	unique  *atomic.Int64 // shared by all

	conn net.Conn
	in   *bufio.Reader
	buf  []byte
}

const (
	legacyVersion = "2025-11-25"
	modernVersion = "2026-07-28"
	mostAnswer    = 64 << 20
)

// open connects a client and, in the legacy era, begins a session.
func open(ctx context.Context, t target, modern bool, timeout time.Duration, unique *atomic.Int64) (*client, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s is no http or https address", t.URL)
	}
	if strings.ContainsFunc(t.Tool, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
		return nil, fmt.Errorf("%q is no name that can stand in a header", t.Tool)
	}
	c := &client{target: t, url: u, modern: modern, timeout: timeout, unique: unique}
	if modern {
		return c, nil
	}
	const hello = `"method":"initialize","params":{"protocolVersion":"` + legacyVersion + `","capabilities":{},"clientInfo":{"name":"gateway-bench","version":"1"}}}`
	got, err := c.post(ctx, "initialize", "", `{"jsonrpc":"2.0","id":0,`+hello)
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	result, err := got.answer(0)
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	var agreed struct {
		Version string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(result, &agreed); err != nil || strings.ContainsAny(agreed.Version, "\r\n") {
		return nil, fmt.Errorf("initialize: no version in %s", clip(result))
	}
	c.version = agreed.Version
	c.session = got.header.Get("Mcp-Session-Id")
	got, err = c.post(ctx, "notifications/initialized", "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if err == nil && got.code >= 300 {
		err = fmt.Errorf("%d: %s", got.code, clip(got.body))
	}
	if err != nil {
		return nil, fmt.Errorf("notifications/initialized: %w", err)
	}
	return c, nil
}

// call calls the tool once. What is no good result is an error.
func (c *client) call(ctx context.Context) error {
	c.next++
	id := c.next
	meta := ""
	if c.modern {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modernVersion +
			`","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"gateway-bench","version":"1"}}`
	}
	arguments := strings.ReplaceAll(c.target.Arguments, "$N", strconv.FormatInt(c.unique.Add(1), 10))
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, id, c.target.Tool, arguments, meta)
	got, err := c.post(ctx, "tools/call", c.target.Tool, body)
	if err != nil {
		return err
	}
	result, err := got.answer(id)
	if err != nil {
		return err
	}
	var r struct {
		IsError    bool            `json:"isError"`
		ResultType string          `json:"resultType"`
		Content    json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return err
	}
	if r.IsError || r.ResultType != "" && r.ResultType != "complete" || r.Content == nil {
		return fmt.Errorf("not a good result: %s", clip(result))
	}
	return nil
}

// close ends the session and the connection.
func (c *client) close(ctx context.Context) {
	if c.session != "" {
		_, _ = c.send(ctx, http.MethodDelete, "", "", "") // most servers forget it by themselves
	}
	c.drop()
}

func (c *client) drop() {
	if c.conn != nil {
		_ = c.conn.Close() // nothing is under way
	}
	c.conn = nil
}

func (c *client) post(ctx context.Context, method, name, body string) (reply, error) {
	return c.send(ctx, http.MethodPost, method, name, body)
}

// send makes one request and reads all of the response. A request is never
// sent twice.
func (c *client) send(ctx context.Context, verb, method, name, body string) (reply, error) {
	if err := ctx.Err(); err != nil {
		return reply{}, err
	}
	if c.conn == nil {
		if err := c.dial(ctx); err != nil {
			return reply{}, err
		}
	}
	b := c.buf[:0]
	b = append(b, verb...)
	b = append(b, ' ')
	b = append(b, c.url.RequestURI()...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, c.url.Host...)
	b = append(b, "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"...)
	switch {
	case c.modern:
		b = append(b, "MCP-Protocol-Version: "+modernVersion+"\r\nMcp-Method: "...)
		b = append(b, method...)
		b = append(b, "\r\n"...)
		if name != "" {
			b = append(b, "Mcp-Name: "...)
			b = append(b, name...)
			b = append(b, "\r\n"...)
		}
	case c.version != "":
		b = append(b, "MCP-Protocol-Version: "...)
		b = append(b, c.version...)
		b = append(b, "\r\n"...)
	}
	if c.session != "" {
		b = append(b, "Mcp-Session-Id: "...)
		b = append(b, c.session...)
		b = append(b, "\r\n"...)
	}
	for _, h := range c.target.Header {
		b = append(b, h...)
		b = append(b, "\r\n"...)
	}
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	b = append(b, body...)
	c.buf = b
	got, err := c.exchange(b)
	if err != nil || got.last {
		c.drop()
	}
	return got, err
}

func (c *client) dial(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	port := c.url.Port()
	if port == "" {
		port = c.url.Scheme
	}
	address := net.JoinHostPort(c.url.Hostname(), port)
	var conn net.Conn
	var err error
	if c.url.Scheme == "https" {
		conn, err = new(tls.Dialer).DialContext(ctx, "tcp", address)
	} else {
		conn, err = new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	if err != nil {
		return err
	}
	c.conn, c.in = conn, bufio.NewReaderSize(conn, 16<<10)
	return nil
}

func (c *client) exchange(request []byte) (reply, error) {
	if err := c.conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return reply{}, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return reply{}, err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return reply{}, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer+1))
	if cerr := resp.Body.Close(); err == nil {
		err = cerr
	}
	if err == nil && len(body) > mostAnswer {
		err = errors.New("the answer is too long")
	}
	return reply{code: resp.StatusCode, header: resp.Header, body: body, last: resp.Close}, err
}

// reply is a response that was read.
type reply struct {
	code   int
	header http.Header
	body   []byte
	last   bool // the connection is not used again
}

// answer finds the result of a request, whether it came as JSON or in a stream
// of events.
func (r reply) answer(id int) (json.RawMessage, error) {
	if r.code != http.StatusOK {
		return nil, fmt.Errorf("%d: %s", r.code, clip(r.body))
	}
	texts := [][]byte{r.body}
	if strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
		texts = events(r.body)
	}
	want := strconv.Itoa(id)
	for _, text := range texts {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(text, &m); err != nil || string(m.ID) != want || m.Result == nil && m.Error == nil {
			continue
		}
		if m.Error != nil {
			return nil, fmt.Errorf("the server said: %s", clip(m.Error))
		}
		return m.Result, nil
	}
	return nil, fmt.Errorf("no answer in %s", clip(r.body))
}

// events gives the data of each event of a stream.
func events(stream []byte) [][]byte {
	var all [][]byte
	var data []byte
	for line := range bytes.Lines(append(stream, "\n\n"...)) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if len(data) > 0 {
				all = append(all, data)
			}
			data = nil
			continue
		}
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(rest, []byte(" "))...)
		}
	}
	return all
}

func clip(text []byte) string {
	const most = 300
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}
