// Command bus is the recipe for tools on the message bus of a voice assistant:
// notes.go declares a toolbox that reads and writes files, and this file calls
// it from Go, puts it on a bus and calls it there.
//
//	go run ./examples/bus                                     on a bus of its own
//	go run ./examples/bus -url ws://127.0.0.1:8181/core       on one that is there
//
// Nothing imports it. Its invariant: both ways lead through Crib.Call, so that
// what is not granted to one is not granted to the other.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/ovos"
)

func main() {
	url := flag.String("url", "", "the bus; empty: one of its own")
	flag.Parse()
	if err := run(context.Background(), *url, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bus:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url string, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "notes")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	crib, err := open(ctx, dir)
	if err != nil {
		return err
	}

	written, err := toolcrib.Invoke[writeOut](ctx, crib, "write_note", writeIn{Name: "shopping.txt", Text: "milk, bread"})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "directly: wrote %d bytes\n", written.Bytes)

	client, stop, err := bind(ctx, crib, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return overTheBus(ctx, client, out)
}

// open makes a crib with the toolbox, which may read and write in dir.
func open(ctx context.Context, dir string) (*toolcrib.Crib, error) {
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{},
		Guards:  []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Reads | toolcrib.Writes)},
		Grant:   toolcrib.Grant{Dirs: []files.Dir{{Path: dir, Write: true}}},
		Journal: toolcrib.NoJournal{},
	}
	_, faults := crib.Catalog.Load(ctx, toolcrib.Contents{Boxes: []toolcrib.Toolbox{notes()}})
	if len(faults) > 0 {
		return nil, faults[0]
	}
	return crib, nil
}

// bind puts the crib on a bus and connects a client to that bus. The client
// knows nothing of the crib: it could be another program, in another language.
func bind(ctx context.Context, crib *toolcrib.Crib, url string) (client *ovos.Client, stop func() error, err error) {
	cfg := ovos.ServeConfig{URL: url}
	if url == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	started := make(chan string, 1)
	cfg.Started = func(url string) { started <- url }
	serving, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- ovos.Serve(serving, crib, cfg) }()
	unbind := func() error {
		cancel()
		return <-ended
	}
	select {
	case url = <-started:
	case err := <-ended:
		cancel()
		return nil, nil, err
	}
	dialing, done := context.WithTimeout(ctx, 10*time.Second)
	defer done()
	if client, err = ovos.Dial(dialing, ovos.ClientConfig{URL: url}); err != nil {
		return nil, nil, errors.Join(err, unbind())
	}
	return client, func() error { return errors.Join(client.Close(), unbind()) }, nil
}

func overTheBus(ctx context.Context, client *ovos.Client, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	box, err := client.Toolbox(ctx, "notes")
	if err != nil {
		return err
	}
	var names []string
	for _, tool := range box.Tools {
		names = append(names, tool.Name)
	}
	fmt.Fprintf(out, "on the bus: %s has %s\n", box.ID, strings.Join(names, " and "))

	note, err := ovos.Invoke[readOut](ctx, client, "notes", "read_note", readIn{Name: "shopping.txt"})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "over the bus: %q\n", note.Text)

	_, err = client.Call(ctx, "notes", "read_note", readIn{Name: "../secret.txt"})
	refused, ok := errors.AsType[*ovos.CallError](err)
	if !ok {
		return fmt.Errorf("a file outside was not refused: %w", err)
	}
	fmt.Fprintf(out, "over the bus: %v\n", refused)
	return nil
}
