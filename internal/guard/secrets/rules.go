package secrets

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// rawRule is a rule as the rule file has it.
type rawRule struct {
	id       string
	regex    string
	filter   string
	group    int
	keywords []string
	unlisted bool // part of another rule: not a secret on its own
}

// readRules takes the rules and the filter for all of them out of the rule
// file. It reads the part of TOML that the file's generator writes, and skips
// the keys that nothing here needs; what it does not understand is an error.
func readRules(text string) (rules []rawRule, filter string, err error) {
	r := &reader{text: text, line: 1}
	for {
		r.space()
		if r.at >= len(r.text) {
			return rules, filter, nil
		}
		if strings.HasPrefix(r.text[r.at:], "[[rules]]") {
			r.at += len("[[rules]]")
			rules = append(rules, rawRule{})
			continue
		}
		key, err := r.key()
		if err != nil {
			return nil, "", fmt.Errorf("line %d: %w", r.line, err)
		}
		v, err := r.value()
		if err != nil {
			return nil, "", fmt.Errorf("line %d: the value of %s: %w", r.line, key, err)
		}
		if len(rules) == 0 {
			if key == "filter" {
				filter = v.text
			}
			continue
		}
		if err := rules[len(rules)-1].set(key, v); err != nil {
			return nil, "", fmt.Errorf("line %d: %w", r.line, err)
		}
	}
}

func (r *rawRule) set(key string, v tomlValue) error {
	switch key {
	case "id":
		r.id = v.text
	case "regex":
		r.regex = v.text
	case "filter":
		r.filter = v.text
	case "keywords":
		r.keywords = v.list
	case "secretGroup":
		n, err := strconv.Atoi(v.text)
		if err != nil {
			return fmt.Errorf("secretGroup: %w", err)
		}
		r.group = n
	case "skipReport":
		r.unlisted = v.text == "true"
	}
	return nil
}

// tomlValue is a text, a number or bool as text, or a list of texts.
type tomlValue struct {
	text string
	list []string
}

type reader struct {
	text     string
	at, line int
}

// space goes to the next thing that is neither space nor comment.
func (r *reader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case '#':
			end := strings.IndexByte(r.text[r.at:], '\n')
			if end < 0 {
				end = len(r.text) - r.at
			}
			r.at += end
			continue
		case '\n':
			r.line++
		case ' ', '\t', '\r':
		default:
			return
		}
		r.at++
	}
}

func (r *reader) key() (string, error) {
	end := strings.IndexAny(r.text[r.at:], "=\n")
	if end < 0 || r.text[r.at+end] != '=' {
		return "", errors.New("want a key, = and a value")
	}
	key := strings.TrimSpace(r.text[r.at : r.at+end])
	r.at += end + 1
	return key, nil
}

func (r *reader) value() (tomlValue, error) {
	for r.at < len(r.text) && r.text[r.at] == ' ' {
		r.at++
	}
	rest := r.text[r.at:]
	switch {
	case strings.HasPrefix(rest, "["):
		return r.list()
	case strings.HasPrefix(rest, "'"), strings.HasPrefix(rest, `"`):
		text, err := r.quoted()
		return tomlValue{text: text}, err
	}
	end := strings.IndexAny(rest, " \t\r\n,]}#")
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		return tomlValue{}, errors.New("there is none")
	}
	r.at += end
	return tomlValue{text: rest[:end]}, nil
}

// list reads a list of texts. Lists of tables are stepped over: no rule of
// ours depends on them.
func (r *reader) list() (tomlValue, error) {
	var v tomlValue
	depth := 0
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case '[', '{':
			depth++
			r.at++
		case ']', '}':
			depth--
			r.at++
			if depth == 0 {
				return v, nil
			}
		case '"', '\'':
			text, err := r.quoted()
			if err != nil {
				return v, err
			}
			if depth == 1 {
				v.list = append(v.list, text)
			}
		case '#', '\n':
			r.space()
		default:
			r.at++
		}
	}
	return v, errors.New("a list is not closed")
}

// quoted reads "…" and '…' and their forms over several lines.
func (r *reader) quoted() (string, error) {
	quote := r.text[r.at : r.at+1]
	rest := r.text[r.at:]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(rest, long) {
		text, _, ok := strings.Cut(rest[3:], long)
		if !ok {
			return "", errors.New("a text over several lines is not closed")
		}
		// A quote may stand directly before the closing three.
		for strings.HasPrefix(rest[3+len(text)+3:], quote) {
			text = rest[3 : 3+len(text)+1]
		}
		r.at += len(text) + 6
		r.line += strings.Count(text, "\n")
		text = strings.TrimPrefix(text, "\n")
		if quote == "'" {
			return text, nil
		}
		return unescape(text)
	}
	end := 1
	for ; end < len(rest) && rest[end] != '\n'; end++ {
		if rest[end] == '\\' && quote == `"` {
			end++
		} else if rest[end] == quote[0] {
			r.at += end + 1
			if quote == "'" {
				return rest[1:end], nil
			}
			return unescape(rest[1:end])
		}
	}
	return "", errors.New("a text is not closed")
}

// unescape resolves the escapes of a basic TOML text; they are among Go's.
func unescape(text string) (string, error) {
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	var b strings.Builder
	for text != "" {
		c, multibyte, tail, err := strconv.UnquoteChar(text, '"')
		if err != nil {
			return "", fmt.Errorf("an escape that is not known: %w", err)
		}
		if c < 0x80 || multibyte {
			b.WriteRune(c)
		} else {
			b.WriteByte(byte(c))
		}
		text = tail
	}
	return b.String(), nil
}
