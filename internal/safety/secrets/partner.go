package secrets

const (
	partnerReach = 160 // how far from the name of a key its secret is looked for
	partnerLines = 3
)

// partnerSize is the length of the secret that belongs to the identifier a rule
// finds. Nothing but its length and its place tells such a secret.
func partnerSize(rule string) int {
	switch rule {
	case "aws-access-key", "google-hmac-key":
		return 40
	case "alibaba-access-key":
		return 30
	case "tencent-secret-id":
		return 32
	}
	return 0
}

// partner looks for the secret that stands before or behind its identifier.
func (h *hunt) partner(from, to, size int) {
	t := h.text
	lines := 0
	for i := to; i < len(t) && i-to < partnerReach && lines <= partnerLines; {
		if t[i] == '\n' {
			lines++
		}
		if !secretByte(t[i]) {
			i++
			continue
		}
		end := i
		for end < len(t) && end-i <= size && secretByte(t[end]) {
			end++
		}
		if end-i == size && drawnSecret(t[i:end]) {
			h.add(i, end, ruleNear)
			return
		}
		for i = end; i < len(t) && i-to < partnerReach && secretByte(t[i]); i++ {
		}
	}
	lines = 0
	for i := from; i > 0 && from-i < partnerReach && lines <= partnerLines; {
		if t[i-1] == '\n' {
			lines++
		}
		if !secretByte(t[i-1]) {
			i--
			continue
		}
		begin := i
		for begin > 0 && i-begin <= size && secretByte(t[begin-1]) {
			begin--
		}
		if i-begin == size && drawnSecret(t[begin:i]) {
			h.add(begin, i, ruleNear)
			return
		}
		for i = begin; i > 0 && from-i < partnerReach && secretByte(t[i-1]); i-- {
		}
	}
}

func secretByte(c byte) bool { return digit(c) || letter(c) || c == '+' || c == '/' }

// drawnSecret: letters of both cases and digits in no order, so that it is no
// hash and no name.
func drawnSecret(s string) bool {
	m := makeupOf(s)
	return m.upper > 1 && m.lower > 1 && m.letters() > 5 && !m.hex && m.bits > 3 && !wordy(s)
}
