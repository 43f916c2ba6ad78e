package models

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Service is a program on this machine that serves models.
type Service struct {
	Name    string   `json:"name"`
	BaseURL string   `json:"base_url"`
	Models  []string `json:"models"`
}

// Place is where such a program usually listens.
type Place struct {
	Name string
	Port int
	Path string // of the list of its models
}

// Places are the usual ones.
func Places() []Place {
	return []Place{{"Ollama", 11434, "/api/tags"}, {"LM Studio", 1234, "/v1/models"}, {"llama.cpp", 8080, "/v1/models"}, {"vLLM", 8000, "/v1/models"}}
}

const (
	findTime  = time.Second
	findBytes = 1 << 20
	findMost  = 200 // models of one service
)

// Find asks the places on this machine, all at once. What does not answer in a second, or
// answers something else, is none.
func Find(ctx context.Context, places []Place) []Service {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	client := httpclient.New([]string{"127.0.0.1"}, httpclient.Options{})
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	defer client.CloseIdleConnections()
	found := make([]*Service, len(places))
	var wait sync.WaitGroup
	for i, p := range places {
		wait.Go(func() { found[i] = look(ctx, client, p) })
	}
	wait.Wait()
	out := []Service{}
	for _, s := range found {
		if s != nil {
			out = append(out, *s)
		}
	}
	return out
}

func look(ctx context.Context, client *http.Client, p Place) *Service {
	base := fmt.Sprintf("http://127.0.0.1:%d", p.Port)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+p.Path, http.NoBody)
	if err != nil {
		return nil
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close() //nolint:errcheck // all that counts was read
	body, err := io.ReadAll(io.LimitReader(resp.Body, findBytes))
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	names, by, ok := readList(body)
	if !ok {
		return nil
	}
	s := &Service{Name: p.Name, BaseURL: base + "/v1", Models: names}
	switch {
	case strings.Contains(by, "llamacpp"):
		s.Name = "llama.cpp"
	case strings.Contains(by, "vllm"):
		s.Name = "vLLM"
	}
	return s
}

// readList reads the models of Ollama's list or OpenAI's, and who they are said to be
// owned by. Names come from whoever listens there: they are made fit to be shown.
func readList(body []byte) (names []string, by string, ok bool) {
	var in struct {
		Models *[]struct {
			Name string `json:"name"`
		} `json:"models"`
		Data *[]struct {
			ID      string `json:"id"`
			OwnedBy string `json:"owned_by"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &in) != nil || in.Models == nil && in.Data == nil {
		return nil, "", false
	}
	add := func(name string) {
		if name = text.Clip(text.ShowLine(name), 120); name != "" && len(names) < findMost {
			names = append(names, name)
		}
	}
	names = []string{}
	switch {
	case in.Data != nil:
		for _, m := range *in.Data {
			add(m.ID)
			by = m.OwnedBy
		}
	default:
		for _, m := range *in.Models {
			add(m.Name)
		}
	}
	return names, by, true
}

// Variable is a variable in which programs look for the key of a service.
type Variable struct {
	Name    string `json:"name"`
	API     string `json:"api"`
	BaseURL string `json:"base_url,omitempty"` // empty: that of the API's own service
}

// Variables are the well-known ones.
func Variables() []Variable {
	return []Variable{
		{"ANTHROPIC_API_KEY", "anthropic", ""}, {"GEMINI_API_KEY", "gemini", ""}, {"GOOGLE_API_KEY", "gemini", ""}, {"OPENAI_API_KEY", "openai", ""},
		{"DEEPSEEK_API_KEY", "openai", "https://api.deepseek.com/v1"}, {"GROQ_API_KEY", "openai", "https://api.groq.com/openai/v1"},
		{"MISTRAL_API_KEY", "openai", "https://api.mistral.ai/v1"}, {"OPENROUTER_API_KEY", "openai", "https://openrouter.ai/api/v1"}, {"XAI_API_KEY", "openai", "https://api.x.ai/v1"},
	}
}
