// Package config turns layered settings into one Go struct and documents that struct.
//
// It owns no setting. Every package describes its own settings as a plain struct with tags, internal/app puts them
// together, and this package works on the result by reflection: it decodes files, environment and flags, lays them over
// the defaults, and writes the reference, the JSON Schema and the annotated listing. Only wiring (internal/app and
// internal/cli) imports it; a package that owns settings never does. It is the one package that imports YAML.
//
// The layers, each over the one before it:
//
//	defaults in code < system file < user file < environment < flags
//
// A project file comes last and may only tighten what the layers before it made: what it may do to a setting is said by
// the setting's own tag, and a setting without such a tag is out of its reach.
//
// The invariant: a value that comes from an untrusted project file never makes the result wider than it would be
// without that file. Whatever would is left out and reported as a Warning.
//
// # Tags
//
//	yaml:"key"       the name; required on every exported field, "-" leaves a field out
//	doc:"…"          what the setting does; Reference and Schema refuse a field without it
//	project:"lower"  a project file may lower a number, duration or size (never to zero, which often means unlimited)
//	                 or move a word to one that stands before it in its enum
//	project:"add"    … may add entries to a list or a map
//	project:"off"    … may set a bool to false
//	project:"on"     … may set a bool to true
//	project:"subset" … may narrow a list (never to the empty list, which often means everything)
//	project:"drop"   … may narrow a list, also to nothing: for lists where empty means nothing
//	layers:"join"    a list that every layer adds to, where others replace it
//	set:"own"        only the administrator's file and the user's own set it: no flag, no environment variable, no file
//	                 named on the command line, no project file, whether it is trusted or not
//	unit:"bytes"     an int64 is a size: 4096, 4KiB, 16 MiB, 1GB
//	enum:"a,b,c"     the only texts allowed
//	min:"…" max:"…"  bounds of a number, duration or size, both inclusive
//	env:"NAME"       another environment variable than TOOLCRIB_<KEY>; "-" for none
//	secret:"true"    the value is never printed, and neither are the values below it
//
// # Types
//
// Bools, integers, floats, strings, time.Duration; nested structs (blocks), pointers to structs (optional blocks), lists
// of scalars or structs, maps from strings to scalars, structs or lists of scalars. A block, an optional block or a map
// is merged key by key with the layer below; a scalar or a list replaces it. A block that is written with nothing in it
// is an empty block, so there is no way to remove a map entry of a lower layer: give entries a bool that turns them off.
package config
