package settings

import "time"

// Python is an interpreter whose toolboxes, files and modules are offered. A project
// file has no say in any: it is code that runs here.
type Python struct {
	Python string `yaml:"python" doc:"The interpreter, or the directory of a virtual environment: a path, ~/…, or a name that is looked for in PATH. Empty: python3. Python 3.9 or later."`

	OPM       bool              `yaml:"opm" doc:"Offer the toolboxes of OpenVoiceOS that are installed there (entry points opm.agents.toolbox), each a toolbox of its own, and the skills (opm.agents.skill_md)."`
	Toolboxes []string          `yaml:"toolboxes" doc:"Which of these toolboxes, by id or entry point, or patterns such as ovos-*. Empty: all."`
	Skip      []string          `yaml:"skip" entries:"names" doc:"Ids or entry points of toolboxes that are left out."`
	Bus       bool              `yaml:"bus" doc:"Connect these toolboxes to the message bus at bus.url, for those that talk to skills. They answer no requests there: Toolcrib does. It takes hosts: ['*'] or sandbox: host."`
	Config    map[string]string `yaml:"config" secret:"true" doc:"The configuration of single toolboxes, by id: a JSON object as a text, such as '{\"api_key\": \"${secret:weather}\"}'. What a mycroft.conf (bus.mycroft) says under the same id counts for what it leaves unset."`

	Files   []string `yaml:"files" doc:"Python files whose functions and tool objects are tools, each file a toolbox named as the file. Files in the folder tools need no entry here."`
	Modules []string `yaml:"modules" doc:"Installed modules whose functions and tool objects are tools, such as acme.tools, each a toolbox."`

	Read    []string          `yaml:"read" doc:"Directories that these programs may read, besides the interpreter and their own code. . is the working directory. Nothing that grant gives comes besides."`
	Write   []string          `yaml:"write" doc:"Directories that they may read and write."`
	Hosts   []string          `yaml:"hosts" doc:"Hosts that they may reach, as under grant.hosts. Empty: no network."`
	Env     map[string]string `yaml:"env" secret:"true" doc:"Variables they get. ${VAR} and ${secret:NAME} stand for variables of this process and secrets of the vault. Nothing is inherited but PATH, the language and the time zone."`
	Secrets map[string]string `yaml:"secrets" doc:"Variables that hold secrets: the variable, and the name of the secret in the vault."`
	Sandbox string            `yaml:"sandbox" enum:"host,linux" doc:"Where they run. Empty: in the sandbox linux, which holds them to what is declared here, or not at all. host: as plain processes of yours, held to nothing."`

	Effects      map[string]string `yaml:"effects" doc:"What their tools may do, by tool or pattern, such as get_*: reads,network. A tool without an entry may do what read and write allow, if there are neither hosts nor secrets, bus or sandbox: host; else it is undeclared, which counts as everything. An entry for * also narrows the directories and hosts to what all entries say together: without writes they are read-only, and without network there is no host."`
	Timeout      time.Duration     `yaml:"timeout" max:"24h" doc:"How long a tool may take. 0: one minute."`
	StartTimeout time.Duration     `yaml:"start_timeout" max:"10m" doc:"How long a program has to start, and to say what there is. 0: 30 seconds."`
	IdleTimeout  time.Duration     `yaml:"idle_timeout" doc:"A program is ended when it was not called for so long. 0: ten minutes."`
	Instance     string            `yaml:"instance" enum:"shared,person,session,project" doc:"Who shares one running program, as under mcp_servers. Empty: person where there are tokens, else shared."`
	Names        string            `yaml:"names" enum:"bare,qualified" doc:"What the tools are called. bare, which is the default: by their own names, unless another tool is called so. qualified: toolbox__tool."`
	Pins         string            `yaml:"pins" enum:"first,approve,off" doc:"Whether definitions are pinned, as under mcp_servers. Empty: off, since you installed the package or wrote the file; what pip updates is there after a reload."`
	Disabled     bool              `yaml:"disabled" doc:"Leave it out."`
}
