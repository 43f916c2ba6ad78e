package safety

import (
	"encoding/json"
	"math"

	"github.com/toolcrib/toolcrib"
)

// ModelBox and ModelTool are what a request to a model is as a call. Only the program's
// own part for models can make one.
const (
	ModelBox  = "model"
	ModelTool = "ask_model"
)

// ModelUse is what a request to a model used, as its result says.
type ModelUse struct {
	Model      string  `json:"model"`
	Input      int     `json:"input_tokens"`
	Output     int     `json:"output_tokens"`
	CacheRead  int     `json:"cache_read_tokens"`
	CacheWrite int     `json:"cache_write_tokens"`
	Cost       float64 `json:"cost"`
	Stop       string  `json:"stop,omitempty"`
	Error      string  `json:"error,omitempty"`     // what kind, if it failed
	Estimated  bool    `json:"estimated,omitempty"` // the service did not say how many tokens
}

// modelUse reads it. What is no number of that kind counts nothing, and nothing is
// given back.
func modelUse(spec *toolcrib.Entry, value json.RawMessage) (use budgetUse) {
	if !isModel(spec) {
		return use
	}
	var u ModelUse
	if json.Unmarshal(value, &u) != nil {
		return use
	}
	use.tokens = int64(max(0, u.Input)) + int64(max(0, u.Output))
	if budgetNumber(u.Cost) {
		use.money = int64(math.Round(u.Cost * budgetMicro))
	}
	return use
}

// ModelPlan is what a request to a model will probably use, as its input says.
type ModelPlan struct {
	Tokens int     `json:"tokens"` // of the request, by estimate
	Answer int     `json:"answer"` // tokens that the answer may have
	Cost   float64 `json:"cost"`   // of both
}

// modelPlan reads it. A call that is none of a model plans nothing.
func modelPlan(spec *toolcrib.Entry, input json.RawMessage) (use budgetUse) {
	var p ModelPlan
	if !isModel(spec) || json.Unmarshal(input, &p) != nil {
		return use
	}
	use.tokens = int64(max(0, p.Tokens)) + int64(max(0, p.Answer))
	if budgetNumber(p.Cost) {
		use.money = int64(math.Round(p.Cost * budgetMicro))
	}
	return use
}

// isModel: the call is a request to a model.
func isModel(spec *toolcrib.Entry) bool { return spec.Box == ModelBox && spec.Native == ModelTool }
