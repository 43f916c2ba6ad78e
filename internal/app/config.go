package app

import (
	"time"

	"github.com/toolcrib/toolcrib/toolbox/clock"
)

// Config is every setting of the program. Each group belongs to the part it
// sets up; internal/config reads, overlays and documents it by its tags.
type Config struct {
	Toolboxes Toolboxes `yaml:"toolboxes" doc:"The toolboxes that come with Toolcrib."`
	Tools     Tools     `yaml:"tools" doc:"Names under which tools are shown, and tools that are not. A tool is written box/tool, or just tool."`
	Limits    Limits    `yaml:"limits" doc:"Bounds on every call."`
	Journal   Journal   `yaml:"journal" doc:"What is kept of past calls. Records are removed oldest first; the rest stays verifiable."`
	Serve     Serve     `yaml:"serve" doc:"The server that toolcrib serve starts."`
	Log       Log       `yaml:"log" doc:"Messages of the program itself, on standard error."`
}

// Toolboxes switches the built-in boxes.
type Toolboxes struct {
	Clock ClockBox `yaml:"clock" doc:"The time of day."`
	Math  MathBox  `yaml:"math" doc:"Calculation, units, statistics, equations."`
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

// Tools names and hides tools.
type Tools struct {
	Disable []string          `yaml:"disable" project:"add" doc:"Tools that do not exist for anyone; patterns such as math/* are allowed."`
	Rename  map[string]string `yaml:"rename" doc:"Tool to its new name. Rules still match the old one."`
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
	MaxAge  time.Duration `yaml:"max_age" doc:"Records older than this are removed. 0: kept for ever."`
	MaxSize int64         `yaml:"max_size" unit:"bytes" doc:"The oldest records are removed when the journal grows beyond this. 0: no bound."`
	Sync    bool          `yaml:"sync" doc:"Wait for the disk at every record, so that records survive a power cut and not only the death of the process. Slower."`
}

// Serve says where to listen.
type Serve struct {
	Listen string `yaml:"listen" doc:"Address for HTTP. It must name a loopback host."`
}

// Log says how much to tell.
type Log struct {
	Level  string `yaml:"level" enum:"debug,info,warn,error" doc:"The least level that is written."`
	Format string `yaml:"format" enum:"text,json" doc:"One line of text, or one JSON object, a message."`
}

// Defaults is the configuration of a fresh machine.
func Defaults() Config {
	return Config{
		Toolboxes: Toolboxes{Clock: ClockBox{Enabled: true}, Math: MathBox{Enabled: true}},
		Limits: Limits{
			Timeout: 60 * time.Second, MaxTimeout: 10 * time.Minute, Ask: 5 * time.Minute,
			Input: 4 << 20, Output: 8 << 20, Record: 64 << 10,
		},
		Journal: Journal{MaxAge: 90 * 24 * time.Hour, MaxSize: 1 << 30},
		Serve:   Serve{Listen: "127.0.0.1:7717"},
		Log:     Log{Level: "warn", Format: "text"},
	}
}

func (c ClockBox) config() clock.Config { return clock.Config{Timezone: c.Timezone} }
