package clientfiles

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// testYAML reads the small part of YAML that the samples here are written in:
// block mappings and lists, plain and quoted texts, and JSON for the rest. The
// real library has its home elsewhere.
func testYAML(text []byte, into any) error {
	var lines []string
	for l := range strings.Lines(string(text)) {
		l = strings.TrimRight(l, "\r\n")
		if before, _, ok := strings.Cut(l, " # "); ok { // the samples have it in no text
			l = strings.TrimRight(before, " ")
		}
		if t := strings.TrimSpace(l); t != "" && !strings.HasPrefix(t, "#") {
			lines = append(lines, l)
		}
	}
	p := &yamlReader{lines: lines}
	v, err := p.block(0)
	if err == nil && p.at < len(lines) {
		err = fmt.Errorf("line %d is indented wrongly", p.at)
	}
	*into.(*any) = v
	return err
}

var yamlKey = regexp.MustCompile(`^[A-Za-z]+:( |$)`)

type yamlReader struct {
	lines []string
	at    int
}

func (p *yamlReader) block(indent int) (any, error) {
	if p.at >= len(p.lines) || yamlIndent(p.lines[p.at]) < indent {
		return nil, nil
	}
	indent = yamlIndent(p.lines[p.at])
	if strings.HasPrefix(p.lines[p.at][indent:], "- ") {
		list := []any{}
		for p.at < len(p.lines) && yamlIndent(p.lines[p.at]) == indent && strings.HasPrefix(p.lines[p.at][indent:], "- ") {
			if yamlKey.MatchString(p.lines[p.at][indent+2:]) { // a mapping begins behind the dash
				p.lines[p.at] = strings.Repeat(" ", indent+2) + p.lines[p.at][indent+2:]
				v, err := p.block(indent + 2)
				if err != nil {
					return nil, err
				}
				list = append(list, v)
				continue
			}
			v, err := yamlScalar(p.lines[p.at][indent+2:])
			if err != nil {
				return nil, err
			}
			list = append(list, v)
			p.at++
		}
		return list, nil
	}
	m := map[string]any{}
	for p.at < len(p.lines) && yamlIndent(p.lines[p.at]) == indent {
		line := p.lines[p.at][indent:]
		key, rest, ok := strings.Cut(line, ":")
		if strings.HasPrefix(line, `"`) {
			end := strings.Index(line[1:], `":`)
			if end < 0 {
				return nil, fmt.Errorf("line %d has no key", p.at)
			}
			ok = true
			if err := json.Unmarshal([]byte(line[:end+2]), &key); err != nil {
				return nil, err
			}
			rest = line[end+3:]
		}
		if _, twice := m[key]; !ok || twice {
			return nil, fmt.Errorf("line %d has no key, or one that is there already", p.at)
		}
		p.at++
		var v any
		var err error
		if rest = strings.TrimSpace(rest); rest == "" {
			v, err = p.block(indent + 1)
		} else {
			v, err = yamlScalar(rest)
		}
		if err != nil {
			return nil, err
		}
		m[key] = v
	}
	return m, nil
}

func yamlScalar(text string) (any, error) {
	text, _, _ = strings.Cut(text, " #")
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return v, nil
	}
	if strings.HasPrefix(text, "'") {
		return strings.ReplaceAll(strings.Trim(text, "'"), "''", "'"), nil
	}
	if text == "" || strings.ContainsAny(text[:1], "[{\"&*|>") {
		return nil, fmt.Errorf("not read here")
	}
	return text, nil
}
