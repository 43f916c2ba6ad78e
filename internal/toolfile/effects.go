package toolfile

import (
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/config"
)

// effects reads those of the tool, or in a file of functions also those of each function.
func (p *parser) effects(v config.Value) {
	if functions := p.file.Kind == Python || p.file.Kind == Node; !functions || v.Kind != config.Block {
		p.file.Effects = p.effectsOf("effects", v)
		return
	}
	p.file.ByFunction = map[string]toolcrib.Effects{}
	for _, m := range v.Members {
		key := "effects." + clip(m.Name)
		switch e := p.effectsOf(key, m.Value); {
		case m.Name == "*":
			p.file.Effects = e
		case !toolName(m.Name):
			p.fail(m.Line+p.shift, key, "write the name of a function, or \"*\" for all others")
		case e != 0: // else it was told
			p.file.ByFunction[m.Name] = e
		}
	}
}

func (p *parser) effectsOf(key string, v config.Value) (e toolcrib.Effects) {
	words := strings.Join(p.texts(key, v), ",")
	if words == "" {
		if v.Kind == config.List && len(v.Items) == 0 {
			p.fail(p.line(v), key, "the list is empty: write pure for a tool without effects, or remove the key")
		}
		return 0
	}
	if err := e.UnmarshalText([]byte(words)); err != nil {
		p.fail(p.line(v), key, "%s", err)
		return 0
	}
	return e
}

// together is what all functions of a file may do, or its one tool.
func (f *File) together() toolcrib.Effects {
	e := f.Effects.All()
	for _, one := range f.ByFunction {
		e |= one.All()
	}
	return e
}
