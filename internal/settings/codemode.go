package settings

import "time"

// CodemodeBox sets up toolbox/codemode.
type CodemodeBox struct {
	Enabled bool          `yaml:"enabled" project:"off" doc:"Offer this box: let models write scripts that call tools. Each call of a script is judged as any other."`
	Time    time.Duration `yaml:"time" project:"lower" min:"100ms" max:"10m" doc:"How long a script may compute that names no time. Calls and questions do not count."`
	MaxTime time.Duration `yaml:"max_time" project:"lower" min:"100ms" max:"10m" doc:"The longest that a script may name. With all its calls and questions it takes limits.max_timeout at most."`
	Saved   bool          `yaml:"saved" project:"off" doc:"Offer the scripts that were kept as tools (box scripts), and script_save, which keeps more. A person is shown each before it is kept."`
	Plain   bool          `yaml:"plain" project:"off" doc:"Run scripts in a plain process, where no sandbox can hold one. A fault in the JavaScript engine would then give a script what this program has."`
}

// DefaultCodemodeBox is the box of a fresh machine. It is off: with few tools its two
// descriptions cost more than they save.
func DefaultCodemodeBox() CodemodeBox {
	return CodemodeBox{Saved: true, Time: 10 * time.Second, MaxTime: time.Minute}
}
