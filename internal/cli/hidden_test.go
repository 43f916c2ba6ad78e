package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// letters are ordinary ones, which nothing may escape.
const letters = "Grüße 漢字 مرحبا नमस्ते"

// needed are invisible characters that a script or an emoji needs. What a tool
// brings from outside may have them; descriptions and questions may not.
const needed = "می\u200cخواهم 👩\u200d💻"

// hiddenText has every invisible character that a file can hold, each behind a
// plain letter, and some of the four thousand tag characters.
func hiddenText() string {
	var b strings.Builder
	for r := rune(1); r < 0xe0000; r++ {
		if text.Invisible(r) && (r < 0xd800 || r > 0xdfff) && r != '\n' && r != '\t' && r != '\r' {
			b.WriteString("x" + string(r))
		}
	}
	for range 20 {
		b.WriteString("x" + string(0xe0000+rand.Int32N(0x1000)))
	}
	return b.String()
}

// hiddenMCP is an MCP server that puts the text of a file wherever a server may
// put one.
func hiddenMCP() {
	raw, err := os.ReadFile(os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	quoted, err := json.Marshal(string(raw))
	if err != nil {
		os.Exit(1)
	}
	said := string(quoted)
	answers := map[string]string{
		"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"prompts":{}},"serverInfo":{"name":"hidden","title":` + said + `,"version":"1"},"instructions":` + said + `}`,
		"tools/list": `{"tools":[{"name":"say","title":` + said + `,"description":` + said + `,"annotations":{"title":` + said + `},` +
			`"inputSchema":{"type":"object","description":` + said + `,"properties":{"how":{"type":"string","description":` + said + `,"$comment":` + said + `}}}},` +
			`{"name":"fail","description":"Fails.","inputSchema":{"type":"object"}},{"name":"refuse","description":"Refuses.","inputSchema":{"type":"object"}}]}`,
		"resources/list":           `{"resources":[{"uri":"x://y","name":"y","title":` + said + `,"description":` + said + `}]}`,
		"resources/templates/list": `{"resourceTemplates":[{"uriTemplate":"x://{z}","name":"z","description":` + said + `}]}`,
		"resources/read":           `{"contents":[{"uri":"x://y","mimeType":"text/plain","text":` + said + `}]}`,
		"prompts/list":             `{"prompts":[{"name":"p","title":` + said + `,"description":` + said + `,"arguments":[{"name":"a","description":` + said + `}]}]}`,
		"prompts/get":              `{"description":` + said + `,"messages":[{"role":"user","content":{"type":"text","text":` + said + `}}]}`,
		"say":                      `{"content":[{"type":"text","text":` + said + `}],"structuredContent":{"said":` + said + `}}`,
		"fail":                     `{"content":[{"type":"text","text":` + said + `}],"isError":true}`,
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name string `json:"name"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		if m.Method == "tools/call" {
			m.Method = m.Params.Name
		}
		if answer, ok := answers[m.Method]; ok {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, answer)
		} else {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%s}}`+"\n", m.ID, said)
		}
	}
}
