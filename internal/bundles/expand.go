package bundles

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/internal/text"
)

// places is what the variables of a package stand for here.
type places struct{ root, data, home string }

var placeholder = pattern.Of(`\$\{(PACKAGE_ROOT|PACKAGE_DATA|ask:[^{}]*)\}`)

// fromVault is what a person gives for a secret that is not needed: it is in the vault.
const fromVault = "vault"

// vaultName is what the secrets of a package begin with in the vault: its name, and where
// it came from for whom. Another package of the same name, of a project or installed
// later, is given none of them.
func vaultName(bundleName, project, origin string) string {
	return "bundle." + bundleName + ".." + digest([]byte(project + "\x00" + origin))[:16]
}

// secretName is what a secret that a package asks for is called. None of the person's other
// secrets is called so by chance, and none is longer than the vault takes.
func secretName(vault, ask string) string {
	if len(ask) > 36 {
		ask = digest([]byte(ask))[:32]
	}
	return vault + ".." + ask
}

// Secret is what a secret that it asks for is called in the vault.
func (c *Candidate) Secret(ask string) string { return secretName(c.vault, ask) }

// Secret is the name in the vault of a secret that it asks for.
func (i Installed) Secret(ask string) string { return secretName(i.vault(), ask) }

// origin is where a package comes from, whichever version of it.
func (s Source) origin() string {
	at := s.At
	switch s.Kind {
	case FromArchive:
		at = filepath.Dir(at)
	case FromHTTP:
		at = at[:strings.LastIndexByte(at, '/')+1]
	}
	return strings.Join([]string{s.Kind, at, s.Registry, s.Path}, "\x00")
}

// expand puts in what the variables of a server stand for, in the words of the settings.
// What the package wrote stays text, whatever it looks like: a reference to a variable or
// to a secret that is not the package's own is none.
func expand(s bundle.Server, at places, asks []bundle.Ask, values map[string]string, vault string) (bundle.Server, error) {
	e := &expander{at: at, asks: asks, values: values, vault: vault}
	out := s
	out.Command, out.Dir, out.URL = e.text(s.Command), e.text(s.Dir), e.text(s.URL)
	out.Args = nil
	for _, a := range s.Args {
		out.Args = append(out.Args, e.words(a)...)
	}
	out.Env, out.Headers = e.all(s.Env), e.all(s.Headers)
	return out, e.err
}

type expander struct {
	at     places
	asks   []bundle.Ask
	values map[string]string
	vault  string // what its secrets begin with
	err    error
}

func (e *expander) all(in map[string]string) map[string]string {
	out := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(in)) {
		value := e.text(in[key])
		if value == "" && in[key] != "" {
			continue // nobody gave what it asks for, and it can do without
		}
		out[key] = value
	}
	return out
}

// words expands an argument: to several, where it is a value of which there may be several.
func (e *expander) words(given string) []string {
	i := slices.IndexFunc(e.asks, func(a bundle.Ask) bool { return a.Many && !a.Secret && given == "${ask:"+a.Name+"}" })
	all := e.text(given)
	if i < 0 {
		return []string{all}
	}
	var list []string
	for word := range strings.SplitSeq(all, ",") {
		if word = strings.TrimSpace(word); word != "" {
			list = append(list, word)
		}
	}
	return list
}

// text expands one text. Secrets are put in last, so that everything else can be made
// plain as a whole.
func (e *expander) text(given string) string {
	const mark = "\x00"
	var secrets []string
	plain := placeholder.Regexp().ReplaceAllStringFunc(given, func(v string) string {
		switch name := v[2 : len(v)-1]; name {
		case "PACKAGE_ROOT":
			return e.at.root
		case "PACKAGE_DATA":
			return e.at.data
		default:
			value, secret := e.value(strings.TrimPrefix(name, "ask:"))
			if secret == "" {
				return strings.ReplaceAll(value, mark, "")
			}
			secrets = append(secrets, secret)
			return mark
		}
	})
	plain = strings.ReplaceAll(plain, "${", "$${")
	parts := strings.Split(plain, mark)
	if len(parts) != len(secrets)+1 {
		e.fail("a NUL stands in it")
		return ""
	}
	var b strings.Builder
	for i, part := range parts {
		b.WriteString(part)
		if i == len(secrets) {
			break
		}
		if strings.HasSuffix(part, "$") {
			e.fail("a $ stands before a secret, which cannot be told from a reference")
		}
		b.WriteString("${secret:" + secrets[i] + "}")
	}
	return b.String()
}

func (e *expander) value(name string) (value, secret string) {
	i := slices.IndexFunc(e.asks, func(a bundle.Ask) bool { return a.Name == name })
	if i < 0 {
		e.fail("it refers to " + text.ShowLine(name) + ", which it does not ask for")
		return "", ""
	}
	ask := e.asks[i]
	value, given := e.values[name]
	switch {
	case ask.Secret && (ask.Required || value == fromVault):
		return "", secretName(e.vault, name)
	case ask.Secret:
		return ask.Default, ""
	case given:
		return value, ""
	case ask.Required && ask.Default == "":
		e.fail(fmt.Sprintf("it needs %s: give it with --value %[1]s=…", text.ShowLine(name)))
	}
	return e.atHome(ask.Default), ""
}

// atHome has ~ stand for the person's home in what is taken where nobody gives anything.
func (e *expander) atHome(given string) string {
	words := strings.Split(given, ",")
	for i, word := range words {
		if rest, ok := strings.CutPrefix(word, "~"); ok && e.at.home != "" && (rest == "" || rest[0] == '/') {
			words[i] = e.at.home + rest
		}
	}
	return strings.Join(words, ",")
}

func (e *expander) fail(why string) {
	if e.err == nil {
		e.err = fmt.Errorf("%s", why)
	}
}
