package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestAgenticXLSP: the answers of language servers in the words and numbers of AgenticX.
func TestAgenticXLSP(t *testing.T) {
	const span = `"path":"/p/a.go","line":3,"column":5,"end_line":3,"end_column":8`
	for name, tt := range map[string]struct{ tool, in, native, out, want string }{
		"definition":  {"lsp_goto_definition", `{"file":"a.go","line":0,"column":-1}`, `{"file":"a.go","line":1,"column":1}`, `{"count":1,"definitions":[{` + span + `,"text":"x"}]}`, `{"ok":true,"count":1,"definitions":[{"path":"/p/a.go","start":{"line":2,"character":4},"end":{"line":2,"character":7}}]}`},
		"references":  {"lsp_find_references", `{"file":"a.go","line":3,"column":5}`, `{"file":"a.go","line":3,"column":5}`, `{"count":0,"references":[]}`, `{"ok":true,"count":0,"references":[]}`},
		"hover":       {"lsp_hover", `{"file":"a.go","line":3,"column":5}`, `{"file":"a.go","line":3,"column":5}`, `{"hover":"func <x>"}`, `{"ok":true,"hover":"func <x>"}`},
		"diagnostics": {"lsp_diagnostics", `{"file":"a.go"}`, `{"file":"a.go"}`, `{"count":1,"diagnostics":[{` + span + `,"severity":"warning","message":"m","code":"c"}],"checked":["/p/a.go"]}`, `{"ok":true,"file":"/p/a.go","count":1,"diagnostics":[{"range":{"start":{"line":2,"character":4},"end":{"line":2,"character":7}},"severity":2,"code":"c","message":"m"}]}`},
		"all":         {"lsp_diagnostics", `{}`, `{}`, `{"count":0,"diagnostics":[],"checked":[]}`, `{"ok":true,"files":[],"count":0}`},
		"failed":      {"lsp_hover", `{"file":"a.go","line":3,"column":5}`, `{"file":"a.go","line":3,"column":5}`, "no server", `{"ok":false,"error":"no server"}`},
	} {
		adapter := toolcrib.Adapter{}
		for _, a := range agenticxAdapters(Options{}) {
			if a.Name == tt.tool {
				adapter = a
			}
		}
		native, err := adapter.In(json.RawMessage(tt.in))
		if err != nil || string(native) != tt.native {
			t.Errorf("%s: asks %s, %v", name, native, err)
		}
		result := toolcrib.Failed(tt.out)
		if strings.HasPrefix(tt.out, "{") {
			result = &toolcrib.Result{Value: json.RawMessage(tt.out)}
		}
		got, err := adapter.Out(json.RawMessage(tt.in), result)
		if err != nil || got.String() != tt.want || got.Failed != result.Failed {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		for cause, want := range map[error]string{files.ErrOutside: "path escapes workspace: ", files.ErrProtected: "path is protected: "} {
			refused := adapter.Refused(json.RawMessage(tt.in), &toolcrib.Error{Code: toolcrib.CodeDenied, Err: cause})
			if refused == nil || !refused.Failed || !strings.Contains(refused.String(), want) {
				t.Errorf("%s: %v is %v", name, cause, refused)
			}
		}
	}
}
