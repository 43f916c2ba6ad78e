package sandboxes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/hostproxy"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// NetworkTool is what records of connections stand under in the journal, each with
// the call that it belongs to as its parent. Those of a program that serves many calls
// have none, and say which program it is.
const NetworkTool = "sandbox/network"

// connections is the record of what one program reached. It begins with the first
// connection, before that is made, and ends with the program.
type connections struct {
	crib    *toolcrib.Crib
	call    toolcrib.Call
	program string // of no call
	hosts   []string

	mu     sync.Mutex
	rec    *toolcrib.Record
	failed error
	list   []connection
	more   int64
}

// connection is one in the journal.
type connection struct {
	Host     string    `json:"host"`
	Port     string    `json:"port,omitempty"`
	Refused  string    `json:"refused,omitempty"`
	Failed   string    `json:"failed,omitempty"`
	Sent     int64     `json:"sent"`
	Received int64     `json:"received"`
	Start    time.Time `json:"start"`
	Millis   int64     `json:"ms"`
	Times    int       `json:"times,omitempty"` // further ones like it, when there were many
}

// Bounds of one record: those that come after the first are added up by host.
const (
	maxConnections = 200
	maxKinds       = 400
)

// Watch has the connections of a program written down, if it makes some, until it has
// ended. A program that has the whole network, or none, makes none that anybody sees.
func (t *Telling) Watch(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (context.Context, func() error) {
	if len(grant.Hosts) == 0 || slices.Contains(grant.Hosts, "*") || t.Crib == nil {
		return ctx, func() error { return nil }
	}
	c := &connections{crib: t.Crib, call: cmd.Call, hosts: grant.Hosts}
	if cmd.Call.ID == "" {
		c.program = cmd.Tool
	}
	return sandbox.WithWatch(ctx, sandbox.NetworkWatch{Begin: func(string, string) error { return c.begin() }, Ended: c.add}), c.end
}

func (c *connections) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rec != nil || c.failed != nil {
		return c.failed
	}
	of := map[string]any{"hosts": c.hosts}
	if c.program != "" {
		of["program"] = c.program
	}
	input, err := json.Marshal(of)
	if err != nil {
		return err
	}
	now := time.Now()
	rec := &toolcrib.Record{
		ID: callid.New(now), Parent: c.call.ID, Caller: c.call.Caller, Tool: NetworkTool, Input: input, Start: now,
		Box: "sandbox", Native: "network",
	}
	if d, ok := c.crib.Journal.(interface{ Digest(text []byte) string }); ok {
		rec.InputHash = d.Digest(input)
	}
	if c.crib.Journal == nil {
		c.failed = errors.New("there is no journal")
		return c.failed
	}
	if _, err := c.crib.Journal.Begin(context.Background(), rec); err != nil { // the caller may be gone, and the program not
		c.failed = fmt.Errorf("recording the connections of a program: %w", err)
		return c.failed
	}
	c.rec = rec
	return nil
}

func (c *connections) add(one hostproxy.Connection) {
	if c.begin() != nil { // those that were refused too
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := connection{
		Host: one.Host, Port: one.Port, Refused: one.Refused, Failed: one.Failed, Sent: one.Sent, Received: one.Received,
		Start: one.Start.UTC(), Millis: one.Duration.Milliseconds(),
	}
	if len(c.list) < maxConnections {
		c.list = append(c.list, entry)
		return
	}
	same := func(o connection) bool {
		return o.Host == entry.Host && o.Port == entry.Port && o.Refused == entry.Refused && o.Failed == entry.Failed
	}
	switch i := slices.IndexFunc(c.list, same); {
	case i >= 0:
		o := &c.list[i]
		o.Times, o.Sent, o.Received = o.Times+1, o.Sent+entry.Sent, o.Received+entry.Received
	case len(c.list) < maxKinds:
		c.list = append(c.list, entry)
	default:
		c.more++
	}
}

// end closes the record.
func (c *connections) end() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rec == nil {
		return nil
	}
	value := map[string]any{"connections": c.list}
	if c.more > 0 {
		value["more"] = c.more
	}
	text, err := json.Marshal(map[string]any{"value": value})
	if err != nil {
		return err
	}
	if d, ok := c.crib.Journal.(interface{ Digest(text []byte) string }); ok {
		c.rec.ResultHash = d.Digest(text)
	}
	c.rec.Result = redact.JSON(text) // a program can put anything into a name
	if c.crib.Redact != nil {
		c.rec.Result = c.crib.Redact(text)
	}
	c.rec.Outcome, c.rec.Duration = toolcrib.Done, time.Since(c.rec.Start)
	if err := c.crib.Journal.End(context.Background(), c.rec); err != nil {
		return fmt.Errorf("recording the connections of a program: %w", err)
	}
	return nil
}
