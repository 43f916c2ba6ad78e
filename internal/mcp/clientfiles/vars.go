package clientfiles

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// forms says which ways of writing a variable a client knows. What it does not
// know it passes on as text, and so do we.
type forms struct {
	braces   bool   // ${VAR}
	defaults bool   // ${VAR:-default}
	bare     bool   // $VAR
	env      bool   // ${env:VAR}
	curly    bool   // {env:VAR}, and {file:…}
	editor   bool   // ${workspaceFolder} and its kin
	input    bool   // ${input:id}
	template bool   // ${{ secrets.NAME }} and ${{ inputs.NAME }}
	runs     bool   // $(…) and `…` are run when the file is loaded
	only     string // braces, but only these names, between blanks
}

// translator turns the texts of one server into our form.
type translator struct {
	codec  Codec
	server string
	forms
	notes []string
}

func (t *translator) note(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	if !slices.Contains(t.notes, n) {
		t.notes = append(t.notes, n)
	}
}

func (t *translator) text(in string) (string, error) {
	var out strings.Builder
	reference := func(ref string) error {
		if s := out.String(); strings.HasSuffix(s, "$") {
			return errors.New("a $ stands right before a variable, which cannot be written here")
		}
		out.WriteString(ref)
		return nil
	}
	for i := 0; i < len(in); {
		rest := in[i:]
		if t.template {
			if inner, length := templateRef(rest); length > 0 {
				if err := reference(t.templated(inner)); err != nil {
					return "", err
				}
				i += length
				continue
			}
		}
		switch {
		case strings.HasPrefix(rest, "${"):
			end := strings.IndexByte(rest, '}')
			if end < 0 {
				if t.runs {
					return "", errors.New("a ${ is not closed")
				}
				out.WriteString("$${")
				i += 2
				continue
			}
			ref, plain, err := t.braced(rest[2:end])
			if err != nil {
				return "", err
			}
			if ref == "" && plain == "" {
				t.note("%s is passed on as text, as the client does", "${…}")
				out.WriteString("$${")
				i += 2
				continue
			}
			if ref != "" {
				err = reference(ref)
			}
			if err != nil {
				return "", err
			}
			out.WriteString(escape(plain))
			i += end + 1
		case t.runs && (strings.HasPrefix(rest, "$(") || strings.HasPrefix(rest, "$$") || rest[0] == '`'):
			return "", errors.New("it has a command substitution, $(…), which the client runs when it loads the file; nothing is run here: put the value in, or a ${secret:NAME}")
		case strings.HasPrefix(rest, "$("):
			t.note("$(…) is passed on as text: nothing here runs it")
			out.WriteString("$(")
			i += 2
		case rest[0] == '$' && t.bare && variableLen(rest[1:]) > 0:
			n := variableLen(rest[1:])
			if err := reference("${" + rest[1:1+n] + "}"); err != nil {
				return "", err
			}
			i += 1 + n
		case t.curly && strings.HasPrefix(rest, "{file:"):
			return "", errors.New("it has a {file:…}, which the client reads when it loads the file; no file is read here: put the value into the vault and write ${secret:NAME}")
		case t.curly && strings.HasPrefix(rest, "{env:") && strings.IndexByte(rest, '}') > 0:
			end := strings.IndexByte(rest, '}')
			name := strings.TrimSpace(rest[len("{env:"):end])
			if variableLen(name) != len(name) || name == "" {
				return "", errors.New("it has a {env:…} whose name is no name of a variable")
			}
			if err := reference("${" + name + "}"); err != nil {
				return "", err
			}
			i += end + 1
		default:
			out.WriteByte(rest[0])
			i++
		}
	}
	return out.String(), nil
}

// escape writes a plain text our way.
func escape(plain string) string { return strings.ReplaceAll(plain, "${", "$${") }

// unescape gives the text that ours stands for, if it has no reference.
func unescape(text string) string { return strings.ReplaceAll(text, "$${", "${") }

// variableLen gives how many bytes at the beginning are the name of a variable.
func variableLen(text string) int {
	for i := range len(text) {
		c := text[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}

// IsVariable reports whether a text can be the name of an environment variable.
func IsVariable(name string) bool { return name != "" && variableLen(name) == len(name) }

// braced gives what ${inner} becomes: a reference of ours, a plain text, or
// nothing if the client does not know it.
func (t *translator) braced(inner string) (ref, plain string, err error) {
	prefix, rest, colon := strings.Cut(inner, ":")
	switch {
	case colon && prefix == "env" && t.env:
		if !IsVariable(rest) {
			return "", "", errors.New("it has a ${env:…} whose name is no name of a variable")
		}
		return "${" + rest + "}", "", nil
	case colon && prefix == "input" && t.input:
		name := inputSecret(t.server, rest)
		t.note("${input:%s} is asked for by the client; it became the secret %s, to be put into the vault", show(rest), name)
		return "${secret:" + name + "}", "", nil
	case t.editor:
		return t.ofEditor(inner)
	case t.only != "":
		if IsVariable(inner) && slices.Contains(strings.Fields(t.only), inner) {
			return "${" + inner + "}", "", nil
		}
		return "", "", nil
	case t.braces && IsVariable(inner):
		if strings.HasPrefix(inner, "CLAUDE_PLUGIN_") {
			t.note("${%s} is set by the client only", inner)
		}
		return "${" + inner + "}", "", nil
	case t.defaults && colon && IsVariable(prefix) && strings.HasPrefix(rest, "-"):
		if strings.ContainsAny(rest, "${`") {
			return "", "", errors.New("it has a variable whose default holds another")
		}
		return "${" + inner + "}", "", nil
	case t.runs:
		return "", "", errors.New("it has a ${…} of a shell that is not read here")
	}
	return "", "", nil
}

// templateRef gives the name in a ${{ kind.name }} at the beginning of a text,
// and how long that is; 0: there is none.
func templateRef(text string) (inner string, length int) {
	rest, ok := strings.CutPrefix(text, "${{")
	end := strings.Index(rest, "}}")
	if !ok || end < 0 {
		return "", 0
	}
	inner = strings.TrimSpace(rest[:end])
	kind, name, _ := strings.Cut(inner, ".")
	if kind != "secrets" && kind != "inputs" || name == "" || strings.ContainsAny(name, " \t\r\n{}") {
		return "", 0
	}
	return name, len("${{") + end + len("}}")
}

// templated makes a secret of what the client looks up in files of its own.
func (t *translator) templated(name string) string {
	secret := inputSecret(t.server, name)
	t.note("${{ secrets.%s }} is looked up by the client; it became the secret %s, to be put into the vault", show(name), secret)
	return "${secret:" + secret + "}"
}

// inputSecret is the secret that stands for what a client asks for. It is never
// the id alone, which could be the name of another server's secret.
func inputSecret(server, id string) string { return secretName(server + "-input-" + id) }

// ofEditor knows the variables of VS Code and of the editors made from it.
func (t *translator) ofEditor(inner string) (ref, plain string, err error) {
	name, _, _ := strings.Cut(inner, ":")
	switch name {
	case "workspaceFolder", "workspaceRoot", "cwd":
		if t.codec.Project != "" {
			t.note("${%s} became the path of the project", name)
			return "", t.codec.Project, nil
		}
		t.note("${%s} became ${PWD}, the directory Toolcrib runs in", name)
		return "${PWD}", "", nil
	case "workspaceFolderBasename":
		if t.codec.Project == "" {
			return "", "", errors.New("it has ${workspaceFolderBasename}, and no project is known")
		}
		return "", filepath.Base(t.codec.Project), nil
	case "userHome":
		if t.codec.Home != "" {
			return "", t.codec.Home, nil
		}
		t.note("${userHome} became ${HOME}")
		return "${HOME}", "", nil
	case "/", "pathSeparator":
		return "", "/", nil // which Windows takes as well
	case "command":
		return "", "", errors.New("it has a ${command:…}, which the editor runs; nothing is run here")
	case "config", "extensionInstallFolder", "file", "fileDirname", "selectedText":
		return "", "", fmt.Errorf("it has a ${%s…}, which only the editor knows", name)
	}
	return "", "", nil
}
