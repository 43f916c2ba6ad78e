package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// driver is the program that the suite starts for each of its scenarios for
// clients, with the address of a server that watches. What uses that server is
// the hub. The driver stands before the whole program, as a client of the
// official SDK; in scenarios about authorization it stands in for the person
// with a browser too, and uses the hub directly.
func driver() int {
	dir, scenario := os.Getenv(driverVariable), os.Getenv("MCP_CONFORMANCE_SCENARIO")
	// The suite starts all of its scenarios at once, and a machine that is busy
	// with all of them does none in time.
	unlock, err := lockedfile.MutexAt(filepath.Join(dir, strconv.Itoa(os.Getpid()%4))).Lock()
	if err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		return 1
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Second)
	defer cancel()
	err = drive(ctx, os.Args[len(os.Args)-1], scenario, os.Getenv("MCP_CONFORMANCE_CONTEXT"))
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "driver:", err)
	if !strings.HasPrefix(scenario, "auth/") { // there, the right end is often a refusal
		if err := os.WriteFile(filepath.Join(dir, scenario+faultSuffix), []byte(err.Error()), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, "driver:", err)
		}
	}
	return 1
}

const (
	// driverVariable names a folder for the drivers of one run.
	driverVariable = "CONFORMANCE_DRIVERS"
	// faultSuffix is of the files there in which drivers tell what went wrong:
	// the suite itself skips what it has not seen.
	faultSuffix = ".fault"
)

// listed is a tool as it is listed.
type listed struct {
	name  string
	input any
}

// door is a way to use what the suite's server offers.
type door interface {
	tools(ctx context.Context) ([]listed, error)
	// call calls a tool. One that fails is no error; a refusal is.
	call(ctx context.Context, name string, arguments any) error
	// everyKind uses the first resource and the first prompt there is.
	everyKind(ctx context.Context) error
	close() error
}

// given is what a scenario tells its client besides.
type given struct {
	ToolCalls []struct {
		Name      string                     `json:"name"`
		Arguments map[string]json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	PrivateKey   string `json:"private_key_pem"`
}

// drive does what a scenario wants to see.
func drive(ctx context.Context, url, scenario, more string) (err error) {
	var g given
	if more != "" {
		if err := json.Unmarshal([]byte(more), &g); err != nil {
			return fmt.Errorf("the context of the scenario: %w", err)
		}
	}
	var d door
	if strings.HasPrefix(scenario, "auth/") {
		d, err = enterHub(ctx, url, scenario, g)
	} else {
		d, err = enterGateway(ctx, url)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	tools, err := d.tools(ctx)
	if err != nil {
		return err
	}
	// Some calls have to be refused, in which scenario the suite knows.
	try := func(name string, arguments any) {
		if err := d.call(ctx, name, arguments); err != nil {
			fmt.Fprintf(os.Stderr, "driver: %s: %v\n", name, err)
		}
	}
	none := map[string]any{}
	switch scenario {
	case "initialize", "request-metadata", "json-schema-ref-no-deref":
		return nil // listing is all
	case "tools_call":
		return d.call(ctx, "add_numbers", map[string]any{"a": 5, "b": 3})
	case "elicitation-sep1034-client-defaults":
		return d.call(ctx, "test_client_elicitation_defaults", none)
	case "sse-retry":
		return d.call(ctx, "test_reconnection", none)
	case "sep-2322-client-request-state":
		for _, name := range []string{"test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type"} {
			try(name, none)
		}
		return nil
	case "json-schema-2020-12-preservation":
		for _, t := range tools {
			if t.name == "json_schema_2020_12_tool" {
				return d.call(ctx, "json_schema_echo", map[string]any{"schema": t.input})
			}
		}
		return errors.New("there is no tool json_schema_2020_12_tool")
	case "http-standard-headers":
		return errors.Join(d.call(ctx, "test_headers", none), d.call(ctx, "my-hyphenated-tool", none), d.everyKind(ctx))
	case "http-custom-headers":
		for _, c := range g.ToolCalls {
			// The suite wants to see that no header is sent for an argument that is
			// null or left out. Null is refused here where the tool's schema does
			// not allow it, as it does not in this scenario: it is left out.
			maps.DeleteFunc(c.Arguments, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
			try(c.Name, c.Arguments)
		}
		return nil
	case "http-invalid-tool-headers":
		for _, t := range tools {
			try(t.name, map[string]any{"region": "us-west1"})
		}
		return nil
	}
	if strings.HasPrefix(scenario, "auth/") {
		return d.call(ctx, "test-tool", none)
	}
	return fmt.Errorf("the scenario %q is not known here", scenario)
}
