package openai

import (
	"testing"

	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/internal/suite"
	"github.com/toolcrib/toolcrib/model/internal/wire"
)

func FuzzStream(f *testing.F) {
	suite.FuzzStream(f, []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":\"}}]}}]}\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
		"data:{\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{\"x\":1}}}]}}],\"usage\":{\"prompt_tokens\":-1}}\r\n\r\n",
		"data: {\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"},{\"thinking\":[{\"text\":\"y\"}]}]},\"finish_reason\":\"stop\"}]}\n\n",
		"event: error\ndata: {\"error\":{\"message\":\"m\",\"code\":429}}\n\n",
		"{\"choices\":[{\"message\":{\"content\":\"x\",\"reasoning_details\":[{\"a\":1}]},\"finish_reason\":\"length\"}]}",
	}, func(r *wire.Reply, emit func(model.Delta)) (*model.Answer, error) {
		c := &collector{by: "x", emit: emit}
		if err := c.read(r); err != nil {
			return nil, err
		}
		answer, err := c.answer()
		if err != nil {
			return nil, err
		}
		for i := range answer.Message.Calls {
			if answer.Message.Calls[i].ID == "" {
				f.Error("a call has no id")
			}
		}
		return answer, nil
	})
}
