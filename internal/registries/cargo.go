package registries

import (
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/internal/tomltext"
)

// cargo reads the person's own configuration of cargo. Where crates.io is replaced,
// programs need that said in a file: no variable does it.
func (r *reading) cargo() {
	home := r.variable("CARGO_HOME")
	if home == "" {
		home = r.home(".cargo")
	}
	text := ""
	if home != "" {
		if text = r.file(filepath.Join(home, "config.toml")); text == "" {
			text = r.file(filepath.Join(home, "config"))
		}
	}
	statements, err := tomltext.Parse([]byte(text))
	if err != nil {
		r.note("the configuration of cargo cannot be read: %s", err)
		statements = nil
	}
	top := tomltext.Tree(statements)
	sources := child(top, "source")
	replaced, seen := "crates-io", map[string]bool{}
	for !seen[replaced] {
		seen[replaced] = true
		next := str(child(child(sources, replaced), "replace-with"))
		if next == "" {
			break
		}
		replaced = next
	}
	switch source := child(sources, replaced); {
	case replaced == "crates-io":
		r.wellKnown(known("cargo")...)
	case str(child(source, "registry")) != "":
		r.configured(str(child(source, "registry")))
		r.note("cargo gets crates from %s instead of crates.io; programs see no file in your home, so the project needs the same lines in its .cargo/config.toml", replaced)
	case str(child(source, "git")) != "":
		r.configured(str(child(source, "git")))
	}
	if own := child(top, "registries"); own != nil {
		for _, field := range own.Fields {
			if index := r.configured(str(child(field.Value, "index"))); index != "" {
				r.env["CARGO_REGISTRIES_"+strings.ToUpper(strings.ReplaceAll(field.Name, "-", "_"))+"_INDEX"] = index
			}
		}
	}
	if str(child(child(top, "http"), "proxy")) != "" {
		r.note("cargo goes by a proxy of its own (http.proxy), which is not used here: programs reach hosts from this machine directly")
	}
}

// child is a key of a table; nil: there is none.
func child(v *tomltext.Value, name string) *tomltext.Value {
	if v == nil {
		return nil
	}
	for _, f := range v.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

func str(v *tomltext.Value) string {
	if v == nil || v.Kind != tomltext.Text {
		return ""
	}
	return v.Text
}
