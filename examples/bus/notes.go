package main

import (
	"context"
	"errors"

	"github.com/toolcrib/toolcrib"
)

type writeIn struct {
	Name string `json:"name" doc:"Name of the note, such as shopping.txt." minlen:"1" maxlen:"100"`
	Text string `json:"text" doc:"What it is to say. What it said before is replaced." maxlen:"100000"`
}

type writeOut struct {
	Bytes int `json:"bytes" doc:"How long the note is now."`
}

type readIn struct {
	Name string `json:"name" doc:"Name of the note." minlen:"1" maxlen:"100"`
}

type readOut struct {
	Text string `json:"text" doc:"What the note says."`
}

// notes is the toolbox. Its name is its id on the bus.
func notes() toolcrib.Toolbox {
	return toolcrib.NewBox("notes", writeNote(), readNote())
}

func writeNote() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "write_note", Title: "Write a note", Description: "Writes a note, which is a text under a name.",
		Effects: toolcrib.Reads | toolcrib.Writes, Group: "notes",
	}, func(_ context.Context, env *toolcrib.Env, in writeIn) (writeOut, error) {
		if env.Files == nil { // what was not granted is nil
			return writeOut{}, errors.New("no directory is granted")
		}
		if err := env.Files.WriteFile(in.Name, []byte(in.Text), nil); err != nil {
			return writeOut{}, err
		}
		return writeOut{Bytes: len(in.Text)}, nil
	})
}

const maxNote = 1 << 20

func readNote() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "read_note", Title: "Read a note", Description: "Gives what a note says.",
		Effects: toolcrib.Reads, Group: "notes",
	}, func(_ context.Context, env *toolcrib.Env, in readIn) (readOut, error) {
		if env.Files == nil {
			return readOut{}, errors.New("no directory is granted")
		}
		text, _, err := env.Files.ReadFile(in.Name, maxNote)
		return readOut{Text: string(text)}, err
	})
}
