package clientfiles

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// seeds are small files of every format.
func seeds() []string {
	return []string{
		"", "{}", `{"mcpServers":{"a":{"command":"a","args":["${X}","$(y)"],"env":{"T":"t"}}}}`,
		"{ // c\n\"servers\": {\"b\": {\"url\": \"https://x/\",},},\n}", `{"mcp":{"servers":{"a":{"type":"local","command":["a"]}}}}`,
		`{"context_servers":{"a":{"command":{"path":"p"}}}}`, `{"a":{"command":"a b"}}`, `{"projects":{"/p":{"mcpServers":{"c":{"url":"http://x"}}}}}`,
		"[mcp_servers.a]\ncommand = \"a\"\n[mcp_servers.a.env]\nK = '''\nv'''\n", "a.b = [1, {c = 1979-05-27}]\n[[x]]\n", "[mcp_servers]\ntoolcrib = { command = \"x\" }\n",
		`{"mcpServers":{"a":{"command":"a","disabled":true,"autoApprove":["x"],"disabledTools":["y"],"timeout":9},"b":{"type":"local","command":"b","args":[],"tools":["*"]}}}`,
		`{"mcpServers":{"a":{"command":"a","enabled":"no","tools":{"x":false},"assign_to_agents":"c, d","env":{"K":"${K:-none}"}}}}`,
		`{"amp.tools.disable":["mcp__a__x","{b,c}*"],"amp.mcpPermissions":[{"action":"reject"}],"amp.mcpServers":{"a":{"url":"${H}/x","includeTools":["y"]}}}`,
		continueYAML, "mcpServers:\n  - name: a\n    url: https://x/\n    requestOptions: {\"headers\": {\"A\": \"${{ secrets.B }}\"}}\n", `{"command":"a"}`,
		`{"mcpServers":{"a":{"url":"https://x/","oauth":{"clientId":"${A}","clientSecret":"s","callbackPort":1,"scopes":"a b","redirectUri":"http://[::1]:2/x","issuer":"https://i/"},"auth":false}}}`,
		"mcp_oauth_callback_port = 99999\n[mcp_servers.a]\nurl = 'https://x/'\nscopes = ['a', 1]\n",
		gooseFile, "extensions: {}\n", "extensions:\n  toolcrib:\n    type: stdio\n    cmd: x\n",
	}
}

// FuzzRead: no text of any client makes it fail, hang or give a server that
// could not be one.
func FuzzRead(f *testing.F) {
	for i, s := range seeds() {
		f.Add(byte(i), []byte(s))
	}
	f.Fuzz(func(t *testing.T, which byte, text []byte) {
		client := Clients()[int(which)%len(Clients())]
		servers, problems := yamlCodec().Read(client, text)
		for _, s := range servers {
			if checkName(s.Name) != nil || s.Source != client || (s.Command == "") == (s.URL == "") {
				t.Fatalf("%+v", s)
			}
			if s.Command != "" && s.Transport != Stdio || s.URL != "" && s.Transport == Stdio {
				t.Fatalf("%+v", s)
			}
			moved, found := Secrets(s, nil)
			for _, x := range found {
				if x.Value == "" || secretName(x.Name) != x.Name || strings.Contains(x.Value, "${secret:") && !strings.Contains(string(text), "secret:") {
					t.Fatalf("%+v in %+v", x, s)
				}
			}
			if s.OAuth.ClientSecret != "" && s.OAuth.ClientID == "" || s.OAuth.Off && (len(s.OAuth.Scopes) > 0 || s.OAuth.ClientID != "") || s.Command != "" && !s.OAuth.IsZero() {
				t.Fatalf("%+v", s)
			}
			if len(moved.Args) != len(s.Args) {
				t.Fatalf("%+v became %+v", s, moved)
			}
		}
		for _, p := range problems {
			if p.Text == "" || !utf8.ValidString(p.String()) {
				t.Fatalf("%+v", p)
			}
		}
		Detect("file.json", text)
	})
}

// FuzzJSONC: the tree holds only what stands in the text, and a text that is
// edited stays one that can be read, with everything else in it.
func FuzzJSONC(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		root, _, err := parseJSONC(text)
		if err != nil {
			if out, err := (Codec{}).Add(Cursor, text, "toolcrib", ours()); err == nil && len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte(byteOrderMark)))) > 0 {
				t.Fatalf("what cannot be read was edited: %q", out)
			}
			return
		}
		if root.start < 0 || root.end > len(text) || root.start > root.end {
			t.Fatalf("it stands at %d to %d", root.start, root.end)
		}
		out, err := Codec{}.Add(Cursor, text, "toolcrib", ours())
		if err != nil {
			return
		}
		servers, _ := Codec{}.Read(Cursor, out)
		found := false
		for _, s := range servers {
			found = found || s.Name == "toolcrib" && s.Command == "toolcrib"
		}
		if !found && len(servers) < maxServers {
			t.Fatalf("%q became %q: not there", text, out)
		}
		if again, err := (Codec{}).Add(Cursor, out, "toolcrib", ours()); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q became %q: %v", out, again, err)
		}
		if _, err := (Codec{}).Remove(Cursor, out, "toolcrib"); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
	})
}

// FuzzTOML: an edited file holds the server and can be edited again.
func FuzzTOML(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out, err := Codec{}.Add(Codex, text, "toolcrib", ours())
		if err != nil {
			return
		}
		if again, err := (Codec{}).Add(Codex, out, "toolcrib", ours()); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q became %q: %v", out, again, err)
		}
		if _, err := (Codec{}).Remove(Codex, out, "toolcrib"); err != nil && !strings.Contains(err.Error(), "by hand") {
			t.Fatalf("%q: %v", out, err)
		}
	})
}

// FuzzNarrow: a tool that one key switches off stays off, whatever another key
// says, and a server that is gone is told.
func FuzzNarrow(f *testing.F) {
	f.Add(byte(0), "tools", `["a"]`)
	f.Add(byte(17), "tools", `[]`)
	f.Add(byte(16), "disabledTools", `["a", "*"]`)
	f.Add(byte(18), "enabled", `"false"`)
	f.Add(byte(3), "timeout", `"5m"`)
	f.Add(byte(5), "tools", `{"a": {"enabled": false}}`)
	f.Fuzz(func(t *testing.T, which byte, key, text string) {
		client := open()[int(which)%len(open())]
		more, _, err := parseJSONC([]byte("{" + quote(key) + ": " + text + "}"))
		cl, _ := clientOf(client)
		if err != nil || len(more.fields) != 1 || cl.forText(nil).format != formatJSON || strings.ContainsAny(text, "/") {
			return
		}
		if key != "disabledTools" {
			more.put("disabledTools", textList([]string{"a"}))
		}
		servers, problems := Codec{}.Read(client, fileWith(t, client, more))
		if len(servers) == 0 {
			if len(problems) == 0 {
				t.Fatalf("%s: %s %s: it is gone, and nothing is said", client, key, text)
			}
			return
		}
		if key != "disabledTools" && servers[0].offers("a") {
			t.Fatalf("%s: %s %s gives a back: %+v", client, key, text, servers[0])
		}
	})
}

// FuzzYAMLEdit: whatever the file, the result reads as the file with the server
// in it, or there is an error.
func FuzzYAMLEdit(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out, err := yamlCodec().Add(Goose, text, "toolcrib", ours())
		if err != nil {
			return
		}
		if again, err := yamlCodec().Add(Goose, out, "toolcrib", ours()); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q became %q: %v", out, again, err)
		}
	})
}
