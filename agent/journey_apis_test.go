package agent

import (
	"testing"

	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/anthropic"
	"github.com/toolcrib/toolcrib/model/gemini"
	"github.com/toolcrib/toolcrib/model/openai"
)

// variants are the ways in which every journey is played.
func variants() []string { return []string{"openai", "anthropic", "gemini", "react"} }

// open connects to the scripted server over the API of the variant.
func (s *stage) open(t testing.TB) model.Model {
	t.Helper()
	e := s.point
	var m model.Model
	var err error
	switch s.api {
	case "anthropic":
		e.BaseURL = s.server.Base("anthropic")
		m, err = anthropic.New(e)
	case "gemini":
		e.BaseURL = s.server.Base("gemini")
		m, err = gemini.New(e)
	default:
		e.BaseURL = s.server.Base("openai")
		m, err = openai.New(e)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}
