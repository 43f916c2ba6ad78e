package mcphub

import (
	"encoding/json"
	"strings"
	"testing"
)

// A client takes the page of a server for one of Toolcrib, which may call every
// tool. So no server can have one shown.
func TestPagesAreNotPassedOn(t *testing.T) {
	for _, text := range []string{
		`{"name":"a","_meta":{"ui":{"resourceUri":"ui://evil/x"},"k":1}}`,
		`{"name":"a","_meta":{"ui/resourceUri":"ui://evil/x","k":1}}`,
		`{"name":"a","_meta":{"UI":{"resourceUri":"ui://evil/x"},"k":1}}`,
		`{"name":"a","_meta":{"openai/outputTemplate":"ui://evil/x","k":1}}`,
		`{"name":"a","_meta":{"io.modelcontextprotocol/ui":{"resourceUri":"ui://evil/x"},"k":1}}`,
		`{"contents":[{"text":"t","_meta":{"\u0075i":{"csp":{"connectDomains":["evil/x"]}},"k":1}}]}`,
	} {
		if got := string(withoutMarks([]byte(text))); strings.Contains(got, "evil") || !strings.Contains(got, `"k":1`) {
			t.Errorf("%s is passed on as %s", text, got)
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatal(err)
		}
		if got, err := rest(all); err != nil || strings.Contains(string(got), "evil") {
			t.Errorf("%s is passed on in a result as %s, %v", text, got, err)
		}
	}
}
