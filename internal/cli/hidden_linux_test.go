package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/ovos"
)

// TestHiddenText has one hostile text come in by every way, as the words of a
// server, of a skill, of a file and of a model, and looks at everything that
// goes out to a person or to a model, of the real program and by a real client.
func TestHiddenText(t *testing.T) {
	evil := letters + " " + needed + " " + hiddenText()
	s := newSite(t, "--set", "permissions.allow=mcp__hidden,read_file", "--set", "permissions.ask=write_file", "--set", "toolboxes.skill.paths=skills")
	s.write("evil", evil)
	if err := os.MkdirAll(filepath.Join(s.dir, "skills", "odd"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.write("skills/odd/SKILL.md", "---\nname: odd\ndescription: "+strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfeff || r == 0x2028 || r == 0x2029 || r >= 0xfff0 && r <= 0xffff {
			return -1 // no YAML has it
		}
		return r
	}, evil)+"\n---\nDo it.\n")
	s.toolcrib("hub", "add", "hidden", "--", "hiddenmcp", filepath.Join(s.dir, "evil"))
	s.toolcrib("hub", "approve", "hidden", "--yes") // it is kept back for what nobody can see

	// What a model sees.
	var asked []string
	session, _ := s.mcp(func(q *mcp.ElicitParams) *mcp.ElicitResult {
		asked = append(asked, q.Message+jsonOf(t, q.RequestedSchema))
		if strings.HasPrefix(q.Message, "hidden__") {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "allow it once"}}
		}
		return &mcp.ElicitResult{Action: "decline"}
	})
	shown := map[string]string{"instructions": session.InitializeResult().Instructions}
	tools, err := session.ListTools(t.Context(), nil)
	must(t, err)
	shown["tools/list"] = jsonOf(t, tools)
	resources, err := session.ListResources(t.Context(), nil)
	must(t, err)
	shown["resources/list"] = jsonOf(t, resources)
	templates, err := session.ListResourceTemplates(t.Context(), nil)
	must(t, err)
	shown["resources/templates/list"] = jsonOf(t, templates)
	prompts, err := session.ListPrompts(t.Context(), nil)
	must(t, err)
	shown["prompts/list"] = jsonOf(t, prompts)
	results := map[string]string{}
	for _, name := range []string{"say", "fail", "refuse"} {
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "hidden__" + name, Arguments: map[string]any{}})
		results["tools/call "+name] = fmt.Sprint(err, jsonOf(t, r))
	}
	for _, r := range resources.Resources {
		got, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI})
		results["resources/read "+r.URI] = fmt.Sprint(err, jsonOf(t, got))
	}
	for _, p := range prompts.Prompts {
		got, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name})
		results["prompts/get "+p.Name] = fmt.Sprint(err, jsonOf(t, got))
	}
	for _, args := range []map[string]any{{"path": evil, "content": "x"}, {"path": "new", "content": evil}, {evil: evil}} {
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "write_file", Arguments: args})
		shown[fmt.Sprintf("refusal %d", len(shown))] = fmt.Sprint(err, jsonOf(t, r))
	}
	_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: evil, Arguments: map[string]any{}})
	shown["an unknown tool"] = fmt.Sprint(err)
	shown["questions"] = strings.Join(asked, "\n")
	if len(asked) == 0 {
		t.Error("nobody was asked")
	}

	// What our own file tools give keeps every byte.
	var read struct{ Content string }
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "read_file", Arguments: map[string]any{"path": "evil"}})
	must(t, err)
	value, err := json.Marshal(r.StructuredContent)
	must(t, err)
	must(t, json.Unmarshal(value, &read))
	if !strings.Contains(read.Content, strings.TrimSpace(evil)) {
		t.Errorf("read_file changed the text: %q", read.Content)
	}

	// What a person sees on the terminal.
	terminals := map[string]string{}
	for _, args := range [][]string{
		{"tools"}, {"tools", "show", "hidden__say"}, {"tools", "find", letters}, {"hub", "list"}, {"hub", "show", "hidden"}, {"hub", "test", "hidden"}, {"doctor"},
		{"call", "hidden__say"}, {"call", "hidden__fail"}, {"call", "hidden__refuse"}, {"call", "read_file", "path=evil"}, {"call", evil[:40]}, {"call", "list_skills"},
		{"call", "write_file", "path=y", "content=" + strings.ReplaceAll(evil, "\x00", "")},
		{"policy", "explain", "write_file", "path=" + evil, "content=" + evil}, {"policy", "explain", evil[:60]}, {"approvals"}, {"grants"}, {"journal"}, {"journal", "stats"}, {"stats"}, {"trash"}, {"journal", "--by", "tool"},
		{"config", "show", "--set", "http.listen=" + evil[:80]}, {"secret", "list"}, {"trust"}, {evil[:60]}, {"tools", "show", evil[:60]}, {"hub", "show", evil[:60]}, {"journal", "show", evil[:60]},
	} {
		terminals[fmt.Sprintf("%.40q", args)] = onTerminal(t, s, args...)
	}
	for _, id := range journalled(t, s) {
		terminals["journal show "+id] = onTerminal(t, s, "journal", "show", id)
	}

	for way, out := range terminals {
		shown["toolcrib "+way] = out
	}
	lists, answers := onBus(t, s, evil)
	maps.Copy(shown, lists)
	maps.Copy(results, answers)
	maps.Copy(shown, results)
	for way, out := range shown {
		if at := strings.IndexFunc(out, unseen(way == "questions")); at >= 0 || hidden.MatchString(out) {
			t.Errorf("%s shows what nobody sees: %q", way, out[max(0, at-80):min(len(out), max(0, at)+200)])
		}
		if strings.Contains(out, "Gr[U+") || strings.Contains(out, `Gr\u`) {
			t.Errorf("%s escapes letters: %.300s", way, out)
		}
	}
	for way, out := range results {
		if !strings.Contains(out, needed) && !strings.HasSuffix(way, " refuse") { // which is quoted
			t.Errorf("%s takes characters away that a script needs: %.300s", way, out)
		}
	}
	for _, way := range []string{"tools/list", "resources/list", "prompts/list", "questions", "the toolboxes of the bus", `toolcrib ["tools" "show" "hidden__say"]`, `toolcrib ["hub" "show" "hidden"]`, `toolcrib ["call" "list_skills"]`} {
		if !strings.Contains(strings.ReplaceAll(shown[way], `\\u200b`, "[U+200B]"), "[U+200B]") || !strings.Contains(shown[way], letters) {
			t.Errorf("%s does not show the text: %.600s", way, shown[way])
		}
	}
	for _, way := range []string{"bus, no tool", "bus, no toolbox"} { // which is cut
		if !strings.Contains(shown[way], "x[U+0001]") {
			t.Errorf("%s does not show the name: %.600s", way, shown[way])
		}
	}
}

// hidden is a character that does no work: in the text each of them has an x
// before it.
var hidden = regexp.MustCompile("x[\u200c\u200d]")

// unseen are characters that nobody can see, but for the two that the text also
// has where a script or an emoji needs them. A question shows those as well.
func unseen(question bool) func(rune) bool {
	return func(r rune) bool {
		return r != '\n' && r != '\t' && text.Invisible(r) && (question || r != 0x200c && r != 0x200d)
	}
}

// onBus gives what a voice assistant gets: lists and refusals, and the results of
// tools.
func onBus(t *testing.T, s *site, evil string) (lists, answers map[string]string) {
	t.Helper()
	url := s.start(`(ws://\S+/core)`, "bus", "serve", "--listen", "127.0.0.1:0")
	c, err := ovos.Dial(t.Context(), ovos.ClientConfig{URL: url})
	must(t, err)
	defer func() { must(t, c.Close()) }()
	var boxes []ovos.Toolbox
	for end := time.Now().Add(time.Minute); !slices.ContainsFunc(boxes, func(b ovos.Toolbox) bool { return b.ID == "hidden" }); {
		if time.Now().After(end) {
			t.Fatalf("the bus has only %v", boxes)
		}
		boxes, err = c.Toolboxes(t.Context(), 2*time.Second)
		must(t, err)
	}
	lists, answers = map[string]string{"the toolboxes of the bus": jsonOf(t, boxes)}, map[string]string{}
	for _, name := range []string{"say", "fail", "refuse"} {
		got, err := c.Call(t.Context(), "hidden", "hidden__"+name, map[string]any{})
		answers["bus "+name] = fmt.Sprint(err, jsonOf(t, got))
	}
	for _, to := range [][3]string{{"hidden", evil, "tool"}, {evil, "say", "toolbox"}} {
		ctx, cancel := t.Context(), func() {}
		if to[0] == evil {
			ctx, cancel = context.WithTimeout(ctx, 3*time.Second) // a toolbox that is not there answers nothing
		}
		got, err := c.Call(ctx, to[0], to[1], map[string]any{evil: evil})
		cancel()
		lists["bus, no "+to[2]] = fmt.Sprint(err, jsonOf(t, got))
	}
	got, err := c.Call(t.Context(), "ovos-filesystem-tools", "write_file", map[string]any{"path": "new", "content": evil})
	lists["bus, a refusal"] = fmt.Sprint(err, jsonOf(t, got))
	if !strings.Contains(lists["bus, a refusal"], "I need permission for that") {
		t.Errorf("over the bus it is not refused: %.300s", lists["bus, a refusal"])
	}
	return lists, answers
}

// onTerminal gives what a command shows to a person.
func onTerminal(t *testing.T, s *site, args ...string) string {
	t.Helper()
	cmd := s.command(args...)
	cmd.Stdin = strings.NewReader("")
	screen := atScreen(t, cmd)
	_ = cmd.Wait() // a refusal is told as well
	<-screen.ended
	out := strings.ReplaceAll(screen.text(), "\r\n", "\n")
	if out == "" {
		t.Errorf("%.40q says nothing", args)
	}
	return out
}

// journalled gives the IDs of what is on record.
func journalled(t *testing.T, s *site) (ids []string) {
	t.Helper()
	var list []struct{ ID string }
	must(t, json.Unmarshal([]byte(s.toolcrib("journal", "-o", "json")), &list))
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return ids
}

// jsonOf writes a value as JSON, with every escape as the character it means.
func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	return escape.ReplaceAllStringFunc(string(raw), func(code string) string {
		if code == `\\` {
			return code
		}
		r, err := strconv.ParseUint(code[2:], 16, 32)
		must(t, err)
		return string(rune(r))
	})
}

var escape = regexp.MustCompile(`\\(\\|u[0-9a-f]{4})`)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
