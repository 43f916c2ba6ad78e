package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// manyTools300 is a box of 300 tools with contracts of a usual size.
func manyTools300(testing.TB) toolcrib.Toolbox {
	var list []toolcrib.Tool
	for i := range 300 {
		list = append(list, toolcrib.Tool{
			Spec: toolcrib.Spec{
				Name: fmt.Sprintf("service_%03d", i), Effects: toolcrib.Reads,
				Description: fmt.Sprintf("Looks up records of kind %d in the inventory. Give the name of the record and how many you want; the newest come first.", i),
				Input:       json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"Which record."},"limit":{"type":"integer","minimum":1,"maximum":100,"default":10},"kind":{"type":"string","enum":["new","old","all"]}},"required":["name"],"additionalProperties":false}`),
			},
			Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
				return toolcrib.Text("found"), nil
			},
		})
	}
	return toolcrib.NewBox("services", list...)
}
