package agent

import (
	"testing"

	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/openai"
)

// open connects to the scripted server over the API of the variant.
func (s *stage) open(t testing.TB) model.Model {
	t.Helper()
	e := s.point
	e.BaseURL = s.server.Base("openai")
	m, err := openai.New(e)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
