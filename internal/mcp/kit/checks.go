package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/schema"
)

// tool is what the program says of one.
type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"inputSchema"`
	Output      json.RawMessage `json:"outputSchema"`
}

// starts: nothing can be tried of a program that does not.
func (k *kit) starts(ctx context.Context) error {
	t, err := k.open(ctx)
	var result json.RawMessage
	if err == nil {
		result, err = t.greet(ctx, newest)
	}
	if err != nil {
		k.broken = err
		if line := lastLine(k.stderr.String()); line != "" {
			err = fmt.Errorf("%w; it said: %s", err, line)
		}
		return err
	}
	var said struct {
		Version      string                     `json:"protocolVersion"`
		Capabilities map[string]json.RawMessage `json:"capabilities"`
		Info         struct {
			Name string `json:"name"`
		} `json:"serverInfo"`
	}
	switch err := json.Unmarshal(result, &said); {
	case err != nil:
		return fmt.Errorf("its answer cannot be read: %s", quote(result))
	case said.Version == "":
		return fmt.Errorf("its answer has no protocolVersion: %s", quote(result))
	case said.Capabilities["tools"] == nil:
		return fmt.Errorf(`its answer does not say that it has tools ("capabilities":{"tools":{}}): %s`, quote(result))
	case said.Info.Name == "":
		return fmt.Errorf("its answer has no serverInfo with a name: %s", quote(result))
	}
	return nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return quote([]byte(lines[len(lines)-1]))
}

// negotiates: who is asked for a version that it does not speak names one that it does.
func (k *kit) negotiates(ctx context.Context) error {
	for _, version := range []string{"2025-06-18", "1999-01-01"} {
		t, err := k.open(ctx)
		if err != nil {
			return err
		}
		m, err := t.ask(ctx, mcp.MethodInitialize, json.RawMessage(fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"toolcrib","version":"1"}}`, version)))
		if err != nil {
			return fmt.Errorf("asked for the version %s: %w", version, err)
		}
		var said struct {
			Version string `json:"protocolVersion"`
		}
		switch {
		case m.Error != nil && !mcp.Known(version): // it may refuse, too
		case m.Error != nil || json.Unmarshal(m.Result, &said) != nil:
			return fmt.Errorf("asked for the version %s: %s", version, quote(m.raw))
		case !mcp.Known(said.Version):
			return fmt.Errorf("asked for the version %s it says that it speaks %q; there are: %s", version, said.Version, strings.Join(mcp.Versions(), ", "))
		}
	}
	k.stop()
	return nil
}

// discovered: the hub asks a server that it does not know for the newest era first.
func (k *kit) discovered(ctx context.Context) error {
	t, err := k.open(ctx)
	if err != nil {
		return err
	}
	m, err := t.ask(ctx, mcp.MethodDiscover, json.RawMessage(fmt.Sprintf(`{"_meta":{%q:%q,%q:{},%q:{"name":"toolcrib","version":"1"}}}`, mcp.MetaVersion, mcp.Modern, mcp.MetaCapabilities, mcp.MetaClient)))
	if err != nil {
		return fmt.Errorf("server/discover: %w; answer it with the error -32601", err)
	}
	if _, err := t.greet(ctx, newest); err != nil {
		return fmt.Errorf("after server/discover, which was answered with %s: %w", quote(m.raw), err)
	}
	return nil
}

// lists reads all pages.
func (k *kit) lists(ctx context.Context) error {
	t, err := k.running(ctx)
	if err != nil {
		return err
	}
	var list []tool
	cursor := ""
	for page := range 100 {
		params := json.RawMessage(`{}`)
		if cursor != "" {
			params = jsonOf(map[string]string{"cursor": cursor})
		}
		result, err := t.must(ctx, mcp.MethodToolsList, params)
		if err != nil {
			return err
		}
		var said struct {
			Tools *[]tool `json:"tools"`
			Next  string  `json:"nextCursor"`
		}
		if err := json.Unmarshal(result, &said); err != nil {
			return fmt.Errorf("the list cannot be read (%w): %s", err, quote(result))
		}
		if said.Tools == nil {
			return fmt.Errorf(`the answer has no list "tools": %s`, quote(result))
		}
		list = append(list, *said.Tools...)
		if cursor = said.Next; cursor == "" {
			break
		}
		if page == 99 {
			return errors.New("the list has more than 100 pages")
		}
	}
	k.tools = list
	if len(list) == 0 {
		return errors.New("the list is empty")
	}
	return nil
}

func (k *kit) names(context.Context) error {
	if len(k.tools) == 0 {
		return remark{Skipped, "there are no tools"}
	}
	var bad, silent []string
	seen := map[string]bool{}
	for _, t := range k.tools {
		switch {
		case !usable(t.Name):
			bad = append(bad, fmt.Sprintf("%.80q: take letters, digits, _ and -, 64 at most", t.Name))
		case seen[t.Name]:
			bad = append(bad, fmt.Sprintf("%q is there twice", t.Name))
		case strings.TrimSpace(t.Description) == "":
			silent = append(silent, t.Name)
		}
		seen[t.Name] = true
	}
	if len(bad) > 0 {
		return errors.New(strings.Join(bad, "; "))
	}
	if len(silent) > 0 {
		return remark{Note, "a model goes by the description, and these have none: " + strings.Join(silent, ", ")}
	}
	return nil
}

func usable(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

func (k *kit) schemas(context.Context) error {
	if len(k.tools) == 0 {
		return remark{Skipped, "there are no tools"}
	}
	var bad []string
	tell := func(t tool, format string, args ...any) { bad = append(bad, t.Name+": "+fmt.Sprintf(format, args...)) }
	for _, t := range k.tools {
		var s struct {
			Type json.RawMessage `json:"type"`
		}
		switch {
		case len(t.Input) == 0:
			tell(t, `it has no inputSchema; without arguments it is {"type":"object"}`)
			continue
		case json.Unmarshal(t.Input, &s) != nil || string(s.Type) != `"object"`:
			tell(t, `its inputSchema is not of "type":"object": %s`, quote(t.Input))
			continue
		}
		if _, err := schema.Compile(t.Input); err != nil {
			tell(t, "its inputSchema: %v", err)
		}
		if len(t.Output) > 0 {
			if _, err := schema.Compile(t.Output); err != nil {
				tell(t, "its outputSchema: %v", err)
			}
		}
	}
	if len(bad) > 0 {
		return errors.New(strings.Join(bad, "; "))
	}
	return nil
}
