package anthropic

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/internal/wire"
)

// FuzzStream: whatever a service sends, there is an answer or an error, the same in
// whatever pieces it arrives, and what was told meanwhile is what the answer says.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":3}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"x\"}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		"data: {\"type\":\"content_block_start\",\"index\":-1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"i\",\"name\":\"n\",\"input\":{}}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":-1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n",
		"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
		"{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}],\"stop_reason\":\"end_turn\"}",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	read := func(r io.Reader, stream bool) (*model.Answer, string, error) {
		h := ""
		c := &collector{by: "x", emit: func(d model.Delta) { h += d.Text }}
		if err := c.read(&wire.Reply{Body: r, Stream: stream}); err != nil {
			return nil, h, err
		}
		answer := c.answer()
		for i := range answer.Message.Calls {
			answer.Message.Calls[i].ID = "" // some are made up
		}
		return answer, h, nil
	}
	f.Fuzz(func(t *testing.T, in string, stream bool) {
		one, told, err := read(strings.NewReader(in), stream)
		two, told2, err2 := read(iotest.OneByteReader(strings.NewReader(in)), stream)
		if (err == nil) != (err2 == nil) || told != told2 || !cmp.Equal(one, two) {
			t.Fatalf("in one piece %+v, %v; in many %+v, %v", one, err, two, err2)
		}
		if err == nil && one.Message.Said() != told {
			t.Fatalf("told %q, answered %q", told, one.Message.Said())
		}
	})
}
