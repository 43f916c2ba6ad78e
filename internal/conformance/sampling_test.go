package conformance

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/modeltest"
)

// TestGenuineSampling: a server that people use wants an answer of a model. The client has none,
// and the model that the person set for this server gives it; one that has none set is refused.
func TestGenuineSampling(t *testing.T) {
	p := peers(t)
	m := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn {
		return modeltest.Turn{Text: "Sampled: " + fmt.Sprint(len(r.Tools)) + " tools"}
	})
	url := gateway(t, fmt.Sprintf(`mode: yolo
hub: {wait: 2m}
models: {scripted: {base_url: %q, model: scripted}}
mcp_servers:
  everything: {command: %q, args: [%q], sampling: pass, sampling_model: scripted}
  silent: {command: %q, args: [%q]}
`, m.Base("openai"), p.node, p.server("everything"), p.node, p.server("everything")))
	call := func(tool, input string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimSuffix(url, "/mcp")+"/v1/tools/"+tool, strings.NewReader(input))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }() // read
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	got := call("everything__trigger-sampling-request", `{"prompt":"What do you know?","maxTokens":1000000}`)
	if !strings.Contains(got, "Sampled: 0 tools") {
		t.Error(got)
	}
	asked := m.Requests()
	if len(asked) != 1 || !strings.Contains(asked[0].Last(), "What do you know?") || !strings.HasPrefix(asked[0].System, "The MCP server everything") || !strings.Contains(string(asked[0].Body), "4096") {
		t.Errorf("%+v", asked)
	}
	if got := call("silent__trigger-sampling-request", `{"prompt":"What do you know?"}`); strings.Contains(got, "Sampled") {
		t.Error(got)
	}
	if len(m.Requests()) != 1 {
		t.Error("the model was asked for a server that has none set")
	}
}
