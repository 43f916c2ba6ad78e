package gemini

import (
	"testing"

	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/internal/suite"
	"github.com/toolcrib/toolcrib/model/internal/wire"
)

func FuzzStream(f *testing.F) {
	suite.FuzzStream(f, []string{
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thought\":true},{\"text\":\"b\",\"thoughtSignature\":\"s\"}]}}]}\r\n\r\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{\"x\":1}},\"thoughtSignature\":\"t\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3}}\r\n\r\n",
		"data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n",
		"data: {\"error\":{\"code\":503,\"message\":\"x\",\"status\":\"UNAVAILABLE\",\"details\":[{\"retryDelay\":\"3s\"}]}}\n\n",
		"[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]},\"finishReason\":\"MAX_TOKENS\"}]}]",
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
