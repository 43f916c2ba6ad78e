package settings

import (
	"github.com/toolcrib/toolcrib/internal/vault"
)

// Vault says where the key of the secrets is, and which tool gets which. A
// project file has no say in either.
type Vault struct {
	Key    vault.KeyConfig     `yaml:"key" doc:"Where the key is that opens the vault. It is never kept beside it."`
	Grants map[string][]string `yaml:"grants" doc:"Which secrets tools get: a box, or one tool of it written box/tool, to the names of secrets. A * is every name. What is not granted here is not handed out."`
}
