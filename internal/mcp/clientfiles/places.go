package clientfiles

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// The scopes of a Place.
const (
	ScopeUser    = "user"
	ScopeProject = "project"
)

// Place is where a client keeps a file of servers.
type Place struct {
	Client string
	Path   string
	Scope  string
	// Dir says that the place is a directory, of which every .json, .yaml and
	// .yml file is read, and where a new server gets a file of its own.
	Dir bool
	// Also are further files of the client, which may switch servers of this
	// one off: SwitchedOff reads them.
	Also []string
}

// maxFiles bounds how many files of one directory are looked at.
const maxFiles = 200

// Files gives the place itself or, of a directory, its files by name. One that
// cannot be listed has none. Read lists a directory, as os.ReadDir does.
func (p Place) Files(read func(dir string) ([]fs.DirEntry, error)) []Place {
	if !p.Dir {
		return []Place{p}
	}
	entries, err := read(p.Path)
	if err != nil {
		return nil
	}
	var list []Place
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".json", ".yaml", ".yml":
			if len(list) < maxFiles {
				list = append(list, Place{Client: p.Client, Path: filepath.Join(p.Path, e.Name()), Scope: p.Scope, Also: p.Also})
			}
		}
	}
	return list
}

// Places lists where the files of all clients lie, those of one person and, if
// a project's directory is given, those of the project. The first of a client
// and scope is the one that a new server goes to, unless another one of them is
// there already. Crush's crushrc is not among them: it is a script, and reading
// it means running it.
func Places(goos, home string, env func(string) string, project string) []Place {
	p := &placer{goos: goos, home: home, env: env}
	if env == nil {
		p.env = func(string) string { return "" }
	}
	p.anthropic()
	p.editors()
	p.terminals()
	p.assistants()
	if project != "" {
		p.projects(project)
	}
	return p.list
}

type placer struct {
	goos, home string
	env        func(string) string
	list       []Place
}

// join puts a path together as the system in question writes it, which need not
// be the one this runs on. A base that is not known gives no path.
func (p *placer) join(base string, parts ...string) string {
	if base == "" {
		return ""
	}
	sep := "/"
	if p.goos == "windows" {
		sep = `\`
	}
	return strings.TrimRight(base, `/\`) + sep + strings.Join(parts, sep)
}

func (p *placer) add(client, scope, path string) {
	if path == "" {
		return
	}
	for _, have := range p.list {
		if have.Path == path && have.Client == client {
			return
		}
	}
	p.list = append(p.list, Place{Client: client, Path: path, Scope: scope})
}

// dir adds a directory of files.
func (p *placer) dir(client, scope, path string) {
	before := len(p.list)
	if p.add(client, scope, path); len(p.list) > before {
		p.list[before].Dir = true
	}
}

func (p *placer) user(client, path string) { p.add(client, ScopeUser, path) }

// or gives the value of a variable, or a path under home.
func (p *placer) or(variable string, parts ...string) string {
	if v := p.env(variable); v != "" {
		return v
	}
	return p.join(p.home, parts...)
}

// config is where programs of the XDG kind keep settings: also on macOS.
func (p *placer) config() string { return p.or("XDG_CONFIG_HOME", ".config") }

// support is where programs with windows keep them.
func (p *placer) support() string {
	switch p.goos {
	case "darwin":
		return p.join(p.home, "Library", "Application Support")
	case "windows":
		return p.or("APPDATA", "AppData", "Roaming")
	}
	return p.config()
}

func (p *placer) anthropic() {
	p.user(ClaudeDesktop, p.join(p.support(), "Claude", "claude_desktop_config.json"))
	if dir := p.env("CLAUDE_CONFIG_DIR"); dir != "" {
		p.user(ClaudeCode, p.join(dir, ".claude.json"))
	}
	p.user(ClaudeCode, p.join(p.home, ".claude.json"))
}

func (p *placer) editors() {
	p.user(Cursor, p.join(p.home, ".cursor", "mcp.json"))
	for _, edition := range [...]string{"Code", "Code - Insiders", "VSCodium"} {
		p.user(VSCode, p.join(p.support(), edition, "User", "mcp.json"))
	}
	p.user(Windsurf, p.join(p.home, ".codeium", "windsurf", "mcp_config.json"))
	if p.goos == "windows" {
		p.user(Zed, p.join(p.support(), "Zed", "settings.json"))
	} else {
		p.user(Zed, p.join(p.config(), "zed", "settings.json"))
	}
	if file := p.env("CLINE_MCP_SETTINGS_PATH"); file != "" {
		p.user(Cline, file)
	}
	p.user(Cline, p.join(p.home, ".cline", "data", "settings", "cline_mcp_settings.json"))
	for _, edition := range [...]string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"} {
		storage := func(extension, file string) string {
			return p.join(p.support(), edition, "User", "globalStorage", extension, "settings", file)
		}
		p.user(Cline, storage("saoudrizwan.claude-dev", "cline_mcp_settings.json"))
		p.user(Roo, storage("rooveterinaryinc.roo-cline", "mcp_settings.json"))
		p.user(Kilo, storage("kilocode.kilo-code", "mcp_settings.json"))
	}
	p.user(Kiro, p.join(p.home, ".kiro", "settings", "mcp.json"))
	p.user(Junie, p.join(p.home, ".junie", "mcp", "mcp.json"))
	p.dir(Continue, ScopeUser, p.join(p.home, ".continue", "mcpServers"))
	p.user(Continue, p.join(p.home, ".continue", "config.yaml"))
}

func (p *placer) terminals() {
	p.user(Codex, p.join(p.or("CODEX_HOME", ".codex"), "config.toml"))
	p.user(Gemini, p.join(p.home, ".gemini", "settings.json"))
	for _, file := range [...]string{"opencode.json", "opencode.jsonc"} {
		p.user(OpenCode, p.join(p.config(), "opencode", file))
	}
	if p.goos == "windows" {
		p.user(Crush, p.join(p.or("LOCALAPPDATA", "AppData", "Local"), "crush", "crush.json"))
	}
	p.user(Crush, p.join(p.config(), "crush", "crush.json"))
	p.user(CopilotCLI, p.join(p.or("COPILOT_HOME", ".copilot"), "mcp-config.json"))
	for _, file := range [...]string{"settings.json", "settings.jsonc"} {
		p.user(Amp, p.join(p.config(), "amp", file))
	}
	p.user(AmazonQ, p.join(p.home, ".aws", "amazonq", "mcp.json"))
}

func (p *placer) assistants() {
	if p.goos == "windows" {
		p.user(Goose, p.join(p.support(), "Block", "goose", "config", "config.yaml"))
	} else {
		p.user(Goose, p.join(p.config(), "goose", "config.yaml"))
	}
	p.user(AgenticX, p.join(p.home, ".agenticx", "mcp.json"))
	p.user(LMStudio, p.join(p.home, ".lmstudio", "mcp.json"))
	p.user(LMStudio, p.join(p.home, ".cache", "lm-studio", "mcp.json")) // where it was, and still is for some
}

func (p *placer) projects(dir string) {
	add := func(client string, parts ...string) { p.add(client, ScopeProject, p.join(dir, parts...)) }
	add(ClaudeCode, ".mcp.json")
	for i := range p.list {
		if q := &p.list[i]; q.Client == ClaudeCode && q.Scope == ScopeProject {
			q.Also = p.claudeSettings(dir)
		}
	}
	add(Cursor, ".cursor", "mcp.json")
	add(VSCode, ".vscode", "mcp.json")
	add(Codex, ".codex", "config.toml")
	add(Gemini, ".gemini", "settings.json")
	add(Zed, ".zed", "settings.json")
	add(OpenCode, "opencode.json")
	add(OpenCode, "opencode.jsonc")
	add(Roo, ".roo", "mcp.json")
	add(Kilo, ".kilocode", "mcp.json")
	add(Crush, ".crush.json")
	add(Crush, "crush.json")
	add(Kiro, ".kiro", "settings", "mcp.json")
	add(Junie, ".junie", "mcp", "mcp.json")
	add(Amp, ".amp", "settings.json")
	add(Amp, ".amp", "settings.jsonc")
	p.dir(Continue, ScopeProject, p.join(dir, ".continue", "mcpServers"))
	add(AmazonQ, ".amazonq", "mcp.json")
}

// claudeSettings are where Claude Code keeps what a person said about the
// servers of a project.
func (p *placer) claudeSettings(project string) (list []string) {
	for _, q := range p.list {
		if q.Client == ClaudeCode && q.Scope == ScopeUser {
			list = append(list, q.Path)
		}
	}
	for _, path := range [...]string{
		p.join(p.or("CLAUDE_CONFIG_DIR", ".claude"), "settings.json"),
		p.join(project, ".claude", "settings.json"), p.join(project, ".claude", "settings.local.json"),
	} {
		if path != "" {
			list = append(list, path)
		}
	}
	return list
}
