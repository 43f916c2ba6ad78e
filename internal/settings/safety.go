package settings

import (
	"time"
)

// Safety sets up what may flow in and out of calls.
type Safety struct {
	Secrets   SafetySecrets         `yaml:"secrets" doc:"Keys and tokens, found by the rules of a maintained scanner, and the values of the vault. They are never kept in the journal."`
	Labels    map[string][]string   `yaml:"labels" enum:"none,private,untrusted,public" doc:"Labels of tools in place of their own, by box or tool."`
	AddLabels map[string][]string   `yaml:"add_labels" enum:"private,untrusted,public" project:"add" doc:"Labels added to whatever a tool has."`
	Injection SafetyInjection       `yaml:"injection" doc:"Results from outside."`
	Flow      SafetyFlow            `yaml:"flow" doc:"What may leave after what was read."`
	Hooks     map[string]SafetyHook `yaml:"hooks" doc:"Guards and vetters that are programs or services, and such that keep a state beside the record of a call."`
}

// SafetySecrets sets up what is done about secrets that are found.
type SafetySecrets struct {
	Arguments string `yaml:"arguments" enum:"block,warn" project:"lower" doc:"In the arguments of a call: refuse it, or note it for the person who is asked. A tool may well need one."`
	Results   string `yaml:"results" enum:"block,redact,warn" project:"lower" doc:"In a result: hold it back, take them out, or say that there are some."`
}

// DefaultSafety is what a fresh machine does.
func DefaultSafety() Safety {
	return Safety{
		Secrets:   SafetySecrets{Arguments: "warn", Results: "redact"},
		Injection: SafetyInjection{Enabled: true}, Flow: DefaultFlow(),
	}
}

// SafetyInjection sets up what is done to results from outside.
type SafetyInjection struct {
	Enabled bool `yaml:"enabled" project:"on" doc:"Mark what came from outside as such, and write out hidden characters and control tokens in it. Only results of tools with the label untrusted are touched."`
}

// SafetyFlow sets up when a tool may send something away.
type SafetyFlow struct {
	Enabled   bool   `yaml:"enabled" project:"on" doc:"Watch what a conversation has read before something can leave by a tool with the label public."`
	Private   string `yaml:"private" enum:"deny,ask,allow" project:"lower" doc:"What happens to such a call when private data was read before, which may hold words of others. ask: short questions to the search engine and pages of trusted_hosts are only noted. allow: all are."`
	Untrusted string `yaml:"untrusted" enum:"deny,ask,allow" project:"lower" doc:"What happens to such a call when content from outside was read before."`
	Both      string `yaml:"both" enum:"deny,ask" project:"lower" doc:"What happens to such a call when both were read. It cannot be allowed unasked."`
	// A list replaces the default one, as all lists do.
	TrustedHosts []string `yaml:"trusted_hosts" project:"drop" doc:"Hosts whose pages may be fetched after private data was read, by their exact names: what is asked of them gets to nobody who could have written what was read. Only addresses of a page's length without a query count."`
}

// SafetyHook is a guard or a vetter that is a program or a service.
type SafetyHook struct {
	Command []string          `yaml:"command" doc:"The program and its arguments. It is started for each question, without a shell, gets the question on standard input and answers on standard output. The program is named by its full path."`
	URL     string            `yaml:"url" doc:"A service instead of a program: the question is posted there. https, or http on this machine."`
	Headers map[string]string `yaml:"headers" secret:"true" doc:"Headers that are sent to it, such as Authorization."`
	Env     map[string]string `yaml:"env" secret:"true" doc:"Variables the program gets besides PATH and LANG. Nothing is inherited."`
	Phases  []string          `yaml:"phases" enum:"judge,vet,state" doc:"What it is asked: judge, before a call; vet, about its result; state, what to keep beside the record of a call that was made. Empty: judge."`
	Tools   []string          `yaml:"tools" doc:"The tools it is asked about, such as group:web or files/*. Empty: all."`
	Timeout time.Duration     `yaml:"timeout" max:"1m" doc:"How long it may take. What it has not answered by then is denied, and a state is left out. 0: five seconds."`
}

// DefaultFlow is what a fresh machine does: it asks where somebody else's words
// and the person's own data meet a way out. A file is both: nobody knows who
// wrote it.
func DefaultFlow() SafetyFlow {
	return SafetyFlow{Enabled: true, Private: "ask", Untrusted: "allow", Both: "ask", TrustedHosts: []string{
		// Pages that their owners wrote, and that send nobody on to where an address says.
		"developer.mozilla.org", "docs.python.org", "doc.rust-lang.org", "docs.rs", "go.dev", "nodejs.org", "www.typescriptlang.org", "react.dev",
		"www.postgresql.org", "www.sqlite.org", "kubernetes.io", "docs.docker.com", "git-scm.com", "man7.org", "www.rfc-editor.org", "en.wikipedia.org",
	}}
}
