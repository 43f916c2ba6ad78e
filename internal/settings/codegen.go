package settings

// CodegenBox sets up toolbox/codegen.
type CodegenBox struct {
	Enabled bool   `yaml:"enabled" project:"off" doc:"Offer this box. What it writes is checked in a sandbox first; a tool is installed after you have seen it."`
	Model   string `yaml:"model" doc:"The model that fills templates, by its name under models. Empty: the one that is used where none is named. Without a model templates stay as they are, with marks where something has to be filled in."`
	Repairs int    `yaml:"repairs" min:"0" max:"5" doc:"How often a model gets back what was wrong with what it wrote, before it is refused."`
}

// DefaultCodegenBox is that of a fresh machine.
func DefaultCodegenBox() CodegenBox { return CodegenBox{Repairs: 2} }
