// Command gateway measures what a gateway costs: it calls one tool of an MCP
// server directly and by way of the gateway, in turns within one run, and
// shows both and how they compare. It drives anything that speaks MCP over
// streamable HTTP, so that gateways can be compared with each other.
//
// It belongs to nobody and imports nothing of this module. Its one invariant:
// a call that did not give a good result is never counted as one that did.
//
//	go run ./bench/gateway -url http://127.0.0.1:7717/mcp -direct http://127.0.0.1:9000/mcp \
//	    -tool add -args '{"a":$N,"b":1}' -clients 16 -calls 4000
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// headers collects -header flags.
type headers []string

func (h *headers) String() string { return strings.Join(*h, ", ") }

func (h *headers) Set(text string) error {
	name, value, ok := strings.Cut(text, ":")
	if !ok || strings.TrimSpace(name) == "" || strings.ContainsAny(text, "\r\n") {
		return fmt.Errorf("%q is not Name: value", text)
	}
	*h = append(*h, strings.TrimSpace(name)+": "+strings.TrimSpace(value))
	return nil
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	var (
		p          plan
		a, b       target
		more       headers
		eras, tool string
		arguments  string
		asJSON     bool
	)
	f := flag.NewFlagSet("gateway", flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&a.URL, "url", "", "the MCP endpoint of the gateway")
	f.StringVar(&b.URL, "direct", "", "the MCP endpoint of the server behind it; without, only -url is measured")
	f.StringVar(&tool, "tool", "", "the tool to call")
	f.StringVar(&b.Tool, "direct-tool", "", "its name at -direct, where the gateway gives it another")
	f.StringVar(&arguments, "args", "{}", "its arguments, a JSON object; $N in it stands for a number that no other call has, for gateways that do not let the same call be made for ever")
	f.IntVar(&p.Clients, "clients", 16, "how many clients call at once")
	f.IntVar(&p.Calls, "calls", 4000, "how many calls are made, each way")
	f.IntVar(&p.Rounds, "rounds", 10, "in how many turns")
	f.IntVar(&p.Warm, "warm", 200, "how many calls are made before, each way")
	f.DurationVar(&p.Timeout, "timeout", 30*time.Second, "how long one call may take")
	f.StringVar(&eras, "era", "both", "legacy (2025-11-25), modern (2026-07-28) or both")
	f.Var(&more, "header", "a header for -url, Name: value; may be repeated")
	f.BoolVar(&asJSON, "json", false, "write JSON")
	f.IntVar(&p.PID, "pid", 0, "the process of the gateway: show its memory and its CPU time (Linux)")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 || a.URL == "" || tool == "" {
		return errors.New("-url and -tool have to be given, and nothing but flags")
	}
	p.Unique = new(atomic.Int64)
	if err := json.Unmarshal([]byte(strings.ReplaceAll(arguments, "$N", "0")), &map[string]json.RawMessage{}); err != nil {
		return fmt.Errorf("-args: %w", err)
	}
	if p.Clients < 1 || p.Rounds < 1 || p.Calls < p.Rounds || p.Warm < 0 {
		return errors.New("-clients and -rounds are at least 1, and -calls at least -rounds")
	}
	a.Name, a.Tool, a.Arguments, a.Header = "gateway", tool, arguments, more
	b.Name, b.Arguments = "direct", arguments
	if b.Tool == "" {
		b.Tool = tool
	}
	p.Targets = []target{a}
	if b.URL != "" {
		p.Targets = append(p.Targets, b)
	}
	var rows []row
	for _, era := range []string{"legacy", "modern"} {
		if eras != "both" && eras != era {
			continue
		}
		// One client alone shows what a call costs, many show what can be done.
		for _, clients := range []int{1, p.Clients} {
			p.Era = era
			each := p
			each.Clients = clients
			r, err := each.measure(ctx)
			if err != nil {
				return fmt.Errorf("%s, %d clients: %w", era, clients, err)
			}
			rows = append(rows, r...)
			if p.Clients == 1 {
				break
			}
		}
	}
	if len(rows) == 0 {
		return fmt.Errorf("-era %q: legacy, modern or both", eras)
	}
	var memory *memory
	if p.PID != 0 {
		m, err := memoryOf(p.PID)
		if err != nil {
			return fmt.Errorf("-pid: %w", err)
		}
		memory = &m
	}
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"rows": rows, "memory": memory})
	}
	_, err := io.WriteString(out, table(rows, memory))
	return err
}
