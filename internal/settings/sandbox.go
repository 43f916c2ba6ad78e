package settings

import (
	"time"
)

// Sandbox says where programs run and what they may use.
type Sandbox struct {
	Backend   string                 `yaml:"backend" enum:"auto,none,host,linux,container,microvm,seatbelt" doc:"Where programs run. auto: the strongest that works here and that the risk of the tool asks for. seatbelt: the sandbox of macOS, not yet tried on a Mac and never chosen by auto. A backend named here is used or the call is refused, never a weaker one."`
	Memory    int64                  `yaml:"memory" unit:"bytes" project:"lower" min:"32MiB" doc:"The most memory that a program and all it starts may use."`
	Processes int                    `yaml:"processes" project:"lower" min:"8" doc:"The most processes and threads of a program."`
	FileSize  int64                  `yaml:"file_size" unit:"bytes" project:"lower" min:"1MiB" doc:"The largest file that a program may write. On a layer (sandbox.layers) a command may write four times as much in all."`
	ReadOnly  []string               `yaml:"read_only" doc:"Further directories of this machine that programs may read in the linux sandbox, such as /opt/tools."`
	Chains    []string               `yaml:"toolchains" doc:"Compilers and package managers in your home directory or elsewhere that commands may use. Each entry is a word (go, java, node, python, rust), which is looked up on this machine, or a directory of programs such as ~/.cargo/bin. The linux sandbox shows them read-only, with what they need. A directory that agents can write to is refused. A relative one, such as node_modules/.bin, means the project: it is searched last, and its programs count once you have trusted them (toolcrib sandbox trust)."`
	Git       string                 `yaml:"git" enum:"read,write" doc:"What programs may do in Git directories. With write they can commit, but also leave settings there that make the next git command you run start a program of theirs."`
	Layers    bool                   `yaml:"layers" doc:"Run commands (run_command, start_command) on a copy-on-write layer, and judge what they changed when they have ended. Where no layer can be had (in any other sandbox than linux, or on a file system that refuses), commands are judged before they run; toolcrib sandbox probe says why."`
	Container ContainerBox           `yaml:"container" doc:"The container backend."`
	MicroVM   MicroVMBox             `yaml:"microvm" doc:"The microvm backend, a microsandbox server."`
	Tools     map[string]SandboxTool `yaml:"tools" doc:"What is different for one tool, by its name."`
}

// ContainerBox sets up the container backend.
type ContainerBox struct {
	Engine string `yaml:"engine" doc:"docker, podman or nerdctl, or the path of one that takes the same arguments. Empty: the first that works."`
	Image  string `yaml:"image" doc:"The image that programs run in, and MCP servers that name none. It must be there already."`
	User   string `yaml:"user" doc:"Whom programs in containers run as, as uid:gid, never root. Empty: you, or nobody (65534:65534) if you are root."`
}

// MicroVMBox sets up the microvm backend.
type MicroVMBox struct {
	URL   string `yaml:"url" doc:"Address of the server. Empty: what MSB_SERVER_URL says, or http://127.0.0.1:5555. A key is taken from MSB_API_KEY."`
	Image string `yaml:"image" doc:"Image of the machines. Empty: microsandbox/python."`
}

// SandboxTool is what is set for the programs of one tool.
type SandboxTool struct {
	ForceBackend string        `yaml:"force_backend" enum:"auto,none,host,linux,container,microvm,seatbelt" doc:"Where its programs run, whatever their risk."`
	Network      string        `yaml:"network" enum:"granted,off" doc:"off: no network, even where it was granted."`
	MaxTimeout   time.Duration `yaml:"max_timeout" doc:"The longest that one of its programs may run. 0: as long as the tool may."`
}
