package gemini

import (
	"testing"

	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/internal/suite"
)

func TestSuite(t *testing.T) {
	suite.Adapter{API: "gemini", New: func(e model.Endpoint) (model.Model, error) { return New(e) }, Thoughts: true}.Run(t)
}
