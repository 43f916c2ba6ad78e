package host

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// FuzzAnswersOfOthers: whatever another program says, it is about the service, about a
// toolbox that it names, or about nothing, and it never claims what it does not name.
func FuzzAnswersOfOthers(f *testing.F) {
	for _, typ := range []string{typeList, typeDiscover, typeCall, typeGet, personaPrefix + "files" + callSuffix, personaPrefix + callSuffix, ""} {
		for _, data := range []string{`{"toolbox_id":"files"}`, `{"toolbox_id":["files"]}`, `{"toolbox_id":""}`, `{}`, `[]`, `nul`, `{"toolbox_id":"\u0000files"}`} {
			f.Add(typ+responseSuffix, data, "files")
		}
	}
	f.Fuzz(func(t *testing.T, typ, data, id string) {
		m := bus.Message{Type: typ, Data: json.RawMessage(data)}
		var read map[string]json.RawMessage
		_ = json.Unmarshal(m.Data, &read) // as the host: what cannot be read says nothing
		key, ok := responder(m, read)
		named := field(m, "toolbox_id")
		switch {
		case !ok:
		case !strings.HasSuffix(typ, responseSuffix):
			t.Errorf("%q is no answer, and is about %q", typ, key)
		case key == theService && !strings.HasPrefix(typ, "ovos.tools."):
			t.Errorf("%q is about the service", typ)
		case key != theService && !strings.Contains(typ, strings.TrimPrefix(key, sharedMark)) && strings.TrimPrefix(key, sharedMark) != named && key != named:
			t.Errorf("%q %s is about %q", typ, data, key)
		}
		if typ == typeDiscover+responseSuffix && answers(m, id) && named != strings.TrimPrefix(id, sharedMark) {
			t.Errorf("%s answers for %q", data, id)
		}
	})
}
