package config

import "fmt"

// Source says which layer a value came from. The zero value is the defaults in code.
type Source int

// The layers, lowest first. SourceProject is last because a project file is held against the result of all the others.
const (
	SourceDefault Source = iota
	SourceSystem
	SourceUser
	SourceEnv
	SourceFlag
	SourceProject
)

func (s Source) String() string {
	names := [...]string{"default", "system", "user", "env", "flag", "project"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("Source(%d)", int(s))
	}
	return names[s]
}

// Origin says where the value of one key came from.
type Origin struct {
	Source Source
	File   string // for the three kinds of file
	Line   int    // in File, 1-based
	Name   string // the environment variable
}

// String gives "default", "FILE:LINE", "env NAME" or "flag".
func (o Origin) String() string {
	switch o.Source {
	case SourceSystem, SourceUser, SourceProject:
		return fmt.Sprintf("%s:%d", printable(o.File), o.Line)
	case SourceEnv:
		return "env " + o.Name
	default:
		return o.Source.String()
	}
}
