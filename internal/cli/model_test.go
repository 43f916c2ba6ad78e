package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolcrib/toolcrib/internal/modeltest"
)

// scriptedModels is the command of scripts that makes a model of a file:
//
//	model NAME FILE
//
// FILE is a JSON list of turns, each with text, calls (a name and arguments each), fail or
// hang. $MODEL_NAME is the base URL of the model, which speaks OpenAI's API. A model with
// the name "gone" is an address where nobody listens.
func scriptedModels(t *testing.T) func(*testscript.TestScript, bool, []string) {
	var mu sync.Mutex
	scripts := map[string][]modeltest.Turn{}
	server := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn {
		key, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
		mu.Lock()
		defer mu.Unlock()
		list := scripts[key]
		if len(list) == 0 {
			return modeltest.Turn{Text: "the script is over"}
		}
		scripts[key] = list[1:]
		return list[0]
	})
	n := 0
	return func(ts *testscript.TestScript, _ bool, args []string) {
		if len(args) != 2 {
			ts.Fatalf("usage: model NAME FILE")
		}
		var turns []struct {
			Text  string
			Calls []struct {
				Name      string
				Arguments json.RawMessage
			}
			Fail string
			Hang bool
		}
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &turns))
		mu.Lock()
		defer mu.Unlock()
		n++
		key := fmt.Sprintf("m%d", n)
		for _, one := range turns {
			turn := modeltest.Turn{Text: one.Text, Fail: one.Fail}
			if one.Hang {
				turn.Hang = 2
			}
			for _, c := range one.Calls {
				turn.Calls = append(turn.Calls, modeltest.Call{Name: c.Name, Arguments: string(c.Arguments)})
			}
			scripts[key] = append(scripts[key], turn)
		}
		ts.Setenv("MODEL_"+strings.ToUpper(args[0]), server.URL+"/"+key+"/v1")
	}
}

// settingsFile is the command of scripts that writes a file with variables filled in:
//
//	settings FROM TO
func settingsFile(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: settings FROM TO")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(os.Expand(ts.ReadFile(args[0]), ts.Getenv)), 0o600))
}
