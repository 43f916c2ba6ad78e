package gemini

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
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thought\":true},{\"text\":\"b\",\"thoughtSignature\":\"s\"}]}}]}\r\n\r\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{\"x\":1}},\"thoughtSignature\":\"t\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3}}\r\n\r\n",
		"data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n",
		"data: {\"error\":{\"code\":503,\"message\":\"x\",\"status\":\"UNAVAILABLE\",\"details\":[{\"retryDelay\":\"3s\"}]}}\n\n",
		"[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]},\"finishReason\":\"MAX_TOKENS\"}]}]",
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
