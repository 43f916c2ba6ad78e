package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// fakeMCP is a small MCP server for scripts. What it says of its tool is in the
// file that it is started with, so that a script can change it.
func fakeMCP() {
	description := "Says it again."
	if len(os.Args) > 1 {
		if text, err := os.ReadFile(os.Args[1]); err == nil {
			description = string(text)
		}
	}
	shown, err := json.Marshal(description)
	if err != nil {
		os.Exit(1)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Arguments struct {
					Text string `json:"text"`
				} `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		switch m.Method {
		case "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}}`+"\n", m.ID)
		case "tools/list":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","description":%s,"inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}}`+"\n", m.ID, shown)
		case "tools/call":
			text, err := json.Marshal(m.Params.Arguments.Text + " " + os.Getenv("GREETING") + " " + os.Getenv("LEAK"))
			if err != nil {
				os.Exit(1)
			}
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`+"\n", m.ID, text)
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", m.ID)
		}
	}
}
