package openai_test

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/openai"
)

// hello asks a model of this machine.
func hello(ctx context.Context) (string, error) {
	m, err := openai.New(model.Endpoint{BaseURL: "http://127.0.0.1:11434/v1", Model: "qwen3:8b", Traits: model.Traits{Tools: true}})
	if err != nil {
		return "", err
	}
	answer, err := m.Ask(ctx, model.Request{Messages: []model.Message{model.Text(model.User, "Hello")}}, nil)
	if err != nil {
		return "", err
	}
	return answer.Message.Said(), nil
}

func ExampleNew() {
	text, err := hello(context.Background())
	fmt.Println(text, err)
}
