package bundle

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/config"
)

// files makes a package of names and texts.
func files(texts map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range texts {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// readSkill stands for the reader of skills, which lies elsewhere.
func readSkill(folder string, text []byte) (Skill, []Note, error) {
	_, name, ok := strings.Cut(string(text), "name: ")
	if !ok {
		return Skill{}, nil, errors.New("it has no name")
	}
	name, _, _ = strings.Cut(name, "\n")
	if name != folder && folder != "" {
		return Skill{Name: name}, []Note{{Text: "its name is not that of its folder"}}, nil
	}
	return Skill{Name: name}, nil, nil
}

func needs() Needs { return Needs{YAML: config.Decode, Skill: readSkill} }

func skillFile(name string) string { return "---\nname: " + name + "\ndescription: d\n---\nx\n" }

func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  Package
	}{
		"agent-plugin": {map[string]string{
			"plugin.json":            `{"$schema":"https://agent-plugins.org/schemas/1.0.0/plugin.schema.json","name":"kit","version":"1.2.0","author":{"name":"Acme"},"odd":1}`,
			"skills/one/SKILL.md":    skillFile("one"),
			"skills/one/two/extra":   "x",
			"mcp.json":               `{"$schema":"https://agent-plugins.org/schemas/1.0.0/mcp.schema.json","mcpServers":{"local":{"type":"stdio","command":"./bin/check","args":["--data","${PLUGIN_DATA}/v"],"env":{"CONFIG":"${PLUGIN_ROOT}/c.json"},"cwd":"${PLUGIN_ROOT}"},"api":{"type":"streamable-http","url":"https://x.example/mcp","headers":{"X-Tenant":"t"}},"old":{"type":"sse","url":"https://y.example/sse"},"bad":{"type":"stdio"}}}`,
			"skills/broken/SKILL.md": "nothing",
		}, Package{
			Format: "agent-plugin", Name: "kit", Version: "1.2.0", Author: "Acme", Skills: []Skill{{Name: "one", Dir: "skills/one"}},
			Servers: []Server{
				{Name: "api", URL: "https://x.example/mcp", Headers: map[string]string{"X-Tenant": "t"}},
				{Name: "local", Command: Root + "/bin/check", Args: []string{"--data", Data + "/v"}, Env: map[string]string{"CONFIG": Root + "/c.json"}, Dir: Root},
				{Name: "old", URL: "https://y.example/sse", SSE: true},
			},
			Notes: []Note{
				{"plugin.json", "odd is no field of the format"}, {"skills/broken/SKILL.md", "the skill is left out: it has no name"},
				{"mcp.json", "the server bad is left out: it has neither a command nor an address"},
			},
		}},
		"claude-plugin": {map[string]string{
			".claude-plugin/plugin.json": `{"name":"tools","version":"2","author":"Ann","mcpServers":{"inline":{"command":"npx","args":["-y","pkg@1.2.3"],"env":{"API_KEY":"${API_KEY}"}}},"skills":["./more/three"]}`,
			".mcp.json":                  `{"mcpServers":{"file":{"command":"${CLAUDE_PLUGIN_ROOT}/serve.py"}}}`,
			"skills/one/SKILL.md":        skillFile("one"), "more/three/SKILL.md": skillFile("three"),
			"agents/review.md": "---\nname: reviewer\ntools: Read, Grep\nmodel: fast\n---\nReview it.\n", "hooks/hooks.json": "{}", "commands/go.md": "x",
		}, Package{
			Format: "claude-plugin", Name: "tools", Version: "2", Author: "Ann", Skills: []Skill{{Name: "one", Dir: "skills/one"}, {Name: "three", Dir: "more/three"}},
			Servers: []Server{
				{Name: "file", Command: Root + "/serve.py"},
				{Name: "inline", Command: "npx", Args: []string{"-y", "pkg@1.2.3"}, Env: map[string]string{"API_KEY": "${ask:API_KEY}"}, Launcher: "npx", Fetches: "pkg@1.2.3"},
			},
			Agents: []Agent{{Name: "reviewer", File: "agents/review.md", Instructions: "Review it.", Model: "fast", Tools: []string{"Read", "Grep"}}},
			Asks:   []Ask{{Name: "API_KEY", Secret: true, Required: true}},
			Inert:  []Inert{{"commands", "commands"}, {"hooks", "hooks"}},
		}},
		"gemini-extension": {map[string]string{
			"gemini-extension.json": `{"name":"ext","version":"1.0.0","mcpServers":{"s":{"command":"node","args":["${extensionPath}${/}server.js"]}},"settings":[{"name":"Key","description":"the key","envVar":"SERVICE_KEY","sensitive":true}],"excludeTools":["x"]}`,
			"GEMINI.md":             "x",
		}, Package{
			Format: "gemini-extension", Name: "ext", Version: "1.0.0",
			Servers: []Server{{Name: "s", Command: "node", Args: []string{Root + "/server.js"}, Env: map[string]string{"SERVICE_KEY": "${ask:SERVICE_KEY}"}}},
			Asks:    []Ask{{Name: "SERVICE_KEY", Description: "Key: the key", Secret: true, Required: true}}, Inert: []Inert{{"context", "GEMINI.md"}},
			Notes: []Note{{"gemini-extension.json", "excludeTools is not carried over: rules of your own say what is denied"}},
		}},
		"agx-bundle": {map[string]string{
			"agx-bundle.yaml":         "agx_bundle: \"1.0\"\nname: research\ncomponents:\n  skills:\n    - path: skills/sop/SKILL.md\n    - path: ../out/SKILL.md\n    - mcp: {server: s, uri: skill://x}\n  mcp_servers:\n    - {name: web, config_path: mcp/web.json}\n  avatars:\n    - {name: scholar, config_path: avatars/scholar.yaml}\n  memory_templates:\n    - {name: flow, path: memory/flow.md}\n",
			"skills/sop/SKILL.md":     skillFile("sop"),
			"mcp/web.json":            `{"command":"uvx","args":["web-crawler"]}`,
			"avatars/scholar.yaml":    "system_prompt: Be thorough.\ndefault_model: big\n",
			"memory/flow.md":          "# Flow",
			"avatars/not/listed.yaml": "x",
		}, Package{
			Format: "agx-bundle", Name: "research", Version: "0.1.0", Skills: []Skill{{Name: "sop", Dir: "skills/sop"}},
			Servers: []Server{{Name: "web", Command: "uvx", Args: []string{"web-crawler"}, Launcher: "uvx", Fetches: "web-crawler", Floating: true}},
			Agents:  []Agent{{Name: "scholar", File: "avatars/scholar.yaml", Instructions: "Be thorough.", Model: "big"}}, Memory: []Memory{{"flow", "memory/flow.md"}},
			Notes: []Note{{"agx-bundle.yaml", `a skill is left out: the path "../out/SKILL.md" leads out of the package`}, {"agx-bundle.yaml", "a skill is left out: it is to come from an MCP server"}},
		}},
		"mcpb": {map[string]string{
			"manifest.json":   `{"manifest_version":"0.3","name":"files","version":"1.0.0","author":{"name":"A"},"server":{"type":"node","entry_point":"server/index.js","mcp_config":{"command":"node","args":["${__dirname}/server/index.js","${user_config.dir}","${HOME}"],"env":{"T":"${user_config.api_token}"}}},"user_config":{"dir":{"type":"directory","title":"Folder","description":"to serve","required":true},"api_token":{"type":"string","title":"Token","sensitive":true}}}`,
			"server/index.js": "x",
		}, Package{
			Format: "mcpb", Name: "files", Version: "1.0.0", Author: "A",
			Servers: []Server{{Name: "files", Command: "node", Args: []string{Root + "/server/index.js", "${ask:dir}", "${ask:home}"}, Env: map[string]string{"T": "${ask:api_token}"}}},
			Asks:    []Ask{{Name: "api_token", Description: "Token:", Secret: true}, {Name: "dir", Description: "Folder: to serve", Required: true}, {Name: "home", Description: "a directory of yours", Required: true}},
		}},
		"mcp-server": {map[string]string{
			"server.json": `{"name":"io.github.acme/weather","description":"Weather","version":"1.0.0","packages":[{"registryType":"nuget","identifier":"W","version":"1.0.0"},{"registryType":"npm","identifier":"@acme/weather","version":"1.0.0","transport":{"type":"stdio"},"packageArguments":[{"type":"named","name":"--units","value":"si"},{"type":"positional","valueHint":"city","isRequired":true}],"environmentVariables":[{"name":"WEATHER_KEY","isRequired":true,"isSecret":true,"description":"key"}]}]}`,
		}, Package{
			Format: "mcp-server", Name: "weather", Version: "1.0.0", Description: "Weather",
			Servers: []Server{{Name: "weather", Command: "npx", Args: []string{"-y", "@acme/weather@1.0.0", "--units", "si", "${ask:city}"}, Env: map[string]string{"WEATHER_KEY": "${ask:WEATHER_KEY}"}, Launcher: "npx", Fetches: "@acme/weather@1.0.0"}},
			Asks:    []Ask{{Name: "city", Required: true}, {Name: "WEATHER_KEY", Description: "key", Secret: true, Required: true}},
			Notes:   []Note{{"server.json", "the package W is left out: packages of nuget are not started here"}},
		}},
		"skills":     {map[string]string{"skills/a/SKILL.md": skillFile("a"), "b/SKILL.md": skillFile("b"), "README.md": "x"}, Package{Format: "skills", Name: "given", Skills: []Skill{{Name: "a", Dir: "skills/a"}, {Name: "b", Dir: "b"}}}},
		"a skill":    {map[string]string{"SKILL.md": skillFile("given"), "scripts/x.sh": "x"}, Package{Format: "skills", Name: "given", Skills: []Skill{{Name: "given", Dir: "."}}}},
		"codex":      {map[string]string{".codex-plugin/plugin.json": `{"name":"c"}`}, Package{Format: "codex-plugin", Name: "c"}},
		"cursor":     {map[string]string{".cursor-plugin/plugin.json": `{"name":"c","repository":{"url":"https://r.example"}}`}, Package{Format: "cursor-plugin", Name: "c", Homepage: "https://r.example"}},
		"both kinds": {map[string]string{".claude-plugin/plugin.json": `{"name":"c"}`, "gemini-extension.json": `{"name":"g"}`}, Package{Format: "claude-plugin", Name: "c"}},
	} {
		n := needs()
		n.Name = "given"
		got, err := Read(files(c.files), n)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(&c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if _, err := Read(files(map[string]string{"README.md": "x"}), needs()); !errors.Is(err, ErrNone) {
		t.Errorf("a folder without a package: %v", err)
	}
}

// TestHostileManifests: names and paths that lead somewhere else are refused, in every
// field of every format, and what is good besides stays.
func TestHostileManifests(t *testing.T) {
	names := []string{"../up", "..", "a/b", `a\\b`, "/abs", "", ".hidden", "trailing.", "con", "COM1.txt", "a b", "a\\u0000b", "ünï", strings.Repeat("x", 65), "-x", "a..b", "a\\u200bb", "~", "$HOME", "a;b"}
	paths := []string{"../up", "/etc/passwd", `..\\up`, "a/../../up", "C:/x", "a/./../../x", "nul", "a/con.txt", "a\\u0000b", "x ", "a./b", "file:///etc/passwd", "skills/a/../../../x"}
	for _, bad := range names {
		for format, texts := range map[string]map[string]string{
			"agent":  {"plugin.json": `{"$schema":"` + PluginSchema + `","name":"` + bad + `"}`},
			"claude": {".claude-plugin/plugin.json": `{"name":"` + bad + `"}`},
			"gemini": {"gemini-extension.json": `{"name":"` + bad + `"}`},
			"agx":    {"agx-bundle.yaml": `{agx_bundle: "1", name: "` + bad + `"}`},
			"mcpb":   {"manifest.json": `{"manifest_version":"0.3","name":"` + bad + `","server":{"mcp_config":{"command":"x"}}}`},
			"server": {"server.json": `{"name":"x/` + bad + `","packages":[{"registryType":"npm","identifier":"p","version":"1.0.0"}]}`},
		} {
			if p, err := Read(files(texts), needs()); err == nil {
				t.Errorf("%s took the name %q: %+v", format, bad, p)
			}
		}
		// A part with such a name is left out; the rest stays.
		p, err := Read(files(map[string]string{".claude-plugin/plugin.json": `{"name":"ok","mcpServers":{"` + bad + `":{"command":"x"},"good":{"command":"y"}}}`}), needs())
		if err != nil || len(p.Servers) != 1 || p.Servers[0].Name != "good" || len(p.Notes) == 0 {
			t.Errorf("a server %q: %+v, %v", bad, p, err)
		}
	}
	for _, bad := range paths {
		p, err := Read(files(map[string]string{
			"agx-bundle.yaml": "agx_bundle: 1\nname: ok\ncomponents:\n  skills: [{path: \"" + bad + "\"}]\n  mcp_servers: [{name: a, config_path: \"" + bad + "\"}]\n  avatars: [{name: b, config_path: \"" + bad + "\"}]\n  memory_templates: [{name: c, path: \"" + bad + "\"}]\n",
		}), needs())
		if err != nil || len(p.Skills)+len(p.Servers)+len(p.Agents)+len(p.Memory) != 0 || len(p.Notes) != 4 {
			t.Errorf("agx took %q: %+v, %v", bad, p, err)
		}
		p, err = Read(files(map[string]string{".claude-plugin/plugin.json": `{"name":"ok","skills":["` + bad + `"],"agents":"` + bad + `","mcpServers":"` + bad + `"}`}), needs())
		if err != nil || len(p.Skills)+len(p.Servers)+len(p.Agents) != 0 {
			t.Errorf("claude took %q: %+v, %v", bad, p, err)
		}
		if p, err := Read(files(map[string]string{"manifest.json": `{"manifest_version":"0.3","name":"ok","server":{"entry_point":"` + bad + `","mcp_config":{"command":"x"}}}`}), needs()); err == nil {
			t.Errorf("mcpb took %q: %+v", bad, p)
		}
		p, err = Read(files(map[string]string{".claude-plugin/plugin.json": `{"name":"ok","mcpServers":{"s":{"command":"x","cwd":"` + bad + `"},"t":{"command":"./` + bad + `"}}}`}), needs())
		if err != nil || len(p.Servers) > 1 || len(p.Servers) == 1 && !strings.HasPrefix(p.Servers[0].Command, Root+"/") {
			t.Errorf("a server took %q: %+v, %v", bad, p, err)
		}
	}
}

// TestLinksAreNotRead: a link in a package is no file of it, wherever it stands.
func TestLinksAreNotRead(t *testing.T) {
	link := &fstest.MapFile{Data: []byte("plugin.json"), Mode: fs.ModeSymlink | 0o777}
	all := files(map[string]string{".claude-plugin/plugin.json": `{"name":"ok","mcpServers":"servers.json"}`, "skills/a/SKILL.md": skillFile("a")})
	all["skills/b/SKILL.md"], all["servers.json"], all["agents"] = link, link, link
	p, err := Read(all, needs())
	if err != nil || len(p.Skills) != 1 || len(p.Servers) != 0 || len(p.Agents) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	found, err := Scan(all)
	if err != nil || len(found) != 3 || Worst(found) != Dangerous {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestServersOfStrangers(t *testing.T) {
	for text, why := range map[string]string{
		`{"command":"${PROGRAM}"}`: "left open", `{"command":"x","url":"https://a"}`: "both", `{"url":"http://a.example"}`: "not https",
		`{"url":"https://user:pw@a.example"}`: "more in it", `{"url":"https://${HOST}/x"}`: "left open", `{"url":"file:///etc/passwd"}`: "not https",
		`{"command":"x","env":{"A\nB":"1"}}`: "no name of a variable", `{"command":"x","env":{"A":"1\nB=2"}}`: "more than one line",
		`{"url":"https://a.example","headers":{"A":"1\r\nB: 2"}}`: "more than one line", `{"command":"x","args":["a\u0000b"]}`: "NUL", `{"args":["x"]}`: "neither", `[]`: "cannot unmarshal",
	} {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\n", `\n`), "\r", `\r`)
		p, err := Read(files(map[string]string{".claude-plugin/plugin.json": `{"name":"ok","mcpServers":{"s":` + text + `}}`}), needs())
		if err != nil || len(p.Servers) != 0 || len(p.Notes) != 1 || !strings.Contains(p.Notes[0].Text, why) {
			t.Errorf("%s: %+v, %v", text, p, err)
		}
	}
}

func TestLaunchers(t *testing.T) {
	for line, want := range map[string]string{
		"npx -y pkg": "npx pkg floats", "npx -y @a/b@1.2.3": "npx @a/b@1.2.3", "npx @a/b@latest": "npx @a/b@latest floats", "npx -y pkg@^1.0.0": "npx pkg@^1.0.0 floats",
		"npx --package=x@1.0.0 run": "npx x@1.0.0", "npx -p x run": "npx x floats", "npx --weird x": "npx --weird floats", "npm exec -y a@1.0.0": "npm a@1.0.0", "npm start": "",
		"uvx tool": "uvx tool floats", "uvx tool==1.2": "uvx tool==1.2", "uvx tool@1.2.3": "uvx tool@1.2.3", "uvx --from git+https://x/y tool": "uvx git+https://x/y floats",
		"uvx --from git+https://x/y@0123456789012345678901234567890123456789#egg=z tool": "uvx git+https://x/y@0123456789012345678901234567890123456789#egg=z",
		"uvx --from git+https://x/y@main tool":                                           "uvx git+https://x/y@main floats", "uv tool run a>=1": "uv a>=1 floats", "uv run x.py": "",
		"docker run -i img:latest": "docker img:latest floats", "docker run -i img@sha256:" + strings.Repeat("a", 64): "docker img@sha256:" + strings.Repeat("a", 64),
		"go run example.com/x@latest": "go example.com/x@latest floats", "go run example.com/x@v1.2.3": "go example.com/x@v1.2.3", "go run .": "", "/opt/bin/server": "", "npx": "npx  floats",
	} {
		words := strings.Fields(line)
		s := Server{Command: words[0], Args: words[1:]}
		Launches(&s)
		got := s.Launcher + " " + s.Fetches
		if s.Floating {
			got += " floats"
		}
		if got != want && strings.TrimSpace(got) != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"plugin.json", ".claude-plugin/plugin.json", "gemini-extension.json", "agx-bundle.yaml", "manifest.json", "server.json"} {
		f.Add(name, `{"name":"x","mcpServers":{"a":{"command":"./b","args":["${X:-y}"],"cwd":"c"}},"skills":["./s"]}`)
		f.Add(name, "agx_bundle: 1\nname: x\ncomponents:\n  skills: [{path: a/SKILL.md}]\n")
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		if !fs.ValidPath(name) || name == "." {
			return
		}
		p, err := Read(files(map[string]string{name: text, "s/SKILL.md": skillFile("s")}), needs())
		if err != nil {
			return
		}
		if CheckName(p.Name) != nil {
			t.Errorf("the name %q", p.Name)
		}
		for _, s := range p.Servers {
			if CheckName(s.Name) != nil || (s.Command == "") == (s.URL == "") {
				t.Errorf("the server %+v", s)
			}
			if rest, own := strings.CutPrefix(s.Dir, Root+"/"); own {
				if _, err := CheckPath(rest); err != nil {
					t.Errorf("the directory %q", s.Dir)
				}
			}
		}
		for _, s := range p.Skills {
			if clean, err := CheckPath(s.Dir); err != nil && s.Dir != "." || s.Dir != "." && clean != s.Dir {
				t.Errorf("the folder %q", s.Dir)
			}
		}
		_ = Difference(nil, p)
	})
}

// TestKeysTwice: two readers would understand such a file differently.
func TestKeysTwice(t *testing.T) {
	for text, refused := range map[string]bool{
		`{"name":"a","name":"b"}`: true, `{"name":"a","mcpServers":{"s":{"command":"x","command":"y"}}}`: true, `{"name":"a","x":[{"a":1,"a":2}]}`: true,
		`{"name":"a","x":{"name":"b"},"y":["name","name",{"name":1},{"name":2}]}`: false, `{"name":"a","mcpServers":{"s":{"command":"x","env":{"http_proxy":"1","HTTP_PROXY":"1"}}}}`: false,
	} {
		if _, err := Read(files(map[string]string{".claude-plugin/plugin.json": text}), needs()); (err != nil) != refused {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestNamesOfSkills: they are words of people, and become neither files nor tools.
func TestNamesOfSkills(t *testing.T) {
	p, err := Read(files(map[string]string{".claude-plugin/plugin.json": `{"name":"a"}`, "skills/x/SKILL.md": skillFile("Commit Helper"), "skills/y/SKILL.md": skillFile("a\u200bb")}), needs())
	if err != nil || len(p.Skills) != 1 || p.Skills[0].Name != "Commit Helper" || len(p.Notes) == 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestLooseAgents: a front matter with a colon that nobody quoted is read line by line, and
// allows nothing that it did not before.
func TestLooseAgents(t *testing.T) {
	p, err := Read(files(map[string]string{".claude-plugin/plugin.json": `{"name":"a"}`, "agents/x.md": "---\nname: hunter\ndescription: Use it: always. Example: user: go\ntools: Read, Grep\nmodel: 'fast'\n---\n\nHunt.\n"}), needs())
	want := []Agent{{Name: "hunter", File: "agents/x.md", Instructions: "Hunt.", Model: "fast", Tools: []string{"Read", "Grep"}}}
	if err != nil || len(p.Notes) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	if diff := cmp.Diff(want, p.Agents); diff != "" {
		t.Error(diff)
	}
}

// TestProgramsStayInside: a path of a program or of its directory is one below the
// package, wherever the program that starts it stands.
func TestProgramsStayInside(t *testing.T) {
	for text, want := range map[string]string{
		`"command":"./bin/x"`: Root + "/bin/x", `"command":"bin/x"`: Root + "/bin/x", `"command":"${CLAUDE_PLUGIN_ROOT}/x"`: Root + "/x", `"command":"${CLAUDE_PLUGIN_ROOT}/./a/x"`: Root + "/a/x", `"command":"${CLAUDE_PLUGIN_DATA}/x"`: Data + "/x", `"command":"node"`: "node", `"command":"/usr/bin/node"`: "/usr/bin/node",
		`"command":"C:/x.exe"`: "C:/x.exe", `"command":"${CLAUDE_PLUGIN_ROOT}/../../x"`: "", `"command":"../x"`: "", `"command":"a/../../x"`: "", `"command":"..\\x"`: "", `"command":"${CLAUDE_PLUGIN_ROOT}x/../y"`: "",
		`"command":"x","cwd":"${CLAUDE_PLUGIN_DATA}/a"`: "x " + Data + "/a", `"command":"x","cwd":"${CLAUDE_PLUGIN_ROOT}"`: "x " + Root, `"command":"x","cwd":"./"`: "x " + Root, `"command":"x","cwd":"${CLAUDE_PLUGIN_DATA}/../.."`: "", `"command":"x","cwd":"/etc"`: "", `"command":"x","cwd":"${ELSE}"`: "",
	} {
		p, err := Read(files(map[string]string{".claude-plugin/plugin.json": `{"name":"ok","mcpServers":{"s":{` + text + `}}}`}), needs())
		got := ""
		if err == nil && len(p.Servers) == 1 {
			got = strings.TrimSpace(p.Servers[0].Command + " " + p.Servers[0].Dir)
		}
		if got != want {
			t.Errorf("%s: %q, want %q: %v", text, got, want, err)
		}
	}
}
