// Package plugin makes a Go program a plugin of Toolcrib:
//
//	func main() {
//		plugin.Main("weather", toolcrib.Define(toolcrib.Spec{Name: "forecast", Description: "…"},
//			func(ctx context.Context, env *toolcrib.Env, in In) (Out, error) { … }))
//	}
//
// Build it, put the program into the folder plugins beside Toolcrib's
// configuration file, and its tools are there: the tool above is
// weather__forecast if the file is called weather. docs/plugins.md says what is
// spoken between the two; nobody has to read it to write a plugin in Go.
//
// # What a tool of a plugin has
//
// A plugin is a program of its own. The Toolcrib that started it judges each call,
// asks the person, records it and holds the program in a sandbox; the plugin has
// neither rules nor a journal, and whoever starts it by hand may call everything.
// So it is given no handles: in its Env the fields Files, HTTP, Exec, Secret and
// Ask are nil. It reads files, reaches hosts and starts programs as any program
// does, with what its sandbox leaves it. The others are there:
//
//   - ctx ends when the caller gives up, when the tool's Timeout is over, and
//     when Toolcrib hangs up. Toolcrib has a limit of its own for each call.
//   - env.Emit tells the caller how far the call is (Kind "progress", with
//     Progress and Total) or what happens ("log", "stdout", "stderr"). A number
//     that is not above the one before is not passed on.
//   - env.Use calls another tool of the same plugin, and no tool of anybody else.
//   - env.Call is the call as it came here. Who calls is not told to plugins.
//
// An input is held to the schema before the function gets it, with its defaults,
// and the output afterwards. A panic is one sentence to the caller and its stack is
// on the standard error; one in a goroutine that the tool started ends the
// program, which Toolcrib then starts again.
//
// Its one invariant: nothing but the protocol is written to the stream that
// Toolcrib reads.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp/server"
)

// Plugin is a set of tools as a program serves it. Main is enough for most.
type Plugin struct {
	Name         string // who it says it is; Toolcrib calls it by its file
	Version      string // empty: that of the Go module it was built from
	Instructions string // what a model should know about its tools
	Tools        []toolcrib.Tool
	Log          *slog.Logger // nil: text on the standard error
}

// Main serves the tools to the Toolcrib that started this program, and ends the
// program. From then on os.Stdout is the standard error: what is printed cannot
// get between the messages. Tools that cannot be served end the program at once,
// with a sentence that Toolcrib shows.
func Main(name string, tools ...toolcrib.Tool) {
	Plugin{Name: name, Tools: tools}.Main()
}

// Main is [Main] for a plugin that says more of itself.
func (p Plugin) Main() {
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintln(os.Stderr, p.Name+": this is a plugin of Toolcrib, which starts it. Put it into the folder plugins beside Toolcrib's configuration file; 'toolcrib plugins check PROGRAM' tries it.")
		os.Exit(2)
	}
	out, err := takeStdout()
	if err != nil {
		p.exit(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Toolcrib kills a program that has not ended two seconds after its input has. A
	// tool that does not hear of the end must not make that necessary.
	in := &ending{Reader: os.Stdin, over: func() { time.AfterFunc(lastCalls+500*time.Millisecond, func() { os.Exit(0) }) }}
	err = p.Serve(ctx, in, out)
	if stop(); err != nil {
		p.exit(err)
	}
	os.Exit(0)
}

func (p Plugin) exit(err error) {
	fmt.Fprintf(os.Stderr, "%s: error: %v\n", p.Name, err)
	os.Exit(1)
}

// lastCalls is how long calls that are under way may go on when Toolcrib has hung
// up: one that was only a pipe still gets its answers.
const lastCalls = time.Second

// Serve serves the tools on the given streams until in ends or ctx does. It is what
// Main does without touching the process, for tests and for programs that have other
// work to do.
func (p Plugin) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	heard := &listeners{}
	crib, err := p.crib(ctx, heard)
	if err != nil {
		return err
	}
	s := server.New(server.Config{
		Crib: crib, Name: p.Name, Version: p.version(), Instructions: p.Instructions, Log: crib.Log, Follow: heard.follow,
	}, toolcrib.Caller{Subject: "toolcrib", Frontend: "plugin"})
	defer s.Close()
	in = &ending{Reader: in, over: func() { time.AfterFunc(lastCalls, cancel) }}
	err = s.ServeStdio(ctx, io.NopCloser(in), unclosed{out})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = nil // Toolcrib hung up, or we were asked to stop
	}
	return err
}

// crib is what the tools run in: it checks inputs and outputs, bounds a tool that
// names a time, and catches what breaks. It allows everything and keeps nothing,
// since whoever started this program judges and records.
func (p Plugin) crib(ctx context.Context, heard *listeners) (*toolcrib.Crib, error) {
	log := p.Log
	if log == nil {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{},
		Guards:  []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Effects(0).All())},
		Journal: toolcrib.NoJournal{},
		Emit:    heard.tell,
		Log:     log,
		// Toolcrib bounds the call; what it lets through is not bounded more tightly here.
		Limits: toolcrib.Limits{Timeout: longest, MaxTimeout: longest, Input: 16 << 20, Output: 64 << 20},
	}
	if len(p.Tools) == 0 {
		return nil, errors.New("the plugin has no tools")
	}
	_, faults := crib.Catalog.Load(ctx, toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox(p.Name, p.Tools...)}})
	var errs []error
	for _, f := range faults {
		errs = append(errs, f)
	}
	return crib, errors.Join(errs...)
}

// longest is how long a tool may run that names no time: as long as Toolcrib waits.
const longest = 24 * time.Hour

// version is what the program was built from.
func (p Plugin) version() string {
	if p.Version != "" {
		return p.Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "0"
}

// ending tells once that its reader has ended.
type ending struct {
	io.Reader
	over func()
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil && e.over != nil {
		e.over()
		e.over = nil
	}
	return n, err
}

// unclosed is not closed with the conversation: it belongs to the program.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
