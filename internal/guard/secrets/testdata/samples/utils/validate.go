// Package utils prints the samples of a rule instead of trying them.
package utils

import (
	"encoding/json"
	"fmt"

	"github.com/betterleaks/betterleaks/config"
)

type samples struct {
	Rule    string
	Yes, No []string
}

// Validate prints the samples of a rule.
func Validate(rule config.Rule, yes, no []string) *config.Rule {
	text, err := json.Marshal(samples{rule.RuleID, yes, no})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
	return &rule
}

// ValidateWithPaths prints the samples of a rule for files of certain names.
// What is only no secret because the file has another name is left out: what a
// tool gives back has no name.
func ValidateWithPaths(rule config.Rule, yes, no map[string]string) *config.Rule {
	var y, n []string
	for _, text := range yes {
		y = append(y, text)
	}
	for path, text := range no {
		if rule.Path == nil || rule.Path.MatchString(path) {
			n = append(n, text)
		}
	}
	return Validate(rule, y, n)
}
