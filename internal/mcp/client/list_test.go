package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// The pages of a list together have no more bytes than one message may have, and
// no more items than a person could make.
func TestListSize(t *testing.T) {
	leaks(t)
	n := 0
	f := &fake{}
	f.handle = modern(func(f *fake, m *mcp.Message) {
		n++
		switch m.Method {
		case "tools/list":
			f.answer(m, fmt.Sprintf(`{"tools":[%q],"nextCursor":"%d"}`, strings.Repeat("x", 10_000), n))
		case "prompts/list":
			f.answer(m, `{"prompts":[`+strings.Repeat("1,", mostItems)+`1]}`)
		case "resources/list":
			f.answer(m, `{"resources":[`+strings.Repeat("1,", mostItems-1)+`1]}`)
		}
	})
	s := open(t, Config{Transport: Stdio{Start: f.start}, Most: 256 << 10})
	items := 0
	each := func(json.RawMessage) error { items++; return nil }
	if _, err := s.List(t.Context(), "tools/list", "tools", each); err == nil || items != 26 {
		t.Errorf("%d pages of 10 kB: %v", items, err)
	}
	items = 0
	if _, err := s.List(t.Context(), "prompts/list", "prompts", each); err == nil || items != 0 {
		t.Errorf("%d items: %v", items, err)
	}
	if _, err := s.List(t.Context(), "resources/list", "resources", each); err != nil || items != mostItems {
		t.Errorf("%d items: %v", items, err)
	}
}
