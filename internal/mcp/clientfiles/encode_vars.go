package clientfiles

import "strings"

// text writes a text of ours the way of the client. It reports false, and says
// why, if the client would not read it as we do.
func (x *encoder) text(in, where string) (string, bool) {
	place, _, _ := strings.Cut(where, ".")
	place, _, _ = strings.Cut(place, "[")
	f := x.client.formsAt(place)
	var out, want strings.Builder
	for _, p := range references(in) {
		if !p.ref {
			out.WriteString(unescape(p.text))
			want.WriteString(p.text)
			continue
		}
		theirs, ours := x.reference(p.text, f)
		if theirs == "" {
			x.lose("%s has a variable or secret, and %s puts none in there", where, x.client.title)
			return "", false
		}
		out.WriteString(theirs)
		want.WriteString(ours)
	}
	t := &translator{forms: f}
	if back, err := t.text(out.String()); err != nil || back != want.String() {
		x.lose("%s has a text that %s would read as a variable or a command", where, x.client.title)
		return "", false
	}
	return out.String(), true
}

// reference writes one reference their way, and what they would then read in
// our way. Empty: there is no way.
func (x *encoder) reference(ref string, f forms) (theirs, ours string) {
	inner := strings.TrimSuffix(strings.TrimPrefix(ref, "${"), "}")
	if id, ok := strings.CutPrefix(inner, "secret:"); ok && f.input {
		x.inputs = append(x.inputs, id)
		return "${input:" + id + "}", "${secret:" + inputSecret("", id) + "}"
	}
	if name, _, ok := strings.Cut(inner, ":-"); ok && f.defaults && IsVariable(name) && !strings.Contains(inner, secretDefault) {
		return ref, ref
	}
	switch {
	case f.only != "":
		if !strings.Contains(" "+f.only+" ", " "+inner+" ") {
			return "", ""
		}
		return ref, ref
	case !f.braces && !f.env && !f.curly:
		return "", ""
	}
	name := x.variable(ref)
	if x.client.name == Goose {
		x.keys = append(x.keys, name)
	}
	switch {
	case f.env:
		return "${env:" + name + "}", "${" + name + "}"
	case f.curly:
		return "{env:" + name + "}", "${" + name + "}"
	}
	return "${" + name + "}", "${" + name + "}"
}

// variable gives the environment variable that stands for a reference where
// there are only such.
func (x *encoder) variable(ref string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(ref, "${"), "}")
	if id, ok := strings.CutPrefix(inner, "secret:"); ok {
		name := variableName(id)
		x.lose("the secret %s is not written: give it to %s as the variable %s", show(id), x.client.title, name)
		return name
	}
	name, _, ok := strings.Cut(inner, ":-")
	if ok {
		x.lose("the default of ${%s} was left out", name)
	}
	return name
}

// variableName makes the name of an environment variable of a secret's.
func variableName(id string) string {
	name := []byte(strings.ToUpper(id))
	for i, c := range name {
		if c != '_' && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			name[i] = '_'
		}
	}
	if len(name) == 0 || name[0] >= '0' && name[0] <= '9' {
		return "_" + string(name)
	}
	return string(name)
}
