package settings

import (
	"time"
)

// MCPServer is one MCP server whose tools are offered. A project file has no
// say in any: a server is a program that runs here, or somebody who is sent
// what tools are told.
type MCPServer struct {
	Command   string            `yaml:"command" doc:"The program to start: a name that is looked for in PATH, or a path. Never a line for a shell."`
	Args      []string          `yaml:"args" doc:"Its arguments. ${VAR}, ${VAR:-default} and ${secret:NAME} stand for variables of this process and secrets of the vault, here and below; $(…) means nothing. ${person}, here and in env and cwd, is a word for whom the server runs, where each person has their own (instance): /srv/${person}.json."`
	Env       map[string]string `yaml:"env" secret:"true" doc:"Variables it gets besides PATH, HOME and a few plain ones. Nothing else is inherited. In a container: besides those of the image, of which HOME is /tmp."`
	Cwd       string            `yaml:"cwd" doc:"The directory it runs in. Empty: one of its own in the state directory, on the host; paths in args that begin with ./ or that exist are still those of the working directory. In a sandbox: the working directory; in a container: /tmp, which is its home there."`
	URL       string            `yaml:"url" doc:"The address of a server that runs elsewhere, instead of a command."`
	Transport string            `yaml:"transport" enum:"auto,http,sse" doc:"How it is spoken to at url. auto: streamable HTTP, or HTTP with SSE if it has nothing newer."`
	Headers   map[string]string `yaml:"headers" secret:"true" doc:"Headers that are sent to it, such as Authorization."`
	OAuth     MCPOAuth          `yaml:"oauth" doc:"How a token is got if the server wants one. Tokens are kept in the vault."`

	Timeout       time.Duration `yaml:"timeout" max:"24h" doc:"How long a tool of it may take, without the time that people take to answer. 0: one minute."`
	StartTimeout  time.Duration `yaml:"start_timeout" max:"10m" doc:"How long it has to start. 0: 30 seconds, or two minutes for npx, uvx, docker run and the like, which may have to fetch what they run."`
	IdleTimeout   time.Duration `yaml:"idle_timeout" doc:"It is ended when it was not called for so long. 0: ten minutes. 3650d is as good as never."`
	EnabledTools  []string      `yaml:"enabled_tools" doc:"The tools of it that are offered, by their names there or here; patterns such as get_* are allowed. Empty: all."`
	DisabledTools []string      `yaml:"disabled_tools" doc:"Tools of it that are not offered."`
	Agents        []string      `yaml:"assign_to_agents" doc:"The presets of agents that its tools exist for. Empty: all callers."`

	Sandbox       string            `yaml:"sandbox" enum:"host,linux,container,microvm" doc:"Where its program runs. host: as a plain process of yours, which is what most servers need; the others hold it to the granted directories and hosts, or refuse. container: as a program of an image, with nothing of this machine but the granted directories. Empty: host, or linux if its program, its script or its cwd lies where commands can write."`
	Image         string            `yaml:"image" doc:"The image that it runs in with sandbox: container, where its command is a program of the image. It must be there already, and have a shell. Empty: sandbox.container.image, or one that is chosen by the command (npx, node, uvx, uv, python, deno, bun, go, java)."`
	Network       string            `yaml:"network" enum:"granted,off,all" doc:"What it reaches from a sandbox. granted: what grant.hosts says, which is nothing unless you set it. off: nothing. all: the whole network, this machine and private addresses included, whatever grant.hosts says."`
	Start         string            `yaml:"start" enum:"lazy,eager" doc:"lazy: at its first call. eager: at once."`
	Instance      string            `yaml:"instance" enum:"shared,person,session,project" doc:"Who shares one running server: shared is every caller of this process, person each person, session each conversation. project is shared too, since a process has one working directory. Empty: person where there are tokens, so that nothing of one reaches another, else shared."`
	Names         string            `yaml:"names" enum:"qualified,bare" doc:"What its tools are called: qualified is server__tool, bare is as the server calls them, unless another tool is called so."`
	Effects       map[string]string `yaml:"effects" doc:"What its tools may do, by name or pattern, such as get_*: reads,network. Undeclared counts as everything, and what the server says about it as nothing."`
	Sampling      string            `yaml:"sampling" enum:"deny,ask,pass" doc:"What happens when it wants an answer of the caller's model: nothing, a person is asked here first, or the client decides."`
	SamplingModel string            `yaml:"sampling_model" doc:"The model of models that answers it where the caller's client has no model to ask: a name under models. Its answers have at most 4096 tokens, and it is given no tools. With sampling: ask, the default, you are asked each time and see what the server sends; with pass you are not. Empty: nobody answers."`
	Elicitation   string            `yaml:"elicitation" enum:"deny,ask,pass" doc:"What happens when it wants to ask the caller's person something."`
	Pins          string            `yaml:"pins" enum:"first,approve,off" doc:"Definitions of tools are pinned. first: as they are first seen; approve: a person approves those too; off: they may change unseen."`
	Disabled      bool              `yaml:"disabled" doc:"Leave it out."`
}

// MCPOAuth says how a token is got.
type MCPOAuth struct {
	ClientID     string   `yaml:"client_id" doc:"The client that was registered for this program, if one was."`
	ClientSecret string   `yaml:"client_secret" secret:"true" doc:"Its secret: ${secret:NAME}."`
	Issuer       string   `yaml:"issuer" doc:"Who client_id and client_secret are for, as an address. Without, the first one that the server names and that takes them."`
	Scopes       []string `yaml:"scopes" doc:"What the token is asked to be good for. Empty: what the server wants."`
	RedirectPort int      `yaml:"redirect_port" min:"0" max:"65535" doc:"The port of this machine that the login page sends its answer to, at http://127.0.0.1:PORT/callback. Set it if the client was registered with a fixed one. 0: a free one."`
	RedirectURL  string   `yaml:"redirect_url" doc:"That address as a whole, for a client that was registered with another one, such as http://localhost:8080/callback. It has to be one of this machine."`
	Flow         string   `yaml:"flow" enum:"code,client_credentials,off" doc:"code: you log in with a browser (toolcrib hub login NAME). client_credentials: the program gets one for itself. off: never."`
}

// Hub is what holds for all MCP servers.
type Hub struct {
	Wait    time.Duration `yaml:"wait" max:"5m" doc:"How long a start of this program waits for servers that were never listed. Who takes longer is listed when it answers."`
	Plugins string        `yaml:"plugins" doc:"A directory whose programs are MCP servers over standard input and output, named as their files. A relative one lies beside the configuration file. Empty: plugins."`
	PassEnv []string      `yaml:"pass_env" doc:"Variables of this process that all servers with a command get besides the plain ones: proxy (HTTP_PROXY, NO_PROXY, …), ca (SSL_CERT_FILE, NODE_EXTRA_CA_CERTS, …), registry (NPM_CONFIG_REGISTRY, PIP_INDEX_URL, …), display (DISPLAY, WAYLAND_DISPLAY, XAUTHORITY), or the name of a variable. A sandbox has no display, and shows only the certificates of such a file."`
}

// DefaultHub is the hub of a fresh machine.
func DefaultHub() Hub { return Hub{Wait: 5 * time.Second} }
