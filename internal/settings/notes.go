package settings

import (
	"path/filepath"
	"strings"
	"time"
)

// NotesBox sets up toolbox/notes.
type NotesBox struct {
	Enabled     bool          `yaml:"enabled" project:"off" doc:"Offer this box. An agent that has a list of tasks of its own, as Claude Code has, does without it."`
	MaxAge      time.Duration `yaml:"max_age" min:"1h" doc:"How long the notes of a session are kept after their last change."`
	MaxSessions int           `yaml:"max_sessions" min:"1" max:"100000" doc:"Of how many sessions notes are kept. For a new one the one that was not changed for the longest time makes room, unless it is at work."`
}

// DefaultNotesBox is the box of a fresh machine.
func DefaultNotesBox() NotesBox {
	return NotesBox{Enabled: true, MaxAge: 30 * 24 * time.Hour, MaxSessions: 2000}
}

// MemoryBox sets up toolbox/memory.
type MemoryBox struct {
	Enabled  bool   `yaml:"enabled" project:"off" doc:"Offer this box to callers that run under one of agents."`
	Everyone bool   `yaml:"everyone" project:"off" doc:"Offer it to callers without an agent too, such as Claude Code, which has a memory of its own."`
	Dir      string `yaml:"dir" doc:"The folder of the files; ~ is your home. Empty: memory in Toolcrib's own state, which no tool can touch. In a folder that tools are granted, they can change what is remembered, and take the marks off what came from outside."`
}

// Folder is where memories lie.
func (b MemoryBox) Folder(state, home string) string {
	dir := b.Dir
	if rest, ok := strings.CutPrefix(dir, "~/"); ok && home != "" {
		dir = filepath.Join(home, rest)
	}
	switch {
	case dir == "":
		return filepath.Join(state, "memory")
	case filepath.IsAbs(dir):
		return filepath.Clean(dir)
	}
	return filepath.Join(home, dir) // never in the working directory, which may be anybody's
}
