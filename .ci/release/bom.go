package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// module is a module that is linked into the program.
type module struct{ path, version string }

// components are the modules of programs, by path, and the Go that built them.
type components map[string]module

// goModule is the standard library and the runtime.
const goModule = "std"

// add reads what a program says of itself, and gives its version.
func (c components) add(program io.ReaderAt) (version string, err error) {
	info, err := buildinfo.Read(program)
	if err != nil {
		return "", err
	}
	c[goModule] = module{goModule, strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range info.Deps {
		if m.Replace != nil {
			return "", fmt.Errorf("%s is replaced: a release has what go.mod says", m.Path)
		}
		c[m.Path] = module{m.Path, m.Version}
	}
	return info.Main.Version, nil
}

// modules are those of others, sorted.
func (c components) modules() (list []module) {
	for _, path := range slices.Sorted(maps.Keys(c)) {
		if path != goModule {
			list = append(list, c[path])
		}
	}
	return list
}

// The parts of a CycloneDX document that are needed.
type bomComponent struct {
	Type     string       `json:"type"`
	Ref      string       `json:"bom-ref"`
	Name     string       `json:"name"`
	Version  string       `json:"version"`
	Licences []bomLicence `json:"licenses,omitempty"`
	PURL     string       `json:"purl,omitempty"`
}

type bomLicence struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type bomDependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn,omitempty"`
}

// bom is the list of what is in the program, as CycloneDX 1.6 has it. Licences that
// could not be told from their texts are left out.
func (c components) bom(version string, at time.Time, licences map[string]string) ([]byte, error) {
	component := func(kind string, m module, licence string) bomComponent {
		out := bomComponent{Type: kind, Name: m.path, Version: m.version, PURL: "pkg:golang/" + strings.ToLower(m.path) + "@" + strings.ReplaceAll(m.version, "+", "%2B")}
		out.Ref = out.PURL
		if licence != "" {
			var l bomLicence
			l.Licence.ID = licence
			out.Licences = []bomLicence{l}
		}
		return out
	}
	self := component("application", module{"github.com/toolcrib/toolcrib", version}, "Apache-2.0")
	list := []bomComponent{component("library", c[goModule], "BSD-3-Clause")}
	for _, m := range c.modules() {
		list = append(list, component("library", m, licences[m.path]))
	}
	needs := bomDependency{Ref: self.Ref}
	for _, l := range list {
		needs.On = append(needs.On, l.Ref)
	}
	doc := map[string]any{
		"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":   map[string]any{"timestamp": at.Format(time.RFC3339), "component": self},
		"components": list, "dependencies": []bomDependency{needs},
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	// A number that is the document's own, and the same when it is made again.
	sum := sha256.Sum256(text)
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	doc["serialNumber"] = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	text, err = json.MarshalIndent(doc, "", "  ")
	return append(text, '\n'), err
}
