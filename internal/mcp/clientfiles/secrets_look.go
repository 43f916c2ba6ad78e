package clientfiles

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/internal/redact"
)

// secretByName reports whether a value under this name is a secret. A name that
// only hints at it needs a value that could be one.
func secretByName(name, text string) bool {
	text = unescape(text)
	lower := strings.ToLower(strings.TrimLeft(name, "-"))
	switch {
	case text == "" || strings.EqualFold(text, "true") || strings.EqualFold(text, "false"):
		return false
	case strings.Trim(text, "0123456789") == "" && len(text) < 10 && strings.Contains(lower, "token"):
		return false // MAX_TOKENS=4096
	case namesFile(text):
		return false // GOOGLE_APPLICATION_CREDENTIALS=/home/me/key.json
	case redact.SecretName(lower):
		return true
	}
	for _, suffix := range [...]string{"key", "pat", "dsn", "auth", "credentials", "sig", "signature", "session", "webhook_url"} {
		if strings.HasSuffix(lower, suffix) {
			return couldBeSecret(text)
		}
	}
	return false
}

// namesFile reports whether a value is the path of a file. Base64 may begin
// with a slash too, but its last part has no dot.
func namesFile(text string) bool {
	if strings.ContainsAny(text, "+= \t") || strings.Contains(text, "://") {
		return false
	}
	if strings.HasPrefix(text, "/") {
		return strings.Contains(text[strings.LastIndexByte(text, '/'):], ".")
	}
	return looksLikePath(text)
}

// couldBeSecret reports whether a text is long and mixed enough.
func couldBeSecret(text string) bool {
	return len(text) >= 16 && !strings.ContainsAny(text, " \t/\\") && strings.ContainsAny(text, "0123456789") &&
		strings.ContainsFunc(text, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' })
}

// args looks through a command line: --token X, --token=X, NAME=X behind a
// docker -e, "Header: X", and addresses.
func (f *finder) args(program string, args []string) {
	defer func() { f.code = false }()
	for i := range args {
		where := fmt.Sprintf("args[%d]", i)
		arg := args[i]
		name, text, assigned := strings.Cut(arg, "=")
		flag := strings.HasPrefix(name, "-")
		inner, innerText, nested := strings.Cut(text, "=")
		f.code = i > 0 && takesCode(args[i-1]) && !(args[i-1] == "-e" && runsContainers(program))
		switch {
		case f.code: // what it calls a password need not be one
			if assigned && secretByName(name, text) {
				f.mayBeCode(where)
			}
			args[i] = f.words(arg, "arg", where)
		case assigned && flag && nested && IsVariable(inner):
			args[i] = name + "=" + inner + "=" + f.named(innerText, inner, where)
		case assigned && (flag || IsVariable(name)):
			args[i] = name + "=" + f.option(text, strings.TrimLeft(name, "-"), where)
		case i > 0 && isOption(args[i-1]) && !flag:
			args[i] = f.option(arg, strings.TrimLeft(args[i-1], "-"), where)
		default:
			args[i] = f.option(arg, "arg", where)
		}
	}
}

// takesCode reports whether an option of some interpreter or shell is followed
// by a program: -c, -e, -r, also behind others as in -lc and -ne.
func takesCode(option string) bool {
	if cluster, ok := strings.CutPrefix(option, "-"); ok && cluster != "" && len(cluster) <= 4 && strings.Trim(cluster, keyLetters) == "" && cluster[0] != '-' {
		return strings.ContainsAny(cluster[len(cluster)-1:], "ceEr")
	}
	switch option {
	case "--eval", "--exec", "--execute", "--command", "--code", "--print", "--run", "/c", "/C", "-Command", "-command":
		return true
	}
	return false
}

// runsContainers reports whether -e of a program sets a variable.
func runsContainers(program string) bool {
	base := strings.TrimSuffix(strings.ToLower(program[strings.LastIndexAny(program, "/\\")+1:]), ".exe")
	return base == "docker" || base == "podman" || base == "nerdctl" || base == "finch"
}

func isOption(arg string) bool {
	return strings.HasPrefix(arg, "-") && strings.Trim(arg, "-") != "" && !strings.Contains(arg, "=")
}

// option judges one value of a command line; a header is one that has a name of
// its own.
func (f *finder) option(text, label, where string) string {
	name, rest, ok := strings.Cut(text, ":")
	if trimmed := strings.TrimLeft(rest, " "); ok && isHeaderName(name) && !strings.HasPrefix(rest, "//") && trimmed != "" {
		return name + ":" + rest[:len(rest)-len(trimmed)] + f.header(trimmed, name, where)
	}
	return f.named(text, label, where)
}

func isHeaderName(name string) bool {
	return len(name) > 2 && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// address takes the password, and what the query and the path hold of
// credentials, out of a URL. It works on the text, so that the rest of it stays
// as it was, percent signs and references with it.
func (f *finder) address(text, label, where string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return text
	}
	end := strings.IndexAny(rest, "/?# ")
	// A reference may hold such a character: ${HOST:-a/b}.
	if end < 0 || strings.Contains(rest[:end], "${") {
		end = len(rest)
		if i := strings.IndexAny(withoutBraces(rest), "/?# "); i >= 0 {
			end = i
		}
	}
	host, tail := rest[:end], rest[end:]
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		user, password, both := strings.Cut(host[:at], ":")
		switch {
		case both && !f.leave(password, where):
			host = user + ":" + f.keep(password, label+"-password", where) + host[at:]
		case !both && !f.leave(user, where) && (couldBeSecret(user) || f.looks(user)):
			host = f.keep(user, label+"-user", where) + host[at:]
		}
	}
	path, query, asked := strings.Cut(tail, "?")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if p != "" && withoutReferences(p) == p && f.looks(p) {
			parts[i] = f.keep(p, label+"-path", where)
		}
	}
	path = strings.Join(parts, "/")
	if !asked {
		return scheme + "://" + host + path
	}
	query, fragment, hash := strings.Cut(query, "#")
	pairs := strings.Split(query, "&")
	for i, p := range pairs {
		name, v, ok := strings.Cut(p, "=")
		plain, err := url.QueryUnescape(v)
		if err != nil {
			plain = v
		}
		if ok && !f.leave(v, where) && (secretByName(name, plain) || f.looks(plain)) {
			pairs[i] = name + "=" + f.keep(v, name, where)
		}
	}
	if query = strings.Join(pairs, "&"); hash {
		query += "#" + fragment
	}
	return scheme + "://" + host + path + "?" + query
}

// withoutBraces blanks out references, keeping every byte in its place.
func withoutBraces(text string) string {
	var out strings.Builder
	for _, p := range references(text) {
		if p.ref {
			out.WriteString(strings.Repeat("_", len(p.text)))
		} else {
			out.WriteString(p.text)
		}
	}
	return out.String()
}
