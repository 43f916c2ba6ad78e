package codegen

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/scaffold"
)

// plan settles what is made, under which name, and where it goes, before anything is asked or run.
func (b *Box) plan(in codegenIn) (*work, error) {
	w := &work{target: in.Target, description: strings.TrimSpace(in.Description)}
	if w.target == "" {
		w.target = Infer(in.Description)
	}
	if w.description == "" {
		return nil, errors.New("description is empty: say what it is to do")
	}
	if err := b.can(w.target, in); err != nil {
		return nil, err
	}
	w.kind = w.target
	if w.target == "tool" {
		if w.language = in.Language; w.language == "" {
			w.language = inferLanguage(in.OutputPath, in.Description)
		}
		w.kind = map[string]string{"javascript": "node"}[w.language]
		if w.kind == "" {
			w.kind = w.language
		}
		if b.needs.Has != nil {
			if err := b.needs.Has(w.kind); err != nil {
				return nil, fmt.Errorf("a tool in %s cannot be checked here, so that none is written: %w", w.language, err)
			}
		}
		w.most = allowed(in)
	}
	return w, w.place(in)
}

// can refuses what does not go together.
func (b *Box) can(target string, in codegenIn) error {
	switch {
	case target == "tool" && b.needs.Try == nil:
		return errors.New("there is no sandbox here to check a tool in, so that none is written")
	case target == "skill" && b.needs.Skill == nil, target == "agent" && b.needs.Agent == nil, target == "workflow" && b.needs.Workflow == nil:
		return fmt.Errorf("a %s cannot be checked here, so that none is written", target)
	case target == "tool" && in.Install && b.needs.Tools == nil:
		return errors.New("there is no folder of tools to install it into: leave install out")
	case target == "tool":
		return nil
	case in.Install:
		return fmt.Errorf("install is for tools, and this is a %s: leave it out", target)
	case in.Language != "":
		return fmt.Errorf("language is for tools, and this is a %s: leave it out", target)
	case len(in.Read)+len(in.Write)+len(in.Hosts) > 0:
		return fmt.Errorf("read, write and hosts are for tools, and this is a %s: leave them out", target)
	}
	return nil
}

// allowed is the most that a tool may declare: what the call asked for. What a model writes does not add to it.
func allowed(in codegenIn) Declaration {
	d := Declaration{Effects: toolcrib.Pure, Read: in.Read, Write: in.Write, Hosts: in.Hosts}
	if len(in.Read) > 0 {
		d.Effects |= toolcrib.Reads
	}
	if len(in.Write) > 0 {
		d.Effects |= toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys
	}
	if len(in.Hosts) > 0 {
		d.Effects |= toolcrib.Network
	}
	return d
}

// Infer is the target that a description speaks of, as AgenticX finds it.
func Infer(description string) string {
	said := strings.ToLower(description)
	for _, t := range []struct {
		target string
		words  []string
	}{{"workflow", []string{"workflow", "pipeline", "工作流"}}, {"tool", []string{"tool", "工具"}}, {"skill", []string{"skill", "技能"}}} {
		if slices.ContainsFunc(t.words, func(w string) bool { return strings.Contains(said, w) }) {
			return t.target
		}
	}
	return "agent"
}

// endings are those of the main files, by template.
func endings() map[string]string {
	return map[string]string{"sh": ".sh", "python": ".py", "node": ".mjs", "go": ".go", "agent": ".yaml", "workflow": ".js", "skill": ".md"}
}

func inferLanguage(file, description string) string {
	for kind, language := range map[string]string{"sh": "sh", "python": "python", "node": "javascript", "go": "go"} {
		if path.Ext(file) == endings()[kind] {
			return language
		}
	}
	if path.Ext(file) == ".js" {
		return "javascript"
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(description), func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch word {
		case "python":
			return "python"
		case "javascript", "node", "nodejs":
			return "javascript"
		case "golang":
			return "go"
		case "shell", "bash", "sh":
			return "sh"
		}
	}
	return "python"
}

// place settles the name and the directory. The name is held to letters, digits, _ and -, so that only output_path says in
// which directory something lands, and the rules about files judge that.
func (w *work) place(in codegenIn) error {
	sep := byte('_')
	if w.target == "skill" || w.target == "agent" {
		sep = '-'
	}
	given, dir := in.Name, ""
	if out := in.OutputPath; out != "" {
		base := path.Base(out)
		switch end := path.Ext(base); {
		case w.target == "skill" && strings.EqualFold(base, "SKILL.md"):
			dir = path.Dir(out)
			base = path.Base(dir)
		case w.target == "skill":
			dir = out
		case end == "" || end == base: // a hidden directory, such as .git
			dir, base = out, ""
		case end != endings()[w.kind] && (w.kind != "node" || end != ".js") && (w.kind != "agent" || end != ".yml"):
			return fmt.Errorf("output_path ends with %s, and what is written is a %s file: name a directory, or a file that ends with %[2]s", end, endings()[w.kind])
		default:
			dir, base = path.Dir(out), strings.TrimSuffix(base, end)
		}
		switch {
		case given == "":
			given = base
		case base != "" && base != given:
			return fmt.Errorf("output_path says that it is called %q, and name says %q: leave one out", base, given)
		}
	}
	if w.name = given; w.name == "" {
		w.name = scaffold.Slug(w.description, w.target, sep)
	}
	if err := scaffold.CheckName("a "+w.target, w.name); err != nil {
		return err
	}
	if w.target == "tool" {
		if err := scaffold.CheckFunction(w.name); err != nil {
			return err
		}
		if w.name != scaffold.Function(w.name) || strings.HasSuffix(w.name, "_test") || strings.HasPrefix(w.name, "test_") {
			return fmt.Errorf("%q is no name for a generated tool: write letters, digits and _, and neither test_ before nor _test behind it", w.name)
		}
	}
	if w.dir = dir; dir == "" {
		w.dir = map[string]string{"tool": "tools/" + w.name, "skill": ".agents/skills/" + w.name, "agent": "agents", "workflow": "workflows"}[w.target]
	}
	return nil
}
