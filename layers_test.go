package toolcrib_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// rule says where a family of packages stands and what of ours it may import.
// A pattern ending in /* means the packages directly below, /... all below.
// Within one family member (toolbox/math and what lies below it) imports are free.
type rule struct {
	packages string
	layer    int
	may      []string
	why      string
}

// ground is the layer of the ground floor: what two parts need lives there, once.
// Every package of ours may import it, except what people outside would write.
// On the floor itself the table says who may import whom.
const ground = -1

// outside says which packages do without the internal part of the ground floor:
// people outside cannot import it, and what measures the others must not depend on
// them.
func outside(pkg string) bool {
	return matchesAny([]string{"cribtest", "examples", "examples/*/...", "bench/...", ".ci/*"}, pkg)
}

// rules is the table of design layers. The first match counts, so narrow
// patterns stand before wide ones. Test files may besides import cribtest and
// every package that stands no higher than their own layer.
func rules() []rule {
	const (
		leaf     = "a part of layer 1 knows the core and nothing beside it, so that it can be read, tested and replaced alone"
		adapter  = "an adapter implements a port: it knows the core and the package that owns the port, not its sister adapters"
		frontend = "a frontend turns requests into calls: it knows the core, what it shows (desk, agent, bundle) and its wire protocol"
		joint    = "a joint puts parts together that may not know each other, so that the wiring only names it: it knows them and the core, and no other joint"
		wiring   = "wiring may know everything below it; nothing below may know the wiring"
	)
	return []rule{
		{"internal/text", ground, nil, "what people see and type: one table of invisible characters, one way to cut a text, one way to guess a name"},
		{"internal/jsontext", ground, nil, "JSON as text: strings are written and read, and values walked over, in one way"},
		{"internal/tomltext", ground, []string{"internal/text"}, "TOML as text: policies and the files of MCP clients are read in one way, by one library"},
		{"internal/pattern", ground, nil, "regular expressions that are compiled when they are first used: a program that is started for one call needs few"},
		{"internal/interpreter", ground, []string{"files", "internal/linked", "internal/plainfile", "internal/remedy", "internal/text"}, "the interpreters of this machine: hosts of functions and sessions of code find the same ones, and see the same of them"},
		{"internal/pyhost", ground, nil, "the Python host, one embedded file: whoever starts it writes it out"},
		{"internal/backtrack", ground, nil, "patterns that go back and forth: an engine that could take for ever has its time in one place"},
		{"internal/schema", ground, []string{"internal/backtrack", "internal/jsontext", "internal/text"}, "the schema engine is under the core: what it imports, everything imports"},
		{"internal/sensitive", ground, []string{"internal/text"}, "names of keys and of files that others obey: the core, the guards and the sandbox go by one list and compare names in one way"},
		{"internal/keytext", ground, nil, "what of a private key must not be shown: the core and the guard leave the same to be seen"},
		{"internal/plainaddr", ground, nil, "what is one network address: the handle that dials and the rules about addresses compare them in one way"},
		{"internal/begging", ground, nil, "questions that ask for a secret: the desk and the hub warn of them in the same words"},
		{"internal/glob", ground, nil, "patterns of names as people and .gitignore files write them: what the tools find, and what other programs would read, are told by the same"},
		{"internal/pathglob", ground, []string{"internal/text"}, "patterns of paths: rules, the handle on files and what sandboxes cover read and match them in one way"},
		{"internal/diskspace", ground, nil, "how much room a disk has: the systems tell it in three ways, and who asks needs one"},
		{"internal/toolname", ground, nil, "what a tool is called is under the core, so that a name means the same wherever a person types it"},
		{"internal/watch", ground, nil, "who is told of a change: the catalog and the toolboxes keep their lists in one way"},
		{"internal/durable", ground, []string{"internal/plainfile"}, "files that survive a crash: one way to replace a file and one way to lock"},
		{"internal/pinned", ground, []string{"internal/jsontext", "internal/text"}, "what was approved of tools that others define: the hub and the toolboxes of OpenAPI documents keep it in one way, and see the same in a text"},
		{"internal/spoken", ground, nil, "what a voice says to a person: the host on a bus and the agent there have one table, which can be translated alone"},
		{"internal/wording", ground, nil, "sentences that want something of the model: read in one way, whoever wrote them"},
		{"internal/seal", ground, []string{"internal/durable"}, "what decides something and lies on a disk is sealed in one way, and what must not be guessed is hashed in one way"},
		{"internal/image", ground, nil, "which image has a program, and what names one: the settings are checked and containers started by one table"},
		{"internal/hostpath", ground, nil, "programs that run outside of every sandbox are found in one way, whoever starts them"},
		{"internal/toolchains", ground, []string{"internal/pathglob", "internal/pattern", "internal/durable", "internal/gitconfig", "internal/plainfile", "internal/seal"}, "tool chains of a person are found in one way: the guard, PATH, the sandbox and who reports on them go by the same directories"},
		{"internal/gitconfig", ground, []string{"internal/pathglob"}, "the format of a file: the guards and the sandbox both protect what it names"},
		{"internal/plainfile", ground, nil, "reading what anybody may have put there: the guards, the sandbox and those who look for scripts must none of them wait at a pipe"},
		{"internal/remedy", ground, nil, "the command that mends an error: parts that find a fault name it, and the doctor shows it"},
		{"internal/execfile", ground, []string{"internal/plainfile"}, "why a file cannot be started: the folder of plugins and what starts programs say it in the same words"},
		{"internal/gobuild", ground, nil, "how a Go program of one file is compiled: what runs tools of files and what checks generated ones do it in one way"},
		{"internal/scaffold", ground, nil, "what people and models begin with: the command line and the toolbox that generates fill in the same templates"},
		{"internal/nodehost", ground, nil, "a file for Node and its hash: it knows nobody, and whoever starts it knows it"},
		{"internal/starter", ground, nil, "programs that start others: the guard, the reader of scripts and that of settings look behind them by one table"},
		{"internal/named", ground, []string{"internal/pathglob", "internal/pattern", "internal/gitconfig", "internal/plainfile", "internal/starter"}, "texts that name scripts: command lines are read in the one way in which those of git's settings are"},
		{"internal/linked", ground, []string{"internal/pathglob", "internal/plainfile"}, "where links of obeyed and protected names lead: the handle on files, the guards and the sandbox follow them in one way"},
		{"internal/oauth", ground, nil, "logins: the hub and the toolboxes of OpenAPI documents get, keep and renew tokens in one way"},
		{"internal/service", ground, []string{"internal/durable", "internal/plainfile", "internal/text"}, "services of a person: the command line, what sets Toolcrib up and what moves it in write and remove them in one way"},
		{"internal/rewrite", ground, []string{"internal/linked", "internal/pathglob"}, "files of a person are changed in one way, with a backup: by the hub, by the command line, and where a token is made"},
		{"internal/gitindex", ground, nil, "the format of a file: the guard of command lines and the sandbox's shield both read it"},
		{"internal/gitobject", ground, nil, "the formats of a repository's objects: what judges changes of repositories reads them without starting git"},
		{"internal/gitchange", ground, []string{"internal/gitconfig", "internal/gitindex", "internal/gitobject"}, "what changes of a repository mean: it knows the formats, and neither layers nor the core"},
		{"internal/condition", ground, []string{"internal/text"}, "an expression language is text and values: it knows no rule, so that it can be read and held against CEL alone"},
		{"internal/trace", ground, nil, "where in a trace something happens: the MCP server reads it, its client sends it on, and what records it knows neither"},
		{"internal/partial", ground, nil, "which part of a change set can be applied: the core asks about it, and it knows paths only"},
		{"internal/difference", ground, nil, "how two texts differ: the tools that change files show it in one way"},
		{"internal/find", ground, nil, "ranking is words and numbers: it knows no tool, so that the box, the command line and the wiring can share it"},

		{"internal/tsdecl", ground, []string{"internal/find", "internal/jsontext", "internal/text"}, "types are made of schemas in one way: the finder, code mode and the command line show the same"},

		{"internal/mcp/clientfiles", ground, []string{"internal/jsontext", "internal/redact", "internal/tomltext"}, "the formats of files: the settings, the hub, the command line and what looks at a person's clients read and write them in one way"},
		{"internal/gotype", ground, []string{"internal/jsontext"}, "the schema of a Go type, and its values as JSON: the core derives contracts with it, and needs no more of it"},
		{"internal/worker", ground, nil, "goroutines that can be left behind: how a tool is run, without what a tool is"},
		{"internal/meet", ground, nil, "what is left of two sets of names is said without the core, which narrows grants by it"},
		{"internal/settling", ground, nil, "what is told of changes, and what goes with a refused one, is read and tested without guards"},
		{"internal/callid", ground, []string{"internal/text"}, "what IDs of calls look like: the core and the frontends make them in one way"},
		{"internal/refusal", ground, nil, "how a handle says no: under the handles on files and hosts, and read by the core"},
		{"internal/attempts", ground, nil, "how often a tool was tried: counted by what tries it again, and written down by the core"},
		{"internal/redact", ground, []string{"internal/jsontext", "internal/keytext", "internal/schema"}, "what a secret looks like: the journal, the guards and the frontends hide the same"},
		{"files", ground, []string{"internal/durable", "internal/glob", "internal/linked", "internal/pathglob", "internal/refusal", "internal/sensitive", "internal/text"}, "the handle on files can be read and tested without the core, which hands it out"},
		{"httpclient", ground, []string{"internal/plainaddr", "internal/refusal", "internal/text"}, "the handle on hosts can be read and tested without the core, which hands it out"},
		{"internal/hostproxy", ground, []string{"httpclient", "internal/refusal", "internal/text"}, "the way of programs to granted hosts: it judges as the handle on hosts does, and knows no sandbox"},
		{"internal/registries", ground, []string{"httpclient", "internal/plainfile", "internal/tomltext"}, "where package managers get their packages: the wiring, the sandboxes and the command line mean the same by one word"},

		{"internal/release", ground, nil, "the form of a release: what makes one and what installs one name, sign and check its files in one way"},

		{".", 0, nil, "the core is imported by everything, so it must import nothing that could need the core"},

		{"retry", 1, []string{"."}, "a wrapper around tools knows what a tool is and nothing else"},
		{"cribtest", 1, []string{"."}, "suites are for people outside too: they may only need what a port's implementer can see"},
		{"internal/serve/httpapi/...", 1, []string{"."}, "what every endpoint over HTTP stands behind, the bus and programs of others too: it knows who calls, and neither a frontend nor the settings"},
		{"internal/mcp/server/...", 3, []string{".", "internal/desk", "internal/mcp", "internal/serve/httpapi"}, frontend},
		{"internal/mcp/shelf", 3, []string{".", "internal/mcp", "internal/mcp/server", "internal/notefile", "toolbox/mcphub", "toolbox/notes", "toolbox/skill"}, joint},
		{"internal/notefile", 2, []string{".", "toolbox/notes"}, adapter},
		{"internal/scriptfile", 2, []string{".", "toolbox/saved"}, adapter},
		{"internal/memoryfile", 2, []string{".", "toolbox/memory"}, adapter},
		{"internal/notebook", 3, []string{".", "internal/settings", "internal/policy", "internal/safety", "internal/notefile", "internal/memoryfile", "internal/mcp/shelf", "toolbox/mcphub", "toolbox/memory", "toolbox/notes"}, joint + ", but the one that shows notes to MCP clients"},
		{"internal/mcp/...", 1, []string{"."}, leaf},
		{"definition", 1, []string{"."}, leaf},
		{"internal/follow", 1, []string{"."}, leaf},
		{"internal/learn", 1, []string{"."}, leaf},
		{"internal/account", 1, []string{"."}, leaf},
		{"internal/undo", 1, []string{"."}, leaf},
		{"toolbox/finder", 1, []string{"."}, "a toolbox is a supplier; this one ranks what it is given, with the ranking that the command line uses too"},
		{"toolbox/ovosbox/...", 2, []string{".", "retry"}, "a toolbox is a supplier; this one says which of its errors came before anything was sent"},
		{"toolbox/mcphub/...", 2, []string{".", "internal/mcp/..."}, "a toolbox is a supplier: the hub knows the contract and the protocol that its servers speak, and never another toolbox"},
		{"toolbox/codemode", 2, []string{".", "internal/codemode"}, "a toolbox is a supplier; this one makes calls of what scripts ask for, and knows what runs them"},
		{"toolbox/script", 2, []string{".", "internal/toolfile"}, "a toolbox is a supplier; this one is made of the files that declare tools, in the words of what reads them"},
		{"toolbox/lsp/...", 2, []string{".", "internal/mcp"}, "a toolbox is a supplier; this one talks to language servers in the JSON-RPC that MCP is spoken in"},
		{"toolbox/*/...", 1, []string{"."}, "a toolbox is a supplier: it knows the contract and never another toolbox; it uses other tools by Env.Use"},
		{"internal/shellguard/...", 1, []string{"."}, leaf + "; what it shares with others stands on the ground floor"},
		{"internal/policy", 1, []string{".", "internal/shellguard"}, leaf + "; but rules are about command lines, so they are held against what the shell guard reads"},
		{"internal/safety/...", 1, []string{".", "internal/policy"}, leaf + "; but limits are for tools that selectors pick, and flow goes by the labels of tools: both are words of the policy"},
		{"internal/desk/terms", 2, []string{".", "internal/desk", "internal/policy", "internal/safety", "internal/shellguard"}, joint},
		{"internal/suggest", 2, []string{".", "internal/shellguard"}, joint},
		{"internal/desk/opened", 3, []string{".", "internal/desk", "internal/settings", "internal/store", "internal/store/sqlite"}, joint},
		{"internal/desk/...", 1, []string{"."}, leaf},
		{"internal/vault/keeper", 3, []string{".", "internal/vault", "internal/settings", "internal/safety", "internal/safety/secrets", "internal/store", "internal/desk", "internal/reach"}, joint + ", but the one that knows how programs outside of every sandbox are found"},
		{"internal/vault/...", 1, []string{"."}, leaf},
		{"internal/artifact/...", 1, []string{"."}, leaf},
		{"internal/bundle/...", 1, []string{"."}, leaf},
		{"internal/toolfile", 1, []string{".", "internal/config"}, leaf + "; but what it reads is YAML, which is decoded in one place"},
		{"internal/config/...", 1, []string{"."}, leaf + "; each package owns its Config, so config imports none of them"},
		{"internal/ovos/host/...", 3, []string{".", "internal/desk", "internal/ovos/bus"}, frontend},
		{"internal/ovos/voice", 3, []string{".", "agent", "internal/desk", "internal/ovos/bus"}, frontend + "; this one is a screen of the desk too"},
		{"internal/ovos/node", 3, []string{".", "internal/ovos/bus", "internal/ovos/dialect", "internal/ovos/host", "internal/ovos/voice", "internal/desk", "internal/settings", "internal/shellguard", "toolbox/ovosbox", "toolbox/skill"}, joint},
		{"internal/ovos/adopt", 3, []string{".", "internal/config", "internal/ovos/dialect", "internal/ovos/host", "internal/ovos/node", "internal/settings"}, joint + ", but the one that reads mycroft.conf"},
		{"internal/ovos/bus", 1, []string{".", "internal/serve/httpapi"}, leaf + "; but a bus is reached over HTTP, and lets clients in as every endpoint does"},
		{"internal/ovos/*", 1, []string{"."}, leaf},
		{"model", ground, nil, "how one talks to models: it knows no tool, so that the loop, the skills and programs of others can share it"},
		{"model/internal/wire", ground, []string{"model", "internal/refusal", "internal/text"}, "what the APIs of models have in common: requests are sent again, streams read and errors understood in one way"},
		{"model/internal/suite", ground, []string{"model", "model/internal/wire", "internal/modeltest"}, "what every adapter to an API of models must do: their tests run it"},
		{"model/*", ground, []string{"model", "model/internal/wire", "model/internal/suite", "internal/modeltest"}, "an API of models: it knows the port and what it shares with its sisters, and none of them"},
		{"internal/modeltest", ground, nil, "a scripted model for everybody's tests: it knows what goes over the wire, and nothing of ours"},
		{"internal/lineage", ground, nil, "who works for whom: the rules, the limits and who puts agents to work read the names in one way"},
		{"internal/codemode", 1, nil, "scripts that call tools: it knows a pipe to their worker and functions that make calls, and no tool"},
		{"internal/codemode/worker", 1, []string{"internal/codemode"}, "the other side of the pipe: it has nothing of ours but the protocol, because it is to have nothing"},
		{"internal/sessions", 1, nil, "stored conversations: it knows messages and files, and no tool"},
		{"agent", 2, []string{".", "definition", "toolbox/finder"}, "the loop knows the crib that it calls through, the model that it asks, how tools are told to it, and how it finds them where there are many"},

		{"internal/upgrade", 1, nil, "how the program is replaced: it knows the form of a release, a directory or an address with one, and nothing of tools"},
		{"internal/clienthook", 1, []string{"."}, leaf},
		{"internal/hooked", 3, []string{".", "internal/clienthook", "internal/safety/secrets", "internal/shellguard", "internal/store"}, joint},
		{"internal/hookrun", 2, []string{".", "internal/safety", "internal/shellguard"}, joint},
		{"internal/settings", 2, []string{".", "internal/config", "internal/policy", "internal/safety", "internal/vault", "internal/mcp/clientfiles", "internal/ovos/bus", "internal/ovos/dialect"}, "settings are written in the words of the parts they set up: it knows those words, and opens nothing"},

		{"internal/guards", 3, []string{".", "retry", "internal/settings", "internal/policy", "internal/safety", "internal/shellguard", "internal/hookrun", "internal/artifact", "internal/store", "toolbox/web"}, joint + ", but the one that asks hooks"},
		{"internal/sandboxes", 3, []string{".", "internal/settings", "internal/policy", "internal/reach", "internal/sandbox", "internal/sandbox/*"}, joint + ", but the one that says what they may touch"},
		{"internal/chains", 3, []string{".", "internal/settings", "internal/reach", "internal/shellguard"}, joint + ", but the one that says what they may touch"},
		{"internal/models", 3, []string{".", "definition", "internal/settings", "internal/safety", "internal/safety/secrets", "internal/vault"}, joint + "; it makes of requests to models what they have to be, calls"},
		{"internal/coding", 3, []string{".", "agent", "definition", "internal/codemode", "internal/codemode/worker", "internal/sandbox", "internal/scriptfile", "internal/settings", "internal/config", "internal/toolfile", "toolbox/code", "toolbox/codegen", "toolbox/codemode", "toolbox/finder", "toolbox/lsp", "toolbox/saved", "toolbox/skill"}, joint},
		{"internal/namecheck", 3, []string{".", "internal/settings", "internal/policy", "toolbox/mcphub"}, joint},
		{"internal/python", 3, []string{".", "internal/settings", "internal/toolfile", "internal/pyhost", "internal/nodehost", "internal/ovos/dialect", "internal/mcp/client", "toolbox/mcphub"}, joint},
		{"internal/hub", 3, []string{".", "internal/settings", "internal/bundle", "internal/config", "internal/mcp/clientfiles", "internal/serve/httpapi", "toolbox/mcphub"}, joint},
		{"internal/setup", 3, []string{".", "internal/settings", "internal/config", "internal/policy", "internal/mcp/clientfiles", "internal/vault"}, joint},
		{"internal/openapis", 3, []string{".", "internal/settings", "internal/config", "internal/safety", "internal/serve/httpapi", "toolbox/openapi"}, joint},
		{"internal/market", 3, []string{".", "internal/settings", "internal/bundle", "internal/config", "toolbox/skill"}, joint},
		{"internal/bundles", 3, []string{".", "internal/bundle", "internal/settings", "internal/config", "toolbox/skill"}, joint},
		{"internal/skills", 3, []string{".", "internal/settings", "internal/config", "toolbox/skill"}, joint},
		{"internal/reach", 3, []string{".", "internal/settings", "internal/config", "internal/policy", "internal/shellguard", "internal/sandbox", "internal/sandbox/host", "internal/mcp/client", "internal/mcp/clientfiles", "internal/toolfile", "toolbox/mcphub", "toolbox/script"}, joint},

		{"internal/exposed", 3, []string{".", "definition", "internal/learn", "internal/settings", "internal/mcp/server", "internal/ovos/dialect", "toolbox/finder", "toolbox/mcphub"}, joint + ", and the frontend whose lists it shortens"},
		{"internal/agents/offered", 3, []string{".", "agent", "internal/agents", "internal/serve/chatapi", "internal/serve/httpapi", "internal/settings"}, joint + ", but the one whose agents it offers"},
		{"internal/agents", 3, []string{".", "agent", "internal/desk", "internal/policy", "internal/sessions", "internal/settings", "toolbox/delegate"}, joint},
		{"internal/httpauth", 3, []string{".", "internal/desk", "internal/serve/httpapi/...", "internal/settings"}, joint},
		{"internal/watching", 3, []string{".", "internal/artifact", "internal/desk", "internal/models", "internal/safety", "internal/serve/httpapi", "internal/settings", "internal/store", "internal/telemetry", "toolbox/finder", "toolbox/mcphub"}, joint},
		{"internal/telemetry", 3, []string{".", "internal/desk", "internal/mcp"}, "it watches the crib, and what the MCP frontend and the hub tell of their requests: it knows their words, and none of them knows it"},

		{"internal/store", 2, []string{".", "internal/desk"}, adapter},
		{"internal/store/*", 2, []string{".", "internal/store", "internal/desk"}, adapter + "; a database is a driver and a DSN under the SQL of internal/store"},
		{"internal/sandbox", 2, []string{"."}, adapter + "; what it shares with the guards stands on the ground floor"},
		{"internal/sandbox/layer", 1, nil, "what a command works on, and what it changed: backends mount it, and it knows neither them nor the core"},
		{"internal/sandbox/*", 2, []string{".", "internal/sandbox", "internal/sandbox/layer"}, adapter},
		{"internal/fabric/...", 2, []string{"."}, adapter},

		{"internal/chatui/...", 3, []string{".", "agent", "internal/desk"}, frontend + "; this one is a screen of the desk too"},
		{"internal/serve/toolapi", 3, []string{".", "internal/serve/httpapi"}, frontend},
		{"internal/serve/chatapi", 3, []string{".", "agent", "definition", "internal/serve/httpapi"}, frontend},
		{"internal/serve/*/...", 3, []string{".", "internal/desk", "agent", "internal/bundle"}, frontend},

		{"internal/app", 4, []string{".", "retry", "definition", "agent", "toolbox/...", "internal/..."}, wiring},
		{"ovos", 4, []string{".", "internal/ovos/..."}, "the bus for programs of others: it joins the frontend to a crib and decides nothing"},
		{"mcpserver", 4, []string{".", "internal/mcp/server", "internal/desk", "internal/safety", "internal/serve/httpapi"}, "MCP for programs of others: it joins the frontend to a crib and decides nothing"},
		{"plugin", 4, []string{".", "internal/mcp/server"}, "plugins of others: it joins the frontend to a crib that allows everything, because the Toolcrib that starts the program judges"},
		{"governed", 5, []string{".", "internal/app", "internal/settings", "internal/desk", "internal/store/..."}, "a crib for programs of others: it says in the words of the wiring what a Config says, and decides nothing"},
		{"internal/cli", 5, []string{".", "agent", "internal/account", "internal/undo", "ovos", "definition", "internal/agents", "internal/chatui", "internal/sessions", "internal/app", "internal/bundle", "internal/bundles", "internal/config", "internal/settings", "internal/desk", "internal/exposed", "internal/hooked", "internal/market", "internal/models", "internal/openapis", "internal/setup", "internal/store", "internal/vault", "internal/serve/httpapi", "internal/ovos/adopt", "internal/ovos/bus", "internal/ovos/dialect", "internal/scriptfile", "internal/toolfile", "internal/upgrade", "toolbox/saved", "toolbox/skill"},
			"a command asks app for what it needs; besides it reads the configuration (config, settings), and shows a person in the words of the part what waits (desk), what was done (store, account) and can be taken back (undo), what is kept (vault), who is let in (httpapi), what a client's hook says and is told (hooked) and what goes over a bus (ovos/bus, dialect) and how one moves in there (ovos/adopt), what a model's API is told (definition, exposed), what documents say (openapis), what the files of other clients hold (setup), which models there are (models), what registries have (market), what agents do and said (agent, agents, sessions), what skills say of themselves (toolbox/skill), which scripts were kept (scriptfile, saved), and what bundles are and want (bundle, bundles)"},
		{"cmd/*", 6, []string{"internal/cli", "internal/app"}, "main is ten lines: what it would need from elsewhere belongs into cli"},

		{"internal/conformance", 6, []string{".", "agent", "definition", "model", "toolbox/...", "internal/..."}, "it runs the whole program against the protocol's own suite, and real servers and clients"},
		{"examples", 6, []string{"."}, "the examples only need what is public; the tests beside them run the pages of the docs against the program, so they stand on top"},
		{"examples/*/...", 6, []string{".", "agent", "definition", "governed", "mcpserver", "ovos", "plugin"}, "an example is what someone else would write: it may only need what is public, and no other example"},
		{"bench/...", 0, nil, "the bench report runs go test and reads its output; it must not depend on what it measures"},
		{".ci/release", 0, []string{"internal/release"}, "what makes a release knows its form, and asks the built program for the rest"},
		{".ci/*", 0, nil, "what counts test runs and tries mutants must work while the packages that it looks at are broken"},
	}
}

// heavy says which packages may import a library from elsewhere. A library
// that is not here may not be imported at all.
type heavy struct {
	library string
	in      []string // packages, non-test files
	tests   []string // packages whose test files may use it as well; "..." is all
	why     string
}

func libraries() []heavy {
	everywhere := []string{"..."}
	return []heavy{
		{"modernc.org/sqlite", []string{"internal/store/sqlite"}, nil, "the driver is 8 MB and one of two databases; the SQL stands in internal/store"},
		{"modernc.org/quickjs", []string{"internal/codemode/worker"}, nil, "scripts are run in the worker, and nowhere else"},
		{"github.com/google/jsonschema-go", []string{"internal/gotype"}, nil, "schemas are derived from Go types in one place, Define"},
		{"github.com/modelcontextprotocol/go-sdk", nil, []string{"internal/cli", "internal/app", "internal/mcp", "internal/mcp/client", "internal/mcp/server", "toolbox/mcphub", "internal/oauth", "internal/conformance", "mcpserver", "examples/governed"}, "it is the other side in tests: what we speak is held against it"},
		{"mvdan.cc/sh/v3", []string{"internal/shellguard", "internal/named"}, nil, "command lines are understood by the guard that judges them, and the texts of hooks by what finds the scripts that they name"},
		{"cel.dev/cel-go", nil, []string{"internal/condition"}, "it is the judge in tests: what conditions of rules mean is held against it"},
		{"filippo.io/age", []string{"internal/vault"}, nil, "secrets are encrypted in one place"},
		{"github.com/zalando/go-keyring", []string{"internal/vault"}, nil, "only the vault asks the system for a key"},
		{"github.com/coder/websocket", []string{"internal/ovos/bus"}, nil, "one package speaks the bus's protocol"},
		{"golang.org/x/term", []string{"internal/cli"}, nil, "a secret is typed without being shown in one place"},
		{"github.com/dlclark/regexp2", []string{"internal/backtrack"}, nil, "an engine that backtracks is kept where its time is bounded"},
		{"znkr.io/diff", []string{"internal/difference"}, nil, "differences are shown in one way by the tools that change files"},
		{"golang.org/x/sys", []string{"internal/sandbox", "internal/sandbox/host", "internal/sandbox/layer", "internal/sandbox/linux"}, nil, "only sandboxes talk to the kernel past the standard library"},
		{"github.com/spf13/cobra", []string{"internal/cli"}, nil, "commands are parsed in one place"},
		{"github.com/spf13/pflag", []string{"internal/cli"}, nil, "flags are parsed in one place"},
		{"go.yaml.in/yaml/v3", []string{"internal/config"}, []string{"internal/conformance"}, "configuration is decoded in one place; packages get Go structs"},
		{"github.com/pelletier/go-toml/v2", []string{"internal/tomltext"}, nil, "TOML is read in one place, which says where each entry stands"},
		{"golang.org/x/net", []string{"toolbox/web"}, nil, "pages are read by the toolbox that fetches them"},
		{"golang.org/x/text", []string{"toolbox/web"}, nil, "only pages from elsewhere are in another character set"},
		{"github.com/itchyny/gojq", []string{"toolbox/openapi/internal/jq"}, nil, "a language with loops is kept where its work is bounded"},
		{"github.com/getkin/kin-openapi", nil, []string{"toolbox/openapi", "internal/serve/toolapi"}, "it is the judge in tests: what is sent to an API is held against its document by it, and the document of our own tools is"},
		{"github.com/rogpeppe/go-internal", []string{"cribtest"}, everywhere, "txtar and testscript are for tests only"},
		{"github.com/google/go-cmp", []string{"cribtest"}, everywhere, "comparing is for tests only"},
		{"pgregory.net/rapid", nil, everywhere, "properties are for tests only"},
	}
}

func TestLayers(t *testing.T) {
	tr := thisTree(t)
	report(t, checkLayers(tr, rules()))
	if testing.Verbose() {
		logDegrees(t, tr)
	}
}

func TestLibrariesHaveOneHome(t *testing.T) {
	report(t, checkLibraries(thisTree(t), libraries()))
}

// checkLayers holds every import of ours against the table.
func checkLayers(tr *tree, table []rule) []violation {
	var found []violation
	for _, p := range tr.pkgs {
		r, ok := ruleOf(table, p.path)
		if !ok {
			found = append(found, violation{p.path, "this package is in no layer: add it to the table in layers_test.go and say which layer",
				"a package that nobody placed is imported by whoever finds it"})
			continue
		}
		for _, f := range p.files {
			for _, imported := range slices.Sorted(maps.Keys(f.imports())) {
				to, ok := ours(imported)
				if !ok || to == p.path || sameFamily(r.packages, p.path, to) || matchesAny(r.may, to) && below(table, r, to) || onGround(table, to) && r.layer != ground && (!outside(p.path) || !isInternal(to)) {
					continue
				}
				if _, placed := ruleOf(table, to); !placed && slices.ContainsFunc(tr.pkgs, func(p *srcPackage) bool { return p.path == to }) {
					continue // that is told of the package itself
				}
				if f.test && (to == "cribtest" || to == "." || below(table, r, to) || sameLayer(table, r, to)) {
					continue
				}
				found = append(found, violation{f.name, fmt.Sprintf("%s (layer %d) imports %s; it may import: %s", p.path, r.layer, to, orNone(r.may)), r.why})
			}
		}
	}
	return found
}

func checkLibraries(tr *tree, table []heavy) []violation {
	var found []violation
	for _, p := range tr.pkgs {
		for _, f := range p.files {
			for _, imported := range slices.Sorted(maps.Keys(f.imports())) {
				if _, our := ours(imported); our || isStd(imported) {
					continue
				}
				i := slices.IndexFunc(table, func(h heavy) bool {
					return imported == h.library || strings.HasPrefix(imported, h.library+"/")
				})
				if i < 0 {
					found = append(found, violation{f.name, "imports " + imported + ", a library without a home: add it to the table in layers_test.go and to docs/dependencies.md",
						"every dependency is chosen, with a reason and one package that knows it"})
					continue
				}
				h := table[i]
				if slices.Contains(h.in, p.path) || f.test && (slices.Contains(h.tests, "...") || slices.Contains(h.tests, p.path)) {
					continue
				}
				found = append(found, violation{f.name, fmt.Sprintf("imports %s, whose home is %s", imported, orNone(h.in)), h.why})
			}
		}
	}
	return found
}

// isInternal: people outside cannot import it.
func isInternal(pkg string) bool { return strings.HasPrefix(pkg, "internal/") }

func onGround(table []rule, pkg string) bool {
	r, ok := ruleOf(table, pkg)
	return ok && r.layer == ground
}

func ruleOf(table []rule, pkg string) (rule, bool) {
	i := slices.IndexFunc(table, func(r rule) bool { return matchPattern(r.packages, pkg) })
	if i < 0 {
		return rule{}, false
	}
	return table[i], true
}

// matchPattern: "a/*" is what lies directly below a, "a/..." is a and all below.
func matchPattern(pattern, pkg string) bool {
	prefix, deep := strings.CutSuffix(pattern, "/...")
	if !deep {
		ok, err := path.Match(pattern, pkg)
		return ok && err == nil
	}
	n := strings.Count(prefix, "/") + 1
	parts := strings.Split(pkg, "/")
	if len(parts) < n {
		return false
	}
	ok, err := path.Match(prefix, strings.Join(parts[:n], "/"))
	return ok && err == nil
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matchPattern(p, pkg) })
}

// sameFamily reports whether two packages are of the same member of a deep
// pattern: toolbox/math and toolbox/math/internal/expr, not toolbox/clock.
func sameFamily(pattern, a, b string) bool {
	prefix, deep := strings.CutSuffix(pattern, "/...")
	if !deep {
		return false
	}
	n := strings.Count(prefix, "/") + 1
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	return len(x) >= n && len(y) >= n && slices.Equal(x[:n], y[:n])
}

// below reports whether a package stands under the layer of r, or on it if r
// names it: an adapter and the owner of its port share a layer.
func below(table []rule, r rule, pkg string) bool {
	other, ok := ruleOf(table, pkg)
	return ok && (other.layer < r.layer || other.layer == r.layer && slices.Contains(r.may, pkg))
}

func sameLayer(table []rule, r rule, pkg string) bool {
	other, ok := ruleOf(table, pkg)
	return ok && other.layer == r.layer && r.layer > 0
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// logDegrees prints how many of our packages each one imports and is imported
// by. A hub that is high in both is the shape that makes a code base rot.
func logDegrees(t *testing.T, tr *tree) {
	in, out := map[string]int{}, map[string]int{}
	for _, p := range tr.pkgs {
		seen := map[string]bool{}
		for _, f := range p.files {
			for imported := range f.imports() {
				if to, ok := ours(imported); ok && !f.test && !seen[to] {
					seen[to] = true
					out[p.path]++
					in[to]++
				}
			}
		}
	}
	t.Logf("%-32s %4s %4s", "package", "in", "out")
	for _, p := range tr.pkgs {
		t.Logf("%-32s %4d %4d", p.path, in[p.path], out[p.path])
	}
}

func TestLayerRulesCanFail(t *testing.T) {
	src := func(name string, imports ...string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "package %s\n", name)
		for _, i := range imports {
			fmt.Fprintf(&b, "import _ %q\n", i)
		}
		return b.String()
	}
	at := func(p string) string { return modulePath + "/" + p }
	tr := sample(t,
		"good.go", src("toolcrib", at("internal/schema"), "fmt"),
		"core.go", src("toolcrib", at("toolbox/clock")),
		"good_test.go", src("toolcrib", at("cribtest")),
		"up_test.go", src("toolcrib", at("internal/app")),
		"internal/schema/s.go", src("schema", modulePath),
		"toolbox/math/good.go", src("math", modulePath, at("toolbox/math/internal/expr")),
		"toolbox/math/m.go", src("math", at("toolbox/clock")),
		"toolbox/math/good_test.go", src("math", at("toolbox/clock"), at("cribtest")),
		"toolbox/math/internal/expr/e.go", src("expr", at("internal/ovos/dialect")),
		"internal/ovos/dialect/d_windows.go", src("dialect", at("internal/config")),
		"internal/store/sqlite/good.go", src("sqlite", modulePath, at("internal/store")),
		"internal/store/sqlite/s.go", src("sqlite", at("internal/store/postgres")),
		"internal/mcp/server/good.go", src("server", modulePath, at("internal/desk")),
		"internal/mcp/server/m.go", src("server", at("internal/store")),
		"internal/app/good.go", src("app", modulePath, at("toolbox/math"), at("internal/mcp/server")),
		"internal/app/a.go", src("app", at("internal/cli")),
		"internal/cli/good.go", src("cli", at("internal/app"), at("internal/desk"), at("internal/text")),
		"internal/cli/c.go", src("cli", at("internal/store/sqlite")),
		"cmd/toolcrib/main.go", src("main", at("toolbox/math")),
		"cribtest/c.go", src("cribtest", at("internal/schema")),
		"internal/helpers/h.go", src("helpers"),
	)
	mustFind(t, checkLayers(tr, rules()),
		"core.go", "up_test.go", "internal/schema/s.go", "toolbox/math/m.go", "toolbox/math/internal/expr/e.go",
		"internal/ovos/dialect/d_windows.go", "internal/store/sqlite/s.go", "internal/mcp/server/m.go",
		"internal/app/a.go", "internal/cli/c.go", "cmd/toolcrib/main.go", "cribtest/c.go", "internal/helpers")

	tr = sample(t,
		"internal/store/sqlite/good.go", src("sqlite", "modernc.org/sqlite/lib"),
		"internal/cli/good_test.go", src("cli", "github.com/modelcontextprotocol/go-sdk/mcp", "github.com/google/go-cmp/cmp"),
		"internal/cli/c.go", src("cli", "github.com/modelcontextprotocol/go-sdk/mcp"),
		"internal/store/s.go", src("store", "modernc.org/sqlite"),
		"toolbox/clock/c.go", src("clock", "github.com/google/go-cmp/cmp"),
		"toolbox/clock/d_test.go", src("clock", "github.com/stretchr/testify/assert"),
	)
	mustFind(t, checkLibraries(tr, libraries()),
		"internal/cli/c.go", "internal/store/s.go", "toolbox/clock/c.go", "toolbox/clock/d_test.go")
}
