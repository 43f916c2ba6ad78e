package encode

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/toolbox/openapi/internal/spec"
)

// pathValue writes a value for its place in a path, with its slashes if the place takes several
// segments.
func pathValue(p spec.Param, v any, several bool) (string, error) {
	if p.Media != "" {
		text, err := atom(v)
		if err == nil && text == "" {
			err = errEmptyPath
		}
		return escape(text, ""), err
	}
	plain, err := joined(v, "/", "", false)
	if err != nil {
		return "", err
	}
	if plain == "" || isEmpty(v) {
		return "", errEmptyPath
	}
	if err := noDots(plain); err != nil {
		return "", err
	}
	if text, ok := v.(string); ok && several && p.Style == "simple" {
		if text = strings.Trim(text, "/"); text == "" {
			return "", errEmptyPath
		}
		return escape(text, "/"), nil
	}
	sep, before, name := ",", "", escape(p.Name, "")
	switch p.Style {
	case "label":
		if before = "."; p.Explode {
			sep = "."
		}
	case "matrix":
		return matrix(name, p.Explode, v)
	}
	o, isObject := v.(map[string]any)
	var out string
	if isObject && p.Explode {
		out, err = assigned(o, sep, "", true)
	} else {
		out, err = joined(v, sep, "", true)
	}
	return before + out, err
}

func matrix(name string, explode bool, v any) (string, error) {
	switch v := v.(type) {
	case []any:
		if explode {
			var b strings.Builder
			for _, e := range v {
				s, err := atom(e)
				if err != nil {
					return "", err
				}
				b.WriteString(";" + name + "=" + escape(s, ""))
			}
			return b.String(), nil
		}
	case map[string]any:
		if explode {
			out, err := assigned(v, ";", "", true)
			return ";" + out, err
		}
	}
	out, err := joined(v, ",", "", true)
	return ";" + name + "=" + out, err
}

// queryValue writes the parts of a query for one parameter.
func queryValue(p spec.Param, v any) ([]string, error) {
	keep := ""
	if p.AllowReserved {
		keep = reserved
	}
	name := escape(p.Name, "")
	if p.Media != "" {
		text, err := atom(v)
		return []string{name + "=" + escape(text, keep)}, err
	}
	if isEmpty(v) {
		return nil, nil
	}
	sep := map[string]string{"spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}[p.Style]
	if sep == "" {
		sep = ","
	}
	switch v := v.(type) {
	case []any:
		if p.Explode || p.Style == "deepObject" {
			var out []string
			for _, e := range v {
				s, err := atom(e)
				if err != nil {
					return nil, err
				}
				out = append(out, name+"="+escape(s, keep))
			}
			return out, nil
		}
	case map[string]any:
		if p.Style == "deepObject" {
			return deep(name, v, keep, 0)
		}
		if p.Explode {
			s, err := assigned(v, "&", keep, true)
			return []string{s}, err
		}
	}
	s, err := joined(v, sep, keep, true)
	return []string{name + "=" + s}, err
}

// deep writes name[key]=value, as deep as the value goes. What a list in an object means is
// not specified; most servers take its name repeated.
func deep(name string, o map[string]any, keep string, depth int) ([]string, error) {
	if depth > 20 {
		return nil, fmt.Errorf("the value of %s is nested too deep", name)
	}
	var out []string
	for _, k := range pairs(o) {
		inner := name + "%5B" + escape(k, "") + "%5D"
		switch v := o[k].(type) {
		case map[string]any:
			more, err := deep(inner, v, keep, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		case []any:
			for _, e := range v {
				s, err := atom(e)
				if err != nil {
					return nil, err
				}
				out = append(out, inner+"="+escape(s, keep))
			}
		default:
			s, err := atom(v)
			if err != nil {
				return nil, err
			}
			out = append(out, inner+"="+escape(s, keep))
		}
	}
	return out, nil
}

// headerValue writes a value for a header. Headers know no escapes, so that what would
// end one is refused.
func headerValue(p spec.Param, v any) (string, error) {
	var out string
	var err error
	switch o, isObject := v.(map[string]any); {
	case p.Media != "":
		out, err = atom(v)
	case isObject && p.Explode:
		out, err = assigned(o, ",", "", false)
	default:
		out, err = joined(v, ",", "", false)
	}
	if err != nil {
		return "", err
	}
	for i := range len(out) {
		if c := out[i]; c < ' ' && c != '\t' || c == 0x7f {
			return "", fmt.Errorf("the value of the header %s has a line end or a control character in it", p.Name)
		}
	}
	return out, nil
}

// cookieValue writes the cookies of one parameter.
func cookieValue(p spec.Param, v any) ([]string, error) {
	name := escape(p.Name, "!#$&'*+^`|")
	const keep = "!#$&'()*+/:<=>?@[]^`{|}"
	if p.Media != "" {
		text, err := atom(v)
		return []string{name + "=" + escape(text, "")}, err
	}
	if isEmpty(v) {
		return nil, nil
	}
	if p.Explode {
		switch v := v.(type) {
		case []any:
			var out []string
			for _, e := range v {
				s, err := atom(e)
				if err != nil {
					return nil, err
				}
				out = append(out, name+"="+escape(s, keep))
			}
			return out, nil
		case map[string]any:
			var out []string
			for _, k := range pairs(v) {
				s, err := atom(v[k])
				if err != nil {
					return nil, err
				}
				out = append(out, escape(k, "")+"="+escape(s, keep))
			}
			return out, nil
		}
	}
	s, err := joined(v, ",", keep, true)
	return []string{name + "=" + s}, err
}
