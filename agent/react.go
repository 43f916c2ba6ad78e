package agent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/definition"
	"github.com/toolcrib/toolcrib/model"
)

func (r *run) react(context.Context) error { return errors.New("react: coming") }

func reactEntry(toolcrib.Entry) (json.RawMessage, error) { return nil, nil }
func reactList(definition.Set) string                    { return "" }
func isObservation(*model.Message) bool                  { return false }
