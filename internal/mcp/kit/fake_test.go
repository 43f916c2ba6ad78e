package kit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain is the fake plugin too, if it is asked to be one.
func TestMain(m *testing.M) {
	if mode := os.Getenv("KIT_PLUGIN"); mode != "" {
		(&fake{mode: mode}).serve()
		os.Exit(0)
	}
	if os.Getenv("KIT_SLEEPS") != "" {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test closes it
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fake is a plugin that does one thing wrong.
type fake struct {
	mode  string
	mu    sync.Mutex
	calls int
	busy  sync.Mutex
}

type asked struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Version   string `json:"protocolVersion"`
		Name      string `json:"name"`
		Arguments struct {
			N int `json:"n"`
		} `json:"arguments"`
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

func (f *fake) is(mode string) bool { return f.mode == mode }

func (f *fake) print(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Printf(format+"\n", args...)
}

func (f *fake) result(id json.RawMessage, text string) {
	if f.is("ids as texts") && len(id) > 0 && id[0] != '"' {
		id = json.RawMessage(`"` + string(id) + `"`)
	}
	f.print(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, text)
}

func (f *fake) fail(id json.RawMessage, code int, text string) {
	f.print(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, text)
}

func (f *fake) serve() {
	if f.is("dies") {
		fmt.Fprintln(os.Stderr, "there is no database")
		os.Exit(3)
	}
	if f.is("prints") {
		fmt.Println("Hello, I am a plugin.")
	}
	if f.is("leaves a process") {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "KIT_PLUGIN=", "KIT_SLEEPS=1")
		hold, err := os.Open(os.Getenv("KIT_HOLD"))
		if err == nil {
			child.Stdin = hold
			err = child.Start()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m asked
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			if f.is("dies of garbage") {
				os.Exit(1)
			}
			f.fail(json.RawMessage("null"), -32700, "no JSON")
			continue
		}
		f.take(m)
	}
	if f.is("stays") {
		time.Sleep(time.Hour)
	}
}

func (f *fake) take(m asked) {
	if m.ID == nil {
		switch {
		case f.is("dies when it is told of an end") && strings.Contains(m.Method, "cancelled") && f.calls > 0:
			os.Exit(1)
		case f.is("answers notifications") && m.Method != "notifications/initialized":
			f.fail(json.RawMessage("null"), -32601, "what is that")
		}
		return
	}
	if m.Method == "" || f.is("mute") {
		return
	}
	switch m.Method {
	case "initialize":
		f.initialize(m)
	case "tools/list":
		f.list(m)
	case "ping":
		switch {
		case f.is("no ping"):
			f.fail(m.ID, -32601, "no such method")
			return
		case f.is("answers twice"):
			f.result(m.ID, `{}`)
		}
		f.result(m.ID, `{}`)
	case "tools/call":
		go f.call(m)
	case "server/discover":
		if f.is("dies of questions") {
			os.Exit(1)
		}
		f.fail(m.ID, -32601, "no such method")
	default:
		switch {
		case f.is("takes every method"):
			f.result(m.ID, `{}`)
		case f.is("another code"):
			f.fail(m.ID, -32603, "hm")
		default:
			f.fail(m.ID, -32601, "no such method")
		}
	}
}

func (f *fake) initialize(m asked) {
	version, capabilities, name := m.Params.Version, `{"tools":{}}`, "fake"
	if version == "1999-01-01" && !f.is("any version") {
		version = "2025-06-18"
	}
	switch f.mode {
	case "no version":
		version = ""
	case "no tools":
		capabilities = `{}`
	case "no name":
		name = ""
	}
	f.result(m.ID, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":%q,"version":"1"}}`, version, capabilities, name))
}

func (f *fake) list(m asked) {
	tools := `{"name":"double","description":"Doubles.","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`
	switch f.mode {
	case "no list":
		f.fail(m.ID, -32603, "not today")
		return
	case "no word for the list":
		f.result(m.ID, `{}`)
		return
	case "empty list":
		tools = ""
	case "bad name":
		tools = strings.Replace(tools, `"double"`, `"dou ble"`, 1)
	case "one name twice":
		tools += "," + tools
	case "no description":
		tools = strings.Replace(tools, "Doubles.", "", 1)
	case "no schema":
		tools = `{"name":"double","description":"x"}`
	case "schema of a text":
		tools = `{"name":"double","description":"x","inputSchema":{"type":"string"}}`
	case "bad schema":
		tools = `{"name":"double","description":"x","inputSchema":{"type":"object","properties":{"n":{"type":"wholenumber"}}}}`
	}
	f.result(m.ID, `{"tools":[`+tools+`]}`)
}

func (f *fake) call(m asked) {
	f.mu.Lock()
	f.calls++
	number := f.calls
	f.mu.Unlock()
	if m.Params.Name != "double" && !f.is("has every tool") {
		f.fail(m.ID, -32602, "no such tool")
		return
	}
	progress := func(token json.RawMessage, n string) {
		if token != nil {
			f.print(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%s}}`, token, n)
		}
	}
	answer := fmt.Sprintf(`{"content":[{"type":"text","text":"%d"}],"structuredContent":{"n":%d}}`, 2*m.Params.Arguments.N, 2*m.Params.Arguments.N)
	progress(m.Params.Meta.Token, "1")
	switch f.mode {
	case "progress goes down":
		progress(m.Params.Meta.Token, "0.5")
	case "progress of another":
		progress(json.RawMessage(`"other"`), "2")
	case "no progress in it":
		progress(m.Params.Meta.Token, `"much"`)
	case "no content":
		answer = `{"structuredContent":{"n":1}}`
	case "strange content":
		answer = `{"content":[{"type":"smell"}],"structuredContent":{"n":1}}`
	case "no value":
		answer = `{"content":[]}`
	case "another value":
		answer = `{"content":[],"structuredContent":{"n":"two"}}`
	case "fails":
		answer = `{"content":[{"type":"text","text":"no"}],"isError":true}`
	case "breaks":
		f.fail(m.ID, -32603, "broken")
		return
	case "one call at a time":
		if number > 2 {
			return // it never answers a second one
		}
	case "slow":
		f.busy.Lock()
		defer f.busy.Unlock()
		if number > 2 { // whatever else a busy machine does meanwhile
			time.Sleep(250 * time.Millisecond)
		}
		time.Sleep(120 * time.Millisecond)
	}
	f.result(m.ID, answer)
	if f.is("progress too late") {
		progress(m.Params.Meta.Token, "3")
	}
}
