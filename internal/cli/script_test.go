package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/settings"
)

func TestMain(m *testing.M) {
	app.Shim()
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // under the race detector each program that a test starts would wait for a second at its end
	testscript.Main(m, map[string]func(){
		"toolcrib":  func() { os.Exit(Main()) },
		"fakemcp":   fakeMCP,
		"needymcp":  needyMCP,
		"stranger":  stranger,
		"hiddenmcp": hiddenMCP,
		"stuckhook": stuckHook,
	})
}

// TestScripts runs every file of testdata/script: the program as people use
// it, each script with an empty home of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Condition:           condition,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TOOLCRIB_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("TZ", "UTC")
			e.Setenv("GORACE", "atexit_sleep_ms=0") // each program would wait for a second at its end
			engine, err := filepath.Abs("../sandbox/container/testdata")
			if err != nil {
				return err
			}
			e.Setenv("ENGINE", engine)
			address, err := freeAddress()
			e.Setenv("BUS_ADDR", address)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"model":    scriptedModels(t),
			"settings": settingsFile,
			"status":   status,
			"tamper":   tamper,
			"mcp":      talkMCP,
		},
	})
}

// condition knows [sandbox]: the linux sandbox works here. In CI it has to.
func condition(name string) (bool, error) {
	if name != "sandbox" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	if runtime.GOOS != "linux" || os.Getenv("CI") == "true" {
		return runtime.GOOS == "linux", nil
	}
	a, err := app.Open(context.Background(), settings.Defaults(), app.Needs{For: app.ToCheck, State: os.TempDir()})
	if err != nil {
		return false, err
	}
	e := a.Sandbox.Explain(context.Background(), "run_command", 0)
	return e.Refusal == "", a.Close(context.Background())
}

// status runs the program and checks its exit status: status 3 call x.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N args…")
	}
	got := 0
	if err := ts.Exec("toolcrib", args[1:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

// tamper changes one byte in every file of a directory that holds a text:
// tamper DIR OLD NEW, of equal length.
func tamper(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || len(args[1]) != len(args[2]) {
		ts.Fatalf("usage: tamper DIR OLD NEW")
	}
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*"))
	ts.Check(err)
	changed := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte(args[1])) {
			continue
		}
		changed++
		ts.Check(os.WriteFile(file, bytes.Replace(text, []byte(args[1]), []byte(args[2]), 1), 0o600))
	}
	if changed == 0 {
		ts.Fatalf("no file in %s holds %q", args[0], args[1])
	}
}

// talkMCP is a real MCP client over stdio: it lists the tools, or calls one.
func talkMCP(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: mcp list | mcp call NAME JSON")
	}
	var server string
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, "toolcrib"); server == "" {
			if _, err := os.Stat(path); err == nil {
				server = path
			}
		}
	}
	cmd := exec.Command(server, "mcp")
	for _, name := range []string{"PATH", "HOME", "TOOLCRIB_HOME", "TZ", "GORACE"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "script", Version: "1"}, nil).
		Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	ts.Check(err)
	defer func() { ts.Check(session.Close()) }()
	if args[0] == "list" {
		for tool, err := range session.Tools(ctx, nil) {
			ts.Check(err)
			hints, err := json.Marshal(tool.Annotations)
			ts.Check(err)
			fmt.Fprintf(ts.Stdout(), "%s %s %v\n", tool.Name, hints, tool.InputSchema)
		}
		return
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: args[1], Arguments: json.RawMessage(args[2])})
	if err != nil {
		fmt.Fprintf(ts.Stdout(), "refused by the server: %v\n", err)
		return
	}
	value, err := json.Marshal(result.StructuredContent)
	ts.Check(err)
	var texts []string
	for _, c := range result.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	fmt.Fprintf(ts.Stdout(), "error=%v value=%s text=%s code=%v\n", result.IsError, value, strings.Join(texts, "|"), result.Meta["toolcrib/code"])
}
