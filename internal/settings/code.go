package settings

import "time"

// CodeBox sets up toolbox/code.
type CodeBox struct {
	Enabled     bool          `yaml:"enabled" project:"off" doc:"Offer this box: let models run code of their own in a sandbox. The code sees no file of yours but those that a call brings in, and no network, so it is not asked about."`
	Python      string        `yaml:"python" doc:"The Python that runs code, or the directory of a virtual environment: a path, ~/…, or a name. Empty: python3, as command lines find it. Python 3.8 or later."`
	Node        string        `yaml:"node" doc:"The Node.js that runs code: a path or a name. Empty: node, as command lines find it. TypeScript is offered from Node.js 22.13 on."`
	Languages   []string      `yaml:"languages" doc:"Which languages are offered: python, javascript, typescript, shell (bash). Empty: all that are installed."`
	Packages    []string      `yaml:"packages" doc:"The Python packages that code may import besides the standard library, by the names that are imported. Empty: all that the interpreter has. Nothing is ever installed."`
	Memory      int64         `yaml:"memory" unit:"bytes" project:"lower" min:"64MiB" doc:"The most memory that one process of a session may use. All processes of a session together may use sandbox.memory."`
	MaxTimeout  time.Duration `yaml:"max_timeout" project:"lower" min:"1s" max:"24h" doc:"The longest a call may run code. Then the code is interrupted, and the session is kept if that works."`
	IdleTimeout time.Duration `yaml:"idle_timeout" project:"lower" min:"1s" max:"24h" doc:"A session that was not used for so long is ended, with its variables and files."`
	MaxSessions int           `yaml:"max_sessions" project:"lower" min:"1" max:"100" doc:"Sessions at once, of all callers. For a new one the one that was not used for the longest time is ended."`
	Risk        string        `yaml:"risk" enum:"low,medium,high,critical" doc:"The least risk that code is rated at. By itself code that gets files of the project is medium, other code low."`
	Backends    CodeBackends  `yaml:"backends" doc:"Where code of each risk runs. One that is not there refuses, it is never a weaker one. Where sandbox.backend names container or microvm, all code runs there."`
}

// CodeBackends is the table of risks.
type CodeBackends struct {
	Low      string `yaml:"low" enum:"linux,container,microvm" doc:"Where code of low risk runs."`
	Medium   string `yaml:"medium" enum:"linux,container,microvm" doc:"Where code of medium risk runs."`
	High     string `yaml:"high" enum:"linux,container,microvm" doc:"Where code of high risk runs."`
	Critical string `yaml:"critical" enum:"linux,container,microvm" doc:"Where code of critical risk runs."`
}

// DefaultCodeBox is the box of a fresh machine. It is off, as command lines are: code of a model runs on this machine's kernel
// only where the person has said so once.
func DefaultCodeBox() CodeBox {
	return CodeBox{
		Memory: 1 << 30, MaxTimeout: 2 * time.Minute, IdleTimeout: 10 * time.Minute, MaxSessions: 4, Risk: "low",
		Backends: CodeBackends{Low: "linux", Medium: "linux", High: "container", Critical: "container"},
	}
}
