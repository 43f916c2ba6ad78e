package secrets

import "strings"

const (
	ruleKube  = "kubernetes-secret"
	kubeReach = 4096
)

// kube looks through the data of a Kubernetes object of the kind Secret, whose
// kind stands here.
func (h *textScan) kube(begin, end int) {
	t := h.text
	if end < len(t) && !space(t[end]) && t[end] != '"' && t[end] != '\'' {
		return
	}
	if begin < h.kubed {
		return
	}
	from, to := max(0, begin-kubeReach, h.kubed), min(len(t), end+kubeReach)
	if n := strings.LastIndex(t[from:begin], "\n---"); n >= 0 {
		from += n
	}
	if n := strings.Index(t[end:to], "\n---"); n >= 0 {
		to = end + n
	}
	h.kubed = to
	inside, plain, depth, first := false, false, 0, 0
	for at := from; at < to; {
		line := t[at:to]
		if n := strings.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
		}
		rest := strings.TrimLeft(line, " \t")
		indent := len(line) - len(rest)
		switch {
		case strings.HasPrefix(rest, "#"): // it ends nothing, wherever it begins
		case strings.HasPrefix(rest, "data:") || strings.HasPrefix(rest, `"data":`):
			inside, plain, depth = true, false, indent
		case strings.HasPrefix(rest, "stringData:") || strings.HasPrefix(rest, `"stringData":`):
			inside, plain, depth, first = true, true, indent, -1
		case inside && rest != "" && indent <= depth && rest[0] != '}':
			inside = false
		case inside && plain:
			if first < 0 {
				first = indent
			}
			if indent == first { // deeper is a text of several lines, such as a file
				h.kubePlain(at+indent, rest)
			}
		case inside:
			h.kubeValue(at+indent, rest)
		}
		at += len(line) + 1
	}
}

// kubePlain takes the value of a line of data that is not encoded.
func (h *textScan) kubePlain(at int, line string) {
	colon := strings.IndexByte(line, ':')
	if colon < 0 || colon+1 >= len(line) || line[colon+1] != ' ' {
		return
	}
	value := line[colon+1:]
	if n := strings.Index(value, " #"); n >= 0 {
		value = value[:n]
	}
	value = strings.TrimRight(value, ", \r")
	from := at + colon + 1 + len(value) - len(strings.TrimLeft(value, " \"'"))
	value = strings.Trim(value, " \"'")
	if len(value) < 6 || strings.ContainsAny(value, " \t{}[]|>") || strings.Contains(value, "://") || h.placeholder(value) || common(value) {
		return // names of hosts and users stand here as well
	}
	h.add(from, from+len(value), ruleKube)
}

// kubeValue takes the value of a line of data.
func (h *textScan) kubeValue(at int, line string) {
	colon := strings.IndexByte(line, ':')
	if colon < 0 || colon+1 < len(line) && line[colon+1] != ' ' {
		colon = -1 // a line of a longer value
	}
	value := strings.TrimRight(line[colon+1:], ", \r")
	from := at + colon + 1 + len(value) - len(strings.TrimLeft(value, " \"'"))
	value = strings.Trim(value, " \"'")
	if len(value) < 6 || h.placeholder(value) || strings.IndexByte(value, ' ') >= 0 {
		return
	}
	if endOf(value, 0, len(value), pemByte) == len(value) && len(strings.TrimRight(value, "="))%4 != 1 && (len(value)%4 == 0 || len(value) > 40) {
		h.add(from, from+len(value), ruleKube)
	}
}
