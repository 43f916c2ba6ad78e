package shellguard

import (
	"net/url"
	"slices"
	"strings"
)

// plainWordsOf puts the words of a command under their usual names.
func plainWordsOf(name string, a []Arg) []Arg {
	word := func(text string) Arg { return Arg{Text: text, Literal: true} }
	sub, at := "", operandAt(a)
	if at >= 0 {
		sub = a[at].Text
	}
	set := func(text string) { a[at].Text = text }
	drop := func() { a = slices.Delete(a, at, at+1) }
	has := func(letter, long string) bool {
		return slices.ContainsFunc(a, func(x Arg) bool { return letter != "" && hasLetter(x.Text, letter) || isLong(x.Text, long) })
	}
	next := func() string {
		if at+1 < len(a) {
			return a[at+1].Text
		}
		return ""
	}
	switch name {
	case "npm":
		if at > 0 && npmCommand(sub) == "" && !isNpmCommand(sub) && strings.HasPrefix(a[at-1].Text, "-") && operandAt(a[at+1:]) >= 0 {
			at += 1 + operandAt(a[at+1:]) // the word belongs to an option
			sub = a[at].Text
		}
		if is := npmCommand(sub); is != "" {
			set(is)
		}
		if at >= 0 && a[at].Text == "run" && slices.Contains([]string{"test", "start", "stop", "restart"}, next()) {
			drop()
		}
	case "yarn", "pnpm", "bun":
		if sub == "run" || sub == "run-script" {
			drop()
		}
	case "cargo":
		if strings.HasPrefix(sub, "+") {
			drop()
			return plainWordsOf(name, a)
		}
		if long, ok := map[string]string{"r": "run", "b": "build", "t": "test", "c": "check", "d": "doc"}[sub]; ok {
			set(long)
		}
	case "docker", "podman", "nerdctl":
		if (sub == "container" || sub == "image") && next() != "" && next() != "ls" && next() != "prune" && next() != "inspect" {
			if drop(); a[at].Text == "remove" {
				set("rm")
			}
			if sub == "image" && a[at].Text == "rm" {
				set("rmi")
			}
		}
	case "tar":
		if len(a) > 0 && a[0].Literal && tarLetters.MatchString(a[0].Text) { // tar xzf x
			a[0].Text = "-" + a[0].Text
		}
		for _, same := range [][2]string{{"extract", "-x"}, {"get", "-x"}, {"create", "-c"}, {"gzip", "-z"}, {"gunzip", "-z"}, {"file", "-f"}} {
			if slices.ContainsFunc(a, func(x Arg) bool { return isLong(x.Text, same[0]) && len(x.Text) > 3 }) {
				a = append([]Arg{word(same[1])}, a...)
			}
		}
	case "gcloud":
		if sub == "beta" || sub == "alpha" {
			drop()
		}
	case "helm":
		if sub == "del" || sub == "delete" || sub == "un" {
			set("uninstall")
		}
	case "kubectl", "oc":
		a = kindsOf(a)
	case "ssh":
		for i, x := range a {
			if x.Literal && !strings.HasPrefix(x.Text, "-") {
				t, address := strings.CutPrefix(strings.ToLower(x.Text), "ssh://") // a host has no case
				if t = t[strings.LastIndexByte(t, '@')+1:]; address {
					t, _, _ = strings.Cut(strings.TrimRight(t, "/"), ":")
				}
				a[i].Text = t
				if i == 0 || !strings.HasPrefix(a[i-1].Text, "-") {
					break
				}
			}
		}
	case "psql", "pg_dump", "pg_restore", "pg_dumpall", "mysql", "mysqldump", "redis-cli", "mongo", "mongosh":
		a = append(a, addressed(a)...)
	case "chmod":
		for i, x := range a {
			switch t := strings.TrimLeft(x.Text, "0"); {
			case t != "" && isNumber(t):
				a[i].Text = t
			case slices.Contains([]string{"a+rwx", "a=rwx", "ugo+rwx", "ugo=rwx", "+rwx", "=rwx"}, x.Text):
				a[i].Text = "777"
			}
		}
	case "terraform", "tofu":
		for i, x := range a {
			if strings.HasPrefix(x.Text, "--") && len(x.Text) > 2 {
				a[i].Text = x.Text[1:]
			}
		}
	case "gradle":
		for i, x := range a {
			a[i].Text = strings.TrimPrefix(x.Text, ":")
		}
	case "sed":
		if has("", "in-place") {
			a = append(a, word("-i"))
		}
	case "node":
		if has("p", "eval") || has("", "print") {
			a = append(a, word("-e"))
		}
	case "perl":
		if has("E", "-") {
			a = append(a, word("-e"))
		}
	case "git":
		switch {
		case sub == "add" && has("", "all"):
			a = append(a, word("-A"))
		case sub == "branch" && has("d", "delete") && has("f", "force"):
			a = append(a, word("-D"))
		case sub == "commit" && has("n", "no-verify"):
			a = append(a, word("--no-verify"), word("-n"))
		}
	}
	return a
}

// npmCommand is the command that a word means to npm, which takes aliases and
// the beginning of a name.
func npmCommand(word string) string {
	if is := valueIn("x=exec it=install install-test=install r=uninstall i=install add=install in=install isnt=install isnta=install isntal=install isntall=install "+
		"run-script=run rum=run urn=run t=test tst=test un=uninstall unlink=uninstall remove=uninstall rm=uninstall up=update upgrade=update udpate=update", word); is != "" {
		return is
	}
	if isNpmCommand(word) {
		return ""
	}
	for is := range strings.FieldsSeq("install publish uninstall unpublish update run test start stop restart exec version login logout link deprecate adduser access owner token") {
		if len(word) > 1 && strings.HasPrefix(is, word) {
			return is
		}
	}
	return ""
}

// isNpmCommand: such a word means itself.
func isNpmCommand(word string) bool {
	return slices.Contains([]string{"ls", "ll", "la", "ci", "set", "get", "run", "test", "start", "stop", "install", "publish"}, word)
}

// addressed writes the parts of an address of a database, postgres://ann@host:1/x
// or "host=x port=1", as the options that say the same.
func addressed(args []Arg) []Arg {
	var out []Arg
	add := func(option, value string) {
		if value != "" {
			out = append(out, Arg{Text: option, Literal: true}, Arg{Text: value, Literal: true})
		}
	}
	for _, x := range args {
		t := x.Text
		if scheme, rest, ok := strings.Cut(t, "://"); ok && x.Literal {
			if u, err := url.Parse(scheme[strings.LastIndexByte(scheme, '=')+1:] + "://" + rest); err == nil {
				add("-h", u.Hostname())
				add("-p", u.Port())
				add("-U", u.User.Username())
				add("-d", strings.TrimPrefix(u.Path, "/"))
			}
			continue
		}
		for word := range strings.FieldsSeq(t) {
			switch key, value, _ := strings.Cut(strings.TrimPrefix(word, "--dbname="), "="); key {
			case "host", "hostaddr":
				add("-h", value)
			case "port":
				add("-p", value)
			case "user":
				add("-U", value)
			case "dbname":
				add("-d", value)
			}
		}
	}
	return out
}

// kindsOf takes kind/name apart and puts kinds of Kubernetes under one name.
func kindsOf(args []Arg) []Arg {
	var out []Arg
	for _, a := range args {
		kind, name, cut := strings.Cut(a.Text, "/")
		if !a.Literal || strings.HasPrefix(a.Text, "-") {
			out = append(out, a)
			continue
		}
		short := map[string]string{"ns": "namespace", "po": "pod", "svc": "service", "no": "node", "cm": "configmap", "sts": "statefulset", "ds": "daemonset", "rs": "replicaset", "pv": "persistentvolume", "pvc": "persistentvolumeclaim", "ing": "ingress", "sa": "serviceaccount", "crd": "customresourcedefinition", "deploy": "deployment"}
		if is, ok := short[strings.ToLower(kind)]; ok {
			kind = is
		}
		a.Text = kind
		if plural := strings.TrimSuffix(kind, "s"); slices.Contains([]string{"namespace", "pod", "service", "node", "configmap", "secret", "deployment", "statefulset", "daemonset", "job", "cronjob"}, plural) {
			a.Text = plural
		}
		out = append(out, a)
		if cut {
			out = append(out, Arg{Text: name, Literal: true})
		}
	}
	return out
}
