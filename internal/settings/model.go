package settings

import "time"

// Model is one language model. A project file that nobody trusted has no say in any: a
// model is sent what is said and what tools answer.
type Model struct {
	API     string `yaml:"api" enum:"openai,anthropic,gemini" doc:"What its service speaks: openai is chat completions, which Ollama, vLLM, llama.cpp, LM Studio, OpenRouter and many others speak too. Empty: openai."`
	BaseURL string `yaml:"base_url" doc:"The address of the service, with /v1 where it has that. Empty: that of OpenAI, Anthropic or Google. That a model stands here is your consent to its host, and to no other: grant.hosts is not asked."`
	Model   string `yaml:"model" doc:"What the service calls the model. Empty: the name of this entry."`
	Key     string `yaml:"key" doc:"Its key, as secret:NAME of the vault ('toolcrib secret set NAME'). Empty: none is sent. It needs https://, or a service on this machine or in the own network."`

	Context int               `yaml:"context" min:"0" doc:"How many tokens a request may have. 0: not known."`
	Output  int               `yaml:"output" min:"0" doc:"How many tokens an answer may have. 0: not known."`
	Prices  ModelPrices       `yaml:"prices" doc:"What a million tokens cost, in the unit that bounds.budgets count money in."`
	Tools   string            `yaml:"tools" enum:"auto,native,react" doc:"How it uses tools. native: by the API. react: it writes Thought, Action and Action Input. auto: native. 'toolcrib models try' finds out what works."`
	Images  string            `yaml:"images" enum:"auto,yes,no" doc:"Whether it takes images. auto: yes at Anthropic, Google and OpenAI, else no."`
	Timeout time.Duration     `yaml:"timeout" min:"0s" max:"1h" doc:"How long nothing may arrive. 0: 3 minutes. The whole answer is bounded by limits.max_timeout."`
	Whole   bool              `yaml:"whole" doc:"Ask for whole answers instead of streams, for services that cannot do otherwise."`
	Headers map[string]string `yaml:"headers" doc:"Headers that are sent with every request. No secrets: the key goes under key."`
}

// ModelPrices is what a million tokens cost.
type ModelPrices struct {
	Input      float64 `yaml:"input" min:"0" doc:"Of what is sent."`
	Output     float64 `yaml:"output" min:"0" doc:"Of what is answered, thoughts too."`
	CacheRead  float64 `yaml:"cache_read" min:"0" doc:"Of what the service had kept. 0: as input."`
	CacheWrite float64 `yaml:"cache_write" min:"0" doc:"Of what it then keeps. 0: as input."`
}
