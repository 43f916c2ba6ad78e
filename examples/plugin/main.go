// Command plugin is a plugin of Toolcrib: a program of its own whose tool is
// called like every other.
//
//	go build -o ~/.config/toolcrib/plugins/dice ./examples/plugin
//	toolcrib call dice__roll sides=20
//
// Nothing imports it. Its invariant: it needs no more than is public.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/plugin"
)

type rollIn struct {
	Sides int `json:"sides" doc:"How many sides the dice have." default:"6" min:"2" max:"1000"`
	Dice  int `json:"dice" doc:"How many are rolled." default:"1" min:"1" max:"100"`
}

type rollOut struct {
	Rolls []int `json:"rolls" doc:"What came up, die by die."`
	Sum   int   `json:"sum"`
}

func main() {
	plugin.Main("dice", toolcrib.Define(toolcrib.Spec{Name: "roll", Description: "Roll dice.", Effects: toolcrib.Pure}, roll))
}

func roll(ctx context.Context, env *toolcrib.Env, in rollIn) (out rollOut, err error) {
	for i := range in.Dice {
		if err := ctx.Err(); err != nil {
			return out, err // the caller has given up
		}
		n := 1 + rand.IntN(in.Sides)
		out.Rolls, out.Sum = append(out.Rolls, n), out.Sum+n
		env.Emit(toolcrib.Event{Kind: "progress", Progress: float64(i + 1), Total: float64(in.Dice)})
	}
	fmt.Println("rolled", out.Rolls) // it goes to the log: the standard output is Toolcrib's
	return out, nil
}
