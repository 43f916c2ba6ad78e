// Package settings is every setting of the program: the groups that people write,
// what a fresh machine has, who wrote which of them (layers), and which tool a
// name in them means. It opens nothing. internal/config reads it by its tags; the
// wiring, the joints and the command line import it.
//
// Its one invariant: what a project says that nobody trusted only narrows what the
// machine and the person say.
package settings

import (
	"time"

	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// Config is every setting of the program. Each group belongs to the part it
// sets up; internal/config reads, overlays and documents it by its tags.
type Config struct {
	Profile       string                  `yaml:"profile" doc:"Which tools exist: minimal (those that only look), coding (those that change files too, but no commands), full (all), or one of profiles. The profile of the system's file counts besides."`
	Profiles      map[string]Profile      `yaml:"profiles" doc:"Profiles of your own, by name."`
	Mode          string                  `yaml:"mode" enum:"plan,default,auto-edit,yolo" project:"lower" doc:"When a person is asked. No agent gets more than the mode of the system's file, or than one that TOOLCRIB_MODE or a flag gives. plan: never; whatever does more than look is refused. default: before anything is changed, run or sent. auto-edit: the same, but files may be changed. yolo: only about what wipes a disk and the like."`
	Permissions   policy.Permissions      `yaml:"permissions" doc:"Rules about single tools. The rules of all layers hold: a layer can forbid what another allows, never the other way round."`
	Agents        map[string]Agent        `yaml:"agents" doc:"Named presets. A caller runs under one by --agent NAME, or because its token says so."`
	Delegation    Delegation              `yaml:"delegation" doc:"How agents put others to work."`
	Sessions      Sessions                `yaml:"sessions" doc:"What is kept of conversations with agents."`
	Organisation  string                  `yaml:"organisation" doc:"The organisation that callers of this machine belong to."`
	Organisations map[string]Organisation `yaml:"organisations" doc:"What belongs to an organisation, and exists for its callers only."`
	Tokens        map[string]Token        `yaml:"tokens" doc:"Who may call over HTTP, by name, besides your own clients: those have the token that toolcrib connect --http writes."`

	Grant        Grant                `yaml:"grant" doc:"The most that tools may touch on this machine."`
	Toolboxes    Toolboxes            `yaml:"toolboxes" doc:"The toolboxes that come with Toolcrib."`
	MCPServers   map[string]MCPServer `yaml:"mcp_servers" doc:"MCP servers whose tools are offered, each a toolbox of its own, by name. toolcrib hub lists, tests, imports and approves them."`
	Python       map[string]Python    `yaml:"python" doc:"Python interpreters and virtual environments whose toolboxes, files and modules are offered, by a name of your own. Each toolbox, file and module runs as a program of its own, in a sandbox, with exactly what is declared here."`
	Expose       string               `yaml:"expose" enum:"full,search,auto" doc:"What models are shown over MCP. full: every tool. search: three tools that find, describe and call the others, which keeps the context small. auto: search if all would take more than expose_tokens."`
	ExposeTokens int                  `yaml:"expose_tokens" min:"100" doc:"How many tokens the list of tools may take before auto searches."`
	ExposeTools  int                  `yaml:"expose_tools" min:"0" doc:"How many tools models are shown over MCP at most, for clients that take no more. 0: no limit. Three of them then find, describe and call the others; for the rest toolboxes take turns, each by the names of its tools."`
	ExposeText   int                  `yaml:"expose_description" min:"0" doc:"How many characters of a tool's description models are shown over MCP at most. 0: all of it. describe_tool shows it whole."`
	Search       Search               `yaml:"search" doc:"Finding tools by what they are for."`
	TextOnly     []string             `yaml:"text_only" doc:"MCP clients that show their model the structured content of a result and not its texts, by the name that they give themselves or a pattern such as my-agent*; * is for all. They get texts alone, so that the model sees which parts came from outside. claude-code* and codex* always do."`
	OpenAPI      map[string]OpenAPI   `yaml:"openapi" doc:"OpenAPI documents whose operations are tools, each a toolbox of its own, by name. toolcrib openapi checks, adds, lists and approves them. Changes are taken up by a restart."`
	Model        string               `yaml:"model" doc:"The model that agents use which name none: one of models. Empty: the only one there is."`
	Models       map[string]Model     `yaml:"models" doc:"Language models, by a name of your own. toolcrib models lists, tries and sets them. Changes are taken up by a restart."`
	Hub          Hub                  `yaml:"hub" doc:"What holds for all MCP servers."`
	Market       Market               `yaml:"market" doc:"Registries of skills, bundles and MCP servers, for toolcrib market."`
	Sandbox      Sandbox              `yaml:"sandbox" doc:"Where programs run that tools start."`
	Tools        Tools                `yaml:"tools" doc:"Names under which tools are shown, and tools that are not. A tool is written box/tool, or just tool."`
	Vault        Vault                `yaml:"vault" doc:"Secrets that tools use, such as tokens. The toolcrib secret command keeps them."`
	Limits       Limits               `yaml:"limits" doc:"Bounds on every call."`
	Safety       Safety               `yaml:"safety" doc:"What may flow in and out of calls."`
	Bounds       SafetyBounds         `yaml:"bounds" doc:"How much calls may use, and what becomes of results that are too long."`
	Desk         Desk                 `yaml:"desk" doc:"Where people are asked: how long questions and answers wait, and how long what was allowed is remembered."`
	Journal      Journal              `yaml:"journal" doc:"What is kept of past calls. Records are removed oldest first; the rest stays verifiable."`
	Serve        Serve                `yaml:"serve" doc:"The server that toolcrib serve starts."`
	Bus          Bus                  `yaml:"bus" doc:"The message bus of a voice assistant (OpenVoiceOS), for toolcrib bus."`
	Telemetry    Telemetry            `yaml:"telemetry" doc:"Numbers and traces for programs that watch this one (docs/telemetry.md). Both are off unless they are switched on; a restart takes them up."`
	Log          Log                  `yaml:"log" doc:"Messages of the program itself, on standard error."`
}

// Grant says which directories tools get.
type Grant struct {
	Write     []string `yaml:"write" project:"drop" doc:"Directories that tools may read and change. A relative one begins in the working directory, ~ is your home. The working directory itself (.) is left out where it is your home or holds it: name such a directory in full."`
	Read      []string `yaml:"read" project:"drop" doc:"Directories that tools may only read."`
	Hosts     []string `yaml:"hosts" project:"drop" doc:"Other machines that may be reached. An entry is a name, *.suffix, * for every public host, or an address or range such as 10.0.0.0/8. A private address needs such a range, or private:NAME for the machine of that name; this machine is localhost. The words npm, pip, go and cargo stand for the registries that you use with that package manager. Programs reach single hosts in the linux sandbox only; with * they have the whole network."`
	Protected []string `yaml:"protected" project:"add" entries:"places" doc:"What stays out of reach in these directories, besides .env files, keys, credentials, shell start files, toolcrib.yaml and .toolcrib: a name such as *.sqlite, or a place that begins with / or ~/. A name after key: means only files that hold a private key or a password, as key:*.pem does."`
	// Exceptions have a key of their own, since a project may add to the other.
	Unprotected []string `yaml:"unprotected" doc:"Names that are not protected after all, such as .env.test. It also opens what other programs run or obey, such as .vscode or .github/workflows: tools and commands may then write it as any other file."`
}

// Toolboxes switches the built-in boxes.
type Toolboxes struct {
	Clock    ClockBox    `yaml:"clock" doc:"The time of day."`
	Codegen  CodegenBox  `yaml:"codegen" doc:"Writing tools, skills, agents and workflows from a description, see docs/codegen.md."`
	Codemode CodemodeBox `yaml:"codemode" doc:"Scripts that call tools, see docs/codemode.md."`
	Code     CodeBox     `yaml:"code" doc:"Running code in an interpreter that remembers, like a notebook, see docs/code.md."`
	Files    FilesBox    `yaml:"files" doc:"Reading, changing, listing and searching files in the granted directories."`
	Interact InteractBox `yaml:"interact" doc:"Asking the person."`
	LSP      LSPBox      `yaml:"lsp" doc:"Language servers: definitions, references, types, errors, and renaming, see docs/lsp.md."`
	Math     MathBox     `yaml:"math" doc:"Calculation, units, statistics, equations."`
	Memory   MemoryBox   `yaml:"memory" doc:"What is remembered from one conversation to the next, in Markdown files of yours, see docs/memory.md."`
	Notes    NotesBox    `yaml:"notes" doc:"The list of tasks and the scratchpad of a conversation, see docs/memory.md."`
	Skill    SkillBox    `yaml:"skill" doc:"Skills: folders with a SKILL.md that tells a model how to go about something."`
	Tools    ToolsBox    `yaml:"tools" doc:"Tools of your own: commands and scripts that declare themselves, see docs/tools.md."`
	Web      WebBox      `yaml:"web" doc:"Searching the web and fetching pages. It needs the hosts under grant.hosts, such as html.duckduckgo.com or *."`
	OvosBox  OvosBox     `yaml:"ovosbox" doc:"Tools that live on the message bus of a voice assistant (OpenVoiceOS). What hosts there say about them is a claim."`
	Shell    ShellBox    `yaml:"shell" doc:"Running command lines in the granted directories, in a sandbox."`
}

// FilesBox sets up toolbox/files.
type FilesBox struct {
	Enabled bool `yaml:"enabled" project:"off" doc:"Offer this box."`
}

// ShellBox sets up toolbox/shell and its guard.
type ShellBox struct {
	AllowShell      bool              `yaml:"allow_shell" project:"off" doc:"Offer this box: let command lines be run at all."`
	Ask             bool              `yaml:"ask" doc:"Ask a person about a command that is neither known to be harmless nor allowed. If false, such a command is refused; if rules allow commands to everybody, they are all that runs. To run everything unasked, choose mode yolo."`
	AllowedCommands []string          `yaml:"allowed_commands" project:"subset" doc:"Commands that run unasked, such as go test: these words, and after them arguments that do not change what is run. Other commands are judged as usual. To let only some commands run, use only_commands."`
	OnlyCommands    []string          `yaml:"only_commands" project:"subset" doc:"The only commands that run, and they run unasked: these words, and after them arguments that do not change what is run. Every other command is refused, whatever a rule, the mode or a person says. A mycroft.conf means this by allowed_commands. Empty: no such limit."`
	MaxTimeout      time.Duration     `yaml:"max_timeout" project:"lower" min:"1s" max:"24h" doc:"The longest a command may run that is waited for."`
	JobTime         time.Duration     `yaml:"job_time" project:"lower" min:"1s" max:"168h" doc:"The longest a command in the background may run."`
	Env             map[string]string `yaml:"env" doc:"Variables that commands get besides PATH, HOME and a few plain ones. Nothing is inherited from this process."`
}

// ClockBox sets up toolbox/clock.
type ClockBox struct {
	Enabled  bool   `yaml:"enabled" project:"off" doc:"Offer this box."`
	Timezone string `yaml:"timezone" doc:"IANA name of the zone to tell the time in when a call names none, such as Europe/Lisbon. Empty: this machine's zone."`
}

// MathBox sets up toolbox/math.
type MathBox struct {
	Enabled bool `yaml:"enabled" project:"off" doc:"Offer this box."`
}

// InteractBox sets up toolbox/interact.
type InteractBox struct {
	Enabled bool `yaml:"enabled" project:"off" doc:"Offer this box."`
}

// WebBox sets up toolbox/web.
type WebBox struct {
	Enabled  bool   `yaml:"enabled" project:"off" doc:"Offer this box."`
	Engine   string `yaml:"engine" enum:"duckduckgo,brave,searxng,tavily" doc:"Who searches."`
	Endpoint string `yaml:"endpoint" doc:"The address of the engine, if it is another than everyone's. SearXNG needs one."`
	Secret   string `yaml:"secret" doc:"The name of the secret with the engine's key. It also has to be granted, under vault.grants.web. Empty: brave_api_key or tavily_api_key."`
}

// Search sets up how tools are found.
type Search struct {
	Learn  bool          `yaml:"learn" project:"off" doc:"Remember, for each profile, which search led to which successful call in the same session, and have that tool ahead next time. toolcrib tools learned shows it, toolcrib tools forget takes it back. Nothing but the words of the search and the name of the tool is kept."`
	MaxAge time.Duration `yaml:"max_age" min:"1h" doc:"How long it is remembered after its last use."`
}

// Tools names and hides tools.
type Tools struct {
	Disable []string          `yaml:"disable" layers:"join" project:"add" entries:"names" doc:"Tools that do not exist for anyone, by any of their names; patterns such as math/* are allowed."`
	Rename  map[string]string `yaml:"rename" doc:"Tool to its new name. Rules match by both."`
	Alias   map[string]string `yaml:"alias" doc:"A further name to the tool it means."`
}

// Limits are toolcrib.Limits as people write them.
type Limits struct {
	Timeout    time.Duration `yaml:"timeout" project:"lower" min:"1ms" doc:"How long a tool may run that names no time of its own."`
	MaxTimeout time.Duration `yaml:"max_timeout" project:"lower" min:"1ms" doc:"The longest any tool may run, whatever time it names itself."`
	Ask        time.Duration `yaml:"ask" project:"lower" min:"1s" doc:"How long a person has to answer a question."`
	Input      int64         `yaml:"input" unit:"bytes" project:"lower" min:"1KiB" max:"256MiB" doc:"The largest input of a call."`
	Output     int64         `yaml:"output" unit:"bytes" project:"lower" min:"1KiB" max:"256MiB" doc:"The largest result of a call."`
	Record     int64         `yaml:"record" unit:"bytes" min:"1KiB" max:"16MiB" doc:"How much of an input, and of a result, the journal keeps. A larger result cannot be answered again by call ID."`
}

// Journal says how long records are kept.
type Journal struct {
	MaxAge  time.Duration `yaml:"max_age" set:"own" doc:"Records older than this are removed. 0: kept for ever. Only your own settings file and the system's set it."`
	MaxSize int64         `yaml:"max_size" unit:"bytes" set:"own" doc:"The oldest records are removed when the journal grows beyond this. 0: no bound. Only your own settings file and the system's set it."`
	Sync    bool          `yaml:"sync" doc:"Wait for the disk at every record, so that records survive a power cut and not only the death of the process. Slower."`
	Undo    int64         `yaml:"undo" unit:"bytes" doc:"How much is kept, in a directory that only you can read, of what files held before tools changed them, so that 'toolcrib journal undo' can put it back: for 30 days, of files of at most 1 MiB. 0: nothing is kept."`
}

// Log says how much to tell.
type Log struct {
	Level  string `yaml:"level" enum:"debug,info,warn,error" doc:"The least level that is written."`
	Format string `yaml:"format" enum:"text,json" doc:"One line of text, or one JSON object, a message."`
}

// Defaults is the configuration of a fresh machine.
func Defaults() Config {
	return Config{
		Profile: policy.ProfileFull, Mode: policy.ModeDefault.String(),
		Delegation: DefaultDelegation(), Sessions: DefaultSessions(),
		Grant: Grant{Write: []string{"."}},
		Toolboxes: Toolboxes{
			Clock: ClockBox{Enabled: true}, Math: MathBox{Enabled: true}, Interact: InteractBox{Enabled: true}, Web: WebBox{Engine: "duckduckgo"},
			Files:    FilesBox{Enabled: true},
			LSP:      DefaultLSPBox(),
			Memory:   MemoryBox{Enabled: true},
			Codegen:  DefaultCodegenBox(),
			Codemode: DefaultCodemodeBox(),
			Notes:    DefaultNotesBox(),
			Skill:    DefaultSkillBox(),
			Tools:    DefaultToolsBox(),
			OvosBox:  DefaultOvosBox(),
			Shell:    ShellBox{Ask: true, MaxTimeout: 2 * time.Minute, JobTime: time.Hour},
			Code:     DefaultCodeBox(),
		},
		Expose: ExposeAuto, ExposeTokens: 20_000,
		Search:  Search{Learn: true, MaxAge: 90 * 24 * time.Hour},
		Hub:     DefaultHub(),
		Market:  DefaultMarket(),
		Sandbox: Sandbox{Backend: "auto", Git: "read", Layers: true, Memory: 2 << 30, Processes: 1024, FileSize: 4 << 30},
		Vault:   Vault{Key: vault.KeyConfig{From: "auto"}},
		Limits: Limits{
			Timeout: 60 * time.Second, MaxTimeout: 10 * time.Minute, Ask: 5 * time.Minute,
			Input: 4 << 20, Output: 8 << 20, Record: 64 << 10,
		},
		Safety: DefaultSafety(), Bounds: DefaultBounds(), Desk: DefaultDesk(),
		Journal: Journal{MaxAge: 90 * 24 * time.Hour, MaxSize: 1 << 30, Undo: 64 << 20},
		Serve:   DefaultServe(),
		Bus:     DefaultBus(), Telemetry: DefaultTelemetry(),
		Log: Log{Level: "warn", Format: "text"},
	}
}

// The ways to show tools to a model.
const (
	ExposeFull   = "full"
	exposeSearch = "search"
	ExposeAuto   = "auto"
)

// HidesSecrets reports whether toolboxes that give parts of texts, or texts in
// other letters, hide what the whole text has secrets in. They do where results
// with secrets are held back as well: a part of a key does not look like one, so
// that no vetter could hold it back.
func (cfg *Config) HidesSecrets() bool {
	return cfg.Safety.Secrets.Results != safety.SecretWarn.String()
}
