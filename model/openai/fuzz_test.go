package openai

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
		"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":\"}}]}}]}\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
		"data:{\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{\"x\":1}}}]}}],\"usage\":{\"prompt_tokens\":-1}}\r\n\r\n",
		"data: {\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"},{\"thinking\":[{\"text\":\"y\"}]}]},\"finish_reason\":\"stop\"}]}\n\n",
		"event: error\ndata: {\"error\":{\"message\":\"m\",\"code\":429}}\n\n",
		"{\"choices\":[{\"message\":{\"content\":\"x\",\"reasoning_details\":[{\"a\":1}]},\"finish_reason\":\"length\"}]}",
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
		answer, err := c.answer()
		if err != nil {
			return nil, h, err
		}
		for i := range answer.Message.Calls {
			if answer.Message.Calls[i].ID == "" {
				f.Error("a call has no id")
			}
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
